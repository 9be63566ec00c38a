//! Where the marks of an axis lie and what they say.
//!
//! Steps are 1, 2 or 5 times a power of ten. Marks are kept as whole numbers of a power of ten and
//! printed from those, so a label never shows a rounding error. Very large or small numbers share a
//! factor, and values that hardly differ share an offset, both told once in a note at the axis.

/// Marks of one axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Ticks {
    /// Their places.
    pub values: Vec<f64>,
    /// What is written at them.
    pub labels: Vec<String>,
    /// Factor and offset all labels share, for example `×10⁻⁶ + 20`.
    pub note: Option<String>,
}

/// A label shows at most this many digits before an offset is split off.
const DIGITS: i32 = 5;

/// Exponent of the leading decimal digit of a finite number other than zero.
///
/// Read from the decimal form, which is the same on every machine; logarithms are not.
pub fn decimal_exponent(value: f64) -> i32 {
    let text = format!("{:e}", value.abs());
    text.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0)
}

fn power_of_ten(exponent: i32) -> f64 {
    format!("1e{exponent}").parse().unwrap_or(0.0)
}

/// Marks for the range from `lo` to `hi`, at most about `wanted` of them.
///
/// ```
/// let ticks = saltus_io::ticks::ticks(-0.3, 1.1, 4);
/// assert_eq!(ticks.labels, ["0.0", "0.5", "1.0"]);
/// assert_eq!(saltus_io::ticks::ticks(0.0, 3e-6, 3).note.as_deref(), Some("×10⁻⁶"));
/// ```
pub fn ticks(lo: f64, hi: f64, wanted: usize) -> Ticks {
    if !(lo.is_finite() && hi.is_finite() && lo < hi) {
        return Ticks { values: vec![], labels: vec![], note: None };
    }
    let (digit, exponent) = step(hi / wanted.max(1) as f64 - lo / wanted.max(1) as f64);
    let unit = power_of_ten(exponent);
    let first = (lo / unit / digit as f64 - 1e-6).ceil() as i64;
    let last = (hi / unit / digit as f64 + 1e-6).floor() as i64;
    // A range around a value so large that steps vanish in rounding keeps its ends only.
    let counts: Vec<i64> = if last.saturating_sub(first) > 1000 {
        vec![]
    } else {
        (first..=last).map(|k| k.saturating_mul(digit)).collect()
    };
    let values = counts.iter().map(|&k| scaled(k, exponent)).collect();
    let (labels, note) = labels(&counts, exponent);
    Ticks { values, labels, note }
}

/// The least round step that is not below `raw`, as a digit 1, 2 or 5 and a power of ten.
fn step(raw: f64) -> (i64, i32) {
    let exponent = decimal_exponent(raw);
    let mantissa = raw / power_of_ten(exponent);
    match mantissa {
        m if m <= 1.0 + 1e-9 => (1, exponent),
        m if m <= 2.0 + 1e-9 => (2, exponent),
        m if m <= 5.0 + 1e-9 => (5, exponent),
        _ => (1, exponent + 1),
    }
}

/// `count` times ten to the `exponent`, correctly rounded.
fn scaled(count: i64, exponent: i32) -> f64 {
    format!("{count}e{exponent}").parse().unwrap_or(0.0)
}

fn labels(counts: &[i64], exponent: i32) -> (Vec<String>, Option<String>) {
    let offset = shared_offset(counts);
    let relative: Vec<i64> = counts.iter().map(|&k| k - offset).collect();
    let largest = relative.iter().map(|k| k.unsigned_abs()).max().unwrap_or(0).max(1);
    let leading = exponent + digits(largest) - 1;
    let factor = if (-3..=4).contains(&leading) { 0 } else { leading.div_euclid(3) * 3 };
    let labels = relative.iter().map(|&k| decimal(k, exponent - factor)).collect();
    (labels, note(factor, offset, exponent))
}

/// What is subtracted from all marks when they differ only in their last digits.
fn shared_offset(counts: &[i64]) -> i64 {
    let (Some(&first), Some(&last)) = (counts.first(), counts.last()) else { return 0 };
    let largest = first.unsigned_abs().max(last.unsigned_abs());
    let spread = last.abs_diff(first).max(1);
    if digits(largest) <= DIGITS || digits(largest) < digits(spread) + 3 {
        return 0;
    }
    let floor = |grain: i64| first.div_euclid(grain) * grain;
    let below = floor(10_i64.saturating_pow(digits(spread) as u32 + 1));
    // The roundest number among the marks themselves.
    let grains = (0..digits(largest) as u32).rev().map(|power| 10_i64.saturating_pow(power));
    let mut ceilings = grains.map(|grain| floor(grain) + if floor(grain) < first { grain } else { 0 });
    let inside = ceilings.find(|&round| round <= last).unwrap_or(below);
    if significant(below) <= significant(inside) { below } else { inside }
}

