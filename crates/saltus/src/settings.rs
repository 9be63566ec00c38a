//! Settings by name, as they stand in a model's `run` block and behind the flags of the command.

use crate::Error;
use saltus_lang::settings::{Given, read};
use saltus_sim::{Options, Policy};

const POLICIES: [(&str, Policy); 3] =
    [("eager", Policy::Eager), ("lazy", Policy::Lazy), ("random", Policy::Random)];

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
    let given = read(name, value).map_err(|refusal| Error::Setting {
        message: refusal.message,
        place: None,
        hint: refusal.hint,
    })?;
    match given {
        Given::Number(number) => apply_number(options, name, number),
        Given::Whole(number) => apply_whole(options, name, number),
        Given::Word(word) => apply_word(options, name, word),
    }
    Ok(())
}

fn apply_number(options: &mut Options, name: &str, value: f64) {
    match name {
        "until" => options.until = Some(value),
        "rtol" => options.rtol = value,
        "atol" => options.atol = value,
        "step" => options.step = Some(value),
        "max_step" => options.max_step = Some(value),
        "min_step" => options.min_step = Some(value),
        "guard_tolerance" => options.guard_tolerance = Some(value),
        "gamma" => options.gamma = Some(value),
        "max_seconds" => options.limits.seconds = value,
        _ => {}
    }
}

fn apply_whole(options: &mut Options, name: &str, value: u64) {
    match name {
        "order" => options.order = Some(value as usize),
        "seed" => options.seed = value,
        "max_steps" => options.limits.steps = value,
        "max_events" => options.limits.events = value,
        _ => {}
    }
}

/// The word `auto` asks for the solver that suits most models, which is the default.
fn apply_word(options: &mut Options, name: &str, word: &str) {
    match name {
        "solver" => options.solver = word.parse().unwrap_or_default(),
        "events" => options.events = word.parse().ok(),
        "guards" => options.guards = word.parse().unwrap_or_default(),
        "policy" => options.policy = POLICIES.iter().find(|p| p.0 == word).map(|p| p.1).unwrap_or_default(),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_lang::settings::{names, words};
    use saltus_sim::{EventMethod, GuardForm, Solver};

    #[test]
    fn every_setting_is_applied() {
        let mut options = Options::default();
        let given = [
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
        ];
        assert!(names().all(|name| given.iter().any(|g| g.0 == name)));
        for (name, value) in given {
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
    fn the_words_of_the_language_are_those_of_the_engine() {
        let solvers: Vec<&str> = ["auto"].into_iter().chain(Solver::ALL.map(Solver::word)).collect();
        assert_eq!(words("solver"), solvers);
        assert_eq!(words("events"), EventMethod::ALL.map(EventMethod::word));
        assert_eq!(words("guards"), GuardForm::ALL.map(GuardForm::word));
        assert_eq!(words("policy"), POLICIES.map(|p| p.0));
    }
}
