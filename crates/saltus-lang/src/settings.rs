//! The settings of a run: their names, and which values each of them takes.
//!
//! A `run` block and the flags of the command share them. The words for methods are those of the
//! engine, which knows this crate and not the other way round.

use crate::suggest::did_you_mean;

/// What a setting holds.
#[derive(Clone, Copy)]
enum Holds {
    /// A number that is admitted, and the admitted ones in words.
    Number(fn(f64) -> bool, &'static str),
    /// A whole number, from the least to the greatest.
    Whole(u64, u64),
    /// A word.
    Word(Words),
}

/// The words of a setting.
#[derive(Clone, Copy)]
struct Words {
    /// What a word stands for.
    what: &'static str,
    known: &'static [&'static str],
    to_come: &'static [&'static str],
}

const POSITIVE: Holds = Holds::Number(|v| v > 0.0, "a number above 0");

const SETTINGS: [(&str, Holds); 17] = [
    ("until", Holds::Number(|v| v >= 0.0, "a number from 0")),
    ("rtol", Holds::Number(|v| (0.0..1.0).contains(&v), "a number from 0 to below 1")),
    ("atol", POSITIVE),
    ("order", Holds::Whole(2, 40)),
    (
        "solver",
        Holds::Word(Words {
            what: "solver",
            known: &["auto", "taylor", "adams", "rk", "euler", "rk4"],
            to_come: &["bdf", "radau"],
        }),
    ),
    (
        "events",
        Holds::Word(Words {
            what: "event method",
            known: &[
                "endpoint",
                "interpolation",
                "sturm",
                "extrapolation",
                "printed",
                "certified",
                "validated",
            ],
            to_come: &[],
        }),
    ),
    (
        "guards",
        Holds::Word(Words {
            what: "form of guards",
            known: &["composed", "appended", "linearised"],
            to_come: &[],
        }),
    ),
    ("step", POSITIVE),
    ("max_step", POSITIVE),
    ("min_step", POSITIVE),
    ("guard_tolerance", POSITIVE),
    ("gamma", Holds::Number(|v| v > 0.0 && v < 1.0, "a number between 0 and 1")),
    ("policy", Holds::Word(Words { what: "policy", known: &["eager", "lazy", "random"], to_come: &[] })),
    ("seed", Holds::Whole(0, u64::MAX)),
    ("max_steps", Holds::Whole(1, u64::MAX)),
    ("max_events", Holds::Whole(1, u64::MAX)),
    ("max_seconds", POSITIVE),
];

/// The value of a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Given {
    /// A number.
    Number(f64),
    /// A whole number.
    Whole(u64),
    /// One of its words.
    Word(&'static str),
}

/// Why a setting is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong, in one sentence.
    pub message: String,
    /// What may have been meant.
    pub hint: Option<String>,
}

/// The names of all settings.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    SETTINGS.iter().map(|s| s.0)
}

/// The words that a setting takes, none if it takes numbers.
pub fn words(name: &str) -> &'static [&'static str] {
    match holds(name) {
        Some(Holds::Word(words)) => words.known,
        _ => &[],
    }
}

/// Reads the value of a setting.
///
/// ```
/// use saltus_lang::settings::{Given, read};
/// assert_eq!(read("max_steps", "1e6"), Ok(Given::Whole(1_000_000)));
/// assert_eq!(read("policy", "lazy"), Ok(Given::Word("lazy")));
/// let refusal = read("policy", "laxy").unwrap_err();
/// assert_eq!(refusal.message, "`laxy` is not a known policy");
/// assert_eq!(refusal.hint.as_deref(), Some("did you mean `lazy`?"));
/// ```
pub fn read(name: &str, text: &str) -> Result<Given, Refusal> {
    let (given, wanted) = match holds(name) {
        None => {
            let message = format!("`{name}` is not a setting of a run");
            return Err(Refusal { message, hint: did_you_mean(name, names()) });
        }
        Some(Holds::Word(words)) => return words.read(text).map(Given::Word),
        Some(Holds::Number(admits, wanted)) => {
            let number = text.trim().parse().ok().filter(|v: &f64| v.is_finite() && admits(*v));
            (number.map(Given::Number), wanted.to_string())
        }
        Some(Holds::Whole(least, most)) => {
            let number = whole(text).filter(|v| (least..=most).contains(v));
            (number.map(Given::Whole), wanted_whole(text, least, most))
        }
    };
    let message = || format!("`{name}` needs {wanted}, not `{}`", text.trim());
    given.ok_or_else(|| Refusal { message: message(), hint: None })
}

