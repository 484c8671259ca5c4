//! By how much two clocks differ, from questions and answers alone.

use fizeau_core::Stamp;
use fizeau_record::{ClockReading, ClockSource};

/// How many questions are asked at least: one of them meets no queue.
pub(super) const PINGS: u32 = 16;

/// A question and its answer: two stamps of the one who asks, and two of the one who answers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ping {
    /// When the question left, by who asks.
    pub(super) requested: Stamp,
    /// When it came, by who answers.
    pub(super) heard: Stamp,
    /// When the answer left, by who answers.
    pub(super) answered: Stamp,
    /// When it came back, by who asks.
    pub(super) back: Stamp,
}

impl Ping {
    /// How long both ways took together.
    fn round_trip_ns(&self) -> u64 {
        let all = self.back.saturating_since(self.requested);
        all.saturating_sub(self.answered.saturating_since(self.heard)).as_nanos()
    }

    /// By how much the clock of who asks is ahead, if both ways took as long as each other.
    fn ahead_ns(&self) -> i64 {
        let ns = |stamp: Stamp| i128::from(stamp.saturating_since(Stamp::EPOCH).as_nanos());
        let there = ns(self.requested) - ns(self.heard);
        let back = ns(self.back) - ns(self.answered);
        i64::try_from((there + back) / 2).unwrap_or_default()
    }
}

/// The reading of a clock from many questions: that of the least round trip, which leaves the least room for error. If the way
/// there took all of it and the way back nothing, or the other way round, the reading is off by half of it, and it cannot be more.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OffsetEstimate(Option<Ping>);

impl OffsetEstimate {
    pub(super) fn add(&mut self, ping: Ping) {
        if self.0.is_none_or(|best| ping.round_trip_ns() < best.round_trip_ns()) {
            self.0 = Some(ping);
        }
    }

    /// None before the first answer.
    pub(super) fn reading(&self) -> Option<ClockReading> {
        let best = self.0?;
        Some(ClockReading {
            at: best.back,
            ahead_ns: best.ahead_ns(),
            // A nanosecond for what division loses.
            uncertainty_ns: Some(best.round_trip_ns() / 2 + 1),
            source: ClockSource::RoundTrips,
        })
    }
}

#[cfg(test)]
mod tests {
    use fizeau_core::{Arrival, Channel, Tape};
    use fizeau_record::{ClockAxis, MergedTapes, StoredTapes};
    use proptest::prelude::*;

    use super::*;

    /// What a clock shows at the true time `t` (ns): it was `offset` ahead at time 0, and goes fast by `ppm`.
    fn shows(t: i128, offset: i128, ppm: i128) -> Stamp {
        Stamp::from_nanos(u64::try_from(t + offset + t * ppm / 1_000_000).unwrap())
    }

    /// Reads the other's clock at the true time `t`, by pings of such ways there and back.
    fn read(t: i128, offset: i128, ppm: i128, ways: &[(u32, u32)]) -> ClockReading {
        let mut estimate = OffsetEstimate::default();
        let mut now = t;
        for &(there, back) in ways {
            let heard = now + i128::from(there);
            let end = heard + 1_000 + i128::from(back);
            estimate.add(Ping {
                requested: shows(now, offset, ppm),
                heard: shows(heard, 0, 0),
                answered: shows(heard + 1_000, 0, 0),
                back: shows(end, offset, ppm),
            });
            now = end;
        }
        estimate.reading().unwrap()
    }

    const SECOND: i128 = 1_000_000_000;

