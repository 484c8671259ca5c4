//! Clients that measured one level together: when each began, by whose clock, how each fared, and who has the tail.

mod alone;
mod clock;
mod levels;
mod part;
mod tail;

use std::cmp::Reverse;

use fizeau_core::{Nanos, Stamp, document};
use fizeau_metrics::{Verdict, VerdictConcern, VerdictReason};
use serde::{Deserialize, Serialize};

pub use alone::shard_alone;
pub use clock::{ClockAxis, ClockReading, ClockSource};
pub use part::ShardRecord;
pub(crate) use part::{SHARD, ShardDocument};
pub use tail::TailShares;

/// What a merge found against its shards being one load. Documents have the sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
#[non_exhaustive]
pub enum MergeDoubt {
    /// They ought not to be merged, and somebody had them merged all the same.
    #[error("{FORCED}{by}: {past}")]
    Forced {
        /// What had them merged, in the words of who asked.
        by: String,
        /// What speaks against it.
        past: String,
    },
    /// What their tapes or clocks show.
    #[error("{0}")]
    Found(String),
}

const FORCED: &str = "merged by ";

impl From<String> for MergeDoubt {
    fn from(text: String) -> Self {
        match text.strip_prefix(FORCED).and_then(|forced| forced.split_once(": ")) {
            Some((by, past)) => Self::Forced { by: by.to_owned(), past: past.to_owned() },
            None => Self::Found(text),
        }
    }
}

impl From<MergeDoubt> for String {
    fn from(doubt: MergeDoubt) -> Self {
        doubt.to_string()
    }
}

document! {
    /// Clients that measured one level together, and that there were all of them, or not.
    #[derive(Default)]
    #[non_exhaustive]
    pub struct ShardsReport {
        /// How many there were to be.
        pub count: u64,
        /// The name of the meeting on whose first clock the stamps are; absent where they did not all meet.
        pub meeting: Option<String>,
        /// The instant, on that clock, after which the starts of its clients are counted; absent where they are not known, and over several
        /// levels.
        pub agreed_start as "agreed_start_ns"?: Stamp,
        /// How far apart the first and the last began, on the first one's clock; absent where fewer than two sent anything.
        pub start_skew_ms: Option<f64>,
        /// By how much that may be wrong, since no two clocks are compared exactly; absent where it is not known.
        pub start_skew_uncertainty_ms: Option<f64>,
        /// How many of the slowest requests the shares of the tail are of; absent where none completed.
        pub tail_requests: Option<u64>,
        /// Those that took part.
        pub health: Vec<ShardHealth>,
        /// Those of which nothing is here, and why: `2/8: it is gone`. Less was then sent than the plan has.
        pub missing: Vec<String>,
        /// Those of the missing that took part until they were gone in the midst of the level: `2/8`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub gone_in_level: Vec<String>,
        /// Why they may be no one load, as their merge found; empty where nothing speaks against it, absent where the merge did not keep it.
        #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<String>>"))]
        pub doubts?: Vec<MergeDoubt>,
    }
}

/// Whether shards may be missing from what is to be one run of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissingShards {
    /// All have to be there, and to stay to the end.
    #[default]
    Refused,
    /// Those that are there are enough, and the report says that there were fewer, and which load they offered.
    Allowed,
}

/// How one client fared.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ShardHealth {
    /// Which share of the plan it sent: `1/8`.
    pub shard: String,
    /// The machine it ran on.
    pub host: String,
    /// How many requests it sent.
    pub sent: u64,
    /// How many of them failed.
    pub failed: u64,
    /// How much later than the instant that was agreed it began: by the release of its first request, and by what its clock was
    /// found to be off at the end. Absent where it sent nothing.
    pub start_late_ms: Option<f64>,
    /// How late it released requests, 99th percentile or the most seen; absent where it sent nothing.
    pub send_lateness_p99_ms: Option<f64>,
    /// How late it read what had come, 99th percentile or the most seen; absent where the kernel did not stamp.
    pub read_lag_p99_ms: Option<f64>,
    /// CPU time over wall time of its busiest thread, from 0 to 1; absent where the system does not report it.
    pub cpu_share: Option<f64>,
    /// Time ready to run without a CPU over wall time, from 0 to 1, which a hypervisor's other guests count in; absent where the
    /// system does not tell.
    pub run_delay_share: Option<f64>,
    /// The part of the machine's CPU time that its hypervisor gave to others, from 0 to 1; absent where the system does not report it.
    pub steal_share: Option<f64>,
    /// By how much its clock was ahead of the first shard's, as the level ended; 0 where all began at an instant of their wall clocks, which
    /// are taken for one.
    pub clock_ahead_ms: Option<f64>,
    /// By how much that may be wrong.
    pub clock_uncertainty_ms: Option<f64>,
    /// By how much it went fast against the first shard's clock, in millionths; absent where the level was too short to say.
    pub clock_drift_ppm: Option<f64>,
    /// By how much its wall clock may be off the true time, as its kernel estimates; absent where the kernel does not know.
    pub wall_clock_error_ms: Option<f64>,
    /// Its share of the slowest requests of all; absent where none completed.
    pub tail_share: Option<f64>,
    /// What its own verdict says worst of it; absent where nothing weighs against it.
    pub worst: Option<VerdictReason>,
}

