//! Settings by name, as they stand in a model's `run` block and behind the flags of the command.

use crate::Error;
use saltus_lang::suggest::did_you_mean;
use saltus_sim::{EventMethod, GuardForm, Options, Policy, Solver};

/// The word for the solver that suits most models.
const AUTO: &str = "auto";
const SOLVERS_TO_COME: [&str; 2] = ["bdf", "radau"];
const POLICIES: [(&str, Policy); 3] =
    [("eager", Policy::Eager), ("lazy", Policy::Lazy), ("random", Policy::Random)];

/// The settings of a run, without those that say what is drawn.
const NAMES: [&str; 17] = [
    "until",
    "rtol",
    "atol",
    "order",
    "solver",
    "events",
    "guards",
    "step",
    "max_step",
    "min_step",
    "guard_tolerance",
    "gamma",
    "policy",
    "seed",
    "max_steps",
    "max_events",
    "max_seconds",
];

/// Applies one setting, given by name and text, to the options of a run.
///
/// ```
/// use saltus::{Options, apply_setting};
/// let mut options = Options::default();
/// apply_setting(&mut options, "rtol", "1e-9")?;
/// assert_eq!(options.rtol, 1e-9);
/// let error = apply_setting(&mut options, "policy", "laxy").unwrap_err();
/// assert_eq!(error.faults()[0].hint.as_deref(), Some("did you mean `lazy`?"));
/// # Ok::<(), saltus::Error>(())
/// ```
pub fn apply_setting(options: &mut Options, name: &str, value: &str) -> Result<(), Error> {
    match name {
        "until" => options.until = Some(number(name, value, |v| v >= 0.0, "a number from 0")?),
        "rtol" => {
            options.rtol = number(name, value, |v| (0.0..1.0).contains(&v), "a number from 0 to below 1")?
        }
        "atol" => options.atol = positive(name, value)?,
        "order" => options.order = Some(whole(name, value, 2, 40)? as usize),
        "seed" => options.seed = whole(name, value, 0, u64::MAX)?,
        "max_steps" => options.limits.steps = whole(name, value, 1, u64::MAX)?,
        "max_events" => options.limits.events = whole(name, value, 1, u64::MAX)?,
        "max_seconds" => options.limits.seconds = positive(name, value)?,
        "step" => options.step = Some(positive(name, value)?),
        "max_step" => options.max_step = Some(positive(name, value)?),
        "min_step" => options.min_step = Some(positive(name, value)?),
        "guard_tolerance" => options.guard_tolerance = Some(positive(name, value)?),
        "gamma" => {
            let inside = |v: f64| v > 0.0 && v < 1.0;
            options.gamma = Some(number(name, value, inside, "a number between 0 and 1")?);
        }
        "solver" => {
            let words: Vec<&str> = [AUTO].into_iter().chain(Solver::ALL.map(Solver::word)).collect();
            known_word("solver", value, &words, &SOLVERS_TO_COME)?;
            options.solver = value.parse().unwrap_or_default();
        }
        "events" => {
            known_word("event method", value, &EventMethod::ALL.map(EventMethod::word), &[])?;
            options.events = value.parse().ok();
        }
        "guards" => {
            known_word("form of guards", value, &GuardForm::ALL.map(GuardForm::word), &[])?;
            options.guards = value.parse().unwrap_or_default();
        }
        "policy" => {
            let names = POLICIES.map(|p| p.0);
            known_word("policy", value, &names, &[])?;
            options.policy = POLICIES.iter().find(|p| p.0 == value).map(|p| p.1).unwrap_or_default();
        }
        _ => {
            let hint = did_you_mean(name, NAMES);
            return Err(wrong(format!("`{name}` is not a setting of a run"), hint));
        }
    }
    Ok(())
}

fn wrong(message: String, hint: Option<String>) -> Error {
    Error::Setting { message, place: None, hint }
}

