//! What a figure shows: curves over time or over each other, modes and events.
//!
//! Plain data, independent of where it comes from. Curves consist of pieces, one per interval of
//! continuous flow, so that a jump is drawn as a jump.

use crate::plot::{self, Style};
use crate::scene::Scene;
use crate::svg;

/// One curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Its name.
    pub label: String,
    /// Unit of its values, as written in the model.
    pub unit: Option<String>,
    /// One run of points per interval of continuous flow. Where one piece ends and the next begins
    /// at the same time with another value, a jump is drawn; an empty piece leaves a gap. Points
    /// that are not finite leave a gap, too.
    pub pieces: Vec<Vec<(f64, f64)>>,
}

/// What lies along the horizontal axis of a panel.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Horizontal {
    /// The figure's own axis, usually time, shared by all such panels.
    #[default]
    Shared,
    /// Another variable (phase plot).
    Own {
        /// Label of the axis.
        label: String,
        /// One unit is equally long on both axes.
        equal_aspect: bool,
    },
}

/// One set of axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// The curves.
    pub series: Vec<Series>,
    /// Label of the vertical axis; if absent, made from the names and units of the curves.
    pub y_label: Option<String>,
    /// The horizontal axis.
    pub horizontal: Horizontal,
}

/// A stay in a mode.
#[derive(Clone, Debug, PartialEq)]
pub struct ModeSpan {
    /// Entry.
    pub t0: f64,
    /// Exit.
    pub t1: f64,
    /// The mode's name.
    pub mode: String,
}

/// The modes of an automaton over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Band {
    /// The automaton's name.
    pub automaton: String,
    /// Stays in order of time; gaps are moments in which the automaton was not active.
    pub spans: Vec<ModeSpan>,
}

/// An event.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// When it happened.
    pub t: f64,
    /// What it was.
    pub label: String,
}

/// Panels over a common axis, with the modes and events of the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// Heading; none if empty.
    pub title: String,
    /// From top to bottom.
    pub panels: Vec<Panel>,
    /// Modes, below the panels over time.
    pub bands: Vec<Band>,
    /// Events.
    pub marks: Vec<Mark>,
    /// Label of the shared axis, for example `time [s]`.
    pub x_label: String,
}

impl Figure {
    /// The picture as shapes and texts.
    pub fn scene(&self, style: &Style) -> Scene {
        plot::scene(self, style)
    }

    /// The picture as SVG text.
    ///
    /// ```
    /// use saltus_io::figure::{Figure, Panel, Series};
    /// let fall = (0..=100).map(|k| k as f64 / 100.0).map(|t| (t, 10.0 - 4.905 * t * t)).collect();
    /// let height = Series { label: "x".into(), unit: Some("m".into()), pieces: vec![fall] };
    /// let panel = Panel { series: vec![height], ..Panel::default() };
    /// let figure = Figure { panels: vec![panel], x_label: "time [s]".into(), ..Figure::default() };
    /// let svg = figure.svg();
    /// assert!(svg.contains("x [m]") && svg.contains("time [s]"));
    /// ```
    pub fn svg(&self) -> String {
        svg::write(&self.scene(&Style::default()))
    }
}

/// A unit as it is printed: raised exponents and middle dots.
///
/// ```
/// assert_eq!(saltus_io::figure::pretty_unit("kg*m/s^2"), "kg·m/s²");
/// ```
pub fn pretty_unit(unit: &str) -> String {
    let mut out = String::new();
    let mut rest = unit.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '*' => out.push('·'),
            '^' => {
                let mut exponent = String::new();
                while let Some(&c) =
                    rest.peek().filter(|&&c| c.is_ascii_digit() || (c == '-' && exponent.is_empty()))
                {
                    exponent.push(c);
                    rest.next();
                }
                match exponent.parse() {
                    Ok(value) => out.push_str(&crate::ticks::superscript(value)),
                    Err(_) => out.extend(['^'].into_iter().chain(exponent.chars())),
                }
            }
            c => out.push(c),
        }
    }
    out
}

/// A name with its unit, for axes.
pub fn with_unit(label: &str, unit: Option<&str>) -> String {
    match unit.map(str::trim).filter(|u| !u.is_empty()) {
        Some(unit) => format!("{label} [{}]", pretty_unit(unit)).trim_start().to_string(),
        None => label.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_printed_as_in_print() {
        for (written, printed) in
            [("m/s^2", "m/s²"), ("W*m^-2*K^-1", "W·m⁻²·K⁻¹"), ("1", "1"), ("a^b", "a^b"), ("m^", "m^")]
        {
            assert_eq!(pretty_unit(written), printed);
        }
        assert_eq!(with_unit("v", Some("m/s")), "v [m/s]");
        assert_eq!(with_unit("v", Some(" ")), "v");
        assert_eq!(with_unit("", Some("m")), "[m]");
    }
}
