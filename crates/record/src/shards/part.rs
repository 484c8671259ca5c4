//! What one shard knows of its own part of a level, and what all parts together say.

use fizeau_core::{Stamp, document};
use fizeau_metrics::{
    ClientWatch, Distribution, LevelSummary, Statistic, Validity, Verdict, VerdictConcern,
    VerdictReason,
};
use serde::{Deserialize, Serialize};

use super::{ClockAxis, ShardHealth, ShardsReport, TailShares, shard_alone};

/// What is known of one shard's part of a level besides its tapes and its summary: `shard.json` in its folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShardRecord {
    /// A name of the meeting that no other has; empty where the shard met nobody.
    pub meeting: String,
    /// When the part was to begin, on its own clock.
    pub start: Stamp,
    /// When its first request was to leave, and when it left, on its own clock; absent where that is not known.
    pub first: Option<(Stamp, Stamp)>,
    /// Its clock as read beside the first shard's; absent for the first shard itself.
    pub clock: Option<ClockAxis>,
    /// How the client fared.
    pub health: ShardHealth,
}

impl ShardRecord {
    /// Of a part of which only the client's health is known.
    #[must_use]
    pub const fn of_health(health: ShardHealth) -> Self {
        let start = Stamp::EPOCH;
        Self { meeting: String::new(), start, first: None, clock: None, health }
    }

    /// An instant of its own clock, on the first shard's.
    fn common(&self, at: Stamp) -> Stamp {
        self.clock.map_or(at, |clock| clock.common(at))
    }

    /// Whether it is known when it began.
    const fn begins(&self) -> bool {
        self.first.is_some() || self.health.start_late_ms.is_some()
    }

    /// The instant, on the first shard's clock, at which it was to begin; none where nobody knows when it began. Of a part that was merged
    /// before, the instant by which its start was counted then.
    fn agreed(&self) -> Option<Stamp> {
        let is_known = self.first.is_some() || self.start != Stamp::EPOCH;
        (self.begins() && is_known).then(|| self.common(self.start))
    }

    /// How much later than `agreed` it began: by what its clock was off, and by the release of its first request. It is counted in whole
    /// nanoseconds, so that it is the same in however many steps parts are merged.
    fn start_late_ms(&self, agreed: Stamp) -> Option<f64> {
        let ns = |at: Stamp| i128::from(at.saturating_since(Stamp::EPOCH).as_nanos());
        let late = match (self.first, self.health.start_late_ms) {
            // Requests of an open loop begin later than the level, as its plan says.
            (Some((intended, released)), _) => {
                ns(self.common(released)) - ns(agreed) - (ns(intended) - ns(self.start))
            }
            (None, Some(late)) => {
                let since = self.agreed().map_or(0, |own| ns(own) - ns(agreed));
                (late * 1e6).round() as i128 + since
            }
            (None, None) => return None,
        };
        Some(late as f64 / 1e6)
    }
}

/// The schema of `shard.json`.
pub(crate) const SHARD: &str = "fizeau.shard/1";

// Before it named its schema, it was the record alone.
document! {
    /// `shard.json`: what is known of a shard's part of the level beside whose tapes it lies.
    pub(crate) struct ShardDocument as "Shard", from |part: ShardRecord| {} {
        #[cfg_attr(feature = "schema", schemars(extend("const" = SHARD)))]
        schema: String = SHARD.to_owned(),
        version: String = env!("CARGO_PKG_VERSION").to_owned(),
        #[serde(flatten)]
        pub(crate) record: ShardRecord = part,
    }
}

impl ShardsReport {
    /// How all fared of the `parts` that there are, of so many: when each began on the first shard's clock, and whose the slowest
    /// requests are. `tail` has them under their places among `parts`. Of parts of several meetings, which have no clock in common, nothing
    /// is said of starts and clocks.
    #[must_use]
    pub fn of_parts(count: u64, parts: &[ShardRecord], tail: &TailShares) -> Self {
        let mut report = Self::of(count);
        report.tail_requests = tail.requests();
        let meeting = parts.first().map(|first| &first.meeting);
        let is_one = |meeting: &&String| parts.iter().all(|part| part.meeting == **meeting);
        report.meeting = meeting.filter(|meeting| !meeting.is_empty()).filter(is_one).cloned();
        let mut begun = parts.iter().filter(|part| part.begins()).map(|part| &part.meeting);
        let first_meeting = begun.next();
        let have_one_clock = begun.all(|meeting| Some(meeting) == first_meeting);
        report.agreed_start = parts.iter().find_map(ShardRecord::agreed).filter(|_| have_one_clock);
        let agreed = report.agreed_start.unwrap_or(Stamp::EPOCH);
        for (number, part) in parts.iter().enumerate() {
            let mut health = part.health.clone();
            health.tail_share = tail.share(number);
            if !have_one_clock {
                health.start_late_ms = None;
                health.clock_ahead_ms = None;
                health.clock_uncertainty_ms = None;
                health.clock_drift_ppm = None;
                report.health.push(health);
                continue;
            }
            health.start_late_ms = part.start_late_ms(agreed);
            if let Some(clock) = &part.clock {
                // Of an axis that is nobody's clock the part says itself what the clock was ahead.
                let read = || clock.last().ahead_ns as f64 / 1e6;
                health.clock_ahead_ms.get_or_insert_with(read);
                health.clock_uncertainty_ms = clock.uncertainty().map(|off| off.to_millis().get());
                health.clock_drift_ppm = clock.drift_ppm();
            }
            report.health.push(health);
        }
        let late = || report.health.iter().filter_map(|health| health.start_late_ms);
        let ends = late().reduce(f64::min).zip(late().reduce(f64::max));
        report.start_skew_ms =
            ends.filter(|_| late().count() > 1).map(|(least, most)| most - least);
        if report.start_skew_ms.is_some() {
            report.start_skew_uncertainty_ms = uncertainty_ms(parts);
        }
        report
    }
}

