//! What is known of a run under way.

use std::time::Duration;

use fizeau::core::Part;
use fizeau::harness::Notice;
use fizeau::metrics::{RequestMetrics, Side};
use fizeau::record::Setup;

use super::left::{After, Next};
use super::level::Running;

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
    pub(crate) fn of(command: &'static str, setup: &Setup) -> Self {
        let Setup { endpoint, .. } = setup;
        Self { command, subject: format!("{} at {}", endpoint.model, endpoint.base_url) }
    }
}

/// What is known of a run under way. Pure: it is folded from notices, and times come in, counted from where the run began.
pub(crate) struct LiveState {
    #[cfg_attr(not(feature = "tui"), expect(dead_code, reason = "see there"))]
    pub(crate) title: Title,
    /// The level under way, or what came of the last one until the next begins; none before the first.
    pub(crate) level: Option<Running>,
    next: Next,
    turns: Turns,
    #[cfg(feature = "tui")]
    pub(crate) history: crate::live::History,
}

/// The turns of an A/B run, which are all alike.
#[derive(Debug, Clone, Copy, Default)]
struct Turns {
    done: u32,
    first: Option<Duration>,
}

impl Turns {
    /// What comes after the turn that begins `now`: as many as there still are, each as long as those before.
    fn after(self, of: u32, now: Duration) -> After {
        let (Some(first), 1..) = (self.first, self.done) else { return After::Unknown };
        let to_go = of.saturating_sub(self.done + 1);
        After::Takes((now.saturating_sub(first) / self.done).saturating_mul(to_go))
    }
}

impl LiveState {
    pub(super) fn new(title: Title) -> Self {
        Self {
            title,
            level: None,
            next: Next::default(),
            turns: Turns::default(),
            #[cfg(feature = "tui")]
            history: crate::live::History::default(),
        }
    }

    /// What is known of the level that begins next.
    pub(super) fn expect(&mut self, next: Next) {
        self.next = next;
    }

    /// The only level of a run begins.
    pub(super) fn only(&mut self, requests: u64, now: Duration) {
        self.begins("bench".to_owned(), None, requests, now);
    }

    /// Takes note.
    pub(super) fn notice(&mut self, notice: Notice<'_>, now: Duration) {
        match notice {
            Notice::LevelStarted { load, index, of, requests } => {
                let of = self.next.of.unwrap_or(of).max(index + 1);
                self.begins(load.to_string(), Some((index + 1, of)), requests, now);
            }
            Notice::TurnStarted { round, of, side, requests } => {
                let side = match side {
                    Side::Baseline => "A",
                    Side::Candidate => "B",
                };
                self.next.after = self.turns.after(of.saturating_mul(2), now);
                self.turns.first.get_or_insert(now);
                let place = (round as usize, of as usize);
                self.begins(side.to_owned(), Some(place), requests.get(), now);
            }
            Notice::WarmedUp { in_flight, .. } => {
                if let Some(running) = &mut self.level {
                    running.warmed_up(in_flight.clone(), now);
                    #[cfg(feature = "tui")]
                    self.history.warmed_up(now);
                }
            }
            // Probes are no part of what is told.
            Notice::RequestEnded(tape) if tape.part == Part::Load => {
                if let Some(running) = &mut self.level {
                    let metrics = RequestMetrics::of(tape);
                    running.ended(tape, &metrics);
                    #[cfg(feature = "tui")]
                    self.history.ended(tape, &metrics, running.in_flight(), now);
                }
            }
            Notice::LevelEnded(_run) => {
                self.turns.done += 1;
                #[cfg(feature = "tui")]
                if let Some(running) = &self.level {
                    self.history.level_over(running, _run, now);
                }
            }
            _ => {}
        }
    }

    fn begins(&mut self, name: String, place: Option<(usize, usize)>, of: u64, now: Duration) {
        self.level = Some(Running::new(name, place, of, (self.next, now)));
        #[cfg(feature = "tui")]
        self.history.level_begins();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::line::lines;
    use crate::progress::stand::watch;

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
            let text = lines(state, now, 80);
            if let Some(running) = &state.level {
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
                let text = lines(state, now, width);
                assert!(text.lines().all(|line| line.chars().count() <= width), "{width}: {text}");
            }
        });
        assert!(looks > 100, "{looks}");
    }

    #[test]
    fn the_turns_of_an_ab_run_tell_how_long_the_others_take() {
        let s = Duration::from_secs;
        let turns = Turns::default();
        assert_eq!(turns.after(20, s(0)), After::Unknown);
        let turns = Turns { done: 4, first: Some(s(10)) };
        assert_eq!(turns.after(20, s(50)), After::Takes(s(150)), "15 more of 10 s, and this one");
        assert_eq!(Turns { done: 19, ..turns }.after(20, s(200)), After::Takes(s(0)));
    }
}
