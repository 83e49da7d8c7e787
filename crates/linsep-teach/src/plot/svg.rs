//! A small writer of SVG text. It knows only what the pictures need: lines, shapes, texts with an
//! estimate of their width, hatching, and the boxes of the texts, so that labels keep clear of each
//! other.
//!
//! Pictures are drawn on a sheet 800 units wide and shown at any width. Numbers have two decimals,
//! so the same picture has the same bytes on every machine; a number that is not finite is never
//! written.

use std::fmt::Write as _;

/// Units across a picture.
pub(crate) const SHEET: f64 = 800.0;

/// Ink, and the grey of what stands back.
pub(crate) const INK: &str = "#222222";
pub(crate) const GREY: &str = "#666666";
pub(crate) const PALE: &str = "#d9d9d9";

/// Ten colours that are seen apart: the palette of Okabe and Ito, which does not depend on colour vision,
/// with its black changed to wine, which no line or ring has, and indigo and a dark olive added.
/// Yellow is among the last because it is the hardest to see on white.
const PALETTE: [&str; 10] = [
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#882255", "#F0E442",
    "#332288", "#5B5B00",
];

/// Shapes of marks.
const SHAPES: usize = 10;

/// The colour of a class.
pub(crate) fn colour(class: usize) -> &'static str {
    PALETTE[class % PALETTE.len()]
}

/// The shape of a class: beyond as many classes as colours, the same colour has another one.
fn shape_of(class: usize) -> usize {
    (class + class / PALETTE.len()) % SHAPES
}

/// Where a text is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text looks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Type {
    pub(crate) size: f64,
    pub(crate) anchor: Anchor,
    pub(crate) fill: &'static str,
    pub(crate) bold: bool,
    /// A white ground keeps it readable on lines and marks.
    pub(crate) halo: bool,
}

impl Type {
    pub(crate) const fn new(size: f64, anchor: Anchor) -> Type {
        Type { size, anchor, fill: INK, bold: false, halo: false }
    }
}

/// A box in the units of the sheet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Area {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Area {
    pub(crate) fn meets(&self, other: &Area) -> bool {
        self.x < other.x + other.width
            && other.x < self.x + self.width
            && self.y < other.y + other.height
            && other.y < self.y + self.height
    }

    pub(crate) fn holds(&self, other: &Area) -> bool {
        other.x >= self.x
            && other.y >= self.y
            && other.x + other.width <= self.x + self.width
            && other.y + other.height <= self.y + self.height
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.y + self.height
    }
}

/// A picture in the making.
pub(crate) struct Svg {
    body: String,
    texts: Vec<Area>,
    open: Vec<&'static str>,
}

impl Svg {
    pub(crate) fn new() -> Svg {
        Svg { body: String::new(), texts: Vec::new(), open: Vec::new() }
    }

