//! How hard was pressed, and how long.

use fizeau_core::PerSec;
use fizeau_metrics::OverTime;

use super::seen::{Finding, Seen, whole};
use crate::text::number;
use crate::{LevelReport, LoadPoint};

/// What a level takes at least, in seconds.
const LEAST_S: f64 = 60.0;

/// By how much less it may come out, since the last request falls where it falls.
const SLACK_S: f64 = 1.0;

/// How many loads make a curve.
const LEAST_LOADS: usize = 3;

impl Seen<'_> {
    pub(super) fn warm_up(&self) -> Finding {
        let cold = self.levels_where(|level| {
            level.warm_up.is_some_and(|warm_up| warm_up.sent <= warm_up.failed)
        });
        if let Some(first) = cold.first() {
            let at = self.at(&cold);
            let failed = first.warm_up.map_or(0, |warm_up| warm_up.failed);
            return Finding::fail(match failed {
                0 => format!("none was sent{at}"),
                n => format!("all {n} requests of it failed{at}"),
            });
        }
        let unknown = self.levels_where(|level| level.warm_up.is_none());
        if !unknown.is_empty() {
            return Finding::unknown(format!("it is not recorded{}", self.at(&unknown)));
        }
        let sent = self.range(whole, |level| Some(level.warm_up?.sent as f64)).unwrap_or_default();
        let failed: u64 =
            self.levels.iter().filter_map(|level| level.warm_up).map(|it| it.failed).sum();
        let failed = if failed > 0 { format!("; {failed} failed") } else { String::new() };
        Finding::pass(format!("{sent} requests before each level, in no figure{failed}"))
    }

    pub(super) fn open_loop(&self) -> Finding {
        let open = self.levels_where(is_open);
        if !open.is_empty() {
            let arrivals = match self.levels.len() {
                1 => self.setup.workload.arrivals.clone(),
                _ => format!("a law of arrivals{}", self.at(&open)),
            };
            return Finding::pass(arrivals);
        }
        let at_once = self.levels_where(|level| level.asked.arrivals.is_some());
        let what = match at_once.is_empty() {
            true => "closed loop alone, in which the load waits for the server",
            false => "all requests at once, at no rate",
        };
        Finding::fail(format!("{what}; measure at rates as well"))
    }

    pub(super) fn rates(&self) -> Finding {
        let mut loads: Vec<LoadPoint> = Vec::new();
        for level in self.levels_where(|level| level.summary.requests.completed > 0) {
            if !loads.contains(&level.load) {
                loads.push(level.load);
            }
        }
        let words: Vec<String> = match loads.as_slice() {
            [one] => vec![one.words()],
            [first, .., last] => vec![first.words(), last.words()],
            [] => vec!["none completed a request".to_owned()],
        };
        let (n, words) = (loads.len(), words.join(" to "));
        let plural = if n == 1 { "" } else { "s" };
        match n >= LEAST_LOADS {
            true => Finding::pass(format!("{n} loads: {words}")),
            false => Finding::fail(format!("{n} load{plural} ({words}), {LEAST_LOADS} wanted")),
        }
    }

    pub(super) fn duration(&self) -> Finding {
        let seconds = |level: &LevelReport| level.summary.throughput.duration.get();
        let Some((shortest, length)) = self.least(seconds) else {
            return Finding::unknown("nothing was measured");
        };
        let length = number(length);
        let words = match self.levels.len() {
            1 => format!("{length} s"),
            _ => format!("the shortest {length} s, at {}", shortest.load.words()),
        };
        let short = self.levels_where(|level| seconds(level) < LEAST_S - SLACK_S);
        match short.len() {
            0 => Finding::pass(words),
            n if self.levels.len() > 1 => {
                let all = self.levels.len();
                Finding::fail(format!("{words}; {n} of {all} levels took less than {LEAST_S} s"))
            }
            _ => Finding::fail(format!("{words}, {LEAST_S} s wanted")),
        }
    }

    pub(super) fn batch(&self) -> Finding {
        fn flight(level: &LevelReport) -> Option<&OverTime> {
            level.summary.over_time.as_ref()
        }
        let unknown = self.levels_where(|level| flight(level).is_none());
        if !unknown.is_empty() {
            let at = self.at(&unknown);
            return Finding::unknown(format!("how many were in flight is not known{at}"));
        }
        let range = |shown, of: fn(&OverTime) -> f64| {
            self.range(shown, |level| flight(level).map(of)).unwrap_or_default()
        };
        let (mean, peak) = (
            range(number, |all| all.in_flight.mean),
            range(whole, |all| all.in_flight.peak as f64),
        );
        let decoding = range(number, |all| all.decoding.mean);
        let words =
            format!("in flight {mean} on average, at most {peak}; decoding at once {decoding}");
        let empty = self.levels_where(is_half_empty);
        match empty.is_empty() {
            true => Finding::pass(words),
            false => {
                let at = self.at(&empty);
                Finding::fail(format!("less than half of the slots were in use{at}: {words}"))
            }
        }
    }
}

/// Whether requests left at a rate of their own: all at once is none.
fn is_open(level: &LevelReport) -> bool {
    let Some(law) = level.asked.arrivals else { return false };
    let planned = || level.summary.arrivals.as_ref().and_then(|came| came.intended.rate);
    law.rate.or_else(planned).map(PerSec::get).is_some_and(|rate| rate.is_finite() && rate > 0.0)
}

/// Whether a closed loop kept less than half of its slots busy, so that its figures are those of another batch.
fn is_half_empty(level: &LevelReport) -> bool {
    let mean = level.summary.over_time.as_ref().map(|over_time| over_time.in_flight.mean);
    match (level.load, mean, level.asked.arrivals) {
        (LoadPoint::Concurrency(slots), Some(mean), None) => mean < f64::from(slots) / 2.0,
        _ => false,
    }
}