fn holds(name: &str) -> Option<Holds> {
    SETTINGS.iter().find(|s| s.0 == name).map(|s| s.1)
}

/// A whole number; `1e6` is one, too.
fn whole(text: &str) -> Option<u64> {
    let text = text.trim();
    let round = |v: f64| (v.fract() == 0.0 && (0.0..u64::MAX as f64).contains(&v)).then_some(v as u64);
    text.parse().ok().or_else(|| text.parse().ok().and_then(round))
}

/// The wanted range; its end goes without saying where no one comes near it.
fn wanted_whole(text: &str, least: u64, most: u64) -> String {
    let beyond = text.trim().parse::<f64>().is_ok_and(|v| v >= most as f64);
    if most < u64::MAX || beyond {
        format!("a whole number from {least} to {most}")
    } else {
        format!("a whole number from {least}")
    }
}

impl Words {
    fn read(self, text: &str) -> Result<&'static str, Refusal> {
        if let Some(word) = self.known.iter().find(|word| **word == text) {
            return Ok(word);
        }
        let what = self.what;
        let choices = format!("available: {}", self.known.join(", "));
        if self.to_come.contains(&text) {
            let message = format!("the {what} `{text}` is not available yet");
            return Err(Refusal { message, hint: Some(choices) });
        }
        let hint = did_you_mean(text, self.known.iter().copied()).unwrap_or(choices);
        Err(Refusal { message: format!("`{text}` is not a known {what}"), hint: Some(hint) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(name: &str, value: &str) -> String {
        let Refusal { message, hint } = read(name, value).unwrap_err();
        hint.map_or(message.clone(), |hint| format!("{message}; {hint}"))
    }

    #[test]
    fn refusals_say_what_is_wanted() {
        for (name, value, said) in [
            ("order", "1", "`order` needs a whole number from 2 to 40, not `1`"),
            ("until", "NaN", "`until` needs a number from 0, not `NaN`"),
            ("rtol", "5", "`rtol` needs a number from 0 to below 1, not `5`"),
            ("gamma", "1", "`gamma` needs a number between 0 and 1, not `1`"),
            ("seed", "1.5", "`seed` needs a whole number from 0, not `1.5`"),
            ("seed", "1e30", "`seed` needs a whole number from 0 to 18446744073709551615, not `1e30`"),
            ("rtoll", "1", "`rtoll` is not a setting of a run; did you mean `rtol`?"),
            (
                "solver",
                "radau",
                "the solver `radau` is not available yet; available: auto, taylor, adams, rk, euler, rk4",
            ),
            ("solver", "tailor", "`tailor` is not a known solver; did you mean `taylor`?"),
            ("policy", "3", "`3` is not a known policy; available: eager, lazy, random"),
        ] {
            assert_eq!(refusal(name, value), said);
        }
    }

    #[test]
    fn whole_numbers_are_read_to_the_last_digit() {
        assert_eq!(read("seed", "18446744073709551615"), Ok(Given::Whole(u64::MAX)));
        assert_eq!(read("seed", "1e19"), Ok(Given::Whole(10_000_000_000_000_000_000)));
        assert!(read("seed", "18446744073709551616").is_err());
    }
}
