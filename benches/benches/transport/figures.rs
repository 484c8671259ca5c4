//! The percentiles that are held against each other, computed the same way on both sides.

use fizeau::core::{Millis, Nanos, Tape};
use fizeau::metrics::{Distribution, RequestMetrics, inter_token};

/// p99 of TTFT and of ITL in milliseconds; NaN where there are too few values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    pub(crate) ttft_p99: f64,
    pub(crate) itl_p99: f64,
}

impl Figures {
    pub(crate) fn of(tapes: &[Tape]) -> Self {
        let ttft = tapes.iter().filter_map(|tape| RequestMetrics::of(tape).ttft);
        let shares = tapes.iter().flat_map(inter_token);
        Self {
            ttft_p99: p99(&Distribution::of(ttft.map(Nanos::to_millis))),
            itl_p99: p99(&Distribution::from_weighted(shares.map(|s| (s.per_token, s.tokens)))),
        }
    }
}

fn p99(distribution: &Distribution) -> f64 {
    distribution.p99.value().map_or(f64::NAN, Millis::get)
}

/// The tape as it would be if the arrivals had been stamped when they were read.
pub(crate) fn as_read(mut tape: Tape) -> Tape {
    for arrival in &mut tape.arrivals {
        arrival.at += arrival.read_lag.to_nanos();
    }
    tape
}
