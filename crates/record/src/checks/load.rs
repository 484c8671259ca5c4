//! How high the loads were, and how long they lasted.

use fizeau_core::{LevelLoad, PerSec};
use fizeau_metrics::OccupancyOverTime;

use super::inputs::{CheckFinding, CheckInputs, whole};
use crate::LevelReport;
use crate::text::number;

/// What a level takes at least, in seconds.
const LEAST_S: f64 = 60.0;

/// By how much less it may come out, since the last request falls where it falls.
const SLACK_S: f64 = 1.0;

/// How many loads make a curve.
const LEAST_LOADS: usize = 3;

impl CheckInputs<'_> {
    pub(super) fn warm_up(&self) -> CheckFinding {
        let cold = self.levels_where(|level| {
            level.warm_up.is_some_and(|warm_up| warm_up.sent <= warm_up.failed)
        });
        if let Some(first) = cold.first() {
            let at = self.at(&cold);
            let failed = first.warm_up.map_or(0, |warm_up| warm_up.failed);
            return CheckFinding::fail(match failed {
                0 => format!("no warm-up request was sent{at}"),
                n => format!("all {n} warm-up requests failed{at}"),
            });
        }
        let unknown = self.levels_where(|level| level.warm_up.is_none());
        if !unknown.is_empty() {
            return CheckFinding::unknown(format!("not recorded{}", self.at(&unknown)));
        }
        let sent = self.range(whole, |level| Some(level.warm_up?.sent as f64)).unwrap_or_default();
        let failed: u64 =
            self.levels.iter().filter_map(|level| level.warm_up).map(|it| it.failed).sum();
        let failed = if failed > 0 { format!("; {failed} failed") } else { String::new() };
        CheckFinding::pass(format!("{sent} requests before each level, not counted{failed}"))
    }

    pub(super) fn open_loop(&self) -> CheckFinding {
        let open = self.levels_where(is_open);
        if !open.is_empty() {
            let cap = self.range(whole, |level| rate_cap(level).map(f64::from));
            let capped =
                cap.map_or_else(String::new, |cap| format!(", with at most {cap} in flight"));
            let blind = self.levels_where(|level| {
                let is_from_schedule = level.summary.metrics.ttft_scheduled.max.is_some();
                is_open(level) && rate_cap(level).is_some() && !is_from_schedule
            });
            if !blind.is_empty() {
                let at = self.at(&blind);
                return CheckFinding::unknown(format!(
                    "a rate{capped}{at}, and latencies from schedule are not known: those from the sending leave out the wait for the limit"
                ));
            }
            let arrivals = match self.levels.len() {
                1 => self.setup.workload.arrivals_words(),
                _ => format!("a law of arrivals{}", self.at(&open)),
            };
            return CheckFinding::pass(format!("{arrivals}{capped}"));
        }
        let at_once = self.levels_where(|level| level.requested.arrivals.is_some());
        let what = match at_once.is_empty() {
            true => "closed loops only",
            false => "all requests at once",
        };
        CheckFinding::fail(format!("{what}; also measure at fixed rates"))
    }

    pub(super) fn rates(&self) -> CheckFinding {
        let mut loads: Vec<&LevelReport> = Vec::new();
        for level in self.levels_where(|level| level.summary.requests.completed > 0) {
            if !loads.iter().any(|other| other.load == level.load) {
                loads.push(level);
            }
        }
        let words: Vec<String> = match loads.as_slice() {
            [one] => vec![load(one)],
            [first, .., last] => vec![load(first), load(last)],
            [] => vec!["no load completed a request".to_owned()],
        };
        let (n, words) = (loads.len(), words.join(" to "));
        let plural = if n == 1 { "" } else { "s" };
        match n >= LEAST_LOADS {
            true => CheckFinding::pass(format!("{n} loads: {words}")),
            false => CheckFinding::fail(format!(
                "{n} load{plural} tested ({words}); test at least {LEAST_LOADS}"
            )),
        }
    }

    pub(super) fn duration(&self) -> CheckFinding {
        let seconds = |level: &LevelReport| level.summary.throughput.duration.get();
        let Some((shortest, length)) = self.least(seconds) else {
            return CheckFinding::unknown("nothing was measured");
        };
        let length = number(length);
        let words = match self.levels.len() {
            1 => format!("{length} s"),
            _ => format!("shortest level {length} s, at {}", shortest.load),
        };
        let short = self.levels_where(|level| seconds(level) < LEAST_S - SLACK_S);
        match short.len() {
            0 => CheckFinding::pass(words),
            n if self.levels.len() > 1 => {
                let all = self.levels.len();
                CheckFinding::fail(format!("{words}; {n} of {all} levels are under {LEAST_S} s"))
            }
            _ => CheckFinding::fail(format!("{words}; measure at least {LEAST_S} s")),
        }
    }

    pub(super) fn batch(&self) -> CheckFinding {
        fn flight(level: &LevelReport) -> Option<&OccupancyOverTime> {
            level.summary.over_time.as_ref()
        }
        let unknown = self.levels_where(|level| flight(level).is_none());
        if !unknown.is_empty() {
            let at = self.at(&unknown);
            return CheckFinding::unknown(format!("number in flight not known{at}"));
        }
        let range = |shown, of: fn(&OccupancyOverTime) -> f64| {
            self.range(shown, |level| flight(level).map(of)).unwrap_or_default()
        };
        let (mean, peak) = (
            range(number, |all| all.in_flight.mean),
            range(whole, |all| all.in_flight.peak as f64),
        );
        let decoding = range(number, |all| all.decoding.mean);
        let words = format!("{mean} in flight on average, peak {peak}; {decoding} decoding");
        let empty = self.levels_where(is_half_empty);
        match empty.is_empty() {
            true => CheckFinding::pass(words),
            false => {
                let at = self.at(&empty);
                CheckFinding::fail(format!("less than half of the slots in use{at}: {words}"))
            }
        }
    }
}

/// The load in words; of an open loop of sessions their rate as well, which is that of the arrivals.
fn load(level: &LevelReport) -> String {
    let words = level.load.to_string();
    match level.sessions_per_s() {
        Some(rate) => format!("{words} in {} sessions/s", number(rate.get())),
        None => words,
    }
}

/// The cap behind which another tool sent at a rate.
fn rate_cap(level: &LevelReport) -> Option<u32> {
    level.unseen.as_ref()?.rate_cap
}

/// Whether requests left at a rate of their own: all at once is none.
fn is_open(level: &LevelReport) -> bool {
    let Some(law) = level.requested.arrivals else { return false };
    let planned = || level.summary.arrivals.as_ref().and_then(|came| came.intended.rate);
    law.rate.or_else(planned).map(PerSec::get).is_some_and(|rate| rate.is_finite() && rate > 0.0)
}

/// Whether a closed loop kept less than half of its slots busy, so that its figures are those of another batch.
fn is_half_empty(level: &LevelReport) -> bool {
    let mean = level.summary.over_time.as_ref().map(|over_time| over_time.in_flight.mean);
    match (level.load, mean, level.requested.arrivals) {
        (LevelLoad::Concurrency(slots), Some(mean), None) => mean < f64::from(slots.get()) / 2.0,
        _ => false,
    }
}
