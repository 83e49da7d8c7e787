//! A model drawn as a neuron: inputs with their weights, the sum, the step, the class. More than two
//! classes are a layer of such neurons of which the one with the highest score wins.
//!
//! Of many inputs those with the largest |w_j s_j| are shown, s_j the standard deviation of the column
//! where the rows are known and 1 where they are not; the rest is one node.

use super::axes::Page;
use super::columns::moments;
use super::svg::{Anchor, Area, GREY, INK, Svg, Type, colour, number};
use super::{Style, short};
use linsep::model::{LinearModel, Plane, Rule};
use linsep_data::Dataset;
use linsep_data::error::{Error, Result};
use linsep_data::sort::places;

/// The picture of a neuron.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Neuron<'a> {
    /// The model.
    pub model: &'a LinearModel,
    /// What it is, in words.
    pub about: String,
    /// The standard deviations of the columns; empty if they are not known.
    deviations: Vec<f64>,
}

/// Inputs and neurons that can be told apart, and neurons with room around them.
const MOST_INPUTS: usize = 12;
const MOST_NEURONS: usize = 10;
const FEW_NEURONS: usize = 5;

const PLUS: &str = "#0072B2";
const MINUS: &str = "#D55E00";

impl<'a> Neuron<'a> {
    /// The neuron of a model.
    pub fn of(model: &'a LinearModel) -> Neuron<'a> {
        Neuron { model, about: String::new(), deviations: Vec::new() }
    }

    /// Measures inputs by the standard deviations of these rows where not all can be shown.
    pub fn with_rows(mut self, data: &Dataset) -> Neuron<'a> {
        self.deviations = moments(data).1;
        self
    }

