//! The two peaks, counted from every request and every token.

use std::collections::{BTreeMap, VecDeque};

use fizeau_core::{Stamp, Tape};

use crate::peers::run::{end, sent};

/// When each request took its slot and when it gave it back.
#[derive(Debug, Clone, Default)]
pub(super) struct Flights {
    begins: Vec<Stamp>,
    ends: Vec<Stamp>,
}

impl Flights {
    pub(super) fn add(&mut self, tape: &Tape) {
        let begin = sent(tape);
        let over = tape.last_output().filter(|_| tape.is_success());
        self.begins.push(begin);
        self.ends.push(over.unwrap_or_else(|| end(tape)).max(begin));
    }

    /// The greatest number of requests in flight at one instant.
    pub(super) fn peak(mut self) -> u64 {
        self.begins.sort_unstable();
        self.ends.sort_unstable();
        let mut ended = self.ends.iter().peekable();
        // Flights without length end before they count as begun, several of one instant at that: below zero for a moment.
        let (mut now, mut peak) = (0_i64, 0_i64);
        for begin in &self.begins {
            now += 1;
            // At one and the same instant endings come first: a slot is free before it is taken again.
            while ended.next_if(|end| *end <= begin).is_some() {
                now -= 1;
            }
            peak = peak.max(now);
        }
        u64::try_from(peak).unwrap_or_default()
    }
}

/// Tokens of successful requests by hundredth of a second. Seconds without a token take no space.
#[derive(Debug, Clone, Default)]
pub(super) struct PeakRate(BTreeMap<u64, Box<[u32; HUNDREDTHS]>>);

const HUNDREDTHS: usize = 100;
const SECOND_NS: u64 = 1_000_000_000;
const HUNDREDTH_NS: u64 = SECOND_NS / HUNDREDTHS as u64;

impl PeakRate {
    pub(super) fn add(&mut self, tape: &Tape) {
        let second = |at: Stamp| at.as_nanos() / SECOND_NS;
        let same_second = tape.arrivals.chunk_by(|a, b| second(a.at) == second(b.at));
        for arrivals in same_second {
            let first = arrivals.first().map_or(0, |first| second(first.at));
            let counts = self.0.entry(first).or_insert_with(|| Box::new([0; HUNDREDTHS]));
            for arrival in arrivals {
                let hundredth = (arrival.at.as_nanos() / HUNDREDTH_NS) as usize % HUNDREDTHS;
                counts[hundredth] = counts[hundredth].saturating_add(arrival.tokens);
            }
        }
    }

    /// The greatest number of tokens in any second that begins at a full hundredth.
    pub(super) fn peak(&self) -> f64 {
        let all = self.0.iter().flat_map(|(second, counts)| {
            let first = second * HUNDREDTHS as u64;
            counts.iter().enumerate().map(move |(i, &tokens)| (first + i as u64, u64::from(tokens)))
        });
        let mut inside: VecDeque<(u64, u64)> = VecDeque::new();
        let (mut now, mut peak) = (0_u64, 0_u64);
        for (at, tokens) in all.filter(|&(_, tokens)| tokens > 0) {
            while let Some(gone) = inside.pop_front_if(|first| first.0 + HUNDREDTHS as u64 <= at) {
                now -= gone.1;
            }
            inside.push_back((at, tokens));
            now += tokens;
            peak = peak.max(now);
        }
        peak as f64
    }
}

#[cfg(test)]
mod tests {
    use fizeau_core::{Arrival, Channel, Nanos, Stamp, Tape};

    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::{Flights, PeakRate};

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
        let mut flights = Flights::default();
        for i in 0..40 {
            flights.add(&tape(&[i / 4 * 25, i / 4 * 25 + 25]));
        }
        assert_eq!(flights.peak(), 4);
    }

    #[test]
    fn flights_without_length_do_not_go_below_none() {
        let mut flights = Flights::default();
        flights.add(&tape(&[5]));
        flights.add(&tape(&[5]));
        assert_eq!(flights.peak(), 0);
    }

    #[test]
    fn the_best_second_is_found_wherever_it_lies() {
        let mut rate = PeakRate::default();
        rate.add(&tape(&[0, 100, 900, 1000, 1100, 1899, 5000]));
        assert_eq!(rate.peak(), 4.0);
        rate.add(&tape(&[0, 1900]));
        assert_eq!(rate.peak(), 4.0, "1900 is a second after 900, and no longer within it");
        assert_eq!(PeakRate::default().peak(), 0.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 64,
            failure_persistence: None,
            rng_seed: RngSeed::Fixed(1849),
            ..ProptestConfig::default()
        })]
        #[test]
        fn the_peak_is_that_of_the_best_second(gaps in prop::collection::vec(0..900_u64, 1..60)) {
            let stamps = gaps.iter().scan(0, |at, gap| {
                *at += gap;
                Some(*at)
            });
            let stamps: Vec<u64> = std::iter::once(0).chain(stamps).collect();
            let mut rate = PeakRate::default();
            rate.add(&tape(&stamps));
            let within = |from: u64| stamps[1..].iter().filter(|at| (from..from + 1000).contains(at)).count();
            let best = (0..=stamps[stamps.len() - 1] / 10).map(|hundredth| within(hundredth * 10)).max();
            prop_assert_eq!(rate.peak(), best.unwrap_or(0) as f64);
        }
    }
}