    /// The whole file: `width` is how wide it is shown, `height` is in units of the sheet.
    pub(crate) fn finish(mut self, title: &str, height: f64, width: u32) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        let shown = f64::from(width);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" \
             viewBox=\"0 0 {} {}\" role=\"img\" font-family=\"Helvetica, Arial, 'DejaVu Sans', \
             sans-serif\">\n<title>{}</title>\n<rect width=\"{}\" height=\"{}\" \
             fill=\"#ffffff\"/>\n{}</svg>\n",
            number(shown),
            number((shown * height / SHEET).round()),
            number(SHEET),
            number(height),
            escape(title),
            number(SHEET),
            number(height),
            self.body
        )
    }

    /// One element: its name and its attributes, ready to be written.
    pub(crate) fn element(&mut self, name: &str, attributes: &str) {
        let _ = writeln!(self.body, "<{name} {attributes}/>");
    }

    /// Markup that is written as it is.
    pub(crate) fn raw(&mut self, markup: &str) {
        let _ = writeln!(self.body, "{markup}");
    }

    /// Opens a group that [`Svg::close`] ends.
    pub(crate) fn group(&mut self, attributes: &str) {
        let _ = writeln!(self.body, "<g {attributes}>");
        self.open.push("g");
    }

    pub(crate) fn close(&mut self) {
        if let Some(name) = self.open.pop() {
            let _ = writeln!(self.body, "</{name}>");
        }
    }

    pub(crate) fn line(&mut self, from: [f64; 2], to: [f64; 2], attributes: &str) {
        let [x1, y1, x2, y2] = [from[0], from[1], to[0], to[1]].map(number);
        let end = format!("x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" {attributes}");
        self.element("line", end.trim_end());
    }

    pub(crate) fn rect(&mut self, area: Area, attributes: &str) {
        let [x, y, w, h] = [area.x, area.y, area.width, area.height].map(number);
        self.element(
            "rect",
            &format!("x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" {attributes}"),
        );
    }

    /// A path through points, closed or open; nothing for fewer than two.
    pub(crate) fn path(&mut self, pieces: &[Vec<[f64; 2]>], closed: bool, attributes: &str) {
        let text: String = pieces.iter().map(|piece| path_text(piece, closed)).collect();
        if !text.is_empty() {
            self.element("path", &format!("d=\"{text}\" {attributes}"));
        }
    }

    /// An arrow with a filled head.
    pub(crate) fn arrow(&mut self, from: [f64; 2], to: [f64; 2], colour: &str, class: &str) {
        let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
        let length = dx.hypot(dy);
        if !length.is_finite() || length < 1e-6 {
            return;
        }
        let (ux, uy) = (dx / length, dy / length);
        let head = 10.0f64.min(length);
        let base = [to[0] - head * ux, to[1] - head * uy];
        self.line(
            from,
            base,
            &format!("class=\"{class}\" stroke=\"{colour}\" stroke-width=\"2.2\""),
        );
        let side = |s: f64| [base[0] - s * uy * 4.5, base[1] + s * ux * 4.5];
        self.path(&[vec![to, side(1.0), side(-1.0)]], true, &format!("fill=\"{colour}\""));
    }

    /// The mark of a class: shape and colour, so that it can be told without colour.
    pub(crate) fn marker(&mut self, class: usize, at: [f64; 2], r: f64, attributes: &str) {
        let [x, y] = at;
        let polygon = |corners: &[(f64, f64)]| {
            corners.iter().map(|(dx, dy)| [x + r * dx, y + r * dy]).collect::<Vec<_>>()
        };
        let shape: &[(f64, f64)] = match shape_of(class) {
            0 => {
                let [x, y, r] = [x, y, r].map(number);
                let end = format!("cx=\"{x}\" cy=\"{y}\" r=\"{r}\" {attributes}");
                return self.element("circle", end.trim_end());
            }
            1 => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
            2 => &[(0.0, -1.2), (1.1, 0.85), (-1.1, 0.85)],
            3 => &[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)],
            4 => &[(0.0, 1.2), (1.1, -0.85), (-1.1, -0.85)],
            5 => &PLUS,
            6 => &CROSS,
            7 => &[(-1.3, -0.55), (1.3, -0.55), (1.3, 0.55), (-1.3, 0.55)],
            8 => &STAR,
            _ => &[(-1.2, 0.0), (-0.6, -1.05), (0.6, -1.05), (1.2, 0.0), (0.6, 1.05), (-0.6, 1.05)],
        };
        self.path(&[polygon(shape)], true, attributes);
    }

    /// Patterns of lines for regions that no machine or several machines claim.
    pub(crate) fn hatchings(&mut self) {
        self.body.push_str(
            "<defs>\n<pattern id=\"none\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\" \
             patternTransform=\"rotate(45)\"><rect width=\"1.6\" height=\"8\" \
             fill=\"#444444\"/></pattern>\n<pattern id=\"several\" width=\"8\" height=\"8\" \
             patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><rect width=\"1.3\" \
             height=\"8\" fill=\"#444444\"/><rect width=\"8\" height=\"1.3\" \
             fill=\"#444444\"/></pattern>\n</defs>\n",
        );
    }

    /// A text; its box is kept.
    pub(crate) fn text(&mut self, at: [f64; 2], style: Type, text: &str) {
        self.texts.push(text_box(at, style, text));
        self.write_text(at, style, text, "");
    }

    /// A text that is cut to a width; the whole is its tooltip.
    pub(crate) fn cut_text(&mut self, at: [f64; 2], style: Type, text: &str, width: f64) {
        let cut = fit(text, style.size, width);
        if cut == text {
            return self.text(at, style, text);
        }
        self.texts.push(text_box(at, style, &cut));
        self.write_text(at, style, &cut, text);
    }

    /// A text that is read from below to above.
    pub(crate) fn upright_text(&mut self, at: [f64; 2], style: Type, text: &str) {
        let flat = text_box([0.0, 0.0], style, text);
        // A quarter turn to the left: (x, y) becomes (y, -x).
        self.texts.push(Area {
            x: at[0] + flat.y,
            y: at[1] - flat.x - flat.width,
            width: flat.height,
            height: flat.width,
        });
        let [x, y] = at.map(number);
        let turn = format!(" transform=\"rotate(-90 {x} {y})\"");
        let _ = writeln!(self.body, "<text {}{turn}>{}</text>", placed(at, style), escape(text));
    }

    /// A text at the first of the places around a point where it stands clear of every other one and
    /// inside `room`. False if there is none.
    pub(crate) fn text_near(
        &mut self,
        at: [f64; 2],
        away: f64,
        style: Type,
        text: &str,
        room: Area,
    ) -> bool {
        let lift = 0.35 * style.size;
        let places = [
            ([away, lift], Anchor::Start),
            ([-away, lift], Anchor::End),
            ([0.0, -away - 0.25 * style.size], Anchor::Middle),
            ([0.0, away + 0.95 * style.size], Anchor::Middle),
            ([away, -0.6 * away], Anchor::Start),
            ([-away, -0.6 * away], Anchor::End),
            ([away, 0.6 * away + style.size], Anchor::Start),
            ([-away, 0.6 * away + style.size], Anchor::End),
        ];
        for (shift, anchor) in places {
            let place = [at[0] + shift[0], at[1] + shift[1]];
            let style = Type { anchor, ..style };
            let area = text_box(place, style, text);
            if room.holds(&area) && !self.texts.iter().any(|other| other.meets(&area)) {
                self.text(place, style, text);
                return true;
            }
        }
        false
    }

    /// Keeps texts out of an area.
    pub(crate) fn reserve(&mut self, area: Area) {
        self.texts.push(area);
    }

    fn write_text(&mut self, at: [f64; 2], style: Type, text: &str, tooltip: &str) {
        if style.halo {
            let Area { x, y, width, height } = text_box(at, style, text);
            let ground = Area { x: x - 1.5, y: y - 0.5, width: width + 3.0, height: height + 1.0 };
            self.rect(ground, "class=\"ground\" rx=\"2\" fill=\"#ffffff\" fill-opacity=\"0.8\"");
        }
        let tooltip = match tooltip {
            "" => String::new(),
            tooltip => format!("<title>{}</title>", escape(tooltip)),
        };
        let _ = writeln!(self.body, "<text {}>{}{tooltip}</text>", placed(at, style), escape(text));
    }
}