impl ShardHealth {
    /// Of the shard of this name, `1/8`, of which nothing else is known yet.
    #[must_use]
    pub fn of(shard: impl Into<String>) -> Self {
        Self { shard: shard.into(), ..Self::default() }
    }

    /// The same, with what a level's figures, its client's machine and its verdict say: but that they are [its alone](shard_alone), which
    /// does not weigh against all of them together.
    #[must_use]
    pub fn of_level(self, level: &LevelSummary, watch: &ClientWatch, validity: &Validity) -> Self {
        let tail = |of: &Distribution| Some(of.value_or_max(Statistic::P99)?.value.get());
        let alone = self.shard.parse().ok().and_then(shard_alone);
        let (those, own): (Vec<_>, Vec<_>) =
            validity.reasons.iter().cloned().partition(|reason| Some(reason) == alone.as_ref());
        let own = (!those.is_empty()).then(|| Validity::of(own));
        let validity = own.as_ref().unwrap_or(validity);
        let worst = || {
            let verdict = validity.verdict;
            let reason = validity.reasons.iter().find(|reason| reason.verdict == verdict);
            let text = "its summary does not say why".to_owned();
            let about = VerdictConcern::Shards;
            reason.cloned().unwrap_or_else(|| VerdictReason::new(verdict, about, text))
        };
        Self {
            sent: level.requests.sent,
            failed: level.requests.failed,
            send_lateness_p99_ms: tail(&level.metrics.send_lateness),
            read_lag_p99_ms: tail(&level.metrics.read_lag),
            cpu_share: watch.cpu_share,
            run_delay_share: watch.run_delay_share,
            steal_share: watch.steal_share,
            worst: (validity.verdict != Verdict::Valid).then(worst),
            ..self
        }
    }
}

/// By how much a difference of two parts' instants may be wrong: by what two clocks may be off together. None where one is not known.
fn uncertainty_ms(parts: &[ShardRecord]) -> Option<f64> {
    let of = |part: &ShardRecord| match (part.clock, &part.health) {
        (Some(clock), _) => clock.uncertainty().map(|off| off.to_millis().get()),
        // That of a part which was merged before, or of the first shard, by whose clock all the others are read.
        (None, health) if health.clock_ahead_ms.is_none() => Some(0.0),
        (None, health) => health.clock_uncertainty_ms,
    };
    let began = parts.iter().filter(|part| part.begins());
    let mut all = began.map(of).collect::<Option<Vec<f64>>>()?;
    all.sort_unstable_by(|a, b| b.total_cmp(a));
    Some(all.iter().take(2).sum())
}

#[cfg(test)]
mod tests {
    use fizeau_core::Nanos;

    use super::*;
    use crate::{ClockReading, ClockSource};

    fn part(clock: Option<(i64, u64)>, start_ms: u64, late_ms: u64) -> ShardRecord {
        let at = |ms: u64| Stamp::EPOCH + Nanos::from_millis(ms);
        let reading = |(ahead_ms, off_ms): (i64, u64)| ClockReading {
            at: at(start_ms),
            ahead_ns: ahead_ms * 1_000_000,
            uncertainty_ns: Some(off_ms * 1_000_000),
            source: ClockSource::RoundTrips,
        };
        ShardRecord {
            meeting: "m".to_owned(),
            start: at(start_ms),
            first: Some((at(start_ms + 10), at(start_ms + 10 + late_ms))),
            clock: clock.map(|clock| ClockAxis::at(reading(clock))),
            health: ShardHealth::default(),
        }
    }

