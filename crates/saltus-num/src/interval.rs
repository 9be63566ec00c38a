//! Intervals with outward rounding.
//!
//! The result of an operation contains the exact result for all operands in the intervals, and
//! also the result that [`crate::elementary`] computes for them. Arithmetic and square roots are
//! rounded outward only when they round at all, so exact results stay exact. Other elementary
//! functions are taken to be accurate to [`ULPS`] units in the last place and are widened by twice
//! that: once for the error of the bound, once for the error of the values inside.
//!
//! Functions that do not exist everywhere return an [`Enclosure`]: the values on the part of the
//! interval where the function exists, and whether that is all of it.

use crate::elementary as f;
use crate::rounding::{add_down, add_up, div_down, div_up, mul_down, mul_up, sqrt_down, sqrt_up, step};
use std::f64::consts::{FRAC_PI_2, PI};
use std::ops::{Add, Mul, Neg, Sub};

/// The accuracy that is assumed of elementary functions.
pub const ULPS: i64 = 4;

/// A closed interval of real numbers, possibly unbounded or empty.
///
/// ```
/// use saltus_num::interval::Interval;
/// let x = Interval::new(-1.0, 2.0);
/// assert_eq!(x * x, Interval::new(-2.0, 4.0));
/// assert_eq!(x.powi(2).range, Interval::new(0.0, 4.0));
/// assert!((Interval::point(0.1) + Interval::point(0.2)).contains(0.3));
/// assert!(!x.sqrt().defined && x.sqrt().range.contains(1.4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    lo: f64,
    hi: f64,
}

/// The values of a function on the part of an interval where it exists.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Enclosure {
    /// All the values; empty if the function exists nowhere.
    pub range: Interval,
    /// The function exists on the whole interval; false if possibly not.
    pub defined: bool,
}

impl Interval {
    /// No number.
    pub const EMPTY: Interval = Interval { lo: f64::INFINITY, hi: f64::NEG_INFINITY };
    /// All real numbers.
    pub const ENTIRE: Interval = Interval { lo: f64::NEG_INFINITY, hi: f64::INFINITY };

    const UNIT: Interval = Interval { lo: -1.0, hi: 1.0 };
    const NOT_NEGATIVE: Interval = Interval { lo: 0.0, hi: f64::INFINITY };

    /// The numbers from `lo` to `hi`: none if `hi` is below `lo`, all if either is NaN.
    pub fn new(lo: f64, hi: f64) -> Self {
        if lo <= hi {
            Interval { lo, hi }
        } else if lo > hi {
            Self::EMPTY
        } else {
            Self::ENTIRE
        }
    }

    /// A single number.
    pub fn point(x: f64) -> Self {
        Self::new(x, x)
    }

    /// The least number, infinity if empty.
    pub fn lo(self) -> f64 {
        self.lo
    }

    /// The greatest number, minus infinity if empty.
    pub fn hi(self) -> f64 {
        self.hi
    }

    /// True if there is no number.
    pub fn is_empty(self) -> bool {
        self.lo > self.hi
    }

    /// True if there is exactly one number.
    pub fn is_point(self) -> bool {
        self.lo == self.hi
    }

    /// True if both ends are finite.
    pub fn is_bounded(self) -> bool {
        self.lo.is_finite() && self.hi.is_finite()
    }

    /// True if `x` is inside.
    pub fn contains(self, x: f64) -> bool {
        self.lo <= x && x <= self.hi
    }

    /// True if every number of `other` is inside.
    pub fn encloses(self, other: Interval) -> bool {
        other.is_empty() || (self.lo <= other.lo && other.hi <= self.hi)
    }

    /// What is in both.
    pub fn intersection(self, other: Interval) -> Interval {
        Self::new(self.lo.max(other.lo), self.hi.min(other.hi))
    }

