//! Text measured and outlined with one bundled font.
//!
//! Pictures must look the same on a machine without fonts, and no two texts may overlap, so widths
//! and outlines come from a subset of Arimo that is part of the program. Arimo has the advance
//! widths of Arial, Helvetica and Liberation Sans: an SVG shown with any of them keeps its layout.

use std::sync::OnceLock;
use ttf_parser::{Face, OutlineBuilder};

/// Families for an SVG, all of the same widths.
pub const FAMILY: &str = "Arimo, Arial, Helvetica, Liberation Sans, sans-serif";

/// Height of the tallest letters above the baseline, in font sizes.
pub const ASCENT: f64 = 0.74;

/// Depth of descenders below the baseline, in font sizes.
pub const DESCENT: f64 = 0.22;

/// Height of a capital letter, in font sizes: half of it centres a line of text.
pub const CAP_HEIGHT: f64 = 0.716;

/// Width given to characters the bundled font does not have, in font sizes: the widest that other
/// fonts are likely to show.
const MISSING_WIDTH: f64 = 1.0;

/// Thickness of letters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weight {
    /// Ordinary text.
    #[default]
    Regular,
    /// Titles.
    Bold,
}

/// Receives the outline of a text, in pixels with y downwards, the baseline's left end at the origin.
pub trait Outline {
    /// Starts a contour.
    fn move_to(&mut self, x: f64, y: f64);
    /// A straight line.
    fn line_to(&mut self, x: f64, y: f64);
    /// A quadratic curve over a control point.
    fn quad_to(&mut self, cx: f64, cy: f64, x: f64, y: f64);
    /// Ends a contour.
    fn close(&mut self);
}

/// The bundled face, or `None` should its bytes be damaged; then every text has estimated widths.
fn face(weight: Weight) -> Option<&'static Face<'static>> {
    static REGULAR: OnceLock<Option<Face<'static>>> = OnceLock::new();
    static BOLD: OnceLock<Option<Face<'static>>> = OnceLock::new();
    let (cell, bytes): (_, &'static [u8]) = match weight {
        Weight::Regular => (&REGULAR, include_bytes!("../assets/Arimo-Regular-subset.ttf")),
        Weight::Bold => (&BOLD, include_bytes!("../assets/Arimo-Bold-subset.ttf")),
    };
    cell.get_or_init(|| Face::parse(bytes, 0).ok()).as_ref()
}

fn advance(weight: Weight, c: char) -> f64 {
    let measured = face(weight).and_then(|f| {
        let width = f.glyph_hor_advance(f.glyph_index(c)?)?;
        Some(f64::from(width) / f64::from(f.units_per_em()))
    });
    measured.unwrap_or(MISSING_WIDTH)
}

/// Width of a line of text in pixels.
///
/// ```
/// use saltus_io::font::{Weight, width};
/// assert!((width("0", 10.0, Weight::Regular) - 5.56).abs() < 0.01);
/// ```
pub fn width(text: &str, size: f64, weight: Weight) -> f64 {
    text.chars().map(|c| advance(weight, c)).sum::<f64>() * size
}

/// Sends the outline of a text; characters the font lacks become empty boxes.
pub fn outline(text: &str, size: f64, weight: Weight, out: &mut dyn Outline) {
    let mut x = 0.0;
    for c in text.chars() {
        let known = face(weight).and_then(|f| Some((f, f.glyph_index(c)?)));
        match known {
            Some((f, id)) => {
                let scale = size / f64::from(f.units_per_em());
                f.outline_glyph(id, &mut Placed { out, x, scale });
            }
            None => missing_box(x, size, out),
        }
        x += advance(weight, c) * size;
    }
}

fn missing_box(x: f64, size: f64, out: &mut dyn Outline) {
    let frame = |inset: f64| {
        let (left, right) = (x + (0.12 + inset) * size, x + (0.88 - inset) * size);
        let (top, bottom) = (-(CAP_HEIGHT - inset) * size, -inset * size);
        [(left, top), (right, top), (right, bottom), (left, bottom)]
    };
    let mut inner = frame(0.07);
    inner.reverse();
    for corners in [frame(0.0), inner] {
        out.move_to(corners[0].0, corners[0].1);
        corners[1..].iter().for_each(|&(x, y)| out.line_to(x, y));
        out.close();
    }
}

/// A glyph outline on its way from font units to pixels.
struct Placed<'a> {
    out: &'a mut dyn Outline,
    x: f64,
    scale: f64,
}

impl Placed<'_> {
    fn place(&self, x: f32, y: f32) -> (f64, f64) {
        (self.x + f64::from(x) * self.scale, -f64::from(y) * self.scale)
    }
}

impl OutlineBuilder for Placed<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.out.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.out.line_to(x, y);
    }

    fn quad_to(&mut self, cx: f32, cy: f32, x: f32, y: f32) {
        let ((cx, cy), (x, y)) = (self.place(cx, cy), self.place(x, y));
        self.out.quad_to(cx, cy, x, y);
    }

    /// TrueType outlines have no cubic curves; an approximation keeps the contour closed.
    fn curve_to(&mut self, _: f32, _: f32, cx: f32, cy: f32, x: f32, y: f32) {
        OutlineBuilder::quad_to(self, cx, cy, x, y);
    }

    fn close(&mut self) {
        self.out.close();
    }
}

/// The longest beginning of a text that fits a width, with an ellipsis if something was cut.
pub fn fit(text: &str, size: f64, weight: Weight, available: f64) -> String {
    if width(text, size, weight) <= available {
        return text.to_string();
    }
    let mut used = width("…", size, weight);
    let kept: String = text
        .chars()
        .take_while(|&c| {
            used += advance(weight, c) * size;
            used <= available
        })
        .collect();
    format!("{}…", kept.trim_end())
}

/// Breaks a text at spaces into lines of at most a width; a single word may be longer.
pub fn wrap(text: &str, size: f64, weight: Weight, available: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line)
                if width(line, size, weight) + width(" ", size, weight) + width(word, size, weight)
                    <= available =>
            {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_weights_are_readable_and_have_the_widths_of_arial() {
        // Widths of Arial in thousandths of the font size.
        for (text, expected) in [(" ", 0.278), ("A", 0.667), ("m", 0.833), ("−", 0.584)] {
            assert!((width(text, 1.0, Weight::Regular) - expected).abs() < 2e-3, "{text}");
        }
        assert!((width("A", 1.0, Weight::Bold) - 0.722).abs() < 2e-3);
    }

    #[test]
    fn the_font_has_the_symbols_labels_use() {
        let f = face(Weight::Regular).expect("bundled font");
        for c in "−×→≤≥≠′·°µΩ±∞√⁰¹²³⁴⁵⁶⁷⁸⁹⁻…αβγωφéüñß".chars()
        {
            assert!(f.glyph_index(c).is_some(), "{c}");
        }
    }

    #[test]
    fn a_cut_text_fits_and_says_so() {
        let cut = fit("a rather long label", 10.0, Weight::Regular, 50.0);
        assert!(cut.ends_with('…') && width(&cut, 10.0, Weight::Regular) <= 50.0);
        assert_eq!(fit("short", 10.0, Weight::Regular, 50.0), "short");
    }

    #[test]
    fn wrapping_keeps_every_word() {
        let lines = wrap("one two three four", 10.0, Weight::Regular, 50.0);
        assert!(lines.len() > 1);
        assert_eq!(lines.join(" "), "one two three four");
    }
}
