//! Units: SI dimensions with rational exponents, and the reading of unit texts such as `m/s^2`.
//!
//! Values are never scaled inside a model: declarations must use coherent SI units (`m`, `N`,
//! `V`, ...). A *literal* with a scaled unit (`5 [km]`, `20 [deg]`, `21 [degC]`) is converted to
//! SI when it is read, which is what [`Scaled`] is for.

use std::fmt;

/// An exponent: a fraction in lowest terms with a positive denominator. Every value of a model
/// carries seven of them, so they are small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Ratio {
    numerator: i16,
    denominator: i16,
}

impl Ratio {
    const ZERO: Ratio = Ratio { numerator: 0, denominator: 1 };

    /// `None` for exponents beyond what is kept, which are nonsense.
    fn new(numerator: i64, denominator: i64) -> Option<Ratio> {
        let divisor = gcd(numerator.unsigned_abs(), denominator.unsigned_abs()) as i64;
        let scale = divisor.max(1) * if denominator < 0 { -1 } else { 1 };
        let [numerator, denominator] = [numerator, denominator].map(|part| i16::try_from(part / scale).ok());
        let reduced = Ratio { numerator: numerator?, denominator: denominator? };
        (reduced.denominator > 0).then_some(reduced)
    }

    fn parts(self) -> [i64; 2] {
        [self.numerator.into(), self.denominator.into()]
    }

    fn plus(self, other: Ratio) -> Option<Ratio> {
        let ([a, b], [c, d]) = (self.parts(), other.parts());
        Ratio::new(a * d + c * b, b * d)
    }

    fn times(self, other: Ratio) -> Option<Ratio> {
        let ([a, b], [c, d]) = (self.parts(), other.parts());
        Ratio::new(a * c, b * d)
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

const BASE: [&str; 7] = ["kg", "m", "s", "A", "K", "mol", "cd"];

/// The dimension of a quantity: exponents of kg, m, s, A, K, mol and cd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dimension([Ratio; 7]);

impl Dimension {
    /// The dimension of plain numbers and angles.
    pub const ONE: Dimension = Dimension([Ratio::ZERO; 7]);

    /// The dimension of time.
    pub fn second() -> Dimension {
        Dimension::of([0, 0, 1, 0, 0, 0, 0])
    }

    fn of(exponents: [i16; 7]) -> Dimension {
        Dimension(exponents.map(|numerator| Ratio { numerator, denominator: 1 }))
    }

    /// True for plain numbers and angles.
    pub fn is_one(&self) -> bool {
        *self == Dimension::ONE
    }

    /// The dimension of a product; `None` if an exponent becomes absurdly large.
    pub fn times(self, other: Dimension) -> Option<Dimension> {
        self.zip(other, Ratio::plus)
    }

    /// The dimension of a quotient.
    pub fn over(self, other: Dimension) -> Option<Dimension> {
        self.times(other.power(-1, 1)?)
    }

    /// The dimension of a power `numerator / denominator`.
    ///
    /// ```
    /// let area = saltus_lang::units::parse("m^2").unwrap().dimension;
    /// assert_eq!(area.power(1, 2).unwrap().to_string(), "m");
    /// ```
    pub fn power(self, numerator: i64, denominator: i64) -> Option<Dimension> {
        let exponent = Ratio::new(numerator, denominator)?;
        self.zip(self, |own, _| own.times(exponent))
    }

    fn zip(self, other: Dimension, f: impl Fn(Ratio, Ratio) -> Option<Ratio>) -> Option<Dimension> {
        let mut result = Dimension::ONE;
        for (slot, (a, b)) in result.0.iter_mut().zip(self.0.into_iter().zip(other.0)) {
            *slot = f(a, b)?;
        }
        Some(result)
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, _)) = COHERENT.iter().find(|(_, e)| Dimension::of(*e) == *self) {
            return f.write_str(name);
        }
        let parts = |positive: bool| {
            BASE.iter()
                .zip(&self.0)
                .filter(|(_, e)| (e.numerator > 0) == positive && e.numerator != 0)
                .map(|(name, e)| match (e.numerator.abs(), e.denominator) {
                    (1, 1) => (*name).to_string(),
                    (n, 1) => format!("{name}^{n}"),
                    (n, d) => format!("{name}^({n}/{d})"),
                })
                .collect::<Vec<_>>()
        };
        let (above, below) = (parts(true), parts(false));
        f.write_str(&if above.is_empty() { "1".to_string() } else { above.join("*") })?;
        below.iter().try_for_each(|part| write!(f, "/{part}"))
    }
}