    #[test]
    fn starts_are_compared_on_one_clock_with_what_two_clocks_may_be_off() {
        // The second's clock is 300 ms ahead, and the third's 50 ms behind; all were to begin as the first's showed 1000 ms.
        let parts =
            [part(None, 1000, 1), part(Some((300, 2)), 1300, 5), part(Some((-50, 3)), 950, 2)];
        let report = ShardsReport::of_parts(3, &parts, &TailShares::of(3));
        let late: Vec<Option<f64>> = report.health.iter().map(|one| one.start_late_ms).collect();
        assert_eq!(late, [Some(1.0), Some(5.0), Some(2.0)]);
        assert_eq!(
            (report.start_skew_ms, report.start_skew_uncertainty_ms),
            (Some(4.0), Some(5.0))
        );
        assert_eq!(report.meeting.as_deref(), Some("m"));
        let back: ShardRecord =
            serde_json::from_str(&serde_json::to_string(&parts[1]).unwrap()).unwrap();
        assert_eq!(back, parts[1]);
    }

    /// What is not known is not counted, and an error that is not known is not zero.
    #[test]
    fn only_parts_whose_start_is_known_began_within_a_time_of_each_other() {
        let of = |sent, part: ShardRecord| ShardRecord {
            health: ShardHealth { sent, ..part.health.clone() },
            ..part
        };
        let unknown = ShardRecord::of_health(ShardHealth::default());
        let parts =
            [of(5, part(None, 1000, 1)), of(5, part(Some((0, 2)), 1000, 3)), of(5, unknown)];
        let report = ShardsReport::of_parts(3, &parts, &TailShares::of(3));
        assert_eq!(
            report.lines(),
            [
                "2 of 3 shards began within 2.00 ms of each other (+-2.00 ms); the start of 1 more is not known"
            ]
        );
        // As a merged run has them: the first is by whose clock the others are, and of the last nobody knows how well.
        let merged = |ahead, off| {
            ShardRecord::of_health(ShardHealth {
                start_late_ms: Some(1.0),
                clock_ahead_ms: ahead,
                clock_uncertainty_ms: off,
                ..ShardHealth::default()
            })
        };
        let known = [merged(None, None), merged(Some(0.5), Some(0.25))];
        let skew = |parts: &[ShardRecord]| {
            ShardsReport::of_parts(3, parts, &TailShares::of(3)).start_skew_uncertainty_ms
        };
        assert_eq!(skew(&known), Some(0.25));
        assert_eq!(skew(&[&known[..], &[merged(Some(0.5), None)]].concat()), None);
    }

    /// Starts by two clocks that nobody has compared are no skew.
    #[test]
    fn parts_of_two_meetings_say_nothing_of_their_starts_and_clocks() {
        let other = ShardRecord { meeting: "n".to_owned(), ..part(Some((300, 2)), 1300, 5) };
        let mut report =
            ShardsReport::of_parts(2, &[part(None, 1000, 1), other], &TailShares::of(2));
        assert_eq!((report.start_skew_ms, report.start_skew_uncertainty_ms), (None, None));
        assert_eq!((report.meeting.as_deref(), report.agreed_start), (None, None));
        let says = |one: &ShardHealth| {
            [one.start_late_ms, one.clock_ahead_ms, one.clock_uncertainty_ms, one.clock_drift_ppm]
        };
        assert!(report.health.iter().all(|one| says(one) == [None; 4]), "{:?}", report.health);
        let sent = report.health.iter_mut();
        sent.for_each(|one| one.sent = 1);
        assert_eq!(report.lines(), ["2 of 2 shards; how far apart they began is not known"]);
    }

    /// Some first and then the others, or all at once: the same to the last digit.
    #[test]
    fn in_however_many_steps_parts_are_merged_they_began_alike() {
        let late = |ns: u64, part: ShardRecord| {
            let first = part.first.map(|(due, left)| (due, left + Nanos::from_nanos(ns)));
            let start = part.start + Nanos::from_nanos(ns / 7);
            ShardRecord { first, start, ..part }
        };
        let parts = [
            late(52_427, part(None, 1000, 1)),
            late(381, part(Some((300, 2)), 1300, 5)),
            late(99_991, part(Some((-50, 3)), 950, 2)),
        ];
        let tail = TailShares::of(0);
        let whole = ShardsReport::of_parts(3, &parts, &tail);
        for alone in 0..3 {
            let others: Vec<ShardRecord> =
                (0..3).filter(|n| *n != alone).map(|n| parts[n].clone()).collect();
            let some = ShardsReport::of_parts(2, &others, &tail);
            let merged = some.health.iter().map(|health| ShardRecord {
                meeting: "m".to_owned(),
                start: some.agreed_start.unwrap(),
                ..ShardRecord::of_health(health.clone())
            });
            let mut all: Vec<ShardRecord> = merged.collect();
            all.insert(alone, parts[alone].clone());
            let twice = ShardsReport::of_parts(3, &all, &tail);
            assert_eq!(twice, whole, "{alone} came later");
        }
    }

    #[test]
    fn parts_that_met_nobody_say_nothing_of_their_starts() {
        let parts = [ShardRecord::of_health(ShardHealth::default()), part(None, 0, 7)];
        let report = ShardsReport::of_parts(2, &parts, &TailShares::of(0));
        assert_eq!((report.start_skew_ms, report.start_skew_uncertainty_ms), (None, None));
        assert_eq!(report.meeting, None);
    }
}
