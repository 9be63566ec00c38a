//! A scene as SVG text.
//!
//! Plain presentation attributes only, so that browsers, office programs and LaTeX converters agree.
//! Coordinates are rounded to a hundredth of a pixel and paths are written with relative steps
//! between the rounded points: short files without drift, and the same bytes for the same scene.

use crate::font::{FAMILY, Weight};
use crate::scene::{Anchor, Dash, Item, Paint, Rect, Scene, Segment, Stroke, Text};
use std::fmt::Write;

/// Writes a scene as an SVG document.
///
/// ```
/// use saltus_io::scene::{Anchor, Scene, Text};
/// let mut scene = Scene { width: 100.0, height: 20.0, ..Scene::default() };
/// scene.text(Text::new(50.0, 14.0, 11.0, Anchor::Middle, "x < 1"));
/// let svg = saltus_io::svg::write(&scene);
/// assert!(svg.starts_with("<svg") && svg.contains("x &lt; 1"));
/// ```
pub fn write(scene: &Scene) -> String {
    let mut out = Writer { text: String::new() };
    out.document(scene);
    out.text
}

/// Hundredths of a pixel; what is not finite becomes 0 so that a file is always well formed.
fn hundredths(value: f64) -> i64 {
    if value.is_finite() { (value * 100.0).round().clamp(-1e12, 1e12) as i64 } else { 0 }
}

struct Writer {
    text: String,
}

/// Writing to a string cannot fail, so results of `write!` carry no information here.
macro_rules! put {
    ($writer:expr, $($args:tt)*) => {{ let _ = write!($writer.text, $($args)*); }};
}

impl Writer {
    fn document(&mut self, scene: &Scene) {
        let (w, h) = (Number(hundredths(scene.width)), Number(hundredths(scene.height)));
        put!(self, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" ");
        put!(self, "viewBox=\"0 0 {w} {h}\" font-family=\"{FAMILY}\" ");
        put!(self, "stroke-linecap=\"round\" stroke-linejoin=\"round\">\n");
        if !scene.title.is_empty() {
            put!(self, "<title>{}</title>\n", Escaped(&scene.title));
        }
        put!(self, "<rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>\n");
        self.items(&scene.items);
        put!(self, "</svg>\n");
    }

    fn items(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Rect { area, radius, paint } => self.rect(area, *radius, paint),
                Item::Circle { x, y, r, paint } => {
                    put!(self, "<circle");
                    self.numbers(&[("cx", *x), ("cy", *y), ("r", *r)]);
                    self.paint(paint);
                    put!(self, "/>\n");
                }
                Item::Path { segments, paint } => {
                    put!(self, "<path d=\"");
                    self.path_data(segments);
                    put!(self, "\"");
                    self.paint(paint);
                    put!(self, "/>\n");
                }
                Item::Text(text) => self.line_of_text(text),
            }
        }
    }

    fn numbers(&mut self, attributes: &[(&str, f64)]) {
        for &(name, value) in attributes {
            put!(self, " {name}=\"{}\"", Number(hundredths(value)));
        }
    }

    fn rect(&mut self, area: &Rect, radius: f64, paint: &Paint) {
        put!(self, "<rect");
        self.area(area);
        if radius > 0.0 {
            self.numbers(&[("rx", radius)]);
        }
        self.paint(paint);
        put!(self, "/>\n");
    }

    fn area(&mut self, area: &Rect) {
        // Width and height as differences of rounded edges, so that neighbours meet exactly.
        let (x, y) = (hundredths(area.x), hundredths(area.y));
        let (w, h) = (hundredths(area.right()) - x, hundredths(area.bottom()) - y);
        let (x, y, w, h) = (Number(x), Number(y), Number(w.max(0)), Number(h.max(0)));
        put!(self, " x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"");
    }

    fn paint(&mut self, paint: &Paint) {
        match paint.fill {
            Some(colour) => put!(self, " fill=\"#{:06x}\"", colour.0),
            None => put!(self, " fill=\"none\""),
        }
        if let Some(Stroke { colour, width, dash }) = paint.stroke {
            put!(self, " stroke=\"#{:06x}\"", colour.0);
            self.numbers(&[("stroke-width", width)]);
            if let Dash::Gaps(on, off) = dash {
                put!(self, " stroke-dasharray=\"{} {}\"", Number(hundredths(on)), Number(hundredths(off)));
            }
        }
    }

    fn path_data(&mut self, segments: &[Segment]) {
        let mut pen = (0, 0);
        let mut previous = ' ';
        for segment in segments {
            let (command, points): (char, &[(f64, f64)]) = match *segment {
                Segment::Move(x, y) => ('M', &[(x, y)]),
                Segment::Line(x, y) => ('l', &[(x, y)]),
                Segment::Cubic(ax, ay, bx, by, x, y) => ('c', &[(ax, ay), (bx, by), (x, y)]),
                Segment::Close => ('z', &[]),
            };
            if command != previous || command == 'M' {
                self.text.push(command);
            } else {
                self.text.push(' ');
            }
            previous = command;
            self.steps(command, points, &mut pen);
        }
    }

    fn steps(&mut self, command: char, points: &[(f64, f64)], pen: &mut (i64, i64)) {
        let from = if command == 'M' { (0, 0) } else { *pen };
        for (k, &(x, y)) in points.iter().enumerate() {
            let end = (hundredths(x), hundredths(y));
            let (dx, dy) = (Number(end.0 - from.0), Number(end.1 - from.1));
            let gap = if k == 0 { "" } else { " " };
            put!(self, "{gap}{dx} {dy}");
            *pen = end;
        }
    }

    fn line_of_text(&mut self, text: &Text) {
        put!(self, "<text");
        self.numbers(&[("x", text.x), ("y", text.y), ("font-size", text.size)]);
        match text.anchor {
            Anchor::Start => {}
            Anchor::Middle => put!(self, " text-anchor=\"middle\""),
            Anchor::End => put!(self, " text-anchor=\"end\""),
        }
        if text.weight == Weight::Bold {
            put!(self, " font-weight=\"bold\"");
        }
        put!(self, " fill=\"#{:06x}\"", text.colour.0);
        if text.upwards {
            let (x, y) = (Number(hundredths(text.x)), Number(hundredths(text.y)));
            put!(self, " transform=\"rotate(-90 {x} {y})\"");
        }
        put!(self, ">{}</text>\n", Escaped(&text.text));
    }
}