    /// The SVG text.
    pub fn draw(&self, style: &Style) -> Result<String> {
        let (inputs, neurons) = (self.model.n_features(), self.model.planes.len());
        if neurons > MOST_NEURONS {
            return Err(Error::usage(format!(
                "the view neuron has room for {MOST_NEURONS} planes and the model has {neurons}; \
                 linsep show lists all weights"
            )));
        }
        if self.model.planes.iter().any(|plane| plane.weights.len() != inputs) {
            return Err(Error::usage(
                "the planes of the model do not weigh its columns one by one",
            ));
        }
        let mut notes = Vec::new();
        if !self.about.is_empty() {
            notes.push(format!("{}.", self.about));
        }
        if let Some(threshold) = self.model.input.binarize {
            notes.push(format!(
                "An input is 1 where its column is above {}, else 0.",
                short(threshold)
            ));
        }
        let shown = self.shown();
        let more = inputs - shown.len();
        let thick = match (more > 0, self.deviations.is_empty()) {
            (true, false) => "thick ones move the sum more for a row one standard deviation off",
            _ => "thick ones weigh more",
        };
        notes.push(format!(
            "Blue lines have positive weights, orange dashed ones negative; {thick}."
        ));
        if more > 0 {
            let measure = match self.deviations.is_empty() {
                true => "weights",
                false => "weights times the standard deviations of their columns",
            };
            notes.push(format!(
                "Of {inputs} inputs the {} with the largest {measure} are shown.",
                shown.len()
            ));
        }
        let pitch = 46.0;
        let nodes = (shown.len() + 1 + usize::from(more > 0)) as f64;
        let table = if neurons > 1 { 30.0 + 20.0 * (shown.len() + 1) as f64 } else { 0.0 };
        let room = if neurons > FEW_NEURONS { 62.0 } else { 120.0 };
        let height = (pitch * nodes).max(room * neurons as f64).max(200.0);
        let mut page = Page::new(&style.title, &notes, &[], height + table + 20.0);
        let top = page.room.y;
        let svg = &mut page.svg;
        let input_at = |j: usize| [210.0, top + height * (j as f64 + 0.5) / nodes];
        let sum_at = |k: usize| [500.0, top + height * (k as f64 + 0.5) / neurons as f64];
        // Node 0 is the constant, node j + 1 the input that comes at place j.
        let size = |j: usize, plane: &Plane| match j {
            0 => plane.bias,
            j => plane.weights[shown[j - 1]],
        };
        let planes = &self.model.planes;
        // How thick a line is; where not all inputs are shown, the constant's does not count.
        let pull = |j: usize, plane: &Plane| match j.checked_sub(1) {
            None if more > 0 => 0.0,
            None => plane.bias.abs(),
            Some(at) if more > 0 => self.pull(shown[at], plane),
            Some(at) => plane.weights[shown[at]].abs(),
        };
        let all = planes.iter().flat_map(|p| (0..=shown.len()).map(move |j| pull(j, p)));
        let most = all.fold(f64::MIN_POSITIVE, f64::max);
        for (k, plane) in planes.iter().enumerate() {
            for j in 0..=shown.len() {
                let weight = size(j, plane);
                let (tone, dash) = if weight < 0.0 { (MINUS, "6 4") } else { (PLUS, "") };
                let width = 0.8 + 4.0 * (pull(j, plane) / most).min(1.0);
                let line = super::axes::stroke(tone, width, dash);
                svg.line(input_at(j), sum_at(k), &format!("class=\"synapse\" {line}"));
            }
            if more > 0 {
                let line = super::axes::stroke(GREY, 0.8, "1 4");
                svg.line(input_at(shown.len() + 1), sum_at(k), &format!("class=\"others\" {line}"));
            }
        }
        for j in 0..=shown.len() + usize::from(more > 0) {
            let at = input_at(j);
            node(svg, at, 15.0, "#ffffff");
            let (symbol, name) = match j.checked_sub(1) {
                None => ("1".to_owned(), "constant".to_owned()),
                Some(j) => match shown.get(j) {
                    Some(&j) => (format!("x{}", j + 1), self.model.input.feature_name(j)),
                    None => ("…".to_owned(), format!("{more} more")),
                },
            };
            svg.text([at[0], at[1] + 4.0], Type::new(11.5, Anchor::Middle), &symbol);
            svg.cut_text([at[0] - 24.0, at[1] + 4.5], Type::new(13.0, Anchor::End), &name, 165.0);
        }
        if neurons == 1 {
            // Weights stand in a column of their own on their lines.
            for j in 0..=shown.len() {
                let (from, to) = (input_at(j), sum_at(0));
                let share = 0.32;
                let at = [
                    from[0] + share * (to[0] - from[0]),
                    from[1] + share * (to[1] - from[1]) + 4.0,
                ];
                let style = Type { halo: true, ..Type::new(12.5, Anchor::Middle) };
                svg.text(at, style, &short(size(j, &planes[0])));
            }
        }
        for (k, _) in planes.iter().enumerate() {
            self.output(svg, k, sum_at(k));
        }
        if neurons > 1 {
            self.table(svg, &shown, top + height + 24.0);
        }
        Ok(page.finish(style.width))
    }

