//! Chance that depends on nothing but its arguments: no generator is kept, so whatever asks in whatever order gets the same.

use fizeau_core::split_mix::{STEP, mixed};

/// Item `index` of the stream that `stream` names.
pub(crate) const fn drawn(stream: u64, index: u64) -> u64 {
    mixed(stream.wrapping_mul(STEP).wrapping_add(index))
}

/// A number from 0, below 1, made of the upper 53 bits.
pub(crate) const fn share(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_even() {
        let (mut sum, mut low) = (0.0, 0);
        for index in 0..10_000 {
            let share = share(mixed(drawn(7, index)));
            assert!((0.0..1.0).contains(&share));
            sum += share;
            low += u32::from(share < 0.1);
        }
        // Within four standard deviations of 5,000 and of 1,000.
        assert!((sum - 5_000.0).abs() < 116.0, "{sum}");
        assert!((880..=1_120).contains(&low), "{low}");
    }
}