/// Hundredths, printed as a decimal without trailing zeros.
struct Number(i64);

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (whole, part) = (self.0.unsigned_abs() / 100, self.0.unsigned_abs() % 100);
        let sign = if self.0 < 0 { "-" } else { "" };
        match (whole, part) {
            (whole, 0) => write!(f, "{sign}{whole}"),
            (0, part) if part % 10 == 0 => write!(f, "{sign}.{}", part / 10),
            (0, part) => write!(f, "{sign}.{part:02}"),
            (whole, part) if part % 10 == 0 => write!(f, "{sign}{whole}.{}", part / 10),
            (whole, part) => write!(f, "{sign}{whole}.{part:02}"),
        }
    }
}

/// Text with the characters XML reserves replaced, and those it forbids left out.
struct Escaped<'a>(&'a str);

impl std::fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for c in self.0.chars() {
            match c {
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '&' => f.write_str("&amp;")?,
                '"' => f.write_str("&quot;")?,
                '\n' | '\t' | '\r' => f.write_char(' ')?,
                c if c < ' ' || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Colour, polyline};

    #[test]
    fn numbers_are_short_and_exact_to_a_hundredth() {
        for (value, expected) in
            [(0.0, "0"), (-0.5, "-.5"), (12.0, "12"), (3.456, "3.46"), (-3.1, "-3.1"), (0.05, ".05")]
        {
            assert_eq!(Number(hundredths(value)).to_string(), expected);
        }
        assert_eq!(Number(hundredths(f64::NAN)).to_string(), "0");
    }

    #[test]
    fn relative_steps_add_up_to_the_rounded_points() {
        let points: Vec<_> = (0..1000).map(|k| (k as f64 * 0.3333, (k as f64).sin() * 7.77)).collect();
        let mut writer = Writer { text: String::new() };
        writer.path_data(&polyline(&points));
        let numbers: Vec<f64> = writer
            .text
            .split(['M', 'l', ' '])
            .filter(|s| !s.is_empty())
            .map(|s| s.parse().unwrap())
            .collect();
        let (x, y) = numbers.chunks(2).fold((0.0, 0.0), |(x, y), p| (x + p[0], y + p[1]));
        let (last_x, last_y) = points[999];
        assert!((x - last_x).abs() < 0.0051 && (y - last_y).abs() < 0.0051);
    }

    #[test]
    fn any_text_gives_well_formed_xml() {
        let mut scene =
            Scene { width: 10.0, height: 10.0, title: "a <b> & \u{1} \"c\"".into(), items: vec![] };
        scene.text(Text::new(0.0, 0.0, 10.0, Anchor::Start, "x <= 1 && y > \u{fffe}2"));
        scene.rect(Rect::new(0.0, 0.0, f64::INFINITY, f64::NAN), 2.0, Paint::fill(Colour::INK));
        let text = write(&scene);
        let document = roxmltree::Document::parse(&text).expect("well formed");
        let shown = document.descendants().find(|n| n.has_tag_name("text")).and_then(|n| n.text());
        assert_eq!(shown, Some("x <= 1 && y > 2"));
    }
}
