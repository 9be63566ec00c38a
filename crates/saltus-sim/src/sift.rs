//! Finding the few of many that matter: chunks are tested as a whole, and looked into only if there is
//! something in them.

use saltus_num::vectors::{VectorWork, in_widest_vectors};

/// So many are tested at a time.
const CHUNK: usize = 8;

/// Takes the positions at which something holds for an item of each list.
#[inline(always)]
pub(crate) fn sift_pairs<A, B>(
    first: &[A],
    second: &[B],
    holds: impl Fn(&A, &B) -> bool,
    take: impl FnMut(usize),
) {
    in_widest_vectors(Sifting { first, second, holds, take });
}

struct Sifting<'a, A, B, H, T> {
    first: &'a [A],
    second: &'a [B],
    holds: H,
    take: T,
}

impl<A, B, H: Fn(&A, &B) -> bool, T: FnMut(usize)> VectorWork for Sifting<'_, A, B, H, T> {
    type Output = ();

    #[inline(always)]
    fn work(self) {
        let Sifting { first, second, holds, mut take } = self;
        let ((first, first_rest), (second, second_rest)) =
            (first.as_chunks::<CHUNK>(), second.as_chunks::<CHUNK>());
        for (k, (a, b)) in first.iter().zip(second).enumerate() {
            let any = (0..CHUNK).fold(false, |any, i| any | holds(&a[i], &b[i]));
            if any {
                (0..CHUNK).filter(|&i| holds(&a[i], &b[i])).for_each(|i| take(CHUNK * k + i));
            }
        }
        let rest = (CHUNK * first.len()..).zip(first_rest.iter().zip(second_rest));
        rest.filter(|(_, (a, b))| holds(a, b)).for_each(|(i, _)| take(i));
    }
}

/// Takes the positions at which something holds.
#[inline(always)]
pub(crate) fn sift<T>(items: &[T], holds: impl Fn(&T) -> bool, take: impl FnMut(usize)) {
    sift_pairs(items, items, |item, _| holds(item), take);
}

/// Lists the positions of the numbers below a first mark, and of those from there to below a second one,
/// where there are many: a processor can not tell which, so nothing depends on that but where the next one
/// is put.
pub(crate) fn part_below(numbers: &[f64], marks: [f64; 2], [below, between]: [&mut Vec<u32>; 2]) {
    below.clear();
    between.clear();
    // With so few at a time a count is never beyond its list, and the compiler sees it.
    const MOST: usize = u8::MAX as usize;
    let mut lists = [[0; MOST + 1]; 2];
    for (numbers, start) in numbers.chunks(MOST).zip((0..).step_by(MOST)) {
        let mut counts = [0_u8; 2];
        for (i, &number) in (start..).zip(numbers) {
            let (is_below, is_low) = (number < marks[0], number < marks[1]);
            (lists[0][counts[0] as usize], lists[1][counts[1] as usize]) = (i, i);
            counts[0] += u8::from(is_below);
            counts[1] += u8::from(!is_below & is_low);
        }
        below.extend_from_slice(&lists[0][..counts[0] as usize]);
        between.extend_from_slice(&lists[1][..counts[1] as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_positions_are_found_in_order() {
        for count in [0, 1, 15, 16, 17, 50] {
            let numbers: Vec<usize> = (0..count).collect();
            for period in [1, 3, 40] {
                let mut found = Vec::new();
                sift(&numbers, |n| n % period == 0, |p| found.push(p));
                assert_eq!(found, (0..count).step_by(period).collect::<Vec<_>>());
            }
            let mut found = Vec::new();
            let reversed: Vec<usize> = numbers.iter().rev().copied().collect();
            sift_pairs(&numbers, &reversed, |a, b| a > b, |p| found.push(p));
            assert_eq!(found, (count.div_ceil(2)..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn numbers_are_parted_by_marks() {
        let numbers = [3.0, f64::MIN, 1.0, f64::INFINITY, 2.0, 0.5, f64::NAN];
        let (mut below, mut between) = (vec![7; 20], Vec::new());
        part_below(&numbers, [1.0, 3.0], [&mut below, &mut between]);
        assert_eq!((below, between), (vec![1, 5], vec![2, 4]));
    }
}