const PLUS: [(f64, f64); 12] = [
    (-0.4, -1.2),
    (0.4, -1.2),
    (0.4, -0.4),
    (1.2, -0.4),
    (1.2, 0.4),
    (0.4, 0.4),
    (0.4, 1.2),
    (-0.4, 1.2),
    (-0.4, 0.4),
    (-1.2, 0.4),
    (-1.2, -0.4),
    (-0.4, -0.4),
];

const CROSS: [(f64, f64); 12] = [
    (-1.1, -0.6),
    (-0.6, -1.1),
    (0.0, -0.5),
    (0.6, -1.1),
    (1.1, -0.6),
    (0.5, 0.0),
    (1.1, 0.6),
    (0.6, 1.1),
    (0.0, 0.5),
    (-0.6, 1.1),
    (-1.1, 0.6),
    (-0.5, 0.0),
];

const STAR: [(f64, f64); 10] = [
    (0.0, -1.4),
    (0.34, -0.46),
    (1.33, -0.43),
    (0.54, 0.18),
    (0.82, 1.13),
    (0.0, 0.57),
    (-0.82, 1.13),
    (-0.54, 0.18),
    (-1.33, -0.43),
    (-0.34, -0.46),
];

fn placed(at: [f64; 2], style: Type) -> String {
    let [x, y] = at.map(number);
    let anchor = match style.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let bold = if style.bold { " font-weight=\"bold\"" } else { "" };
    let size = number(style.size);
    format!("x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{anchor}{bold} fill=\"{}\"", style.fill)
}

