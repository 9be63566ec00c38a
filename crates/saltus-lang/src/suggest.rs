//! Near misses: the known name a mistyped one was probably meant to be.
//!
//! The distance counts insertions, deletions, replacements and swaps of neighbours (Damerau and
//! Levenshtein, restricted form), so that the four usual slips of a hand on a keyboard cost one.

/// Names longer than this are never compared: nobody types them, and the comparison is quadratic.
const LONGEST: usize = 64;

/// The number of single-letter slips between two names.
///
/// ```
/// use saltus_lang::suggest::distance;
/// assert_eq!(distance("Heating", "Haeting"), 1);
/// assert_eq!(distance("temp", "tmp"), 1);
/// ```
pub fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut before_last = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut row = vec![0; b.len() + 1];
    for i in 1..=a.len() {
        row[0] = i;
        for j in 1..=b.len() {
            let replace = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        std::mem::swap(&mut before_last, &mut last);
        std::mem::swap(&mut last, &mut row);
    }
    last[b.len()]
}

/// The known name nearest to `name`, if one is near enough to be a slip.
///
/// ```
/// use saltus_lang::suggest::nearest;
/// assert_eq!(nearest("Heatign", ["Idle", "Heating"]), Some("Heating"));
/// assert_eq!(nearest("Cooling", ["Idle", "Heating"]), None);
/// ```
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    near(name, known).into_iter().next()
}

/// All known names that `name` may be a slip of, the nearest first.
pub fn near<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let length = name.chars().count();
    if length > LONGEST {
        return Vec::new();
    }
    let lower = name.to_lowercase();
    let allowed = (length / 3).max(1);
    let mut found: Vec<(usize, &str)> = known
        .into_iter()
        .filter(|k| *k != name && k.chars().count().abs_diff(length) <= allowed)
        .filter_map(|k| {
            let same_letters = k.to_lowercase() == lower;
            let slips = if same_letters { 0 } else { distance(name, k) };
            // Another single letter is another name altogether, not a slip.
            let plausible = length > 1 || same_letters || k.contains(name);
            (slips <= allowed && plausible).then_some((slips, k))
        })
        .collect();
    found.sort();
    found.into_iter().map(|(_, k)| k).collect()
}

/// The advice `did you mean ...?`, if there is a near miss.
pub fn did_you_mean<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<String> {
    nearest(name, known).map(|k| format!("did you mean `{k}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn slips_cost_one() {
        for (a, b) in [("abcd", "abdc"), ("abcd", "abd"), ("abcd", "abxcd"), ("abcd", "abxd")] {
            assert_eq!(distance(a, b), 1, "{a} {b}");
        }
        assert_eq!(distance("", "abc"), 3);
    }

    #[test]
    fn case_is_the_nearest_slip() {
        assert_eq!(nearest("heating", ["heaving", "Heating"]), Some("Heating"));
        assert_eq!(nearest("V", ["v", "x"]), Some("v"));
        assert_eq!(nearest("y", ["v", "x"]), None);
        assert_eq!(near("y", ["v", "vy", "Y"]), ["Y", "vy"]);
    }

    proptest! {
        #[test]
        fn distance_is_a_symmetric_premetric(a in "[ab]{0,6}", b in "[ab]{0,6}") {
            prop_assert_eq!(distance(&a, &b), distance(&b, &a));
            prop_assert_eq!(distance(&a, &b) == 0, a == b);
            prop_assert!(distance(&a, &b) <= a.len().max(b.len()));
        }
    }
}
