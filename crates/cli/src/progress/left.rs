//! How long it still takes.

use std::time::Duration;

use super::level::Running;

/// What is known of a level before it begins.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Next {
    /// How many there are in all, where who measures knows better than the notice.
    pub(super) of: Option<usize>,
    /// How long it goes on, where that alone ends it.
    pub(super) time: Option<Duration>,
    pub(super) after: After,
}

/// What comes after a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum After {
    /// Nobody knows how much.
    #[default]
    Unknown,
    /// What takes so long, about.
    Takes(Duration),
    /// What fits into this time, counted from when the level begins.
    Budget(Duration),
}

/// How long it still takes, about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// The level; what comes after it is not known.
    Level(Duration),
    /// All of the run.
    Run(Duration),
}

/// What is left `now` of `running` and what comes after; none while there is no pace to tell it by.
pub(super) fn left(running: &Running, now: Duration) -> Option<Left> {
    if let After::Budget(budget) = running.next.after {
        return Some(Left::Run(budget.saturating_sub(now.saturating_sub(running.begun))));
    }
    let measured = running.measured(now);
    let level = match (running.next.time, measured) {
        (Some(time), measured) => time.saturating_sub(measured.unwrap_or_default()),
        (None, Some(measured)) if running.done > 0 => {
            let to_go = running.requests.saturating_sub(running.done);
            // A level that has all but no end has all but no end.
            Duration::try_from_secs_f64(measured.as_secs_f64() / running.done as f64 * to_go as f64)
                .unwrap_or(Duration::MAX)
        }
        (None, _) => return None,
    };
    Some(match running.next.after {
        After::Takes(after) => Left::Run(level.saturating_add(after)),
        After::Unknown | After::Budget(_) => Left::Level(level),
    })
}

#[cfg(test)]
mod tests {
    use fizeau::harness::InFlight;

    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// A level that began at 10 s, is measured since 12 s, and has `done` of 100 requests.
    fn running(next: Next, done: u64) -> Running {
        let mut running = Running::new("level".to_owned(), None, 100, (next, s(10)));
        running.warmed_up(InFlight::default(), s(12));
        running.done = done;
        running
    }

    #[test]
    fn the_pace_tells_how_long_a_level_of_so_many_requests_takes() {
        let next = Next::default();
        assert_eq!(left(&running(next, 0), s(16)), None);
        assert_eq!(left(&running(next, 25), s(16)), Some(Left::Level(s(12))));
        assert_eq!(left(&running(next, 100), s(16)), Some(Left::Level(s(0))));
        let next = Next { after: After::Takes(s(60)), ..next };
        assert_eq!(left(&running(next, 25), s(16)), Some(Left::Run(s(72))));
    }

    #[test]
    fn a_level_by_time_is_counted_down_from_the_end_of_its_warm_up() {
        let next = Next { time: Some(s(60)), after: After::Takes(s(120)), of: None };
        let cold = Running::new("level".to_owned(), None, 100, (next, s(10)));
        assert_eq!(left(&cold, s(11)), Some(Left::Run(s(180))));
        assert_eq!(left(&running(next, 0), s(32)), Some(Left::Run(s(160))));
        assert_eq!(left(&running(next, 9), s(99)), Some(Left::Run(s(120))), "its tail runs out");
    }

    #[test]
    fn a_budget_runs_from_the_beginning_of_the_level() {
        let next = Next { time: Some(s(60)), after: After::Budget(s(300)), of: None };
        assert_eq!(left(&running(next, 9), s(110)), Some(Left::Run(s(200))));
        assert_eq!(left(&running(next, 9), s(999)), Some(Left::Run(s(0))));
    }
}
