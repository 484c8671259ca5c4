//! SplitMix64, of which every seed and every number that is to look random is made: G. L. Steele, D. Lea and C. H. Flood, "Fast
//! splittable pseudorandom number generators", OOPSLA 2014.

/// Its step: 2^64 over the golden ratio.
pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The number after `state`, which moves on.
///
/// ```
/// // The first outputs from state 0, as Vigna's reference code (prng.di.unimi.it) gives them.
/// let mut state = 0;
/// let first = [(); 2].map(|()| fizeau_core::split_mix::next(&mut state));
/// assert_eq!(first, [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]);
/// ```
#[inline]
pub const fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(STEP);
    mixed(*state)
}

/// Its output function by itself: 64 bits that look random, each from another number.
#[inline]
#[must_use]
pub const fn mixed(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
