//! Scales with round ticks, frames that map numbers to the sheet, legends, and the page around them.

use super::svg::{
    Anchor, Area, GREY, INK, PALE, SHEET, Svg, Type, colour, fit, number, text_width, wrap,
};

/// Where a frame may stand, and how far its sheet goes down.
pub(crate) struct Page {
    pub(crate) svg: Svg,
    /// The room for frames, beside the legend.
    pub(crate) room: Area,
    height: f64,
    title: String,
}

/// Units for the axis on the left and below.
pub(crate) const LEFT: f64 = 66.0;
pub(crate) const BELOW: f64 = 46.0;

const LEGEND: f64 = 190.0;
const LINE: f64 = 20.0;

/// The room that a page with a legend has for frames of this height, but for where it stands.
pub(crate) fn room(height: f64) -> Area {
    Area { x: 0.0, y: 0.0, width: SHEET - LEGEND, height }
}

impl Page {
    /// A page with a title, lines below it, a legend on the right and room for frames of this height.
    pub(crate) fn new(title: &str, notes: &[String], legend: &[Entry], height: f64) -> Page {
        let mut svg = Svg::new();
        let heading = Type { bold: true, ..Type::new(17.0, Anchor::Start) };
        svg.cut_text([16.0, 28.0], heading, title, 700.0);
        let mut y = 48.0;
        let note = Type { fill: GREY, ..Type::new(12.5, Anchor::Start) };
        for line in notes.iter().flat_map(|text| wrap(text, 12.5, SHEET - 40.0)) {
            svg.text([16.0, y], note, &line);
            y += 17.0;
        }
        let top = y + 2.0;
        let width = if legend.is_empty() { SHEET - 16.0 } else { room(height).width };
        let room = Area { x: 0.0, y: top, width, height };
        let rows = legend.iter().map(Entry::lines).sum::<usize>() as f64;
        let mut page = Page {
            svg,
            room,
            height: (top + height).max(top + rows * LINE + 24.0) + 10.0,
            title: title.to_owned(),
        };
        page.legend(legend, [SHEET - LEGEND + 16.0, top + 16.0]);
        page
    }

    pub(crate) fn finish(self, width: u32) -> String {
        self.svg.finish(&self.title, self.height, width)
    }

    fn legend(&mut self, legend: &[Entry], [x, mut y]: [f64; 2]) {
        for entry in legend {
            entry.sample.draw(&mut self.svg, [x, y]);
            let indent = if entry.sample == Sample::Nothing { 0.0 } else { 30.0 };
            let style =
                Type { bold: entry.sample == Sample::Nothing, ..Type::new(12.5, Anchor::Start) };
            let room = SHEET - 8.0 - x - indent;
            let room = if style.bold { room / 1.08 } else { room };
            match entry.wrapped {
                true => {
                    for line in entry.broken() {
                        self.svg.text([x + indent, y + 4.5], style, &line);
                        y += LINE - 3.0;
                    }
                    y += 3.0;
                }
                false => {
                    self.svg.cut_text([x + indent, y + 4.5], style, &entry.text, room);
                    y += LINE;
                }
            }
        }
    }
}

/// A line of a legend.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    sample: Sample,
    text: String,
    /// Broken into lines where it is long, not cut: for words of ours, not for names.
    wrapped: bool,
}

impl Entry {
    /// A name of the user's, cut where it is too long.
    pub(crate) fn name(sample: Sample, text: &str) -> Entry {
        Entry { sample, text: text.to_owned(), wrapped: false }
    }

    /// Words of ours.
    pub(crate) fn words(sample: Sample, text: impl Into<String>) -> Entry {
        Entry { sample, text: text.into(), wrapped: true }
    }

    fn broken(&self) -> Vec<String> {
        let indent = if self.sample == Sample::Nothing { 0.0 } else { 30.0 };
        wrap(&self.text, 12.5, (LEGEND - 26.0 - indent) / 1.08)
    }

