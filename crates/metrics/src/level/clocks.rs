//! What clocks that do not quite agree do to rates.

use fizeau_core::{Interval, Nanos, PerSec, Seconds};

use super::{LevelSummary, RateIntervals, Throughput, WindowThroughput};
use crate::SampleSupport;

impl LevelSummary {
    /// The same of a level whose clients had clocks that may be off by `off` from one another: a window may then be so much
    /// longer or shorter than it reads, and the intervals of rates are wider by that. Latencies stay, each is of one clock, and so
    /// do the rates themselves.
    ///
    /// An interval of a window that may have no length at all is absent.
    #[must_use]
    pub fn over_uncertain_clocks(mut self, off: Nanos) -> Self {
        let Throughput { duration, intervals, .. } = &mut self.throughput;
        let RateIntervals {
            requests_per_s,
            output_tokens_per_s,
            total_tokens_per_s,
            goodput_per_s,
            good_share: _,
        } = intervals;
        for rate in [requests_per_s, output_tokens_per_s, total_tokens_per_s, goodput_per_s] {
            widen(rate, *duration, off);
        }
        let window = self.windowed.part.as_mut().ok().and_then(|part| part.throughput.as_mut());
        if let Some(WindowThroughput {
            duration, requests_interval, output_tokens_interval, ..
        }) = window
        {
            widen(requests_interval, *duration, off);
            widen(output_tokens_interval, *duration, off);
        }
        self
    }
}

/// A rate is a count over `duration`, which may be `off` longer or shorter.
fn widen(rate: &mut Option<SampleSupport<Interval<PerSec>>>, duration: Seconds, off: Nanos) {
    let share = off.as_secs_f64() / duration.get();
    let wider = |ends: Interval<PerSec>| Interval {
        low: PerSec::new(ends.low.get() / (1.0 + share)),
        high: PerSec::new(ends.high.get() / (1.0 - share)),
        ..ends
    };
    *rate = rate.take().filter(|_| share < 1.0).map(|rate| rate.map(wider));
}

#[cfg(test)]
mod tests {
    use fizeau_core::{Arrival, Channel, Stamp, Tape};

    use super::*;
    use crate::GoodputGoals;

    /// 200 requests, one each 10 ms, of one token after 5 ms.
    fn level() -> LevelSummary {
        let tapes: Vec<Tape> = (0..200)
            .map(|index| {
                let sent = Stamp::EPOCH + Nanos::from_millis(10 * index);
                let mut tape = Tape::sent_at(sent);
                let first = sent + Nanos::from_millis(5);
                tape.arrivals.push(Arrival::tokens(first, 1, Channel::Visible));
                tape
            })
            .collect();
        LevelSummary::of(&tapes, &GoodputGoals::NONE)
    }

    fn ends(level: &LevelSummary) -> Option<(f64, f64)> {
        let interval = level.throughput.intervals.requests_per_s?;
        interval.known().map(|ends| (ends.low.get(), ends.high.get()))
    }

    #[test]
    fn an_interval_of_a_rate_is_wider_by_what_clocks_may_be_off() {
        let (low, high) = ends(&level()).expect("200 requests have an interval");
        let seconds = level().throughput.duration.get();
        let wider = level().over_uncertain_clocks(Nanos::from_millis(100));
        let (wider_low, wider_high) = ends(&wider).expect("it is still there");
        assert!((wider_low * (seconds + 0.1) - low * seconds).abs() < 1e-9, "{wider_low} {low}");
        assert!(
            (wider_high * (seconds - 0.1) - high * seconds).abs() < 1e-9,
            "{wider_high} {high}"
        );
        assert_eq!(wider.throughput.requests_per_s, level().throughput.requests_per_s);
        assert_eq!(wider.metrics, level().metrics);
    }

    #[test]
    fn clocks_that_agree_change_nothing_and_a_window_that_may_be_none_has_no_interval() {
        assert_eq!(level().over_uncertain_clocks(Nanos::ZERO), level());
        assert_eq!(ends(&level().over_uncertain_clocks(Nanos::from_secs(60))), None);
    }
}
