//! All that a query is answered with.

use fizeau_core::Bytes;
use fizeau_roofline::{Figures, Load, Parameters, Pass, PassTime, System};

/// All that a query is answered with.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The counts of parameters.
    pub parameters: Parameters,
    /// All weights.
    pub weight_bytes: Bytes,
    /// What one more token of a sequence takes.
    pub kv_bytes_per_token: Bytes,
    /// The most sequences that fit.
    pub max_batch: f64,
    /// The sequences that run.
    pub running_batch: f64,
    /// What nothing can beat.
    pub bound: Figures,
    /// What physics leads one to expect.
    pub expected: Figures,
    /// What limits the prefill.
    pub prefill: &'static str,
    /// What limits a decode step.
    pub decode: &'static str,
    /// What a reader ought to know.
    pub warnings: Vec<String>,
}

impl Answer {
    /// Answers.
    #[must_use]
    pub fn of(system: &System, load: &Load) -> Self {
        let batch = system.running_batch(load);
        let input = load.input_tokens.get() as f64;
        let prefill = system.expected_pass(&Pass::prefill(input, load.cached_tokens.get() as f64));
        Self {
            parameters: system.model().parameters(),
            weight_bytes: system.model().weight_bytes(),
            kv_bytes_per_token: system.model().kv_bytes_per_token(),
            max_batch: system.max_batch(load),
            running_batch: batch,
            bound: system.bound_figures(load),
            expected: system.expected_figures(load),
            prefill: limit(&prefill),
            decode: limit(&system.expected_decode(load, batch)),
            warnings: system.model().warnings().to_vec(),
        }
    }
}

fn limit(pass: &PassTime) -> &'static str {
    let parts = [
        ("weights", pass.weights),
        ("kv", pass.cache),
        ("compute", pass.arithmetic()),
        ("link", pass.communication()),
    ];
    parts.iter().max_by(|a, b| a.1.get().total_cmp(&b.1.get())).map_or("weights", |part| part.0)
}