    fn lines(&self) -> usize {
        if self.wrapped { self.broken().len() } else { 1 }
    }
}

/// The classes of a legend: a mark and a name each, as many as fit.
pub(crate) fn class_entries(classes: &[String], counts: &[usize]) -> Vec<Entry> {
    const MOST: usize = 20;
    let entry = |(class, (name, count)): (usize, (&String, &usize))| {
        let count = format!(" ({count})");
        let name = fit(name, 12.5, 125.0 - text_width(&count, 12.5));
        Entry::name(Sample::Marker(class), &format!("{name}{count}"))
    };
    let pairs = classes.iter().zip(counts).enumerate();
    let mut entries: Vec<Entry> = pairs.take(MOST).map(entry).collect();
    if classes.len() > MOST {
        entries.push(Entry::words(
            Sample::Nothing,
            format!("and {} more classes", classes.len() - MOST),
        ));
    }
    entries
}

/// What stands before a line of a legend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sample {
    Nothing,
    Marker(usize),
    Line(&'static str, &'static str),
    Patch(&'static str, f64),
    Ring,
    Arrow(&'static str),
    Dot(&'static str),
}

impl Sample {
    fn draw(self, svg: &mut Svg, [x, y]: [f64; 2]) {
        let patch = Area { x, y: y - 6.5, width: 22.0, height: 13.0 };
        match self {
            Sample::Nothing => {}
            Sample::Marker(class) => svg.marker(
                class,
                [x + 11.0, y],
                4.6,
                &format!("fill=\"{}\" stroke=\"#ffffff\" stroke-width=\"0.6\"", colour(class)),
            ),
            Sample::Line(colour, dash) => {
                svg.line([x, y], [x + 22.0, y], &stroke(colour, 2.0, dash));
            }
            Sample::Patch(fill, opacity) => svg.rect(
                patch,
                &format!(
                    "fill=\"{fill}\" fill-opacity=\"{}\" stroke=\"{PALE}\"",
                    number(opacity)
                ),
            ),
            Sample::Ring => svg.element(
                "circle",
                &format!(
                    "cx=\"{}\" cy=\"{}\" r=\"7\" fill=\"none\" stroke=\"{INK}\" stroke-width=\"1.6\"",
                    number(x + 11.0),
                    number(y)
                ),
            ),
            Sample::Arrow(colour) => svg.arrow([x, y], [x + 22.0, y], colour, "sample"),
            Sample::Dot(colour) => svg.element(
                "circle",
                &format!(
                    "cx=\"{}\" cy=\"{}\" r=\"4\" fill=\"{colour}\"",
                    number(x + 11.0),
                    number(y)
                ),
            ),
        }
    }
}

/// The attributes of a line.
pub(crate) fn stroke(colour: &str, width: f64, dash: &str) -> String {
    let dash = match dash {
        "" => String::new(),
        dash => format!(" stroke-dasharray=\"{dash}\""),
    };
    format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"{}\"{dash}", number(width))
}

/// An axis: numbers from `low` to `high` with a round step between ticks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Axis {
    /// An axis that holds these numbers with a little room at both ends.
    pub(crate) fn around(numbers: impl IntoIterator<Item = f64>, room: f64) -> Axis {
        // Below the range of binary64, so that differences and ticks stay finite.
        const MOST: f64 = 1e300;
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for x in numbers.into_iter().filter(|x| x.is_finite()) {
            (low, high) = (low.min(x), high.max(x));
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        (low, high) = (low.clamp(-MOST, MOST), high.clamp(-MOST, MOST));
        let size = low.abs().max(high.abs());
        // Numbers that agree to many digits would have ticks that look alike.
        if high - low <= 1e-9 * size || high == low {
            let half = if size == 0.0 { 1.0 } else { (0.5 * size).max(f64::MIN_POSITIVE) };
            (low, high) = (low - half, high + half);
        }
        let more = room * (high - low);
        Axis { low: (low - more).max(-MOST), high: (high + more).min(MOST) }
    }

    pub(crate) fn span(&self) -> f64 {
        self.high - self.low
    }

    pub(crate) fn share(&self, x: f64) -> f64 {
        (x - self.low) / self.span()
    }

    /// About `count` ticks at multiples of 1, 2 or 5 times a power of ten, with their texts.
    pub(crate) fn ticks(&self, count: usize) -> Vec<(f64, String)> {
        let raw = self.span() / count.max(1) as f64;
        let power = 10f64.powi(raw.log10().floor().clamp(-307.0, 300.0) as i32);
        let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| *s >= raw * 0.999);
        let step = step.unwrap_or(10.0 * power);
        if !step.is_finite() || step <= 0.0 {
            return Vec::new();
        }
        let (first, last) = ((self.low / step - 1e-9).ceil(), (self.high / step + 1e-9).floor());
        let most = 4 * count + 4;
        let ticks = (0..most).map(|k| first + k as f64).take_while(|m| *m <= last);
        let largest = self.low.abs().max(self.high.abs());
        ticks.map(|m| (m * step, tick_text(m * step, step, largest))).collect()
    }
}

