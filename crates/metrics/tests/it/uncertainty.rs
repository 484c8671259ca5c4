//! Percentile rules, and how far figures may be off.
#![allow(clippy::unwrap_used, reason = "an unwrap that panics is a test that fails")]

mod coverage;
mod early;
mod extremes;
mod golden;
mod rules;

use fizeau_metrics::{RandomBits, ResampleSeed};
use serde_json::Value;

/// What numpy, SciPy and arch say: `tests/goldens/make_uncertainty_goldens.py`.
fn goldens() -> Value {
    serde_json::from_str(include_str!("../goldens/uncertainty_goldens.json")).unwrap()
}

fn floats(values: &Value) -> Vec<f64> {
    values.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
}

/// Normal draws: the sum of twelve uniform ones less six has variance 1, and tails that do for the middle of a run.
fn normal(bits: &mut RandomBits) -> f64 {
    (0..12).map(|_| bits.next_u64() as f64 / u64::MAX as f64).sum::<f64>() - 6.0
}

/// An AR(1) series around 0, from its stationary distribution on; `phi` 0 is independent.
fn autoregressive(n: usize, phi: f64, seed: u64) -> Vec<f64> {
    let mut bits = RandomBits::new(ResampleSeed(seed));
    let mut last = normal(&mut bits) / (1.0 - phi * phi).sqrt();
    let step = |_| {
        let value = last;
        last = phi * value + normal(&mut bits);
        value
    };
    (0..n).map(step).collect()
}
