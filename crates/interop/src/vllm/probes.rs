//! The probe stream as vLLM's file has it.

use fizeau_core::{Nanos, Tape};

use fizeau_metrics::Percent;

use crate::peers::Sample;
use crate::peers::run::last_token;

/// The probes so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Probes {
    failed: u64,
    /// Of those that completed, in milliseconds.
    latencies: Vec<f64>,
}

/// The figures of a probe stream, latencies in milliseconds; 0.0 where none completed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ProbeFigures {
    pub(super) completed: u64,
    pub(super) failed: u64,
    pub(super) median: f64,
    pub(super) p99: f64,
    pub(super) max: f64,
}

impl Probes {
    pub(super) fn add(&mut self, tape: &Tape) {
        match tape.is_success() {
            true => self.latencies.push(last_token(tape).map_or(0.0, Nanos::as_millis_f64)),
            false => self.failed += 1,
        }
    }

    pub(super) fn figures(self) -> ProbeFigures {
        let latencies: Sample = self.latencies.into_iter().collect();
        let of = |percent| latencies.percentile(percent).unwrap_or(0.0);
        ProbeFigures {
            completed: latencies.len() as u64,
            failed: self.failed,
            median: of(Percent::P50),
            p99: of(Percent::P99),
            max: latencies.max().unwrap_or(0.0),
        }
    }
}
