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
            // What a variable without unit holds cannot be checked, element by element or not.
            (Measure::Unlike(_), Measure::Unknown) | (Measure::Unknown, Measure::Unlike(_)) => {
                Measure::Unknown
            }
            (Measure::Unlike(_), _) | (_, Measure::Unlike(_)) => self.same_elements(a, b, what, span),
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
            (Measure::Unknown | Measure::Unlike(_), _) | (_, Measure::Unknown | Measure::Unlike(_)) => {
                Measure::Unknown
            }
            (Measure::Known(x), Measure::Plain) | (Measure::Plain, Measure::Known(x)) => Measure::Known(x),
            (Measure::Plain, Measure::Plain) => Measure::Plain,
        }
    }

    /// The measure of an operation on elements, one by one: `of` gives that of a single pair.
    pub(super) fn element_measure(
        &mut self,
        a: Measure,
        b: Measure,
        of: fn(Measure, Measure) -> Measure,
    ) -> Measure {
        if !matches!((a, b), (Measure::Unlike(_), _) | (_, Measure::Unlike(_))) {
            return of(a, b);
        }
        let elements = self.pairs(a, b).map(|(a, b)| of(a, b)).collect();
        self.array_measure(elements)
    }

    /// The measures of the elements of two arrays side by side; a single value goes with every
    /// element. Shapes that do not fit are reported elsewhere.
    fn pairs(&self, a: Measure, b: Measure) -> impl Iterator<Item = (Measure, Measure)> + use<> {
        let (a, b) = (self.listed(a), self.listed(b));
        (0..a.len().max(b.len())).map(move |k| (a[k % a.len()], b[k % b.len()]))
    }

    /// The measure of a quotient.
    pub(super) fn quotient_measure(a: Measure, b: Measure) -> Measure {
        Self::product_measure(a, Self::power_measure(b, -1, 1))
    }

    /// The measure of a power `numerator / denominator`.
    pub(super) fn power_measure(a: Measure, numerator: i64, denominator: i64) -> Measure {
        match a {
            Measure::Known(x) => x.power(numerator, denominator).map_or(Measure::Unknown, Measure::Known),
            Measure::Unlike(_) => Measure::Unknown,
            other => other,
        }
    }

    /// Reports a quantity with a unit where a plain number is needed.
    pub(super) fn plain_measure(&mut self, a: Measure, what: &str, span: Span) {
        for element in self.listed(a) {
            if let Measure::Known(x) = element
                && !x.is_one()
            {
                let message = format!("{what} needs a plain number, not [{x}]");
                self.report(
                    Diagnostic::error(codes::UNIT_CLASH, span, message)
                        .label(format!("[{x}]"))
                        .hint("divide by a reference quantity of the same unit"),
                );
            }
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
                let hint = units::symbol(&name).map(|symbol| format!("write `{symbol}`"));
                let hint = hint.or_else(|| did_you_mean(&name, units::names()));
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

    /// The common measure of arrays, at least one of unlike quantities, element by element.
    fn same_elements(&mut self, a: Measure, b: Measure, what: &str, span: Span) -> Measure {
        let common = self.pairs(a, b).map(|(a, b)| self.same_measure(a, b, what, span)).collect();
        self.array_measure(common)
    }

    fn listed(&self, measure: Measure) -> Vec<Measure> {
        match measure {
            Measure::Unlike(place) => self.unlike[place].clone(),
            one => vec![one],
        }
    }

    /// The measure of an array of elements with these measures. Vectors of unlike quantities are
    /// usual, so they are no mistake until they meet a unit.
    fn array_measure(&mut self, elements: Vec<Measure>) -> Measure {
        let mut measured = elements.iter().filter(|m| **m != Measure::Plain);
        let Some(&first) = measured.next() else { return Measure::Plain };
        if measured.all(|m| *m == first) {
            return first;
        }
        if elements.contains(&Measure::Unknown) {
            return Measure::Unknown;
        }
        let known = self.unlike.iter().position(|list| *list == elements);
        Measure::Unlike(known.unwrap_or_else(|| {
            self.unlike.push(elements);
            self.unlike.len() - 1
        }))
    }

    /// The measure of values put together in one array.
    pub(super) fn stacked_measure(&mut self, values: &[Value]) -> Measure {
        let single = |v: &Value| !matches!(v.measure, Measure::Unlike(_));
        if values.iter().all(single) && values.iter().all(|v| v.measure == values[0].measure) {
            return values[0].measure;
        }
        let elements = values.iter().flat_map(|v| match v.measure {
            Measure::Unlike(place) => self.unlike[place].clone(),
            one => vec![one; v.items.len()],
        });
        let elements = elements.collect();
        self.array_measure(elements)
    }

    /// The measure of the elements at some positions of an array.
    pub(super) fn picked_measure(&mut self, array: Measure, positions: &[usize]) -> Measure {
        let Measure::Unlike(place) = array else { return array };
        let elements = positions.iter().map(|&p| self.unlike[place][p]).collect();
        self.array_measure(elements)
    }

    /// The measure that all elements of an array must share, because they are added or compared.
    pub(super) fn shared_measure(&mut self, array: Measure, span: Span) -> Measure {
        let elements = self.listed(array);
        elements
            .into_iter()
            .fold(Measure::Plain, |common, element| self.same_measure(common, element, "the elements", span))
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