/// Starts that are further apart than this part of the level are not one load.
const LATE: f64 = 0.1;

/// Who has so many times its part of the tail, and so much of it, is named.
const BLURS: f64 = 2.0;
const BLURS_AT_LEAST: f64 = 0.25;

impl ShardsReport {
    /// Of so many clients, of which nothing is known yet.
    #[must_use]
    pub fn of(count: u64) -> Self {
        Self { count, ..Self::default() }
    }

    /// How many clients took part.
    #[must_use]
    pub fn clients(&self) -> u32 {
        u32::try_from(self.health.len()).unwrap_or(u32::MAX)
    }

    /// By how much the clocks of two of them may be off from one another; none where that is not known.
    pub(crate) fn clocks_off(&self) -> Option<Nanos> {
        Nanos::from_secs_f64(self.start_skew_uncertainty_ms? / 1e3).ok()
    }

    /// What weighs against a level that took so many milliseconds: starts far apart, shards that are missing, what weighs
    /// against a shard by itself, unless it is among the reasons that are `known` of the whole level, and what their merge found.
    #[must_use]
    pub fn reasons(&self, duration_ms: f64, known: &[VerdictReason]) -> Vec<VerdictReason> {
        let reason =
            |verdict, text: String| VerdictReason::new(verdict, VerdictConcern::Shards, text);
        let mut reasons = Vec::new();
        if let Some(skew) = self.start_skew_ms.filter(|skew| *skew > LATE * duration_ms) {
            let text = format!(
                "the shards began {skew:.1} ms apart in a level of {duration_ms:.0} ms; shards must run at the same time to be one load"
            );
            reasons.push(reason(Verdict::Suspect, text));
        }
        if !self.missing.is_empty() {
            let text = format!(
                "{} of {} shards are missing; less was sent than planned: {}",
                self.missing.len(),
                self.count,
                self.missing.join("; ")
            );
            reasons.push(reason(Verdict::Suspect, text));
        }
        let worst = self.health.iter().filter_map(|one| Some((one, one.worst.as_ref()?)));
        // A shard to which no request fell is invalid by itself, and takes nothing from the others.
        let kind = |reason: &VerdictReason| {
            let kind = VerdictReason::headline(&reason.text).split(": ").next();
            (reason.verdict, kind.unwrap_or_default().to_owned())
        };
        let is_known = |found: &VerdictReason| known.iter().any(|known| kind(known) == kind(found));
        let worst = worst.filter(|(one, found)| one.sent > 0 && !is_known(found));
        let worst: Vec<(&ShardHealth, &VerdictReason)> = worst.collect();
        // Of several that are as bad the first, and how many there are.
        let first = worst.iter().min_by_key(|(_, found)| Reverse(found.verdict));
        let others = match worst.len().saturating_sub(1) {
            0 => String::new(),
            others => format!(" ({others} more of the shards have reasons of their own)"),
        };
        reasons.extend(first.map(|(one, found)| {
            reason(found.verdict, format!("shard {}: {}{others}", one.shard, found.text))
        }));
        let doubts = self.doubts.iter().flatten();
        reasons.extend(doubts.map(|text| reason(Verdict::Suspect, text.to_string())));
        reasons
    }

    /// Who has much more of the tail than of the requests: a client that is in trouble itself, or the path from it.
    #[must_use]
    pub fn blurring(&self) -> Option<&ShardHealth> {
        let sent: u64 = self.health.iter().map(|one| one.sent).sum();
        let share = |one: &ShardHealth| one.sent as f64 / sent.max(1) as f64;
        let blurs = self.health.iter().filter(|one| {
            one.tail_share.is_some_and(|tail| tail > BLURS * share(one) && tail > BLURS_AT_LEAST)
        });
        let tail = |one: &&ShardHealth| one.tail_share.unwrap_or_default();
        // Of a handful of requests chance alone gives one shard most.
        let is_known = self.tail_requests.is_some_and(|requests| requests >= 10);
        blurs
            .max_by(|a, b| tail(a).total_cmp(&tail(b)))
            .filter(|_| is_known && self.health.len() > 1)
    }