/// The box of a text, a little larger than its letters.
pub(crate) fn text_box(at: [f64; 2], style: Type, text: &str) -> Area {
    let width = text_width(text, style.size) * if style.bold { 1.08 } else { 1.0 };
    let x = match style.anchor {
        Anchor::Start => at[0],
        Anchor::Middle => at[0] - width / 2.0,
        Anchor::End => at[0] - width,
    };
    Area { x, y: at[1] - 0.82 * style.size, width, height: 1.07 * style.size }
}

/// About how wide a text is in a common sans-serif face, rather too wide than too narrow.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    let letter = |c: char| match c {
        'i' | 'j' | 'l' | '\'' | '|' | '.' | ',' | ':' | ';' | '!' | ' ' => 0.34,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' | '"' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.95,
        'A'..='Z' | '√' | '‖' | '·' | '²' => 0.72,
        c if (c as u32) < 0x2e80 => 0.62,
        _ => 1.05,
    };
    size * text.chars().map(letter).sum::<f64>()
}

/// The text, or as much of its beginning as fits with three dots.
pub(crate) fn fit(text: &str, size: f64, width: f64) -> String {
    if text_width(text, size) <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        if text_width(&kept, size) + text_width("…", size) > width {
            kept.pop();
            break;
        }
    }
    kept + "…"
}

/// A text in lines no wider than this, broken at blanks.
pub(crate) fn wrap(text: &str, size: f64, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line)
                if text_width(line, size) + text_width(&format!(" {word}"), size) <= width =>
            {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(fit(word, size, width)),
        }
    }
    lines
}

fn path_text(points: &[[f64; 2]], closed: bool) -> String {
    let mut text = String::new();
    if points.len() < 2 {
        return text;
    }
    for (k, point) in points.iter().enumerate() {
        let [x, y] = point.map(number);
        let _ = write!(text, "{}{x} {y}", if k == 0 { 'M' } else { 'L' });
    }
    if closed {
        text.push('Z');
    }
    text
}

/// A coordinate with at most two decimals. What is not finite, or beyond any sheet, is brought back.
pub(crate) fn number(x: f64) -> String {
    let x = if x.is_finite() { x.clamp(-1e5, 1e5) } else { 0.0 };
    let hundredths = (x * 100.0).round() as i64;
    let sign = if hundredths < 0 { "-" } else { "" };
    let (whole, rest) = (hundredths.abs() / 100, hundredths.abs() % 100);
    match rest {
        0 => format!("{sign}{whole}"),
        rest if rest % 10 == 0 => format!("{sign}{whole}.{}", rest / 10),
        rest => format!("{sign}{whole}.{rest:02}"),
    }
}