/// A tick as text: as many decimals as the step asks for, powers of ten for very large or small ones.
fn tick_text(value: f64, step: f64, largest: f64) -> String {
    if value.abs() < step * 1e-6 {
        return "0".to_owned();
    }
    let size = value.abs().max(step);
    // Digits so that neighbours differ.
    let digits = (size.log10().floor() - step.log10().floor()).clamp(0.0, 14.0) as usize;
    // Long numbers have no room beside the name of an axis.
    if size >= 1e6 || (largest >= 2e4 && digits <= 2) || step < 1e-4 {
        let text = format!("{value:.digits$e}");
        return match text.split_once('e') {
            Some((mantissa, power)) if mantissa.contains('.') => {
                format!("{}e{power}", mantissa.trim_end_matches('0').trim_end_matches('.'))
            }
            _ => text,
        };
    }
    let decimals = (-step.log10().floor()).clamp(0.0, 12.0) as usize;
    format!("{value:.decimals$}")
}

/// Two axes on a part of the sheet.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) area: Area,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
}

impl Frame {
    /// The frame in a room, with space for its axes' texts.
    pub(crate) fn within(room: Area, x: Axis, y: Axis) -> Frame {
        let area = Area {
            x: room.x + LEFT,
            y: room.y + 6.0,
            width: room.width - LEFT - 10.0,
            height: room.height - BELOW - 6.0,
        };
        Frame { area, x, y }
    }

    /// Widens one axis until a unit is as long on both. Right angles then look right.
    pub(crate) fn even(mut self) -> Frame {
        let unit = (self.x.span() / self.area.width).max(self.y.span() / self.area.height);
        for (axis, length) in [(&mut self.x, self.area.width), (&mut self.y, self.area.height)] {
            let more = (unit * length - axis.span()) / 2.0;
            *axis = Axis { low: axis.low - more, high: axis.high + more };
        }
        self
    }

    /// A point of the sheet, kept within a few frames' widths.
    pub(crate) fn at(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [
            self.area.x + self.x.share(x).clamp(-9.0, 9.0) * self.area.width,
            self.area.bottom() - self.y.share(y).clamp(-9.0, 9.0) * self.area.height,
        ]
    }

    /// The corners in numbers, in order around the frame.
    pub(crate) fn corners(&self) -> Vec<[f64; 2]> {
        let (x, y) = (&self.x, &self.y);
        vec![[x.low, y.low], [x.high, y.low], [x.high, y.high], [x.low, y.high]]
    }

    pub(crate) fn holds(&self, [x, y]: [f64; 2]) -> bool {
        (0.0..=1.0).contains(&self.x.share(x)) && (0.0..=1.0).contains(&self.y.share(y))
    }

    pub(crate) fn polygon(&self, points: &[[f64; 2]]) -> Vec<[f64; 2]> {
        points.iter().map(|point| self.at(*point)).collect()
    }