/// Coherent units: name and exponents of kg, m, s, A, K, mol, cd. The first of each dimension is
/// the one shown.
const COHERENT: &[(&str, [i16; 7])] = &[
    ("1", [0, 0, 0, 0, 0, 0, 0]),
    ("rad", [0, 0, 0, 0, 0, 0, 0]),
    ("sr", [0, 0, 0, 0, 0, 0, 0]),
    ("kg", [1, 0, 0, 0, 0, 0, 0]),
    ("m", [0, 1, 0, 0, 0, 0, 0]),
    ("s", [0, 0, 1, 0, 0, 0, 0]),
    ("A", [0, 0, 0, 1, 0, 0, 0]),
    ("K", [0, 0, 0, 0, 1, 0, 0]),
    ("mol", [0, 0, 0, 0, 0, 1, 0]),
    ("cd", [0, 0, 0, 0, 0, 0, 1]),
    ("N", [1, 1, -2, 0, 0, 0, 0]),
    ("J", [1, 2, -2, 0, 0, 0, 0]),
    ("W", [1, 2, -3, 0, 0, 0, 0]),
    ("Pa", [1, -1, -2, 0, 0, 0, 0]),
    ("C", [0, 0, 1, 1, 0, 0, 0]),
    ("V", [1, 2, -3, -1, 0, 0, 0]),
    ("Ohm", [1, 2, -3, -2, 0, 0, 0]),
    ("ohm", [1, 2, -3, -2, 0, 0, 0]),
    ("S", [-1, -2, 3, 2, 0, 0, 0]),
    ("F", [-1, -2, 4, 2, 0, 0, 0]),
    ("H", [1, 2, -2, -2, 0, 0, 0]),
    ("Wb", [1, 2, -2, -1, 0, 0, 0]),
    ("T", [1, 0, -2, -1, 0, 0, 0]),
    ("Hz", [0, 0, -1, 0, 0, 0, 0]),
];

/// Units with a factor of their own: name, factor, exponents, whether prefixes may stand before.
const SCALED: &[(&str, f64, [i16; 7], bool)] = &[
    ("g", 1e-3, [1, 0, 0, 0, 0, 0, 0], true),
    ("t", 1e3, [1, 0, 0, 0, 0, 0, 0], false),
    ("l", 1e-3, [0, 3, 0, 0, 0, 0, 0], true),
    ("min", 60.0, [0, 0, 1, 0, 0, 0, 0], false),
    ("h", 3600.0, [0, 0, 1, 0, 0, 0, 0], false),
    ("d", 86400.0, [0, 0, 1, 0, 0, 0, 0], false),
    ("deg", std::f64::consts::PI / 180.0, [0, 0, 0, 0, 0, 0, 0], false),
    ("rpm", std::f64::consts::PI / 30.0, [0, 0, -1, 0, 0, 0, 0], false),
    ("bar", 1e5, [1, -1, -2, 0, 0, 0, 0], true),
    ("eV", 1.602_176_634e-19, [1, 2, -2, 0, 0, 0, 0], true),
];

const PREFIXES: &[(&str, f64)] = &[
    ("p", 1e-12),
    ("n", 1e-9),
    ("u", 1e-6),
    ("µ", 1e-6),
    ("m", 1e-3),
    ("c", 1e-2),
    ("d", 1e-1),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
];

/// Coherent units that take no prefix: `kg` carries one already, `1` is a number.
const WITHOUT_PREFIX: [&str; 3] = ["kg", "1", "sr"];

/// A unit as read from text: `value [unit]` is `value * factor + offset` in SI.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaled {
    /// What it measures.
    pub dimension: Dimension,
    /// Multiplier to SI.
    pub factor: f64,
    /// Added after the multiplier (degrees Celsius).
    pub offset: f64,
}

impl Scaled {
    /// True if a number in this unit is already the SI number.
    pub fn is_coherent(&self) -> bool {
        self.factor == 1.0 && self.offset == 0.0
    }

    /// A number in this unit, in SI.
    pub fn to_si(&self, value: f64) -> f64 {
        value * self.factor + self.offset
    }
}

/// Why a unit text was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnitError {
    /// A name that is no unit.
    Unknown(String),
    /// Not a product of powers of names.
    Malformed(String),
}

/// Reads a unit text: names, `*`, `/`, `^` with whole exponents, parentheses.
///
/// ```
/// let speed = saltus_lang::units::parse("km/h").unwrap();
/// assert_eq!(speed.to_si(36.0), 10.0);
/// assert_eq!(speed.dimension.to_string(), "m/s");
/// assert!(saltus_lang::units::parse("furlong").is_err());
/// ```
pub fn parse(text: &str) -> Result<Scaled, UnitError> {
    if text.trim() == "degC" {
        return Ok(Scaled { offset: 273.15, ..lookup("K").unwrap_or(PLAIN) });
    }
    let mut reader = Reader { rest: text.trim(), depth: 0 };
    let unit = reader.product()?;
    match reader.rest {
        "" => Ok(unit),
        rest => Err(UnitError::Malformed(format!("`{rest}` does not belong in a unit"))),
    }
}