/// Text as XML holds it; characters that XML cannot hold become the replacement character.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_always_numbers() {
        for (x, text) in [
            (1.0, "1"),
            (-0.001, "0"),
            (2.5, "2.5"),
            (-2.25, "-2.25"),
            (0.005, "0.01"),
            (-0.31, "-0.31"),
            (f64::NAN, "0"),
            (f64::INFINITY, "0"),
            (1e300, "100000"),
        ] {
            assert_eq!(number(x), text);
        }
    }

    #[test]
    fn names_cannot_leave_their_text() {
        assert_eq!(escape("a<b & \"c\"'\u{1}"), "a&lt;b &amp; &quot;c&quot;&#39;\u{fffd}");
    }

    #[test]
    fn long_texts_are_cut_and_wrapped() {
        let cut = fit("a rather long name of a class", 12.0, 80.0);
        assert!(cut.ends_with('…') && text_width(&cut, 12.0) <= 80.0);
        let lines = wrap("one two three four five six seven", 12.0, 80.0);
        assert!(lines.len() > 2 && lines.iter().all(|line| text_width(line, 12.0) <= 80.0));
    }

    #[test]
    fn a_text_near_a_point_keeps_clear_of_the_others() {
        let mut svg = Svg::new();
        let room = Area { x: 0.0, y: 0.0, width: 200.0, height: 200.0 };
        let style = Type::new(12.0, Anchor::Start);
        let placed = (0..9).filter(|_| svg.text_near([100.0, 100.0], 8.0, style, "word", room));
        assert!(placed.count() >= 4);
        for (k, text) in svg.texts.iter().enumerate() {
            assert!(svg.texts[..k].iter().all(|other| !other.meets(text)));
        }
    }

    #[test]
    fn ten_colours_are_seen_apart_and_a_hundred_classes_have_marks_of_their_own() {
        // In the space of Oklab, where equal distances look equally different.
        let lab = |text: &str| {
            let channel = |k: usize| {
                let x = f64::from(u8::from_str_radix(&text[k..k + 2], 16).unwrap()) / 255.0;
                if x <= 0.040_45 { x / 12.92 } else { ((x + 0.055) / 1.055).powf(2.4) }
            };
            let [r, g, b] = [1, 3, 5].map(channel);
            let l = (0.412_221 * r + 0.536_333 * g + 0.051_446 * b).cbrt();
            let m = (0.211_903 * r + 0.680_700 * g + 0.107_397 * b).cbrt();
            let s = (0.088_302 * r + 0.281_719 * g + 0.629_979 * b).cbrt();
            [
                0.210_454 * l + 0.793_618 * m - 0.004_072 * s,
                1.977_998 * l - 2.428_592 * m + 0.450_594 * s,
                0.025_904 * l + 0.782_772 * m - 0.808_676 * s,
            ]
        };
        for (k, a) in PALETTE.iter().enumerate() {
            for b in PALETTE[..k].iter().chain(&[INK, "#ffffff"]) {
                let (x, y) = (lab(a), lab(b));
                let far: f64 = (0..3).map(|j| (x[j] - y[j]).powi(2)).sum::<f64>().sqrt();
                assert!(far > 0.15, "{a} and {b}: {far}");
            }
        }
        let marks: std::collections::BTreeSet<_> =
            (0..100).map(|class| (colour(class), shape_of(class))).collect();
        assert_eq!(marks.len(), 100);
    }

    #[test]
    fn a_label_has_a_ground_of_its_own() {
        let mut svg = Svg::new();
        let style = Type { halo: true, ..Type::new(12.0, Anchor::Start) };
        svg.text([10.0, 20.0], style, "a label");
        svg.text([10.0, 60.0], Type::new(12.0, Anchor::Start), "no label");
        assert_eq!(svg.body.matches("class=\"ground\"").count(), 1);
        assert!(svg.body.find("ground") < svg.body.find("a label"));
    }
}
