//! What a model makes of a picture of pattern space: regions, boundaries, margin band, hatching, normal.
//!
//! Straight lines cut the frame into convex polygons. A model that is not linear in the columns is drawn
//! from its scores on a grid.

use super::axes::{Frame, stroke};
use super::contour::Grid;
use super::cut::{Line, inside, keep, keep_segment, middle, pieces};
use super::pattern::{Scene, is_argmax};
use super::svg::{Anchor, INK, Svg, Type, colour};
use linsep::model::{LinearModel, Rule};

/// Features and planes up to which a curved model is drawn from a grid.
const MOST_CURVED: usize = 20_000;

/// Classes up to which boundaries of pairs are drawn.
const MOST_PAIRED: usize = 60;

/// Whether a grid of scores can be paid for.
pub(super) fn can_be_drawn_from_a_grid(model: &LinearModel, features: usize) -> bool {
    features * model.planes.len() <= MOST_CURVED
}

impl Scene<'_> {
    /// Tinted regions, hatching, boundaries and the band of a model of straight lines.
    pub(super) fn regions(
        &self,
        svg: &mut Svg,
        frame: &Frame,
        model: &LinearModel,
        lines: &[Line],
    ) {
        let sheet = frame.corners();
        let mut of_class = vec![Vec::new(); self.classes.len()];
        match is_argmax(model) {
            true => {
                for (class, line) in lines.iter().enumerate() {
                    let rivals = lines.iter().enumerate().filter(|(k, _)| *k != class);
                    let region = rivals.fold(sheet.clone(), |polygon, (_, rival)| {
                        keep(&polygon, &line.minus(rival))
                    });
                    of_class[class].push(region);
                }
            }
            false => {
                for piece in pieces(sheet.clone(), lines) {
                    of_class[Scene::class_by_lines(model, lines, middle(&piece))].push(piece);
                }
            }
        }
        for (class, regions) in of_class.iter().enumerate() {
            let shapes: Vec<Vec<[f64; 2]>> = regions.iter().map(|r| frame.polygon(r)).collect();
            let attributes =
                format!("class=\"region\" fill=\"{}\" fill-opacity=\"0.16\"", colour(class));
            svg.path(&shapes, true, &attributes);
        }
        if self.hatches() {
            self.hatch(svg, frame, model, lines);
        }
        if self.has_band() {
            for (score, name) in [(self.closest[0], "negative"), (self.closest[1], "positive")] {
                if let Some([from, to]) = inside(&sheet, &lines[0].raised(-score)) {
                    let attributes = format!("class=\"margin {name}\" {}", stroke(INK, 1.3, "5 4"));
                    svg.line(frame.at(from), frame.at(to), &attributes);
                }
            }
        }
        for [from, to] in boundaries(&sheet, model, lines) {
            let ends = format!("{:?} {:?} {:?} {:?}", from[0], from[1], to[0], to[1]);
            let attributes =
                format!("class=\"boundary\" data-ends=\"{ends}\" {}", stroke(INK, 2.0, ""));
            svg.line(frame.at(from), frame.at(to), &attributes);
        }
    }

    fn hatch(&self, svg: &mut Svg, frame: &Frame, model: &LinearModel, lines: &[Line]) {
        let mut layers = [Vec::new(), Vec::new()];
        for piece in pieces(frame.corners(), lines) {
            let at = middle(&piece);
            let scores: Vec<f64> = lines.iter().map(|line| line.at(at)).collect();
            match model.claimants(&scores) {
                0 => layers[0].push(frame.polygon(&piece)),
                1 => {}
                _ => layers[1].push(frame.polygon(&piece)),
            }
        }
        svg.hatchings();
        for (layer, name) in layers.iter().zip(["none", "several"]) {
            let attributes =
                format!("class=\"ambiguous {name}\" fill=\"url(#{name})\" fill-opacity=\"0.55\"");
            svg.path(layer, true, &attributes);
        }
    }

    /// Regions and boundaries from scores on a grid.
    pub(super) fn curved_regions(&self, svg: &mut Svg, frame: &Frame, model: &LinearModel) {
        const ACROSS: usize = 108;
        const UP: usize = 96;
        let class_at = |point| model.class_of(&self.scores_at(model, point)) as usize;
        let (width, height) = (frame.x.span() / ACROSS as f64, frame.y.span() / UP as f64);
        let mut of_class = vec![Vec::new(); self.classes.len()];
        for j in 0..UP {
            let y = frame.y.low + height * j as f64;
            let class =
                |i: usize| class_at([frame.x.low + width * (i as f64 + 0.5), y + height / 2.0]);
            let row: Vec<usize> = (0..ACROSS).map(class).collect();
            let mut start = 0;
            for i in 1..=ACROSS {
                if i == ACROSS || row[i] != row[start] {
                    let (low, high) =
                        (frame.x.low + width * start as f64, frame.x.low + width * i as f64);
                    let corners = [[low, y], [high, y], [high, y + height], [low, y + height]];
                    of_class[row[start]].push(frame.polygon(&corners));
                    start = i;
                }
            }
        }
        for (class, shapes) in of_class.iter().enumerate() {
            let attributes =
                format!("class=\"region\" fill=\"{}\" fill-opacity=\"0.16\"", colour(class));
            svg.path(shapes, true, &attributes);
        }
        for class in usize::from(self.classes.len() == 2)..self.classes.len() {
            // The lead of a class over its rivals changes its sign at its boundary.
            let lead = |point| {
                let scores = self.scores_at(model, point);
                let rivals = scores.iter().enumerate().filter(|(k, _)| *k != class);
                if model.rule == Rule::Sign {
                    scores[0]
                } else if is_argmax(model) {
                    scores[class] - rivals.map(|(_, s)| *s).fold(f64::NEG_INFINITY, f64::max)
                } else if model.class_of(&scores) as usize == class {
                    0.5
                } else {
                    -0.5
                }
            };
            let grid = Grid::new(&frame.x, &frame.y, ACROSS, UP, lead);
            let curves: Vec<Vec<[f64; 2]>> =
                grid.curves(0.0).iter().map(|curve| frame.polygon(curve)).collect();
            svg.path(&curves, false, &format!("class=\"boundary\" {}", stroke(INK, 1.6, "")));
        }
    }

    /// The normal as an arrow from the middle of the boundary.
    pub(super) fn normal(&self, svg: &mut Svg, frame: &Frame, model: &LinearModel, lines: &[Line]) {
        let Some([from, to]) = boundaries(&frame.corners(), model, lines).first().copied() else {
            return;
        };
        if !self.has_normal() {
            return;
        }
        let foot = frame.at([(from[0] + to[0]) / 2.0, (from[1] + to[1]) / 2.0]);
        // Where w points in the picture: each coordinate in the units of its axis.
        let step = [
            lines[0].a / frame.x.span() * frame.area.width,
            -lines[0].b / frame.y.span() * frame.area.height,
        ];
        let size = step[0].hypot(step[1]);
        if !(size.is_finite() && size > 0.0) {
            return;
        }
        // As long as the frame allows, up to a length that can be seen.
        let space = |k: usize| {
            let (low, length) =
                [(frame.area.x, frame.area.width), (frame.area.y, frame.area.height)][k];
            let edge = if step[k] > 0.0 { low + length } else { low };
            if step[k] == 0.0 { f64::INFINITY } else { (edge - foot[k]) / step[k] * size }
        };
        let length = space(0).min(space(1)).min(56.0);
        if length < 12.0 {
            return;
        }
        let head = [foot[0] + length * step[0] / size, foot[1] + length * step[1] / size];
        svg.arrow(foot, head, INK, "normal");
        let style = Type { bold: true, halo: true, ..Type::new(14.0, Anchor::Start) };
        svg.text_near(head, 8.0, style, "w", frame.area);
    }
}
/// The lines between regions: that of the one plane, or for each pair of classes the part where both
/// are ahead of all others. Other rules have the lines of their machines.
pub(super) fn boundaries(
    sheet: &[[f64; 2]],
    model: &LinearModel,
    lines: &[Line],
) -> Vec<[[f64; 2]; 2]> {
    if !is_argmax(model) {
        return lines.iter().filter_map(|line| inside(sheet, line)).collect();
    }
    let mut found = Vec::new();
    let count = if lines.len() > MOST_PAIRED { 0 } else { lines.len() };
    for j in 0..count {
        for k in j + 1..count {
            let others = (0..count).filter(|m| *m != j && *m != k);
            let whole = inside(sheet, &lines[j].minus(&lines[k]));
            found.extend(others.fold(whole, |segment, m| {
                segment.and_then(|ends| keep_segment(ends, &lines[j].minus(&lines[m])))
            }));
        }
    }
    found.retain(|[from, to]| from != to);
    found
}
