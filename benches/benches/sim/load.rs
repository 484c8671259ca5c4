//! Requests that arrive at random, one at a time.

use anyhow::Result;
use fizeau::core::{Nanos, PerSec, Stamp, Tokens};
use fizeau::sim::{EngineJob, JobId, Serve};

/// So many requests of one shape, at a rate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chat {
    pub(crate) requests: u64,
    pub(crate) rate: PerSec,
    pub(crate) input: Tokens,
    pub(crate) output: Tokens,
}

/// What came of them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Seen {
    pub(crate) tokens: u64,
    pub(crate) last: u64,
    /// Of all requests, in virtual seconds.
    pub(crate) ttft: f64,
    pub(crate) in_flight: u64,
}

impl Chat {
    pub(crate) const fn of(requests: u64, rate: f64) -> Self {
        let (input, output) = (Tokens::new(1_024), Tokens::new(128));
        Self { requests, rate: PerSec::new(rate), input, output }
    }

    /// Runs them all through `engine`.
    pub(crate) fn run(&self, engine: &mut impl Serve) -> Result<Seen> {
        let mut seen = Seen::default();
        let (mut next, mut live) = (Stamp::EPOCH, 0);
        for id in 0..self.requests {
            next += self.gap(id);
            while let Some(at) = engine.next_event().filter(|at| *at < next) {
                seen.take(engine, at, &mut live);
            }
            engine.submit(EngineJob::new(JobId(id), self.input, self.output, next))?;
            live += 1;
            seen.in_flight = seen.in_flight.max(live);
        }
        while let Some(at) = engine.next_event() {
            seen.take(engine, at, &mut live);
        }
        Ok(seen)
    }

    /// An exponential gap before request `id`: the same in every run.
    fn gap(&self, id: u64) -> Nanos {
        // The finaliser of splitmix64 (Steele, Lea and Flood 2014).
        let mut bits = id.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let share = ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64;
        Nanos::from_secs_f64(-(1.0 - share).ln() / self.rate.get()).unwrap_or(Nanos::ZERO)
    }
}

impl Seen {
    fn take(&mut self, engine: &mut impl Serve, at: Stamp, live: &mut u64) {
        engine.advance(at, &mut |emission| {
            self.tokens += emission.count;
            if emission.index == 0 {
                let first = emission.at.saturating_since(emission.timing.submitted);
                self.ttft += first.as_secs_f64();
            }
            if emission.last {
                self.last = emission.at.as_nanos();
                *live -= 1;
            }
        });
    }
}
