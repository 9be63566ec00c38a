//! The system allocator of a test that counts what a thread takes from it.
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: saltus_counting::Counting = saltus_counting::Counting;
//!
//! let before = saltus_counting::allocations();
//! let numbers = vec![1, 2, 3];
//! assert_eq!(saltus_counting::allocations(), before + 1);
//! # drop(numbers);
//! ```

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Of one thread alone: the test harness allocates in its own.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Allocations of this thread so far, if [`Counting`] is the allocator.
pub fn allocations() -> u64 {
    ALLOCATIONS.get()
}

/// Passes all calls on to the system allocator.
pub struct Counting;

// SAFETY: every call is passed on to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promises are the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are the system allocator's.
        unsafe { System.dealloc(pointer, layout) }
    }
}
