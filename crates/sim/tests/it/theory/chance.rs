//! Draws, and what a few repeated runs say of a mean.

use fizeau_core::Nanos;

/// Splitmix64 (Steele, Lea and Flood, OOPSLA 2014): small, and even enough for queues.
pub(crate) struct Draws(pub(crate) u64);

impl Draws {
    /// From 0 to 1, both excluded.
    pub(crate) fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 12) as f64 / (1u64 << 52) as f64 + 2f64.powi(-53)
    }

    /// A gap of a Poisson stream with `mean` between arrivals.
    pub(crate) fn gap(&mut self, mean: Nanos) -> Nanos {
        Nanos::from_secs_f64(-self.share().ln() * mean.as_secs_f64()).unwrap()
    }

    /// A geometric number from 1, with `mean`: the memoryless one among whole numbers.
    pub(crate) fn geometric(&mut self, mean: f64) -> u64 {
        1 + (self.share().ln() / (1.0 - 1.0 / mean).ln()) as u64
    }

    /// From 0 to `below`, that excluded.
    pub(crate) fn below(&mut self, below: u64) -> u64 {
        (self.share() * below as f64) as u64
    }
}

/// Student's t for a two-sided 99.9 % interval from ten repeats.
const T_9: f64 = 4.781;

/// Mean and half width of the 99.9 % confidence interval of ten independent repeats.
pub(crate) fn interval(repeats: &[f64; 10]) -> (f64, f64) {
    let mean = repeats.iter().sum::<f64>() / 10.0;
    let variance = repeats.iter().map(|each| (each - mean).powi(2)).sum::<f64>() / 9.0;
    (mean, T_9 * (variance / 10.0).sqrt())
}
