//! Work compiled for the widest vectors of the machine.

/// Work on whole vectors. It has to be inlined always, so that it is compiled for the vectors at hand.
pub trait VectorWork {
    /// What comes of it.
    type Output;

    /// Does it.
    fn work(self) -> Self::Output;
}

/// Does work compiled for the widest vectors of the machine; its numbers do not depend on them.
///
/// ```
/// use saltus_num::vectors::{VectorWork, in_widest_vectors};
/// struct Doubling([f64; 4]);
/// impl VectorWork for Doubling {
///     type Output = [f64; 4];
///
///     #[inline(always)]
///     fn work(self) -> [f64; 4] {
///         self.0.map(|x| 2.0 * x)
///     }
/// }
/// assert_eq!(in_widest_vectors(Doubling([1.0, 2.0, 3.0, 4.0])), [2.0, 4.0, 6.0, 8.0]);
/// ```
#[inline]
pub fn in_widest_vectors<W: VectorWork>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn wide<W: VectorWork>(work: W) -> W::Output {
            work.work()
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the machine has the feature.
            return unsafe { wide(work) };
        }
    }
    work.work()
}
