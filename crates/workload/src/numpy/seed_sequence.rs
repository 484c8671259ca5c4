//! How numpy spreads a seed: `numpy.random.SeedSequence`, after O'Neill's `seed_seq_fe` ("Developing a seed_seq
//! alternative", 2015). The constants are those of numpy's `bit_generator.pyx`.

/// Four words into which a seed is mixed.
#[derive(Debug, Clone)]
pub(super) struct SeedSequence([u32; 4]);

impl SeedSequence {
    /// `SeedSequence(seed)`.
    pub(super) fn new(seed: u64) -> Self {
        // A seed has at most two words; the pool's others start from 0, as a seed of one word's second does.
        let words = [seed as u32, (seed >> 32) as u32, 0, 0];
        let mut hash = Hash::new(0x43b0_d7e5, 0x931e_8875);
        let mut pool = words.map(|word| hash.of(word));
        for from in 0..4 {
            for to in 0..4 {
                if from != to {
                    pool[to] = mix(pool[to], hash.of(pool[from]));
                }
            }
        }
        Self(pool)
    }

    /// `generate_state(4, numpy.uint64)`.
    pub(super) fn state(&self) -> [u64; 4] {
        let mut hash = Hash::new(0x8b51_f9dd, 0x58f3_8ded);
        let words: [u32; 8] = std::array::from_fn(|place| hash.of(self.0[place % 4]));
        std::array::from_fn(|place| {
            u64::from(words[2 * place]) | (u64::from(words[2 * place + 1]) << 32)
        })
    }
}

/// A hash whose constant changes with each use.
struct Hash {
    constant: u32,
    multiplier: u32,
}

impl Hash {
    const fn new(constant: u32, multiplier: u32) -> Self {
        Self { constant, multiplier }
    }

    fn of(&mut self, word: u32) -> u32 {
        let word = word ^ self.constant;
        self.constant = self.constant.wrapping_mul(self.multiplier);
        let word = word.wrapping_mul(self.constant);
        word ^ (word >> 16)
    }
}

fn mix(x: u32, y: u32) -> u32 {
    let mixed = x.wrapping_mul(0xca01_f9dd).wrapping_sub(y.wrapping_mul(0x4973_f715));
    mixed ^ (mixed >> 16)
}
