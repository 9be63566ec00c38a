//! Unit checks: what may be added, compared and assigned, and the units of results.

use super::value::{Elaborated, Measure, Value};
use super::{Elaborator, scope::hinted};
use crate::suggest::did_you_mean;
use crate::units::{self, Dimension, Scaled, UnitError};
use crate::{Diagnostic, ast, codes};
use saltus_model::Span;

impl Elaborator<'_> {
    /// The common measure of two quantities that are added, compared or assigned; `what` names them
    /// in the message. After a clash nothing more is said about the result.
    pub(super) fn same_measure(&mut self, a: Measure, b: Measure, what: &str, span: Span) -> Measure {
        match (a, b) {
            (Measure::Known(x), Measure::Known(y)) if x != y => {
                self.report(
                    Diagnostic::error(
                        codes::UNIT_CLASH,
                        span,
                        format!("{what} have different units: [{x}] and [{y}]"),
                    )
                    .label("different units"),
                );
                Measure::Plain
            }
            (Measure::Known(x), Measure::Unknown) | (Measure::Unknown, Measure::Known(x)) => {
                if !x.is_one() {
                    self.report(
                        Diagnostic::warning(
                            codes::UNITLESS_MIX,
                            span,
                            format!("{what} are mixed: one has the unit [{x}], the other has none"),
                        )
                        .hint("give the other quantity its unit, for example `param m: [kg] = 2`"),
                    );
                }
                Measure::Known(x)
            }
            (Measure::Known(x), _) | (_, Measure::Known(x)) => Measure::Known(x),
            (Measure::Unknown, _) | (_, Measure::Unknown) => Measure::Unknown,
            (Measure::Plain, Measure::Plain) => Measure::Plain,
        }
    }

    /// The measure of a product.
    pub(super) fn product_measure(a: Measure, b: Measure) -> Measure {
        match (a, b) {
            (Measure::Known(x), Measure::Known(y)) => x.times(y).map_or(Measure::Unknown, Measure::Known),
            (Measure::Unknown, _) | (_, Measure::Unknown) => Measure::Unknown,
            (Measure::Known(x), Measure::Plain) | (Measure::Plain, Measure::Known(x)) => Measure::Known(x),
            (Measure::Plain, Measure::Plain) => Measure::Plain,
        }
    }

    /// The measure of a quotient.
    pub(super) fn quotient_measure(a: Measure, b: Measure) -> Measure {
        Self::product_measure(a, Self::power_measure(b, -1, 1))
    }

    /// The measure of a power `numerator / denominator`.
    pub(super) fn power_measure(a: Measure, numerator: i64, denominator: i64) -> Measure {
        match a {
            Measure::Known(x) => x.power(numerator, denominator).map_or(Measure::Unknown, Measure::Known),
            other => other,
        }
    }

    /// Reports a quantity with a unit where a plain number is needed.
    pub(super) fn plain_measure(&mut self, a: Measure, what: &str, span: Span) {
        if let Measure::Known(x) = a
            && !x.is_one()
        {
            self.report(
                Diagnostic::error(codes::UNIT_CLASH, span, format!("{what} needs a plain number, not [{x}]"))
                    .label(format!("[{x}]"))
                    .hint("divide by a reference quantity of the same unit"),
            );
        }
    }

    /// The measure of the derivative of a quantity.
    pub(super) fn rate_measure(a: Measure) -> Measure {
        match a {
            Measure::Known(_) => Self::quotient_measure(a, Measure::Known(Dimension::second())),
            other => other,
        }
    }

    /// A unit text, or a report of what is wrong with it.
    pub(super) fn unit(&mut self, unit: &ast::Unit) -> Elaborated<Scaled> {
        units::parse(&unit.text).map_err(|error| match error {
            UnitError::Unknown(name) => {
                let hint = did_you_mean(&name, units::names());
                let message = format!("`{name}` is not a known unit");
                self.report(hinted(Diagnostic::error(codes::BAD_UNIT, unit.span, message), hint))
            }
            UnitError::Malformed(why) => {
                let message = format!("`[{}]` is not a unit: {why}", unit.text);
                self.report(Diagnostic::error(codes::BAD_UNIT, unit.span, message))
            }
        })
    }

    /// The measure of a declared unit, which must be coherent: values are never scaled.
    pub(super) fn declared_measure(&mut self, unit: &ast::Unit) -> Elaborated<Measure> {
        let scaled = self.unit(unit)?;
        if !scaled.is_coherent() {
            let message = format!("variables are in SI units, and [{}] is not one", unit.text);
            let si = scaled.dimension;
            return Err(self.report(
                Diagnostic::error(codes::BAD_UNIT, unit.span, message)
                    .hint(format!("declare [{si}]; numbers may still be written as `2 [{}]`", unit.text)),
            ));
        }
        Ok(Measure::Known(scaled.dimension))
    }

    /// The common measure of several values, as the arguments of `min` or the items of an array.
    pub(super) fn common_measure(&mut self, values: &[Value], what: &str, span: Span) -> Measure {
        let mut common = Measure::Plain;
        for value in values {
            common = self.same_measure(common, value.measure, what, span);
        }
        common
    }
}