    /// What one ought to know of it, in one line each.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.skew_line()];
        if let Some(one) = self.blurring() {
            lines.push(format!(
                "shard {}{} has {:.0} % of the slowest {} requests: look at that client before the server",
                one.shard,
                if one.host.is_empty() { String::new() } else { format!(" on {}", one.host) },
                100.0 * one.tail_share.unwrap_or_default(),
                self.tail_requests.unwrap_or_default(),
            ));
        }
        lines
    }

    fn skew_line(&self) -> String {
        let of = |shards: usize| format!("{shards} of {} shards", self.count);
        let known = self.health.iter().filter(|one| one.start_late_ms.is_some()).count();
        let within = match (self.start_skew_ms, self.start_skew_uncertainty_ms) {
            (Some(skew), Some(off)) => {
                format!("{} began within {skew:.2} ms of each other (+-{off:.2} ms)", of(known))
            }
            (Some(skew), None) => format!(
                "{} began within {skew:.2} ms of each other, if their clocks agree, which is not known",
                of(known)
            ),
            (None, _) => {
                let sent = self.health.iter().filter(|one| one.sent > 0).count();
                let unknown = if sent > 1 { "; how far apart they began is not known" } else { "" };
                return of(self.health.len()) + unknown;
            }
        };
        // One that sent nothing began nothing.
        let unknown =
            self.health.iter().filter(|one| one.start_late_ms.is_none() && one.sent > 0).count();
        match unknown {
            0 => within,
            unknown => format!("{within}; the start of {unknown} more is not known"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn health(shard: &str, sent: u64, tail_share: f64) -> ShardHealth {
        let tail_share = Some(tail_share);
        ShardHealth { shard: shard.to_owned(), sent, tail_share, ..ShardHealth::default() }
    }

    #[test]
    fn starts_far_apart_and_missing_shards_weigh_against_a_level() {
        let mut report = ShardsReport::of(2);
        assert_eq!(report.reasons(1000.0, &[]), []);
        report.start_skew_ms = Some(99.0);
        assert_eq!(report.reasons(1000.0, &[]), []);
        report.start_skew_ms = Some(101.0);
        assert!(report.reasons(1000.0, &[])[0].text.contains("began 101.0 ms apart"));
        report.start_skew_ms = None;
        report.missing.push("1/2: it is gone".to_owned());
        assert!(report.reasons(1000.0, &[])[0].text.starts_with("1 of 2 shards are missing"));
    }

    #[test]
    fn a_shard_with_most_of_the_tail_is_named_and_one_with_its_part_is_not() {
        let mut report = ShardsReport::of(3);
        report.tail_requests = Some(100);
        report.health =
            vec![health("0/3", 10, 0.3), health("1/3", 10, 0.36), health("2/3", 10, 0.34)];
        assert_eq!(report.blurring(), None);
        report.health =
            vec![health("0/3", 10, 0.1), health("1/3", 10, 0.8), health("2/3", 10, 0.1)];
        assert_eq!(report.blurring().map(|one| &*one.shard), Some("1/3"));
        report.tail_requests = Some(3);
        assert_eq!(report.blurring(), None, "three requests are chance");
    }

    /// More than twice its part of the requests, and more than a quarter of the tail.
    #[test]
    fn a_shard_blurs_the_tail_from_more_than_twice_its_part_on() {
        let blurs = |sent: u64, tail: f64| {
            let mut report = ShardsReport::of(2);
            report.tail_requests = Some(100);
            report.health = vec![health("0/2", sent, tail), health("1/2", 32 - sent, 1.0 - tail)];
            report.blurring().map(|one| one.shard.clone())
        };
        assert_eq!(blurs(8, 0.5), None);
        assert_eq!(blurs(8, 0.51).as_deref(), Some("0/2"));
        assert_eq!(blurs(2, 0.25), None);
        assert_eq!(blurs(2, 0.26).as_deref(), Some("0/2"));
    }

    #[test]
    fn what_weighs_against_a_shard_weighs_against_all_but_not_where_it_sent_nothing() {
        let mut report = ShardsReport::of(2);
        let worst = VerdictReason::new(Verdict::Invalid, VerdictConcern::Client, "late");
        report.health = vec![ShardHealth { worst: Some(worst), ..health("1/2", 0, 0.0) }];
        assert_eq!(report.reasons(1000.0, &[]), []);
        report.health[0].sent = 5;
        let reasons = report.reasons(1000.0, &[]);
        assert_eq!((reasons[0].verdict, &*reasons[0].text), (Verdict::Invalid, "shard 1/2: late"));
        let known = |text: &str| VerdictReason::new(Verdict::Invalid, VerdictConcern::Client, text);
        assert_eq!(report.reasons(1000.0, &[known("late")]), [], "it is said of the whole level");
        assert_eq!(report.reasons(1000.0, &[known("busy")]).len(), 1);
        let of = |shard: &str, verdict| ShardHealth {
            worst: Some(VerdictReason::new(verdict, VerdictConcern::Client, "late")),
            ..health(shard, 5, 0.0)
        };
        let (first, worst) = (of("0/3", Verdict::Suspect), of("1/3", Verdict::Invalid));
        report.health = vec![first, worst, of("2/3", Verdict::Invalid)];
        let reasons = report.reasons(1000.0, &[]);
        let named = "shard 1/3: late (2 more of the shards have reasons of their own)";
        assert_eq!((reasons[0].verdict, &*reasons[0].text), (Verdict::Invalid, named));
    }
}