/// The symbol of a unit that is written out.
///
/// ```
/// assert_eq!(saltus_lang::units::symbol("Metres"), Some("m"));
/// assert_eq!(saltus_lang::units::symbol("m"), None);
/// ```
pub fn symbol(word: &str) -> Option<&'static str> {
    let word = word.to_lowercase();
    let one = word.strip_suffix('s').filter(|one| one.len() > 2).unwrap_or(&word);
    WORDS.iter().find(|(name, _)| *name == one || *name == word).map(|(_, symbol)| *symbol)
}

/// Units written out, with their symbols.
const WORDS: [(&str, &str); 20] = [
    ("meter", "m"),
    ("metre", "m"),
    ("second", "s"),
    ("sec", "s"),
    ("minute", "min"),
    ("hour", "h"),
    ("gram", "g"),
    ("kilogram", "kg"),
    ("ampere", "A"),
    ("amp", "A"),
    ("kelvin", "K"),
    ("celsius", "degC"),
    ("degree", "deg"),
    ("radian", "rad"),
    ("newton", "N"),
    ("joule", "J"),
    ("watt", "W"),
    ("volt", "V"),
    ("pascal", "Pa"),
    ("hertz", "Hz"),
];

/// The names of units without prefixes, for near-miss suggestions.
pub fn names() -> impl Iterator<Item = &'static str> {
    COHERENT
        .iter()
        .map(|u| u.0)
        .chain(SCALED.iter().map(|u| u.0))
        .chain(["degC", "km", "cm", "mm", "ms", "kHz"])
}

const PLAIN: Scaled = Scaled { dimension: Dimension::ONE, factor: 1.0, offset: 0.0 };

struct Reader<'t> {
    rest: &'t str,
    depth: u32,
}

impl<'t> Reader<'t> {
    fn eat(&mut self, symbol: char) -> bool {
        let rest = self.rest.trim_start();
        let found = rest.strip_prefix(symbol);
        self.rest = found.unwrap_or(rest).trim_start();
        found.is_some()
    }

    fn product(&mut self) -> Result<Scaled, UnitError> {
        let mut unit = self.power()?;
        loop {
            let sign = if self.eat('*') || self.eat('·') {
                1
            } else if self.eat('/') {
                -1
            } else {
                return Ok(unit);
            };
            let next = raise(self.power()?, sign)?;
            unit.factor *= next.factor;
            unit.dimension = unit.dimension.times(next.dimension).ok_or_else(too_large)?;
        }
    }

    fn power(&mut self) -> Result<Scaled, UnitError> {
        let base = self.atom()?;
        if !self.eat('^') {
            return Ok(base);
        }
        let negative = self.eat('-');
        let exponent: i64 = self
            .take(|c| c.is_ascii_digit())
            .parse()
            .map_err(|_| UnitError::Malformed("a whole exponent is needed after `^`".into()))?;
        raise(base, if negative { -exponent } else { exponent })
    }

    fn atom(&mut self) -> Result<Scaled, UnitError> {
        if self.eat('(') {
            self.depth += 1;
            if self.depth > 16 {
                return Err(UnitError::Malformed("parentheses are nested too deeply".into()));
            }
            let inner = self.product()?;
            self.depth -= 1;
            let closed = self.eat(')');
            return closed.then_some(inner).ok_or_else(|| UnitError::Malformed("a `)` is missing".into()));
        }
        let name = self.take(|c| c.is_alphanumeric() || c == 'µ');
        match name {
            "" => Err(UnitError::Malformed("the name of a unit is missing".into())),
            "degC" => Err(UnitError::Malformed("`degC` stands alone; use `K` for differences".into())),
            _ => lookup(name).ok_or_else(|| UnitError::Unknown(name.to_string())),
        }
    }

