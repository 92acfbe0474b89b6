//! How much memory a schedule holds.

#![allow(
    unsafe_code,
    reason = "a global allocator, which counts, cannot be had without"
)]

use core::alloc::{GlobalAlloc, Layout};
use core::cell::Cell;
use std::alloc::System;

/// The system's allocator, counting for each thread.
struct Counting;

thread_local! {
    /// Bytes that this thread holds, less those that it has given back for others. Constant and without a destructor:
    /// reaching it allocates nothing.
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

fn count(change: isize) {
    let held = HELD.get() + change;
    HELD.set(held);
    MOST.set(MOST.get().max(held));
}

// SAFETY: every method hands its arguments to `System` unchanged and returns what that returns; counting touches
// thread-local integers, which neither allocates nor panics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller keeps the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller keeps the contract of `alloc_zeroed`, which is the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize);
        // SAFETY: `block` is from `System`, as all blocks of this allocator are; the rest is the caller's, unchanged.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: `block` is from `System`, as all blocks of this allocator are, and has this layout.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What a run came to, the most bytes that it held at once, and those that it did not give back.
pub(crate) fn measured<T>(run: impl FnOnce() -> T) -> (T, isize, isize) {
    let before = HELD.get();
    MOST.set(before);
    let outcome = run();
    (outcome, MOST.get() - before, HELD.get() - before)
}
