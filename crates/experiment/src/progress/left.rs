//! How long it still takes.

use std::time::Duration;

use super::level::RunningLevel;
use crate::event::AfterLevel;

/// How long it still takes, about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeLeft {
    /// The level; what comes after it is not known.
    Level(Duration),
    /// All of the run.
    Run(Duration),
}

/// What is left `now` of `running` and what comes after; none while there is no pace to tell it by.
pub(super) fn left(running: &RunningLevel, now: Duration) -> Option<TimeLeft> {
    let started = &running.started;
    if let AfterLevel::Budget(budget) = started.after {
        let since = now.saturating_sub(running.begun);
        return Some(TimeLeft::Run(Duration::from(budget).saturating_sub(since)));
    }
    let measured = running.measured(now);
    let level = match (started.time, measured) {
        (Some(time), measured) => Duration::from(time).saturating_sub(measured.unwrap_or_default()),
        (None, _) => running.to_go(now, running.in_flight())?,
    };
    Some(match started.after {
        AfterLevel::Takes(after) => TimeLeft::Run(level.saturating_add(after.into())),
        AfterLevel::Alike(to_go) => {
            let each = measured.unwrap_or_default().saturating_add(level);
            TimeLeft::Run(level.saturating_add(each.saturating_mul(to_go)))
        }
        AfterLevel::Unknown | AfterLevel::Budget(_) => TimeLeft::Level(level),
    })
}

#[cfg(test)]
mod tests {
    use fizeau_core::{Nanos, Tokens};
    use fizeau_harness::InFlight;
    use fizeau_metrics::RequestMetrics;

    use super::*;
    use crate::event::{LevelStarted, RequestEnded};

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn level(time: Option<u64>, after: AfterLevel) -> LevelStarted {
        let started = LevelStarted::new("level".to_owned(), 100);
        LevelStarted { time: time.map(Nanos::from_secs), after, ..started }
    }

    /// A level that began at 10 s, is measured since 12 s, and has `done` of 100 requests.
    fn running(started: LevelStarted, done: u64) -> RunningLevel {
        let mut running = RunningLevel::new(started, s(10));
        running.warmed_up(InFlight::default(), s(12));
        let request = RequestEnded {
            failure: None,
            output: Tokens::new(1),
            metrics: RequestMetrics::default(),
        };
        (0..done).for_each(|_| running.ended(&request, s(15)));
        running
    }

    #[test]
    fn the_pace_tells_how_long_a_level_of_so_many_requests_takes() {
        let plain = || level(None, AfterLevel::Unknown);
        assert_eq!(left(&running(plain(), 0), s(16)), None);
        assert_eq!(left(&running(plain(), 25), s(16)), Some(TimeLeft::Level(s(12))));
        assert_eq!(left(&running(plain(), 100), s(16)), Some(TimeLeft::Level(s(0))));
        let more = level(None, AfterLevel::Takes(Nanos::from_secs(60)));
        assert_eq!(left(&running(more, 25), s(16)), Some(TimeLeft::Run(s(72))));
        let alike = level(None, AfterLevel::Alike(3));
        assert_eq!(left(&running(alike, 25), s(16)), Some(TimeLeft::Run(s(12 + 3 * 16))));
    }

    #[test]
    fn requests_that_all_left_at_once_are_nearly_over_as_the_first_ends() {
        let all = running(level(None, AfterLevel::Unknown), 11);
        // Ten more in the second since the first end, of 89 that are to come.
        assert_eq!(all.to_go(s(16), 89), Some(Duration::from_secs_f64(8.9)));
        // With 64 more to be sent, the 25 in flight are half done: 11 and a half of those took four seconds.
        let took = all.to_go(s(16), 25).unwrap().as_secs_f64();
        assert!((took - 4.0 / 23.5 * 76.5).abs() < 1e-9, "{took}");
    }

    #[test]
    fn requests_of_several_clients_which_are_told_once_all_is_over_have_no_pace() {
        let shared = LevelStarted { clients: 2, ..level(None, AfterLevel::Alike(3)) };
        assert_eq!(left(&running(shared, 25), s(16)), None);
    }

    #[test]
    fn a_level_by_time_is_counted_down_from_the_end_of_its_warm_up() {
        let timed = || level(Some(60), AfterLevel::Takes(Nanos::from_secs(120)));
        let cold = RunningLevel::new(timed(), s(10));
        assert_eq!(left(&cold, s(11)), Some(TimeLeft::Run(s(180))));
        assert_eq!(left(&running(timed(), 0), s(32)), Some(TimeLeft::Run(s(160))));
        let tail = left(&running(timed(), 9), s(99));
        assert_eq!(tail, Some(TimeLeft::Run(s(120))), "its tail runs out");
    }

    #[test]
    fn a_budget_runs_from_the_beginning_of_the_level() {
        let bounded = || level(Some(60), AfterLevel::Budget(Nanos::from_secs(300)));
        assert_eq!(left(&running(bounded(), 9), s(110)), Some(TimeLeft::Run(s(200))));
        assert_eq!(left(&running(bounded(), 9), s(999)), Some(TimeLeft::Run(s(0))));
    }
}