    proptest! {
        /// Clocks off by up to 3 s and 50 millionths: every instant of the level comes back within the stated uncertainty.
        #[test]
        fn a_timeline_comes_back_within_the_stated_uncertainty(
            offset in -3 * SECOND..=3 * SECOND,
            ppm in -50_i128..=50,
            ways in prop::collection::vec((1_u32..2_000_000, 1_u32..2_000_000), 16..40),
            later in prop::collection::vec((1_u32..2_000_000, 1_u32..2_000_000), 16..40),
            level in 1..600_i128,
            at in 0.0..1.0_f64,
        ) {
            let begin = 10 * SECOND;
            let end = begin + level * SECOND;
            let axis =
                ClockAxis::between(read(begin, offset, ppm, &ways), read(end, offset, ppm, &later));
            let truth = begin + ((end - begin) as f64 * at) as i128;
            let found = axis.common(shows(truth, offset, ppm));
            let off = i128::from(found.saturating_since(Stamp::EPOCH).as_nanos()) - truth;
            // While a single question is under way the clock drifts too: by 50 millionths of four milliseconds.
            let allowed = i128::from(axis.uncertainty().unwrap().as_nanos()) + 400;
            prop_assert!(off.abs() <= allowed, "off by {off} ns of {allowed}");
        }

        /// An instant that is named in the first shard's clock is met by the other's within the uncertainty and what it drifts since.
        #[test]
        fn an_instant_that_is_named_is_met(
            offset in -3 * SECOND..=3 * SECOND,
            ppm in -50_i128..=50,
            ways in prop::collection::vec((1_u32..2_000_000, 1_u32..2_000_000), 16..40),
        ) {
            let begin = 10 * SECOND;
            let axis = ClockAxis::at(read(begin, offset, ppm, &ways));
            let named = begin + SECOND;
            let own = axis.own(Stamp::from_nanos(named as u64));
            let meant = shows(named, offset, ppm);
            let ns = |stamp: Stamp| i128::from(stamp.saturating_since(Stamp::EPOCH).as_nanos());
            let off = (ns(own) - ns(meant)).abs();
            let drifted = SECOND * ppm.abs() / 1_000_000;
            prop_assert!(off <= i128::from(axis.uncertainty().unwrap().as_nanos()) + drifted + 400);
        }

        /// So does every instant of a reply, however long it takes, on its way out of its shard's file.
        #[test]
        fn a_long_reply_comes_back_within_the_stated_uncertainty(
            offset in -3 * SECOND..=3 * SECOND,
            ppm in -50_i128..=50,
            ways in prop::collection::vec((1_u32..2_000_000, 1_u32..2_000_000), 16..40),
            later in prop::collection::vec((1_u32..2_000_000, 1_u32..2_000_000), 16..40),
            level in 1..600_i128,
            (at, first, took) in (0.0..1.0_f64, 0.0..1.0_f64, 0.0..1.0_f64),
        ) {
            let (begin, end) = (10 * SECOND, (10 + level) * SECOND);
            let axis =
                ClockAxis::between(read(begin, offset, ppm, &ways), read(end, offset, ppm, &later));
            let within = |from: i128, to: i128, share: f64| from + ((to - from) as f64 * share) as i128;
            let released = within(begin, end, at);
            let ended = within(released, end, took);
            let truth = [released, within(released, ended, first), ended];
            let [released, first, ended] = truth.map(|instant| shows(instant, offset, ppm));
            let mut tape = Tape::sent_at(released);
            tape.arrivals.push(Arrival::tokens(first, 1, Channel::Visible));
            tape.marks.end = Some(ended);
            let line = serde_json::to_string(&tape).unwrap();
            let file = (StoredTapes::new("tapes.jsonl", line.as_bytes()), Some(axis));
            let merged = MergedTapes::by_clocks([file]).next().unwrap().unwrap();
            let found = [merged.marks.released, merged.arrivals[0].at, merged.marks.end.unwrap()];
            let allowed = i128::from(axis.uncertainty().unwrap().as_nanos()) + 400;
            for (found, truth) in found.into_iter().zip(truth) {
                let off = i128::from(found.as_nanos()) - truth;
                prop_assert!(off.abs() <= allowed, "off by {off} ns of {allowed}");
            }
        }
    }
}
