//! What is drawn at random, the same each time.

/// Numbers that look random (xorshift64*, Vigna 2016).
pub(super) struct Draws(u64);

impl Draws {
    /// Those of `seed`, which is not 0.
    pub(super) const fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// At least 0, below 1.
    pub(super) fn share(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1u64 << 53) as f64
    }
}
