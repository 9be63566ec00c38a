//! The `run` block: stop time, plots and plain settings.

use super::scope::hinted;
use super::value::{Elaborated, Shape};
use super::{Elaborator, Env, constant::Variability};
use crate::ast::{self, RunSetting};
use crate::suggest::did_you_mean;
use crate::{Diagnostic, codes};
use saltus_expr::{Expr, Node};
use saltus_model::{Panel, Span};

/// What a plain setting holds.
#[derive(Clone, Copy)]
enum Holds {
    /// A number above zero.
    Positive,
    /// A whole number from the given one.
    Whole(f64),
    /// A word that the engine knows.
    Word,
}

/// Plain settings and what they hold.
const SETTINGS: &[(&str, Holds)] = &[
    ("rtol", Holds::Positive),
    ("atol", Holds::Positive),
    ("step", Holds::Positive),
    ("max_step", Holds::Positive),
    ("min_step", Holds::Positive),
    ("guard_tolerance", Holds::Positive),
    ("gamma", Holds::Positive),
    ("solver", Holds::Word),
    ("events", Holds::Word),
    ("guards", Holds::Word),
    ("policy", Holds::Word),
    ("seed", Holds::Whole(0.0)),
    ("order", Holds::Whole(1.0)),
    ("max_steps", Holds::Whole(1.0)),
    ("max_events", Holds::Whole(1.0)),
];

impl Elaborator<'_> {
    /// The `run` block of the model; those of inner instances are for when they run alone.
    pub(super) fn run_block(&mut self, env: Env<'_>, settings: &[RunSetting]) {
        if self.scope(env.scope).instance != 0 {
            return;
        }
        for setting in settings {
            match setting {
                RunSetting::Until(time) => {
                    if let Ok(until) = self.until(env, time) {
                        self.system.run.until = Some(until);
                    }
                }
                RunSetting::Plot { series, over, .. } => self.plot(env, series, over.as_ref()),
                RunSetting::Option { name, value, span } => self.setting(name, value, *span),
            }
        }
    }

    fn until(&mut self, env: Env<'_>, tree: &ast::Expr) -> Elaborated<Expr> {
        let until = self.time_value(env, tree, None)?;
        if self.variability(until) > Variability::Parameter {
            let message = "the stop time is a number or made from parameters";
            let hint = "end a run on a condition with `stop when ...`";
            return Err(self.report(Diagnostic::error(codes::NOT_CONSTANT, tree.span, message).hint(hint)));
        }
        if let Some(value) = self.constant(until).filter(|v| *v < 0.0) {
            let message = format!("the stop time cannot be negative, and this is {value}");
            return Err(self.report(Diagnostic::error(codes::BAD_SETTING, tree.span, message)));
        }
        Ok(until)
    }

    fn plot(&mut self, env: Env<'_>, series: &[ast::Expr], over: Option<&ast::Expr>) {
        let x = over.map(|tree| self.curves(env, tree));
        let curves: Vec<_> = series.iter().map(|tree| self.curves(env, tree)).collect();
        let series: Vec<(String, Expr)> = curves.into_iter().flatten().flatten().collect();
        let x = match x {
            None => None,
            Some(Ok(mut curves)) if curves.len() == 1 => curves.pop(),
            Some(Ok(_)) => {
                let span = over.map(|tree| tree.span).unwrap_or_default();
                let message = "the horizontal axis is a single value";
                self.report(Diagnostic::error(codes::WRONG_SHAPE, span, message));
                None
            }
            Some(Err(_)) => None,
        };
        let unit = self.common_unit(&series);
        self.system.run.panels.push(Panel { series, x, unit });
    }

    /// The curves of a plotted expression, labelled by its text.
    fn curves(&mut self, env: Env<'_>, tree: &ast::Expr) -> Elaborated<Vec<(String, Expr)>> {
        let value = self.expr(env, tree)?;
        let text = self.sources.text(tree.span).split_whitespace().collect::<Vec<_>>().join(" ");
        let label = |k: usize, item: Expr| match (value.shape, self.system.graph.node(item)) {
            (Shape::Scalar, _) => text.clone(),
            (_, Node::Var(v, _)) => self.system.variable(v).name.clone(),
            (shape, _) => format!("({text}){}", shape.suffix(k)),
        };
        Ok(value.items.iter().enumerate().map(|(k, &item)| (label(k, item), item)).collect())
    }

    fn common_unit(&self, series: &[(String, Expr)]) -> Option<String> {
        let unit = |e: Expr| match self.system.graph.node(e) {
            Node::Var(v, _) => self.system.variable(v).unit.clone(),
            _ => None,
        };
        let first = unit(series.first()?.1)?;
        series.iter().all(|(_, e)| unit(*e).as_ref() == Some(&first)).then_some(first)
    }

    fn setting(&mut self, name: &ast::Name, value: &str, span: Span) {
        let Some((_, holds)) = SETTINGS.iter().find(|s| s.0 == name.text) else {
            let known = SETTINGS.iter().map(|s| s.0).chain(["until", "plot"]);
            let hint = did_you_mean(&name.text, known.clone())
                .unwrap_or_else(|| format!("known settings: {}", known.collect::<Vec<_>>().join(", ")));
            let message = format!("`{}` is not a setting of a run", name.text);
            self.report(hinted(Diagnostic::error(codes::BAD_SETTING, name.span, message), Some(hint)));
            return;
        };
        let number = value.parse::<f64>().ok().filter(|v| v.is_finite());
        let wanted = match (*holds, number) {
            (Holds::Positive, Some(v)) if v > 0.0 => None,
            (Holds::Positive, _) => Some("a number above 0".to_string()),
            (Holds::Whole(least), Some(v)) if v >= least && v.fract() == 0.0 => None,
            (Holds::Whole(least), _) => Some(format!("a whole number from {least}")),
            (Holds::Word, None) if !value.is_empty() => None,
            (Holds::Word, _) => Some("a word".to_string()),
        };
        if let Some(wanted) = wanted {
            let message = format!("`{}` needs {wanted}, not `{value}`", name.text);
            self.report(Diagnostic::error(codes::BAD_SETTING, span, message));
            return;
        }
        self.system.run.settings.push((name.text.clone(), value.to_string(), span));
    }
}
