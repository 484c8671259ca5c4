//! What is known of a run under way.

mod history;
mod left;
mod level;
mod lines;
mod plain;
#[cfg(feature = "tui")]
mod screen;
mod shared;
#[cfg(test)]
#[cfg(all(feature = "simulate", feature = "tui"))]
mod stand;

use std::time::Duration;

pub use history::{BatchFigures, FinishedLevel, HistoryPoint, RunHistory};
pub use left::TimeLeft;
pub use level::RunningLevel;
#[cfg(feature = "tui")]
pub use screen::LiveScreen;
pub use shared::SharedProgress;

use crate::event::{AfterLevel, LevelStarted, RunEvent};

/// What is known of a run under way. Pure: it is folded from events, and times come in, counted from where the run began.
///
/// ```
/// use std::time::Duration;
///
/// use fizeau_experiment::{RunEvent, LevelStarted, ProgressState};
///
/// let mut state = ProgressState::default();
/// let level = LevelStarted::new("concurrency 8".to_owned(), 100);
/// state.note(&RunEvent::LevelStarted(level), Duration::ZERO);
/// let level = state.level().expect("it has begun");
/// assert_eq!((level.name(), level.done()), ("concurrency 8", 0));
/// ```
#[derive(Debug, Default)]
pub struct ProgressState {
    level: Option<RunningLevel>,
    /// How many levels are over, and since when the first goes on.
    done: u32,
    first: Option<Duration>,
}

impl ProgressState {
    /// The level under way, or what came of the last one until the next begins; none before the first.
    #[must_use]
    pub const fn level(&self) -> Option<&RunningLevel> {
        self.level.as_ref()
    }

    /// Takes note of what happened `now`.
    pub fn note(&mut self, event: &RunEvent, now: Duration) {
        match event {
            RunEvent::LevelStarted(level) => self.begins(level.clone(), now),
            RunEvent::WarmedUp { in_flight, .. } => {
                self.level.iter_mut().for_each(|level| level.warmed_up(in_flight.clone(), now));
            }
            RunEvent::RequestEnded(request) => {
                self.level.iter_mut().for_each(|level| level.ended(request, now));
            }
            RunEvent::LevelEnded(_) => self.done += 1,
            _ => {}
        }
    }

    fn begins(&mut self, mut level: LevelStarted, now: Duration) {
        if let AfterLevel::Alike(to_go) = level.after {
            level.after = self.pace(to_go, now);
        }
        self.first.get_or_insert(now);
        self.level = Some(RunningLevel::new(level, now));
    }

    /// How long so many levels take that are like those before, where there were any.
    fn pace(&self, to_go: u32, now: Duration) -> AfterLevel {
        match (self.first, self.done) {
            (Some(first), 1..) => {
                let each = now.saturating_sub(first) / self.done;
                AfterLevel::Takes(each.saturating_mul(to_go).into())
            }
            _ => AfterLevel::Alike(to_go),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_that_are_alike_tell_how_long_the_others_take() {
        let s = Duration::from_secs;
        let state = ProgressState::default();
        assert_eq!(state.pace(15, s(0)), AfterLevel::Alike(15));
        let state = ProgressState { done: 4, first: Some(s(10)), level: None };
        let takes = |seconds| AfterLevel::Takes(s(seconds).into());
        assert_eq!(state.pace(15, s(50)), takes(150), "15 more of 10 s, and this one");
        assert_eq!(state.pace(0, s(200)), takes(0));
    }
}
