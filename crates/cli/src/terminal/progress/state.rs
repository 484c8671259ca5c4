//! What is shown of a run under way.

use std::time::Duration;

#[cfg(feature = "tui")]
use fizeau::experiment::RunHistory;
use fizeau::experiment::{ProgressState, RunEvent};
use fizeau::record::RunSetup;

use super::View;

/// What is run, and on what.
#[derive(Debug, Clone)]
#[cfg_attr(not(feature = "tui"), expect(dead_code, reason = "only a full screen has room for it"))]
pub(crate) struct Title {
    /// The command.
    pub(crate) command: &'static str,
    /// What it measures, in whatever words its owner chose.
    pub(crate) subject: String,
}

impl Title {
    /// `command` on the endpoint of `setup`.
    pub(crate) fn of(command: &'static str, setup: &RunSetup) -> Self {
        let RunSetup { endpoint, .. } = setup;
        Self { command, subject: format!("{} at {}", endpoint.model, endpoint.base_url) }
    }
}

/// What is shown of a run under way. Pure: it is folded from events, and times come in, counted from where the run began.
pub(crate) struct LiveState {
    #[cfg_attr(not(feature = "tui"), expect(dead_code, reason = "see there"))]
    pub(crate) title: Title,
    pub(crate) progress: ProgressState,
    /// What a full screen draws curves and tables of; none where there is none.
    #[cfg(feature = "tui")]
    pub(crate) history: Option<RunHistory>,
    /// What was to be said meanwhile.
    #[cfg(feature = "tui")]
    pub(crate) notes: Vec<String>,
    /// Whether somebody ended the run.
    #[cfg(feature = "tui")]
    pub(crate) is_interrupted: bool,
}

impl LiveState {
    pub(super) fn new(title: Title, view: View) -> Self {
        #[cfg(not(feature = "tui"))]
        let (View::Lines | View::Simulated) = view;
        Self {
            title,
            progress: ProgressState::default(),
            #[cfg(feature = "tui")]
            history: (view == View::Screen).then(RunHistory::default),
            #[cfg(feature = "tui")]
            notes: Vec::new(),
            #[cfg(feature = "tui")]
            is_interrupted: false,
        }
    }

    /// Takes note.
    pub(super) fn note(&mut self, event: &RunEvent, now: Duration) {
        self.progress.note(event, now);
        #[cfg(feature = "tui")]
        if let (Some(history), Some(level)) = (&mut self.history, self.progress.level()) {
            history.note(event, level, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::terminal::progress::stand::watch;

    const GOLDEN: &str = "\
[1/2] concurrency 2: warming up  0:00  about 1:20 left
--
[1/2] concurrency 2  0:20  about 1:00 left
73 done  2 in flight  0 failed  359 tok/s  TTFT p50 10.3 ms  max 10.3 ms
--
[1/2] concurrency 2  0:39  about 0:41 left
141 done  2 in flight  0 failed  361 tok/s  TTFT p50 10.3 ms  p99 10.3 ms
--
[2/2] concurrency 16: warming up  0:00  about 0:40 left
--
[2/2] concurrency 16  0:20  about 0:20 left
497 done  16 in flight  0 failed  2416 tok/s  TTFT p50 81.2 ms  p99 81.2 ms
--
[2/2] concurrency 16  0:39  about 0:01 left
961 done  16 in flight  0 failed  2450 tok/s  TTFT p50 81.2 ms  p99 81.2 ms";

    #[test]
    fn a_sweep_is_told_from_its_first_warm_up_to_its_end() {
        let mut told: Vec<String> = Vec::new();
        let mut most_in_flight = 0;
        watch(&[2, 16], |state, now| {
            let text = state.progress.lines(now, 80);
            if let Some(running) = state.progress.level() {
                most_in_flight = most_in_flight.max(running.in_flight());
                assert!(running.in_flight() <= 16);
            }
            // In each level: in its warm-up, in its midst, near its end.
            let is_due = match told.len() {
                0 | 3 => text.contains("warming up"),
                1 | 4 => text.contains(" 0:20 "),
                2 | 5 => text.contains(" 0:39 "),
                _ => false,
            };
            if is_due {
                told.push(text);
            }
        });
        assert_eq!(most_in_flight, 16);
        assert_eq!(told.join("\n--\n"), GOLDEN);
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let mut looks = 0;
        watch(&[3], |state, now| {
            looks += 1;
            for width in
                [0, 1, 7, 20, 33, 47, 60, 79, 80, 120].into_iter().filter(|_| looks % 50 == 1)
            {
                let text = state.progress.lines(now, width);
                assert!(text.lines().all(|line| line.chars().count() <= width), "{width}: {text}");
            }
        });
        assert!(looks > 100, "{looks}");
    }
}
