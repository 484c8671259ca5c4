//! Arrays that lie as they were asked to: aligned to pages, with advice, filled by the thread that makes them.

#![allow(
    unsafe_code,
    reason = "a vector can be aligned neither to pages nor take advice before it is written"
)]
#![deny(clippy::undocumented_unsafe_blocks)]

use std::alloc::{self, Layout};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::slice;

use super::system;
use crate::measurement::PageAdvice;

/// A huge page of x86-64, and of aarch64 with small pages of 4 KiB.
const HUGE: usize = 2 << 20;
/// The smallest page anywhere.
const SMALL: usize = 4096;

/// An array aligned to the pages that it may lie in.
#[derive(Debug)]
pub(super) struct Array<T: Copy> {
    start: NonNull<T>,
    length: usize,
    layout: Layout,
}

// SAFETY: it owns its elements, as a vector does.
unsafe impl<T: Copy + Send> Send for Array<T> {}
// SAFETY: a shared one gives shared elements only.
unsafe impl<T: Copy + Sync> Sync for Array<T> {}

impl<T: Copy> Array<T> {
    /// An array of `length` elements, each what `value` says of its index; none if there is no room.
    pub(super) fn filled(
        length: usize,
        advice: PageAdvice,
        value: impl Fn(usize) -> T,
    ) -> Option<Self> {
        let bytes = length.checked_mul(size_of::<T>())?.max(SMALL);
        let alignment = if bytes >= HUGE { HUGE } else { SMALL };
        let layout = Layout::from_size_align(bytes, alignment).ok()?;
        // SAFETY: the layout has at least a small page.
        let start = unsafe { alloc::alloc(layout) };
        system::advise(start, bytes, advice);
        let start = NonNull::new(start.cast::<T>())?;
        for index in 0..length {
            // SAFETY: the index is below the length that the layout has room for, and a page is aligned for any `T`.
            unsafe { start.add(index).write(value(index)) };
        }
        Some(Self { start, length, layout })
    }
}

impl<T: Copy> Deref for Array<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: all elements were written when it was made, and it owns them.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }
}

impl<T: Copy> DerefMut for Array<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and the borrow is unique.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }
}

impl<T: Copy> Drop for Array<T> {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout and is not used any more; elements need no drop.
        unsafe { alloc::dealloc(self.start.as_ptr().cast(), self.layout) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_is_there() {
        for (length, advice) in
            [(0, PageAdvice::Default), (5, PageAdvice::Small), (600_000, PageAdvice::Huge)]
        {
            let mut array = Array::filled(length, advice, |index| index as u64).unwrap();
            assert!(array.iter().enumerate().all(|(index, value)| *value == index as u64));
            array.fill(7);
            assert_eq!(array.iter().sum::<u64>(), 7 * length as u64);
        }
        assert!(Array::filled(usize::MAX, PageAdvice::Default, |_| 0_u64).is_none());
    }
}
