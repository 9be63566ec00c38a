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

/// Lists the positions of the numbers from a first mark on and below a second one, in order. Where there are many a
/// processor can not tell which, so nothing depends on that but where the next ones are put.
pub(crate) fn list_between(numbers: &[f64], marks: [f64; 2], between: &mut Vec<u32>) {
    // What is left of an earlier list need not be cleared.
    between.resize(numbers.len() + FOUR, 0);
    let count = in_widest_vectors(Listing { numbers, marks, between });
    between.truncate(count);
}

/// So many numbers are compared at a time.
const FOUR: usize = 4;

/// The positions of the bits that are set in each number of four bits, and how many there are.
const BITS: [([u32; FOUR], usize); 1 << FOUR] = {
    let mut lists = [([0; FOUR], 0); 1 << FOUR];
    let mut bits = 0;
    while bits < lists.len() {
        let mut bit = 0;
        while bit < FOUR {
            if bits >> bit & 1 == 1 {
                lists[bits].0[lists[bits].1] = bit as u32;
                lists[bits].1 += 1;
            }
            bit += 1;
        }
        bits += 1;
    }
    lists
};

struct Listing<'a> {
    numbers: &'a [f64],
    marks: [f64; 2],
    between: &'a mut [u32],
}

impl VectorWork for Listing<'_> {
    type Output = usize;

    #[inline(always)]
    fn work(self) -> usize {
        let Listing { numbers, marks: [low, high], between } = self;
        let (fours, rest) = numbers.as_chunks::<FOUR>();
        let mut count = 0;
        for (four, start) in fours.iter().zip((0..).step_by(FOUR)) {
            let below = |mark| (0..FOUR).fold(0, |bits, i| bits | usize::from(four[i] < mark) << i);
            let (list, length) = BITS[below(high) & !below(low)];
            between[count..count + FOUR].copy_from_slice(&list.map(|bit| start + bit));
            count += length;
        }
        for (&number, i) in rest.iter().zip((FOUR * fours.len()) as u32..) {
            between[count] = i;
            count += usize::from((number < high) & (number >= low));
        }
        count
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
    fn numbers_between_marks_are_listed() {
        let numbers = [3.0, f64::MIN, 1.0, f64::INFINITY, 2.0, 0.5, f64::NAN, -1.0];
        for (low, high) in [(f64::NEG_INFINITY, 3.0), (1.0, 3.0), (0.5, f64::INFINITY)] {
            for count in 0..=numbers.len() {
                let mut between = vec![7; 20];
                list_between(&numbers[..count], [low, high], &mut between);
                let is_between = |x: &(u32, &f64)| low <= *x.1 && *x.1 < high;
                let expected: Vec<u32> =
                    (0..).zip(&numbers[..count]).filter(is_between).map(|x| x.0).collect();
                assert_eq!(between, expected);
            }
        }
    }
}