    /// The sum, the step and the class.
    fn output(&self, svg: &mut Svg, k: usize, at: [f64; 2]) {
        node(svg, at, 22.0, "#ffffff");
        svg.text([at[0], at[1] + 7.0], Type { bold: true, ..Type::new(20.0, Anchor::Middle) }, "Σ");
        let classes = &self.model.classes;
        let small = Type { fill: GREY, ..Type::new(12.0, Anchor::Start) };
        match self.model.rule {
            Rule::Sign => {
                let x = at[0] + 62.0;
                svg.arrow([at[0] + 22.0, at[1]], [x - 22.0, at[1]], INK, "axon");
                let step = Area { x: x - 22.0, y: at[1] - 22.0, width: 44.0, height: 44.0 };
                svg.rect(step, &format!("fill=\"#ffffff\" stroke=\"{INK}\" stroke-width=\"1.6\""));
                let [l, m, r] = [x - 15.0, x, x + 15.0];
                let [low, high] = [at[1] + 12.0, at[1] - 12.0];
                let shape = vec![[l, low], [m, low], [m, high], [r, high]];
                svg.path(&[shape], false, &super::axes::stroke(INK, 2.0, ""));
                svg.arrow([x + 22.0, at[1]], [x + 48.0, at[1]], INK, "axon");
                for (class, words, y) in
                    [(1, "sum ≥ 0", at[1] - 14.0), (0, "sum < 0", at[1] + 16.0)]
                {
                    let name = classes.get(class).map_or("", String::as_str);
                    svg.marker(class, [x + 64.0, y], 5.0, &format!("fill=\"{}\"", colour(class)));
                    svg.cut_text([x + 76.0, y + 4.5], Type::new(13.5, Anchor::Start), name, 145.0);
                    svg.text([x + 76.0, y + if class == 1 { -12.0 } else { 21.0 }], small, words);
                }
            }
            _ => {
                svg.arrow([at[0] + 22.0, at[1]], [at[0] + 70.0, at[1]], INK, "axon");
                let names = self.model.score_names();
                let name = names.get(k).map_or("", String::as_str);
                svg.marker(k, [at[0] + 84.0, at[1]], 5.0, &format!("fill=\"{}\"", colour(k)));
                let style = Type::new(13.5, Anchor::Start);
                svg.cut_text([at[0] + 96.0, at[1] + 4.5], style, name, 180.0);
                if k == 0 {
                    let words = match self.model.rule {
                        Rule::Vote => "every sum decides a pair",
                        Rule::RestLast => "the highest sum ≥ 0 wins, or the last class",
                        Rule::Ballot(_) => "the planes vote",
                        _ => "the highest sum wins",
                    };
                    svg.text([at[0] + 96.0, at[1] - 18.0], small, words);
                }
            }
        }
    }

    /// |w_j s_j|.
    fn pull(&self, j: usize, plane: &Plane) -> f64 {
        plane.weights[j].abs() * self.deviations.get(j).copied().unwrap_or(1.0)
    }

    /// The columns that have a node, in the order of the file or the largest first.
    fn shown(&self) -> Vec<usize> {
        let inputs = self.model.n_features();
        if inputs <= MOST_INPUTS {
            return (0..inputs).collect();
        }
        let size = |j: usize| {
            let pulls = self.model.planes.iter().map(|plane| self.pull(j, plane));
            pulls.fold(0.0, f64::max)
        };
        let mut order = places(inputs, &mut |a, b| size(b).total_cmp(&size(a)));
        order.truncate(MOST_INPUTS - 1);
        order
    }

    /// The weights that are shown, a column for each neuron.
    fn table(&self, svg: &mut Svg, shown: &[usize], top: f64) {
        let planes = &self.model.planes;
        let left = if planes.len() > FEW_NEURONS { 130.0 } else { 220.0 };
        let text = if planes.len() > FEW_NEURONS { 10.5 } else { 12.5 };
        let width = (780.0 - left) / planes.len() as f64;
        let x = |k: usize| left + width * (k as f64 + 1.0);
        let head = Type { bold: true, ..Type::new(text, Anchor::End) };
        for (k, class) in self.model.score_names().iter().enumerate().take(planes.len()) {
            svg.cut_text([x(k), top], head, class, (width - 12.0) / 1.08);
        }
        let rows = std::iter::once(None).chain(shown.iter().map(|j| Some(*j)));
        for (at, column) in rows.enumerate() {
            let y = top + 20.0 * (at as f64 + 1.0);
            let name = column.map_or("constant".to_owned(), |j| self.model.input.feature_name(j));
            svg.cut_text([24.0, y], Type::new(text, Anchor::Start), &name, left - 40.0);
            for (k, plane) in planes.iter().enumerate() {
                let weight = column.map_or(plane.bias, |j| plane.weights[j]);
                svg.text([x(k), y], Type::new(text, Anchor::End), &short(weight));
            }
        }
    }
}

fn node(svg: &mut Svg, [x, y]: [f64; 2], r: f64, fill: &str) {
    let [x, y, r] = [x, y, r].map(number);
    svg.element(
        "circle",
        &format!(
            "class=\"node\" cx=\"{x}\" cy=\"{y}\" r=\"{r}\" fill=\"{fill}\" stroke=\"{INK}\" stroke-width=\"1.6\""
        ),
    );
}
