//! The `run` block: stop time, plots and plain settings.

use super::scope::hinted;
use super::value::{Elaborated, Shape};
use super::{Elaborator, Env, constant::Variability};
use crate::ast::{self, RunSetting};
use crate::suggest::did_you_mean;
use crate::{Diagnostic, codes, settings};
use saltus_expr::{Expr, Node};
use saltus_model::{Panel, Span};

/// Settings that a model does not make as plain ones: its stop time may depend on parameters, and how
/// long a computer may take is no matter of the model.
const NOT_PLAIN: [&str; 2] = ["until", "max_seconds"];

impl Elaborator<'_> {
    /// The `run` block of the model; those of inner instances are for when they run alone.
    pub(super) fn run_block(&mut self, env: Env<'_>, settings: &[RunSetting], span: Span) {
        if self.scope(env.scope).instance != 0 {
            return;
        }
        match self.run_block {
            None => self.run_block = Some(span),
            Some(first) => {
                let message = "a model has one `run` block, and this is another";
                let diagnostic = Diagnostic::error(codes::BAD_SETTING, span, message);
                self.report(diagnostic.related(first, "the first one").hint("put all settings into one"));
            }
        }
        let mut made: Vec<(&str, Span)> = Vec::new();
        for setting in settings {
            if let Some((name, span)) = unique_name(setting) {
                if let Some((_, first)) = made.iter().find(|m| m.0 == name) {
                    self.made_twice(name, *first, span);
                    continue;
                }
                made.push((name, span));
            }
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

    fn made_twice(&mut self, name: &str, first: Span, second: Span) {
        let message = format!("`{name}` is set twice in this block");
        self.report(
            Diagnostic::error(codes::BAD_SETTING, second, message)
                .label("set again")
                .related(first, "first set here")
                .hint("leave one of them out"),
        );
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
        let plain = settings::names().filter(|known| !NOT_PLAIN.contains(known));
        if !plain.clone().any(|known| known == name.text) {
            let known = plain.chain(["until", "plot"]);
            let hint = did_you_mean(&name.text, known.clone())
                .unwrap_or_else(|| format!("known settings: {}", known.collect::<Vec<_>>().join(", ")));
            let message = format!("`{}` is not a setting of a run", name.text);
            self.report(Diagnostic::error(codes::BAD_SETTING, name.span, message).hint(hint));
            return;
        }
        match settings::read(&name.text, value) {
            Ok(_) => self.system.run.settings.push((name.text.clone(), value.to_string(), span)),
            Err(refusal) => {
                let diagnostic = Diagnostic::error(codes::BAD_SETTING, span, refusal.message);
                self.report(hinted(diagnostic, refusal.hint));
            }
        }
    }
}

/// The name and place of a setting that a block may make only once.
fn unique_name(setting: &RunSetting) -> Option<(&str, Span)> {
    match setting {
        RunSetting::Until(time) => Some(("until", time.span)),
        RunSetting::Option { name, span, .. } => Some((&name.text, *span)),
        RunSetting::Plot { .. } => None,
    }
}
