//! The Bernstein form of a polynomial on a piece of the line, and what its coefficients say about
//! roots there: the polynomial has at most as many roots as they have sign changes, and the same
//! number modulo two (Descartes' rule).

use crate::polynomial::shift;
use crate::roots::Sign;

/// 1 / C(n, k) for k = 0..=n.
pub(crate) fn reciprocal_binomials(degree: usize) -> Vec<f64> {
    let mut row = vec![1.0];
    for n in 1..=degree {
        row.push(1.0);
        for k in (1..n).rev() {
            row[k] += row[k - 1];
        }
    }
    row.iter().map(|c| 1.0 / c).collect()
}

/// The Bernstein coefficients of p(from + width t), t in [0, 1].
pub(crate) fn to_bernstein(
    c: &[f64],
    from: f64,
    width: f64,
    binomials: &[f64],
    work: &mut [f64],
    out: &mut [f64],
) {
    let n = c.len() - 1;
    work.copy_from_slice(c);
    if from != 0.0 {
        shift(work, from);
    }
    let mut power = 1.0;
    for k in 0..=n {
        work[k] *= power * binomials[k];
        power *= width;
    }
    // `work` is now the leading diagonal of the table of forward differences.
    out[0] = work[0];
    for (j, out) in out.iter_mut().enumerate().skip(1) {
        let diagonal = &mut work[..=n - j + 1];
        for k in 0..diagonal.len() - 1 {
            diagonal[k] += diagonal[k + 1];
        }
        *out = diagonal[0];
    }
}

/// The largest number of sign changes the coefficients can have within their margins, the signs at
/// the ends being given.
pub(crate) fn most_sign_changes(b: &[f64], margin: &[f64], left: Sign, right: Sign) -> usize {
    let n = b.len() - 1;
    if right == Sign::Zero {
        return usize::MAX;
    }
    let mut changes = 0;
    let mut doubtful = 0;
    let mut last = left;
    for j in 1..=n {
        let sign = if j == n {
            right
        } else if b[j].abs() > margin[j] {
            Sign::of(b[j])
        } else {
            doubtful += 1;
            continue;
        };
        // Between two known signs the number of changes is odd if they differ, else even.
        let steps = doubtful + 1;
        let parity = usize::from(sign != last);
        changes += if steps % 2 == parity { steps } else { steps - 1 };
        doubtful = 0;
        last = sign;
    }
    changes
}

/// Where the control polygon leaves the sign it starts with, in [0, 1].
pub(crate) fn polygon_crossing(b: &[f64], left: Sign) -> f64 {
    let n = b.len() - 1;
    let j = (1..=n).find(|&j| Sign::of(b[j]) != left).unwrap_or(n);
    let part = b[j - 1] / (b[j - 1] - b[j]);
    (j as f64 - 1.0 + if (0.0..=1.0).contains(&part) { part } else { 0.5 }) / n as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::polynomial::evaluate;

    fn form(c: &[f64], from: f64, width: f64) -> Vec<f64> {
        let (mut work, mut out) = (vec![0.0; c.len()], vec![0.0; c.len()]);
        to_bernstein(c, from, width, &reciprocal_binomials(c.len() - 1), &mut work, &mut out);
        out
    }

    #[test]
    fn the_form_interpolates_at_the_ends_and_reproduces_lines() {
        let c = [3.0, -5.0, 2.0, 7.0, -1.0];
        let b = form(&c, 0.25, 0.5);
        assert_eq!(b[0], evaluate(&c, 0.25));
        assert!((b[4] - evaluate(&c, 0.75)).abs() < 1e-14);
        assert_eq!(form(&[1.0, 4.0, 0.0, 0.0, 0.0], 0.0, 1.0), [1.0, 2.0, 3.0, 4.0, 5.0]);
    }

    #[test]
    fn doubtful_coefficients_count_for_the_worse() {
        use Sign::{Negative, Positive};
        let changes = |b: &[f64], left, right| most_sign_changes(b, &vec![0.5; b.len()], left, right);
        assert_eq!(changes(&[1.0, 1.0, 1.0], Positive, Positive), 0);
        assert_eq!(changes(&[1.0, 0.1, 1.0], Positive, Positive), 2);
        assert_eq!(changes(&[1.0, 0.1, -1.0], Positive, Negative), 1);
        assert_eq!(changes(&[1.0, 0.1, -0.1, -1.0], Positive, Negative), 3);
        assert_eq!(changes(&[1.0, -1.0, 1.0, -1.0], Positive, Negative), 3);
    }
}
