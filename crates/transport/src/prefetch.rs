//! What is needed next is fetched from memory meanwhile.
//!
//! A token of a thousand streams finds the state of its own reply out of the nearest cache: some thirty lines of sixty-four
//! bytes, each of which would be waited for. They come by themselves while the kernel hands over the bytes, once the
//! processor has been told which.

#![allow(unsafe_code, reason = "the standard library has no safe word for it")]
#![deny(clippy::undocumented_unsafe_blocks)]

/// What a processor fetches at once.
const LINE: usize = 64;

/// The most that is fetched of one thing: what is larger is not needed whole.
const MOST: usize = 1 << 10;

/// Has the processor fetch `of` into its nearest cache, and waits for nothing. Without effect on what the program means, and where
/// the processor has no such word.
#[inline]
pub(crate) fn fetch<T: ?Sized>(of: &T) {
    let start = std::ptr::from_ref(of).cast::<u8>();
    for line in (0..size_of_val(of).min(MOST)).step_by(LINE) {
        line_at(start.wrapping_add(line));
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn line_at(address: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: each x86-64 processor has the instruction, and it faults at no address whatever.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn line_at(_: *const u8) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_its_size_it_stays_as_it_was() {
        for size in [0, 1, LINE, MOST, 3 * MOST] {
            let bytes = vec![7_u8; size];
            fetch(bytes.as_slice());
            assert_eq!(bytes, vec![7; size]);
        }
    }
}
