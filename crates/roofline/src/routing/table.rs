//! How many experts are read, looked up: a power for each of hundreds of experts takes longer than all else that a load is asked for.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Coverage, ExpertRouting};

/// Distinct experts that a number of tokens reads, linear between points of which sixteen lie on each doubling.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CoverageTable(Arc<[f64]>);

/// Points of a doubling, as bits of a number's mantissa.
const BITS: u32 = 4;
/// Bits of a mantissa behind those that choose a point.
const REST: u32 = f64::MANTISSA_DIGITS - 1 - BITS;
/// The first point is one token.
const FIRST: u64 = 1.0_f64.to_bits() >> REST;
/// Doublings after which all experts are read, whatever the model: a million tokens.
const DOUBLINGS: u32 = 20;
/// Experts that are read but for one in so many: the rest are, too.
const NEARLY: f64 = 1e6;

/// Tables made so far: models share numbers of experts, and a table takes as long as ten systems.
static MADE: Mutex<BTreeMap<[u64; 3], CoverageTable>> = Mutex::new(BTreeMap::new());
/// More are not kept.
const MOST_MADE: usize = 64;

impl Coverage {
    /// The same as [`Coverage::new`] within a thousandth, looked up where that takes long.
    pub(crate) fn tabulated(routing: ExpertRouting, count: f64, per_token: f64) -> Self {
        let alpha = match routing {
            ExpertRouting::Strict => return Self::new(routing, count, per_token),
            ExpertRouting::Expected => 0.0,
            ExpertRouting::Skewed(alpha) => alpha,
        };
        let key = [count, per_token, alpha].map(f64::to_bits);
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        if made.len() >= MOST_MADE && !made.contains_key(&key) {
            made.clear();
        }
        let exact = || Self::new(routing, count, per_token);
        Self::Table(made.entry(key).or_insert_with(|| CoverageTable::new(&exact(), count)).clone())
    }
}

impl CoverageTable {
    fn new(exact: &Coverage, count: f64) -> Self {
        let mut read = Vec::new();
        for point in FIRST..=FIRST + (u64::from(DOUBLINGS) << BITS) {
            let value = exact.of(f64::from_bits(point << REST));
            read.push(value);
            if value >= count * (1.0 - 1.0 / NEARLY) {
                break;
            }
        }
        Self(read.into())
    }

    /// Distinct experts that `tokens` read, at least one.
    pub(super) fn of(&self, tokens: f64) -> f64 {
        let bits = tokens.to_bits();
        let at = (bits >> REST).saturating_sub(FIRST) as usize;
        match (self.0.get(at), self.0.get(at + 1)) {
            (Some(low), Some(high)) => {
                let between = (bits & ((1 << REST) - 1)) as f64 / (1_u64 << REST) as f64;
                low + between * (high - low)
            }
            _ => self.0.last().copied().unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::{Coverage, ExpertRouting};

    proptest! {
        #![proptest_config(ProptestConfig {
            rng_seed: RngSeed::Fixed(1849),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn a_table_says_what_the_formula_does(
            tokens in 0.1_f64..3e6,
            experts in 2_u32..300,
            per_token in 1_u32..9,
            alpha in prop::sample::select(vec![0.0, 0.6, 1.3]),
        ) {
            let (count, per_token) = (f64::from(experts), f64::from(per_token.min(experts)));
            let routing = ExpertRouting::Skewed(alpha);
            let exact = Coverage::new(routing, count, per_token).of(tokens);
            let read = Coverage::tabulated(routing, count, per_token).of(tokens);
            prop_assert!((read / exact - 1.0).abs() < 1e-3, "{read} {exact}");
        }

        #[test]
        fn few_tokens_are_near_to_exact_ones(tokens in 1_u32..64) {
            let tokens = f64::from(tokens);
            let exact = Coverage::new(ExpertRouting::Expected, 128.0, 8.0).of(tokens);
            let read = Coverage::tabulated(ExpertRouting::Expected, 128.0, 8.0).of(tokens);
            prop_assert!((read / exact - 1.0).abs() < 1e-3);
        }
    }
}