/// Number of digits without the zeros at the end.
fn significant(value: i64) -> usize {
    value.unsigned_abs().to_string().trim_end_matches('0').len()
}

fn digits(value: u64) -> i32 {
    value.checked_ilog10().map_or(1, |d| d as i32 + 1)
}

fn note(factor: i32, offset: i64, exponent: i32) -> Option<String> {
    let mut parts = Vec::new();
    if factor != 0 {
        parts.push(format!("×10{}", superscript(factor)));
    }
    if offset != 0 {
        let sign = if offset < 0 { '−' } else { '+' };
        parts.push(format!("{sign} {}", plain_or_power(offset.unsigned_abs() as i64, exponent)));
    }
    if parts.is_empty() { None } else { Some(parts.join(" ")) }
}

fn plain_or_power(count: i64, exponent: i32) -> String {
    let leading = exponent + digits(count.unsigned_abs()) - 1;
    let (mut count, mut exponent) = (count, exponent);
    while count % 10 == 0 && count != 0 {
        count /= 10;
        exponent += 1;
    }
    if (-4..=6).contains(&leading) {
        return decimal(count, exponent);
    }
    format!("{}·10{}", decimal(count, exponent - leading), superscript(leading))
}

/// `count` times ten to the `exponent` in plain decimals, with a typographic minus.
fn decimal(count: i64, exponent: i32) -> String {
    let sign = if count < 0 { "−" } else { "" };
    let text = count.unsigned_abs().to_string();
    if count == 0 && exponent >= 0 {
        return "0".into();
    }
    if exponent >= 0 {
        return format!("{sign}{text}{}", "0".repeat(exponent as usize));
    }
    let places = exponent.unsigned_abs() as usize;
    let text = format!("{text:0>width$}", width = places + 1);
    let (whole, part) = text.split_at(text.len() - places);
    format!("{sign}{whole}.{part}")
}

/// A whole number in raised digits.
pub fn superscript(value: i32) -> String {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raise = |c: char| c.to_digit(10).map_or('⁻', |d| RAISED[d as usize]);
    value.to_string().chars().map(raise).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(lo: f64, hi: f64, wanted: usize, labels: &[&str], note: Option<&str>) {
        let found = ticks(lo, hi, wanted);
        assert_eq!(
            (found.labels.iter().map(String::as_str).collect::<Vec<_>>(), found.note.as_deref()),
            (labels.to_vec(), note)
        );
    }

    #[test]
    fn labels_are_round_and_free_of_rounding_noise() {
        check(0.0, 1.0, 5, &["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"], None);
        check(-12.0, 12.0, 5, &["−10", "−5", "0", "5", "10"], None);
        check(0.0, 0.0031, 3, &["0.000", "0.002"], None);
        check(0.25 - 1e-7, 0.25 + 1e-7, 1, &["0"], Some("×10⁻⁹ + 0.25"));
        check(0.0, 50000.0, 5, &["0", "10000", "20000", "30000", "40000", "50000"], None);
    }

    #[test]
    fn extreme_numbers_share_a_factor() {
        check(0.0, 4e8, 4, &["0", "100", "200", "300", "400"], Some("×10⁶"));
        check(-3e-12, 3e-12, 3, &["−2", "0", "2"], Some("×10⁻¹²"));
    }

    #[test]
    fn nearly_equal_numbers_share_an_offset() {
        check(20.000001, 20.0000022, 3, &["1.0", "1.5", "2.0"], Some("×10⁻⁶ + 20"));
        check(-300000.2, -300000.0, 3, &["−0.2", "−0.1", "0.0"], Some("− 300000"));
        check(1e6, 1e6 + 4.0, 4, &["0", "1", "2", "3", "4"], Some("+ 1000000"));
    }

    #[test]
    fn ranges_that_are_not_ranges_give_no_marks() {
        for (lo, hi) in [(f64::NAN, 1.0), (1.0, 1.0), (0.0, f64::INFINITY)] {
            assert!(ticks(lo, hi, 5).values.is_empty());
        }
    }

    proptest! {
        #[test]
        fn marks_lie_in_the_range_and_are_few(centre in -1e9..1e9f64, exponent in -8..9i32, wanted in 2usize..12) {
            let half = 10f64.powi(exponent);
            let (lo, hi) = (centre - half, centre + half);
            prop_assume!(hi - lo > 1e-10 * centre.abs());
            let found = ticks(lo, hi, wanted);
            let slack = (hi - lo) * 1e-6;
            prop_assert!(found.values.len() <= wanted + 1);
            prop_assert!(found.values.iter().all(|&v| v >= lo - slack && v <= hi + slack));
            let mut labels = found.labels.clone();
            labels.dedup();
            prop_assert_eq!(labels.len(), found.values.len());
        }
    }
}