    /// The smallest interval that holds both.
    pub fn hull(self, other: Interval) -> Interval {
        Interval { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    /// The distance between the ends, rounded up.
    pub fn width(self) -> f64 {
        if self.is_empty() { 0.0 } else { add_up(self.hi, -self.lo) }
    }

    /// A number in the middle; any number inside if unbounded, NaN if empty.
    pub fn midpoint(self) -> f64 {
        let (lo, hi) = (self.lo.max(-f64::MAX), self.hi.min(f64::MAX));
        if self.is_empty() { f64::NAN } else { (0.5 * lo + 0.5 * hi).clamp(lo, hi) }
    }

    /// The greatest absolute value.
    pub fn magnitude(self) -> f64 {
        if self.is_empty() { 0.0 } else { self.lo.abs().max(self.hi.abs()) }
    }

    /// The least absolute value.
    pub fn mignitude(self) -> f64 {
        if self.contains(0.0) { 0.0 } else { self.lo.abs().min(self.hi.abs()) }
    }

    /// True if every number is below every number of `other`, false if none is below any.
    pub fn less(self, other: Interval) -> Option<bool> {
        (self.hi < other.lo || self.lo >= other.hi).then_some(self.hi < other.lo)
    }

    /// As [`Interval::less`], for "not above".
    pub fn less_or_equal(self, other: Interval) -> Option<bool> {
        other.less(self).map(|above| !above)
    }

    /// True if both are the same single number, false if they have no number in common.
    pub fn equal(self, other: Interval) -> Option<bool> {
        let (same, apart) = (self.is_point() && self == other, self.intersection(other).is_empty());
        (same || apart).then_some(same)
    }

    /// The result of a function that exists everywhere.
    fn total(self) -> Enclosure {
        Enclosure { range: self, defined: true }
    }

    /// Both ends mapped by an increasing function of the module's accuracy, which is exact at
    /// `exact`, and cut to its range.
    fn increasing(self, function: fn(f64) -> f64, exact: f64, range: Interval) -> Interval {
        if self.is_empty() {
            return self;
        }
        let bound = |x: f64, ulps: i64| if x == exact { function(x) } else { step(function(x), ulps) };
        Interval::new(bound(self.lo, -2 * ULPS), bound(self.hi, 2 * ULPS)).intersection(range)
    }

    /// The part of the interval in a domain mapped by `function`.
    fn on(self, domain: Interval, function: impl Fn(Interval) -> Interval) -> Enclosure {
        Enclosure { range: function(self.intersection(domain)), defined: domain.encloses(self) }
    }
}

impl Add for Interval {
    type Output = Interval;

    fn add(self, other: Interval) -> Interval {
        if self.is_empty() || other.is_empty() {
            return Self::EMPTY;
        }
        Interval { lo: add_down(self.lo, other.lo), hi: add_up(self.hi, other.hi) }
    }
}

impl Neg for Interval {
    type Output = Interval;

    fn neg(self) -> Interval {
        Interval { lo: -self.hi, hi: -self.lo }
    }
}

impl Sub for Interval {
    type Output = Interval;

    fn sub(self, other: Interval) -> Interval {
        self + -other
    }
}

impl Mul for Interval {
    type Output = Interval;

    fn mul(self, other: Interval) -> Interval {
        let (a, b) = (self, other);
        if a.is_empty() || b.is_empty() {
            return Self::EMPTY;
        }
        if a.lo < 0.0 && a.hi <= 0.0 {
            return -(-a * b);
        }
        if b.lo < 0.0 && b.hi <= 0.0 {
            return -(a * -b);
        }
        let (lo, hi) = match (a.lo >= 0.0, b.lo >= 0.0) {
            (true, true) => (mul_down(a.lo, b.lo), mul_up(a.hi, b.hi)),
            (true, false) => (mul_down(a.hi, b.lo), mul_up(a.hi, b.hi)),
            (false, true) => (mul_down(a.lo, b.hi), mul_up(a.hi, b.hi)),
            (false, false) => {
                (mul_down(a.lo, b.hi).min(mul_down(a.hi, b.lo)), mul_up(a.lo, b.lo).max(mul_up(a.hi, b.hi)))
            }
        };
        Interval { lo, hi }
    }
}

/// Algebraic functions.
impl Interval {
    /// The quotient; unbounded and not defined if the divisor may be zero.
    pub fn divide(self, divisor: Interval) -> Enclosure {
        let (a, b) = (self, divisor);
        if b.contains(0.0) {
            let range =
                if a.is_empty() || b == Interval::point(0.0) { Self::EMPTY } else { half_or_entire(a, b) };
            return Enclosure { range, defined: false };
        }
        if a.is_empty() || b.is_empty() {
            return Self::EMPTY.total();
        }
        if b.hi < 0.0 {
            return (-a).divide(-b);
        }
        let lo = div_down(a.lo, if a.lo >= 0.0 { b.hi } else { b.lo });
        let hi = div_up(a.hi, if a.hi >= 0.0 { b.lo } else { b.hi });
        Interval { lo, hi }.total()
    }

    /// The absolute value.
    pub fn abs(self) -> Interval {
        if self.is_empty() { self } else { Interval { lo: self.mignitude(), hi: self.magnitude() } }
    }

    /// The sign, from -1 to 1.
    pub fn sign(self) -> Interval {
        self.monotone(f::sign)
    }

    /// The greatest whole number not above.
    pub fn floor(self) -> Interval {
        self.monotone(f64::floor)
    }

    /// The least whole number not below.
    pub fn ceil(self) -> Interval {
        self.monotone(f64::ceil)
    }

    /// The smaller of two numbers.
    pub fn min(self, other: Interval) -> Interval {
        if self.is_empty() || other.is_empty() {
            return Self::EMPTY;
        }
        Interval { lo: self.lo.min(other.lo), hi: self.hi.min(other.hi) }
    }

    /// The greater of two numbers.
    pub fn max(self, other: Interval) -> Interval {
        -((-self).min(-other))
    }

    /// The square root.
    pub fn sqrt(self) -> Enclosure {
        self.on(Self::NOT_NEGATIVE, |x| {
            if x.is_empty() { x } else { Interval { lo: sqrt_down(x.lo), hi: sqrt_up(x.hi) } }
        })
    }

    /// A whole power by the multiplications of [`f::powi`].
    pub fn powi(self, n: i32) -> Enclosure {
        if n < 0 {
            let power = self.positive_power(n.unsigned_abs());
            return Interval::point(1.0).divide(power);
        }
        self.positive_power(n as u32).total()
    }

    fn positive_power(self, n: u32) -> Interval {
        if self.is_empty() {
            return self;
        }
        let end = |x: f64| {
            f::power_chain(n).fold(Interval::point(x), |power, step| match step {
                f::PowerStep::Square => power * power,
                f::PowerStep::Multiply => power * Interval::point(x),
            })
        };
        match n {
            0 => Interval::point(1.0),
            _ if n.is_multiple_of(2) => end(self.mignitude()).hull(end(self.magnitude())),
            _ => end(self.lo).hull(end(self.hi)),
        }
    }

    /// The remainder `self - divisor * floor(self / divisor)`.
    pub fn modulo(self, divisor: Interval) -> Enclosure {
        let quotient = self.divide(divisor);
        let direct = self - divisor * quotient.range.floor();
        // The computed remainder misses the range from 0 to the divisor by rounding, or because the
        // quotient vanished by underflow.
        let slack = 4.0 * f64::EPSILON * self.magnitude() + 2.0 * f64::from_bits(1) * divisor.magnitude();
        let slack = Interval::new(-slack, slack);
        let within = divisor.hull(Interval::point(0.0)) + slack;
        Enclosure { range: direct.intersection(within), defined: quotient.defined }
    }

    /// The length of the vector with these components.
    pub fn hypot(self, other: Interval) -> Interval {
        if self.is_empty() || other.is_empty() {
            return Self::EMPTY;
        }
        let lo = step(f::hypot(self.mignitude(), other.mignitude()), -2 * ULPS);
        let hi = step(f::hypot(self.magnitude(), other.magnitude()), 2 * ULPS);
        Interval { lo: lo.max(0.0), hi }
    }

    fn monotone(self, function: fn(f64) -> f64) -> Interval {
        if self.is_empty() { self } else { Interval { lo: function(self.lo), hi: function(self.hi) } }
    }
}

/// Transcendental functions.
impl Interval {
    /// The exponential.
    pub fn exp(self) -> Interval {
        self.increasing(f::exp, 0.0, Self::NOT_NEGATIVE)
    }

    /// The natural logarithm.
    pub fn log(self) -> Enclosure {
        let range = self.intersection(Self::NOT_NEGATIVE).increasing(f::log, 1.0, Self::ENTIRE);
        let range = if self.hi <= 0.0 { Self::EMPTY } else { range };
        Enclosure { range, defined: self.is_empty() || self.lo > 0.0 }
    }

    /// The sine.
    pub fn sin(self) -> Interval {
        self.wave(f::sin, 1.0)
    }

    /// The cosine.
    pub fn cos(self) -> Interval {
        self.wave(f::cos, 0.0)
    }

    /// A wave with its crest at a number of quarter turns.
    fn wave(self, function: fn(f64) -> f64, crest: f64) -> Interval {
        if self.is_empty() {
            return self;
        }
        let Some(turns) = self.quarter_turns() else { return Self::UNIT };
        let value = |x: f64| {
            let y = function(x);
            if x == 0.0 {
                Interval::point(y)
            } else {
                Interval { lo: step(y, -2 * ULPS), hi: step(y, 2 * ULPS) }
            }
        };
        let mut range = value(self.lo).hull(value(self.hi));
        if meets(turns, crest, 4.0) {
            range.hi = 1.0;
        }
        if meets(turns, crest + 2.0, 4.0) {
            range.lo = -1.0;
        }
        range.intersection(Self::UNIT)
    }

    /// The argument in quarter turns, generously rounded; `None` if it is too large to tell.
    fn quarter_turns(self) -> Option<Interval> {
        let slack = 1.0 + 1e-15;
        let widen = |x: f64| {
            let turns = x / FRAC_PI_2;
            Interval::new(
                turns.min(turns * slack).min(turns / slack),
                turns.max(turns * slack).max(turns / slack),
            )
        };
        (self.magnitude() < 1e14).then(|| widen(self.lo).hull(widen(self.hi)))
    }

    /// The tangent; unbounded and not defined across a pole.
    pub fn tan(self) -> Enclosure {
        if self.is_empty() {
            return self.total();
        }
        match self.quarter_turns() {
            Some(turns) if !meets(turns, 1.0, 2.0) => self.increasing(f::tan, 0.0, Self::ENTIRE).total(),
            _ => Enclosure { range: Self::ENTIRE, defined: false },
        }
    }

    /// The inverse sine.
    pub fn asin(self) -> Enclosure {
        self.on(Self::UNIT, |x| x.increasing(f::asin, 0.0, Self::ENTIRE))
    }

    /// The inverse cosine.
    pub fn acos(self) -> Enclosure {
        let decreasing = |x: Interval| {
            if x.is_empty() {
                return x;
            }
            let lo = if x.hi == 1.0 { 0.0 } else { step(f::acos(x.hi), -2 * ULPS) };
            Interval::new(lo, step(f::acos(x.lo), 2 * ULPS))
        };
        self.on(Self::UNIT, decreasing)
    }

    /// The inverse tangent.
    pub fn atan(self) -> Interval {
        self.increasing(f::atan, 0.0, Self::ENTIRE)
    }

    /// The hyperbolic sine.
    pub fn sinh(self) -> Interval {
        self.increasing(f::sinh, 0.0, Self::ENTIRE)
    }

    /// The hyperbolic cosine.
    pub fn cosh(self) -> Interval {
        self.abs().increasing(f::cosh, 0.0, Interval { lo: 1.0, hi: f64::INFINITY })
    }

    /// The hyperbolic tangent.
    pub fn tanh(self) -> Interval {
        self.increasing(f::tanh, 0.0, Self::UNIT)
    }

    /// The inverse hyperbolic sine.
    pub fn asinh(self) -> Interval {
        self.increasing(f::asinh, 0.0, Self::ENTIRE)
    }

    /// The inverse hyperbolic cosine.
    pub fn acosh(self) -> Enclosure {
        let domain = Interval { lo: 1.0, hi: f64::INFINITY };
        self.on(domain, |x| x.increasing(f::acosh, 1.0, Self::NOT_NEGATIVE))
    }

    /// The inverse hyperbolic tangent.
    pub fn atanh(self) -> Enclosure {
        let enclosure = self.on(Self::UNIT, |x| x.increasing(f::atanh, 0.0, Self::ENTIRE));
        Enclosure { defined: enclosure.defined && !self.contains(1.0) && !self.contains(-1.0), ..enclosure }
    }

    /// The angle of the point with ordinate `self` and the given abscissa.
    pub fn atan2(self, abscissa: Interval) -> Enclosure {
        let (y, x) = (self, abscissa);
        if y.is_empty() || x.is_empty() {
            return Self::EMPTY.total();
        }
        let defined = !(y.contains(0.0) && x.contains(0.0));
        let straight = step(PI, 1);
        if y.contains(0.0) && x.lo <= 0.0 {
            return Enclosure { range: Interval::new(-straight, straight), defined };
        }
        let corner = |y: f64, x: f64| {
            let angle = f::atan2(y, x);
            let widened = Interval { lo: step(angle, -2 * ULPS), hi: step(angle, 2 * ULPS) };
            if y == 0.0 { Interval::point(angle) } else { widened }
        };
        let ends = |y: f64| corner(y, x.lo).hull(corner(y, x.hi));
        Enclosure { range: ends(y.lo).hull(ends(y.hi)), defined }
    }

    /// A power. A negative base is taken only to whole powers.
    pub fn pow(self, exponent: Interval) -> Enclosure {
        if self.is_empty() || exponent.is_empty() {
            return Self::EMPTY.total();
        }
        if self.lo >= 0.0 {
            return self.power_of_positive(exponent);
        }
        let size = self.abs().power_of_positive(exponent);
        if !(exponent.is_point() && exponent.lo.fract() == 0.0) {
            return Enclosure { range: size.range.hull(-size.range), defined: false };
        }
        if exponent.lo.rem_euclid(2.0) == 0.0 {
            return size;
        }
        let below = -(-self.intersection(-Self::NOT_NEGATIVE)).power_of_positive(exponent).range;
        let above = self.intersection(Self::NOT_NEGATIVE).pow(exponent).range;
        Enclosure { range: below.hull(above), defined: size.defined }
    }

    /// A power of a number that is not negative: monotone in each argument.
    fn power_of_positive(self, exponent: Interval) -> Enclosure {
        let corner = |x: f64, y: f64| {
            let value = f::pow(x, y);
            let exact = y == 0.0 || y == 1.0 || x == 1.0 || x == 0.0;
            let widened = Interval { lo: step(value, -2 * ULPS).max(0.0), hi: step(value, 2 * ULPS) };
            if exact { Interval::point(value) } else { widened }
        };
        let ends = |x: f64| corner(x, exponent.lo).hull(corner(x, exponent.hi));
        let range = ends(self.lo).hull(ends(self.hi));
        Enclosure { range, defined: self.lo > 0.0 || exponent.lo >= 0.0 }
    }
}

/// The quotient by a divisor that contains zero but is more than zero: a half line if the divisor
/// does not change sign and the dividend keeps away from zero.
fn half_or_entire(a: Interval, b: Interval) -> Interval {
    if b.lo < 0.0 && b.hi > 0.0 {
        return Interval::ENTIRE;
    }
    if b.hi == 0.0 {
        return half_or_entire(-a, -b);
    }
    if a.lo >= 0.0 {
        Interval { lo: div_down(a.lo, b.hi), hi: f64::INFINITY }
    } else if a.hi <= 0.0 {
        Interval { lo: f64::NEG_INFINITY, hi: div_up(a.hi, b.hi) }
    } else {
        Interval::ENTIRE
    }
}

/// Whether the interval holds a number of the form `first + k * period`.
fn meets(x: Interval, first: f64, period: f64) -> bool {
    first + period * ((x.lo - first) / period).ceil() <= x.hi
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn exact_results_stay_exact() {
        let x = Interval::new(0.5, 2.0);
        assert_eq!(x + x, Interval::new(1.0, 4.0));
        assert_eq!(x - x, Interval::new(-1.5, 1.5));
        assert_eq!(x * -x, Interval::new(-4.0, -0.25));
        assert_eq!(Interval::point(1.0).divide(x).range, Interval::new(0.5, 2.0));
        assert_eq!(Interval::new(0.0, 4.0).sqrt().range, Interval::new(0.0, 2.0));
        assert_eq!(Interval::point(0.0).sin(), Interval::point(0.0));
        assert_eq!(Interval::point(0.0).exp(), Interval::point(1.0));
        assert_eq!(Interval::new(-2.0, 1.0).powi(3).range, Interval::new(-8.0, 1.0));
    }

    #[test]
    fn inexact_results_are_rounded_outward() {
        let tenth = Interval::point(1.0).divide(Interval::point(10.0)).range;
        assert!(tenth.lo() < tenth.hi() && tenth.contains(0.1));
        let two = Interval::point(2.0).sqrt().range;
        assert_eq!(two.hi(), two.lo().next_up());
        assert!((two * two).contains(2.0));
        let tiny = Interval::point(1e-200) * Interval::point(1e-200);
        assert!(tiny.lo() <= 0.0 && tiny.hi() > 0.0);
        let huge = Interval::point(1e200) * Interval::point(1e200);
        assert_eq!(huge, Interval::new(f64::MAX, f64::INFINITY));
    }

    #[test]
    fn functions_report_where_they_do_not_exist() {
        let x = Interval::new(-1.0, 4.0);
        let root = x.sqrt();
        assert_eq!(root, Enclosure { range: Interval::new(0.0, 2.0), defined: false });
        assert!(Interval::new(-2.0, -1.0).sqrt().range.is_empty());
        assert!(!x.log().defined && !x.acosh().defined && !x.asin().defined && !x.atanh().defined);
        assert!(!Interval::new(1.0, 2.0).tan().defined && Interval::new(-1.0, 1.0).tan().defined);
        assert!(!Interval::point(1.0).divide(x).defined);
        assert_eq!(
            Interval::point(1.0).divide(Interval::new(0.0, 2.0)).range,
            Interval::new(0.5, f64::INFINITY)
        );
        assert!(!x.pow(Interval::point(0.5)).defined && x.pow(Interval::point(3.0)).defined);
        assert!(!x.modulo(Interval::new(-1.0, 1.0)).defined);
    }

    #[test]
    fn waves_know_their_crests() {
        assert_eq!(Interval::new(1.0, 2.0).sin().hi(), 1.0);
        assert_eq!(Interval::new(4.0, 5.0).sin().lo(), -1.0);
        assert!(Interval::new(1.0, 1.5).sin().hi() < 1.0);
        assert_eq!(Interval::new(-0.1, 0.1).cos().hi(), 1.0);
        assert_eq!(Interval::new(3.0, 3.2).cos().lo(), -1.0);
        assert_eq!(Interval::new(0.0, 1e20).sin(), Interval::new(-1.0, 1.0));
    }

    #[test]
    fn comparisons_are_certain_or_open() {
        let (a, b) = (Interval::new(0.0, 1.0), Interval::new(1.0, 2.0));
        assert_eq!((a.less(b), b.less(a), a.less_or_equal(b)), (None, Some(false), Some(true)));
        assert_eq!(a.equal(Interval::new(3.0, 4.0)), Some(false));
        assert_eq!(Interval::point(1.0).equal(Interval::point(1.0)), Some(true));
    }

    #[test]
    fn empty_stays_empty() {
        let (empty, x) = (Interval::EMPTY, Interval::new(1.0, 2.0));
        assert!((empty + x).is_empty() && (x * empty).is_empty() && empty.exp().is_empty());
        assert!(empty.sin().is_empty() && empty.max(x).is_empty() && x.divide(empty).range.is_empty());
        assert_eq!(empty.hull(x), x);
    }

    fn number() -> impl Strategy<Value = f64> {
        prop_oneof![
            4 => -10.0f64..10.0,
            2 => (-8i8..=8).prop_map(|k| f64::from(k) / 2.0),
            1 => prop::num::f64::NORMAL,
            1 => (-20i32..20).prop_map(|k| f64::from(k) * FRAC_PI_2),
        ]
    }

    /// An interval and a number inside.
    fn place() -> impl Strategy<Value = (Interval, f64)> {
        (number(), number(), number()).prop_map(|(a, b, c)| {
            let mut ends = [a, b, c];
            ends.sort_by(f64::total_cmp);
            (Interval::new(ends[0], ends[2]), ends[1])
        })
    }

    fn cases() -> u32 {
        std::env::var("SALTUS_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(20_000)
    }

    fn check(name: &str, enclosure: Enclosure, value: f64) {
        assert!(
            enclosure.range.contains(value) || (!value.is_finite() && !enclosure.defined),
            "{name}: {value} {enclosure:?}"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn values_are_enclosed((x, a) in place(), (y, b) in place(), n in -5i32..9) {
            for (name, enclosure, value) in [
                ("add", (x + y).total(), a + b),
                ("sub", (x - y).total(), a - b),
                ("mul", (x * y).total(), a * b),
                ("div", x.divide(y), a / b),
                ("abs", x.abs().total(), a.abs()),
                ("sign", x.sign().total(), f::sign(a)),
                ("floor", x.floor().total(), a.floor()),
                ("ceil", x.ceil().total(), a.ceil()),
                ("min", x.min(y).total(), f::min(a, b)),
                ("max", x.max(y).total(), f::max(a, b)),
                ("sqrt", x.sqrt(), a.sqrt()),
                ("powi", x.powi(n), f::powi(a, n)),
                ("hypot", x.hypot(y).total(), f::hypot(a, b)),
                ("exp", x.exp().total(), f::exp(a)),
                ("log", x.log(), f::log(a)),
                ("sin", x.sin().total(), f::sin(a)),
                ("cos", x.cos().total(), f::cos(a)),
                ("tan", x.tan(), f::tan(a)),
                ("asin", x.asin(), f::asin(a)),
                ("acos", x.acos(), f::acos(a)),
                ("atan", x.atan().total(), f::atan(a)),
                ("sinh", x.sinh().total(), f::sinh(a)),
                ("cosh", x.cosh().total(), f::cosh(a)),
                ("tanh", x.tanh().total(), f::tanh(a)),
                ("asinh", x.asinh().total(), f::asinh(a)),
                ("acosh", x.acosh(), f::acosh(a)),
                ("atanh", x.atanh(), f::atanh(a)),
                ("atan2", x.atan2(y), f::atan2(a, b)),
                ("pow", x.pow(y), f::pow(a, b)),
                ("whole pow", x.pow(Interval::point(f64::from(n))), f::pow(a, f64::from(n))),
            ] {
                check(name, enclosure, value);
            }
            let remainder = f::modulo(a, b);
            if remainder.is_finite() {
                check("mod", x.modulo(y), remainder);
            }
        }

        #[test]
        fn bounds_are_tight_at_points(a in -10.0f64..10.0) {
            let x = Interval::point(a);
            for range in [x.sin(), x.cos(), x.atan(), x.exp(), x.tanh(), x.sinh(), x.cosh(), x.asinh()] {
                prop_assert!(range.width() <= 20.0 * f64::EPSILON * range.magnitude());
            }
        }

        /// The accuracy taken for granted, against the platform's functions.
        #[test]
        fn elementary_functions_are_accurate(a in number()) {
            let pairs = [
                (f::sin(a), a.sin()), (f::cos(a), a.cos()), (f::tan(a), a.tan()), (f::exp(a), a.exp()),
                (f::log(a), a.ln()), (f::asin(a), a.asin()), (f::acos(a), a.acos()), (f::atan(a), a.atan()),
                (f::sinh(a), a.sinh()), (f::cosh(a), a.cosh()), (f::tanh(a), a.tanh()),
            ];
            for (ours, platform) in pairs {
                let close = step(ours, -ULPS) <= platform && platform <= step(ours, ULPS);
                prop_assert!(close || (ours.is_nan() && platform.is_nan()), "{} {}", ours, platform);
            }
        }
    }
}