    fn take(&mut self, accept: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|c| !accept(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }
}

fn too_large() -> UnitError {
    UnitError::Malformed("an exponent is too large".into())
}

fn raise(unit: Scaled, exponent: i64) -> Result<Scaled, UnitError> {
    let small = i32::try_from(exponent).map_err(|_| too_large())?;
    let dimension = unit.dimension.power(exponent, 1).ok_or_else(too_large)?;
    // A reciprocal of the positive power is the correctly rounded choice for factors such as 1e3.
    let factor = if small < 0 { 1.0 / unit.factor.powi(-small) } else { unit.factor.powi(small) };
    Ok(Scaled { dimension, factor, offset: 0.0 })
}

fn lookup(name: &str) -> Option<Scaled> {
    whole(name).map(|(unit, _)| unit).or_else(|| {
        PREFIXES.iter().find_map(|(prefix, factor)| {
            let (unit, takes_prefix) = whole(name.strip_prefix(prefix)?)?;
            takes_prefix.then_some(Scaled { factor: unit.factor * factor, ..unit })
        })
    })
}

fn whole(name: &str) -> Option<(Scaled, bool)> {
    let coherent = COHERENT
        .iter()
        .find(|u| u.0 == name)
        .map(|u| (Scaled { dimension: Dimension::of(u.1), ..PLAIN }, !WITHOUT_PREFIX.contains(&name)));
    coherent.or_else(|| {
        SCALED
            .iter()
            .find(|u| u.0 == name)
            .map(|u| (Scaled { dimension: Dimension::of(u.2), factor: u.1, offset: 0.0 }, u.3))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(text: &str) -> String {
        parse(text).map_or_else(|e| format!("{e:?}"), |u| u.dimension.to_string())
    }

    #[test]
    fn units_written_out_have_known_symbols() {
        assert!(WORDS.iter().all(|(_, symbol)| parse(symbol).is_ok()));
    }

    #[test]
    fn derived_units_are_products_of_base_units() {
        for (derived, base) in [
            ("N", "kg*m/s^2"),
            ("J", "N*m"),
            ("W", "V*A"),
            ("Ohm", "V/A"),
            ("F", "C/V"),
            ("H", "V*s/A"),
            ("Wb", "V*s"),
            ("T", "Wb/m^2"),
            ("Pa", "N/m^2"),
            ("S", "1/Ohm"),
            ("Hz", "1/s"),
            ("m/s^2", "m/(s*s)"),
        ] {
            assert_eq!(parse(derived).map(|u| u.dimension), parse(base).map(|u| u.dimension), "{derived}");
        }
    }

    #[test]
    fn prefixes_scale_and_do_not_hide_names() {
        for (text, factor) in [
            ("km", 1e3),
            ("ms", 1e-3),
            ("min", 60.0),
            ("mol", 1.0),
            ("kg", 1.0),
            ("mg", 1e-6),
            ("cd", 1.0),
            ("Pa", 1.0),
            ("uF", 1e-6),
            ("nF", 1e-9),
            ("kOhm", 1e3),
            ("GHz", 1e9),
            ("cm^2", 1e-4),
            ("km/h", 1.0 / 3.6),
        ] {
            let unit = parse(text).expect(text);
            assert!((unit.factor / factor - 1.0).abs() < 1e-14, "{text}: {}", unit.factor);
        }
        assert_eq!(parse("degC").map(|u| u.to_si(20.0)), Ok(293.15));
    }

    #[test]
    fn refusals_name_the_part() {
        assert_eq!(parse("m/zorg"), Err(UnitError::Unknown("zorg".into())));
        assert!(matches!(parse("m^"), Err(UnitError::Malformed(_))));
        assert!(matches!(parse("m/"), Err(UnitError::Malformed(_))));
        assert!(matches!(parse("(m"), Err(UnitError::Malformed(_))));
        assert!(matches!(parse("m s"), Err(UnitError::Malformed(_))));
        assert!(matches!(parse("m^99999999999"), Err(UnitError::Malformed(_))));
        assert!(matches!(parse("kkg"), Err(UnitError::Unknown(_))));
    }

    #[test]
    fn dimensions_read_well() {
        assert_eq!(shown("kg*m^2/s^3"), "W");
        assert_eq!(shown("m/s/s"), "m/s^2");
        assert_eq!(shown("rad"), "1");
        assert_eq!(parse("m").unwrap().dimension.power(1, 2).unwrap().to_string(), "m^(1/2)");
    }

    proptest! {
        #[test]
        fn shown_dimension_reads_back(exponents in prop::array::uniform7(-4i16..5)) {
            let dimension = Dimension::of(exponents);
            let read = parse(&dimension.to_string());
            prop_assert_eq!(read.map(|u| u.dimension), Ok(dimension));
        }

        #[test]
        fn power_and_root_cancel(exponents in prop::array::uniform7(-4i16..5), n in 1i64..6) {
            let dimension = Dimension::of(exponents);
            prop_assert_eq!(dimension.power(n, 1).and_then(|d| d.power(1, n)), Some(dimension));
        }

        #[test]
        fn any_text_is_answered(text in ".{0,20}") {
            let _ = parse(&text);
        }
    }
}
