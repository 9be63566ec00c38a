//! Work compiled for the widest vectors of the machine.

/// Work on whole vectors. It has to be inlined always, so that it is compiled for the vectors at hand.
pub(super) trait VectorWork {
    fn work(self);
}

/// Does work compiled for the widest vectors of the machine; its numbers do not depend on them.
pub(super) fn in_widest_vectors(work: impl VectorWork) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn wide(work: impl VectorWork) {
            work.work();
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the machine has the feature.
            return unsafe { wide(work) };
        }
    }
    work.work();
}
