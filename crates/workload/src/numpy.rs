//! numpy's random numbers, bit for bit, for workloads of tools that draw theirs with it.
//!
//! What `numpy.random.default_rng(seed)` gives: `SeedSequence` spreads the seed, PCG64 makes the numbers, and
//! `Generator.integers` makes ranges of them. numpy promises the first two for good; the third is as of numpy 1.17 to 2.4.

/// numpy's `Generator` over `PCG64`: O'Neill's PCG XSL RR 128/64 ("PCG: A family of simple fast space-efficient
/// statistically good algorithms for random number generation", 2014).
#[derive(Debug, Clone)]
pub(crate) struct Generator {
    state: u128,
    increment: u128,
    /// The upper half of a number of which only the lower was wanted; the next half is this one.
    half: Option<u32>,
}

impl Generator {
    /// `numpy.random.default_rng(seed)`.
    pub(crate) fn default_rng(seed: u64) -> Self {
        let [state_high, state_low, stream_high, stream_low] = SeedSequence::new(seed).state();
        let (start, stream) = (joined(state_high, state_low), joined(stream_high, stream_low));
        let mut generator = Self { state: 0, increment: (stream << 1) | 1, half: None };
        generator.step();
        generator.state = generator.state.wrapping_add(start);
        generator.step();
        generator
    }

    /// `rng.integers(low, low + span)` of 64-bit numbers: uniform on `span` numbers from `low` on, of which there must be at
    /// least one. A span of 1 takes nothing from the generator.
    ///
    /// By Lemire's method ("Fast random integer generation in an interval", 2019), from halves of numbers where 32 bits
    /// are enough.
    pub(crate) fn integer(&mut self, low: u64, span: u64) -> u64 {
        const HALF: u64 = 1 << 32;
        let above = match span {
            0 | 1 => 0,
            HALF => self.next_u32().into(),
            span if span < HALF => self.below_u32(span).into(),
            span => self.below_u64(span),
        };
        low.wrapping_add(above)
    }

    /// `rng.integers(low, low + span, size=size)`.
    pub(crate) fn integers(&mut self, low: u64, span: u64, size: usize) -> Vec<u64> {
        (0..size).map(|_| self.integer(low, span)).collect()
    }

    fn step(&mut self) {
        const MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(self.increment);
    }

    fn next_u64(&mut self) -> u64 {
        self.step();
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }

    fn next_u32(&mut self) -> u32 {
        if let Some(half) = self.half.take() {
            return half;
        }
        let whole = self.next_u64();
        self.half = Some((whole >> 32) as u32);
        whole as u32
    }

    /// `span` is below 2^32 and above 1.
    fn below_u32(&mut self, span: u64) -> u32 {
        let mut product = u64::from(self.next_u32()) * span;
        if (product & 0xffff_ffff) < span {
            // The low part of 2^32 numbers that would come once too often.
            let surplus = ((1 << 32) - span) % span;
            while (product & 0xffff_ffff) < surplus {
                product = u64::from(self.next_u32()) * span;
            }
        }
        (product >> 32) as u32
    }

    fn below_u64(&mut self, span: u64) -> u64 {
        let mut product = u128::from(self.next_u64()) * u128::from(span);
        if (product as u64) < span {
            let surplus = span.wrapping_neg() % span;
            while (product as u64) < surplus {
                product = u128::from(self.next_u64()) * u128::from(span);
            }
        }
        (product >> 64) as u64
    }
}

fn joined(high: u64, low: u64) -> u128 {
    (u128::from(high) << 64) | u128::from(low)
}

// How numpy spreads a seed: `numpy.random.SeedSequence`, after O'Neill's `seed_seq_fe` ("Developing a seed_seq
// alternative", 2015). The constants are those of numpy's `bit_generator.pyx`.

/// Four words into which a seed is mixed.
#[derive(Debug, Clone)]
struct SeedSequence([u32; 4]);

impl SeedSequence {
    /// `SeedSequence(seed)`.
    fn new(seed: u64) -> Self {
        // A seed has at most two words; the pool's others start from 0, as a seed of one word's second does.
        let words = [seed as u32, (seed >> 32) as u32, 0, 0];
        let mut hash = SeedHash::new(0x43b0_d7e5, 0x931e_8875);
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
    fn state(&self) -> [u64; 4] {
        let mut hash = SeedHash::new(0x8b51_f9dd, 0x58f3_8ded);
        let words: [u32; 8] = std::array::from_fn(|place| hash.of(self.0[place % 4]));
        std::array::from_fn(|place| {
            u64::from(words[2 * place]) | (u64::from(words[2 * place + 1]) << 32)
        })
    }
}

/// A hash whose constant changes with each use.
struct SeedHash {
    constant: u32,
    multiplier: u32,
}

impl SeedHash {
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

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    /// What numpy itself drew; `tests/goldens/make_numpy_goldens.py` wrote it down.
    #[derive(Deserialize)]
    struct Goldens {
        generators: Vec<Golden>,
    }

    #[derive(Deserialize)]
    struct Golden {
        seed: u64,
        calls: Vec<IntegersCall>,
    }

    /// One call of `integers`; all calls of a seed are made of one generator, so that halves left over show.
    #[derive(Deserialize)]
    struct IntegersCall {
        low: u64,
        span: u64,
        values: Vec<u64>,
    }

    #[test]
    fn integers_are_those_of_numpy() {
        let file = include_str!("../tests/goldens/numpy_goldens.json");
        let goldens: Goldens = serde_json::from_str(file).unwrap();
        let mut compared = 0;
        for golden in goldens.generators {
            let mut generator = Generator::default_rng(golden.seed);
            for call in golden.calls {
                let drawn = generator.integers(call.low, call.span, call.values.len());
                assert_eq!(drawn, call.values, "seed {} span {}", golden.seed, call.span);
                compared += drawn.len();
            }
        }
        assert!(compared > 2_000, "only {compared} values were compared");
    }
}
