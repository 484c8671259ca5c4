//! The two peaks, counted event by event.

use fizeau_core::{Nanos, PerSec, Stamp, Tape};

use super::figures::{end, sent};

/// The greatest number of requests in flight at one instant.
pub(super) fn concurrency(tapes: &[Tape]) -> u64 {
    let over = |tape: &Tape| match tape.last_token() {
        Some(last) if tape.is_success() => last,
        _ => end(tape),
    };
    // At one and the same instant endings come first: a slot is free before it is taken again.
    let begins = tapes.iter().map(|tape| (sent(tape), 1_i64));
    let ends = tapes.iter().map(|tape| (over(tape).max(sent(tape)), -1_i64));
    let mut events: Vec<(Stamp, i64)> = begins.chain(ends).collect();
    events.sort_unstable();
    let mut now = 0_i64;
    let mut peak = 0_i64;
    for (_, change) in events {
        now += change;
        peak = peak.max(now);
    }
    peak.unsigned_abs()
}

/// The greatest number of tokens of successful requests within any second, or within the whole where that is
/// shorter, per second; at least `mean`, since a level of one and a half seconds can have no full second as
/// good as the whole.
pub(super) fn tokens_per_s(tapes: &[Tape], mean: PerSec) -> PerSec {
    let good = tapes.iter().filter(|tape| tape.is_success());
    let arrivals = good.flat_map(|tape| &tape.arrivals);
    let mut events: Vec<(Stamp, u64)> = arrivals.map(|a| (a.at, u64::from(a.tokens))).collect();
    events.sort_unstable();
    let second = Nanos::from_secs(1);
    let (mut inside, mut peak) = (0_u64, 0_u64);
    let mut leaving = events.iter();
    for &(at, tokens) in &events {
        inside += tokens;
        let gone = |event: &&(Stamp, u64)| at.saturating_since(event.0) >= second;
        while let Some(event) = leaving.as_slice().first().filter(gone) {
            inside -= event.1;
            leaving.next();
        }
        peak = peak.max(inside);
    }
    PerSec::new((peak as f64).max(mean.get()))
}

#[cfg(test)]
mod tests {
    use fizeau_core::{Arrival, Channel, Nanos, PerSec, Stamp, Tape};

    use super::{concurrency, tokens_per_s};

    /// A request sent at the first of `ms` with a token at each other.
    fn tape(ms: &[u64]) -> Tape {
        let at = |ms: u64| Stamp::EPOCH + Nanos::from_millis(ms);
        let mut tape = Tape::sent_at(at(ms[0]));
        let token = |&ms: &u64| Arrival::tokens(at(ms), 1, Channel::Visible);
        tape.arrivals = ms[1..].iter().map(token).collect();
        tape
    }

    #[test]
    fn forty_short_requests_over_four_slots_peak_at_four() {
        // The case that vLLM's one-second buckets report as 40.
        let tapes: Vec<Tape> = (0..40).map(|i| tape(&[i / 4 * 25, i / 4 * 25 + 25])).collect();
        assert_eq!(concurrency(&tapes), 4);
    }

    #[test]
    fn the_best_second_is_found_wherever_it_lies() {
        let tapes = [tape(&[0, 100, 900, 1000, 1100, 1899, 5000])];
        assert_eq!(tokens_per_s(&tapes, PerSec::new(1.2)), PerSec::new(4.0));
    }

    #[test]
    fn the_peak_is_never_below_the_mean() {
        let tapes = [tape(&[0, 10, 20, 30])];
        assert_eq!(tokens_per_s(&tapes, PerSec::new(100.0)), PerSec::new(100.0));
        assert_eq!(tokens_per_s(&[], PerSec::new(0.0)), PerSec::new(0.0));
    }
}
