//! Bursts: a Poisson process that switches between two rates.

use crate::draws::Draws;

/// A Markov-modulated Poisson process of two states, started as if it had gone on forever.
#[derive(Debug)]
pub(super) struct Bursts {
    draws: Draws,
    /// The present phase, and the one that comes next.
    phase: Phase,
    other: Phase,
    /// Seconds that the present phase still lasts.
    left: f64,
    elapsed: f64,
}

/// What a state is like.
#[derive(Debug, Clone, Copy)]
pub(super) struct Phase {
    /// Requests per second.
    pub(super) rate: f64,
    /// Its mean length in seconds.
    pub(super) mean: f64,
}

impl Bursts {
    pub(super) fn new(on: Phase, off: Phase, mut draws: Draws) -> Self {
        let starts_on = draws.unit() <= on.mean / (on.mean + off.mean);
        let (phase, other) = if starts_on { (on, off) } else { (off, on) };
        // What is left of a phase that has begun at some time is as long as a whole one: exponential.
        let left = phase.mean * draws.exponential();
        Self { draws, phase, other, left, elapsed: 0.0 }
    }

    pub(super) fn next_seconds(&mut self) -> f64 {
        let mut area = self.draws.exponential();
        loop {
            let room = self.left * self.phase.rate;
            // Not where both are 0, which has no instant.
            if area < room {
                let waits = area / self.phase.rate;
                self.left = (self.left - waits).max(0.0);
                self.elapsed += waits;
                return self.elapsed;
            }
            area -= room;
            self.elapsed += self.left;
            std::mem::swap(&mut self.phase, &mut self.other);
            self.left = self.phase.mean * self.draws.exponential();
        }
    }
}