fn number(name: &str, text: &str, admits: impl Fn(f64) -> bool, wanted: &str) -> Result<f64, Error> {
    let value = text.trim().parse::<f64>().ok().filter(|v| v.is_finite() && admits(*v));
    value.ok_or_else(|| wrong(format!("`{name}` needs {wanted}, not `{text}`"), None))
}

fn positive(name: &str, text: &str) -> Result<f64, Error> {
    number(name, text, |v| v > 0.0, "a number above 0")
}

/// A whole number; `1e6` is one, too.
fn whole(name: &str, text: &str, least: u64, most: u64) -> Result<u64, Error> {
    let text = text.trim();
    let round = |v: f64| (v.fract() == 0.0 && (0.0..9e15).contains(&v)).then_some(v as u64);
    let value = text.parse::<u64>().ok().or_else(|| text.parse().ok().and_then(round));
    value.filter(|v| (least..=most).contains(v)).ok_or_else(|| {
        let range =
            if most == u64::MAX { format!("from {least}") } else { format!("from {least} to {most}") };
        wrong(format!("`{name}` needs a whole number {range}, not `{text}`"), None)
    })
}

fn known_word(what: &str, word: &str, known: &[&str], to_come: &[&str]) -> Result<(), Error> {
    if known.contains(&word) {
        return Ok(());
    }
    let choices = format!("available: {}", known.join(", "));
    if to_come.contains(&word) {
        return Err(wrong(format!("the {what} `{word}` is not available yet"), Some(choices)));
    }
    let hint = did_you_mean(word, known.iter().copied()).unwrap_or(choices);
    Err(wrong(format!("`{word}` is not a known {what}"), Some(hint)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(name: &str, value: &str) -> String {
        apply_setting(&mut Options::default(), name, value).unwrap_err().render(Default::default())
    }

    #[test]
    fn every_setting_is_applied() {
        let mut options = Options::default();
        for (name, value) in [
            ("until", "3"),
            ("rtol", "0"),
            ("atol", "1e-4"),
            ("order", "12"),
            ("solver", "adams"),
            ("events", "interpolation"),
            ("guards", "appended"),
            ("step", "0.1"),
            ("max_step", "2"),
            ("min_step", "1e-9"),
            ("guard_tolerance", "1e-5"),
            ("gamma", "0.5"),
            ("policy", "random"),
            ("seed", "18446744073709551615"),
            ("max_steps", "1e6"),
            ("max_events", "7"),
            ("max_seconds", "0.5"),
        ] {
            assert!(NAMES.contains(&name));
            apply_setting(&mut options, name, value).unwrap();
        }
        assert_eq!((options.solver, options.events), (Solver::Adams, Some(EventMethod::Interpolation)));
        assert_eq!(options.guards, GuardForm::Appended);
        assert_eq!((options.step, options.max_step, options.min_step), (Some(0.1), Some(2.0), Some(1e-9)));
        assert_eq!((options.guard_tolerance, options.gamma), (Some(1e-5), Some(0.5)));
        assert_eq!((options.until, options.rtol, options.atol), (Some(3.0), 0.0, 1e-4));
        assert_eq!((options.order, options.policy, options.seed), (Some(12), Policy::Random, u64::MAX));
        let limits = options.limits;
        assert_eq!((limits.steps, limits.events, limits.seconds), (1_000_000, 7, 0.5));
    }

    #[test]
    fn refusals_say_what_is_wanted() {
        assert_eq!(refusal("order", "1"), "`order` needs a whole number from 2 to 40, not `1`\n");
        assert_eq!(refusal("until", "NaN"), "`until` needs a number from 0, not `NaN`\n");
        assert_eq!(refusal("seed", "1.5"), "`seed` needs a whole number from 0, not `1.5`\n");
        assert_eq!(refusal("rtoll", "1"), "`rtoll` is not a setting of a run; did you mean `rtol`?\n");
        assert_eq!(
            refusal("solver", "radau"),
            "the solver `radau` is not available yet; available: auto, taylor, adams, rk, euler, rk4\n"
        );
        assert_eq!(refusal("solver", "tailor"), "`tailor` is not a known solver; did you mean `taylor`?\n");
    }
}