    /// Edge, ticks and names. The names are cut to the frame.
    pub(crate) fn draw(&self, svg: &mut Svg, x_name: &str, y_name: &str) {
        self.draw_below(svg);
        let rows = ((self.area.height / 46.0) as usize).clamp(2, 8);
        self.left_ticks(svg, &self.y.ticks(rows));
        self.finish_axes(svg, x_name, y_name);
    }

    /// The ticks below.
    pub(crate) fn draw_below(&self, svg: &mut Svg) {
        let mut count = 7;
        let mut ticks = self.x.ticks(count);
        let widest = |ticks: &[(f64, String)]| {
            ticks.iter().map(|(_, text)| text_width(text, 12.0)).fold(0.0, f64::max)
        };
        while count > 1 && (widest(&ticks) + 10.0) * ticks.len() as f64 > self.area.width {
            count -= 1;
            ticks = self.x.ticks(count);
        }
        let bottom = self.area.bottom();
        let style = Type { fill: GREY, ..Type::new(12.0, Anchor::Middle) };
        for (value, text) in ticks {
            let x = self.at([value, self.y.low])[0];
            svg.line([x, bottom], [x, bottom + 5.0], &stroke(GREY, 1.0, ""));
            svg.text([x, bottom + 18.0], style, &text);
        }
    }

    /// Texts on the left axis; cut where they are too long.
    pub(crate) fn left_ticks(&self, svg: &mut Svg, ticks: &[(f64, String)]) {
        let style = Type { fill: GREY, ..Type::new(12.0, Anchor::End) };
        for (value, text) in ticks {
            let y = self.at([self.x.low, *value])[1];
            svg.line([self.area.x - 5.0, y], [self.area.x, y], &stroke(GREY, 1.0, ""));
            svg.cut_text([self.area.x - 8.0, y + 4.2], style, text, LEFT - 26.0);
        }
    }

    /// The edge and the names.
    pub(crate) fn finish_axes(&self, svg: &mut Svg, x_name: &str, y_name: &str) {
        svg.rect(self.area, &stroke(GREY, 1.0, ""));
        let style = Type::new(13.0, Anchor::Middle);
        let middle = [self.area.x + self.area.width / 2.0, self.area.y + self.area.height / 2.0];
        svg.cut_text([middle[0], self.area.bottom() + 37.0], style, x_name, self.area.width);
        if !y_name.is_empty() {
            let y_name = fit(y_name, 13.0, self.area.height);
            svg.upright_text([self.area.x - LEFT + 18.0, middle[1]], style, &y_name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(low: f64, high: f64) -> Vec<String> {
        Axis { low, high }.ticks(5).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round_and_told_apart() {
        assert_eq!(
            texts(0.0, 1.0),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"].map(|t| if t == "0.0" { "0" } else { t })
        );
        assert_eq!(texts(-3.0, 7.0), ["-2", "0", "2", "4", "6"]);
        assert_eq!(texts(0.0, 4e7), ["0", "1e7", "2e7", "3e7", "4e7"]);
        for (low, high) in
            [(1e-12, 5e-12), (-1e300, 1e300), (1e9, 1e9 + 10.0), (0.1, 0.1001), (-4e299, 4e299)]
        {
            let texts = texts(low, high);
            assert!((2..=12).contains(&texts.len()), "{texts:?}");
            for (k, text) in texts.iter().enumerate() {
                assert!(!texts[..k].contains(text), "{texts:?}");
            }
        }
    }

    #[test]
    fn an_axis_is_never_empty() {
        for numbers in [vec![], vec![3.0], vec![0.0, 0.0], vec![f64::NAN], vec![1e308, -1e308]] {
            let axis = Axis::around(numbers.clone(), 0.05);
            assert!(axis.span() > 0.0 && axis.span().is_finite(), "{numbers:?}");
            assert!(!axis.ticks(5).is_empty(), "{numbers:?}");
        }
    }
}
