//! A run under way for whoever reads no terminal: how long it takes, and a line for each level.

use std::time::Duration;

use fizeau_core::{LoadKind, Millis, PerSec};
use fizeau_metrics::Verdict;
use fizeau_record::LevelReport;
use fizeau_record::text::{duration_ms, expected_time, number};

use super::{ProgressState, RunningLevel, TimeLeft};
use crate::event::RunEvent;

impl ProgressState {
    /// What is to be told of `event`, once it is noted: how long the run takes, at the start where that is known and else as soon as some
    /// requests tell, and a line for each level that ended, but for a run of one level, whose result follows at once.
    #[must_use]
    pub fn line(&self, event: &RunEvent, now: Duration) -> Option<String> {
        let running = self.level()?;
        match (event, running.position()) {
            (RunEvent::LevelStarted(_), Some(place)) if place.number == 1 => {
                match running.left(now)? {
                    TimeLeft::Run(time) => {
                        expected_time(time).map(|time| format!("This run takes about {time}."))
                    }
                    TimeLeft::Level(_) => None,
                }
            }
            (RunEvent::RequestEnded(_), _) => self.time_to_go(running, now),
            (RunEvent::LevelEnded(report), Some(place)) => {
                Some(format!("{place} {}", ended(running, report)))
            }
            _ => None,
        }
    }

    /// Whether it takes requests that end to say how long the run takes: those of the first level, until a tenth of them are over.
    #[must_use]
    pub fn awaits_pace(&self) -> bool {
        let level = self.level().filter(|level| self.done == 0 && level.is_paced());
        level.is_some_and(|level| level.goal().is_some_and(|all| level.done() < telling(all)))
    }

    /// How much longer a run takes that ends with its requests, said once.
    fn time_to_go(&self, running: &RunningLevel, now: Duration) -> Option<String> {
        let all = running.goal().filter(|_| self.done == 0 && running.is_paced())?;
        if running.done() != telling(all) {
            return None;
        }
        let time = match (running.left(now)?, running.position()) {
            (TimeLeft::Run(time), _) | (TimeLeft::Level(time), None) => time,
            (TimeLeft::Level(_), Some(_)) => return None,
        };
        expected_time(time).map(|time| format!("This run takes about {time} more."))
    }
}

/// How many requests of `all` tell the pace of the others.
fn telling(all: u64) -> u64 {
    (all / 10).max(10)
}

/// `concurrency 4: 2.87 requests/s, 716 output tokens/s, TTFT p50 19.5 ms`, and what is wrong with it.
fn ended(running: &RunningLevel, report: &LevelReport) -> String {
    let (all, requests) = (&report.summary.throughput, &report.summary.requests);
    let rate = |rate: PerSec| number(rate.get());
    let name = match report.load.kind() {
        LoadKind::Rate => match report.differing_sent_rate() {
            Some(sent) => format!("asked {}, sent {}: completed", running.name(), rate(sent)),
            None => format!("sent at {}: completed", running.name()),
        },
        LoadKind::Concurrency => format!("{}:", running.name()),
    };
    let mut words = format!(
        "{name} {} requests/s, {} output tokens/s",
        rate(all.requests_per_s),
        rate(all.output_tokens_per_s)
    );
    let ttft = report.summary.metrics.ttft.p50.value().map(Millis::get);
    words.extend(ttft.map(|ttft| format!(", TTFT p50 {}", duration_ms(ttft))));
    let failed = requests.failed - requests.cancelled();
    if failed > 0 {
        words.push_str(&format!(", {failed} failed"));
    }
    let verdict = report.validity.verdict;
    if verdict != Verdict::Valid {
        words.push_str(&format!(", {}", verdict.as_str()));
    }
    words
}

#[cfg(test)]
mod tests {
    use fizeau_core::{Nanos, Tokens};
    use fizeau_metrics::RequestMetrics;

    use super::*;
    use crate::event::{AfterLevel, LevelPosition, LevelStarted, RequestEnded};

    /// What is told of a run whose first level has 200 requests, one a second, and of what is `after` it.
    fn told(position: Option<LevelPosition>, after: AfterLevel) -> Vec<(u64, String)> {
        let (mut state, mut told) = (ProgressState::default(), Vec::new());
        let mut note = |event: RunEvent, at: u64| {
            let at = Duration::from_secs(at);
            state.note(&event, at);
            told.extend(state.line(&event, at).map(|line| (at.as_secs(), line)));
            state.awaits_pace()
        };
        let level = LevelStarted { position, after, ..LevelStarted::new("x".to_owned(), 200) };
        assert!(note(RunEvent::LevelStarted(level), 0));
        note(RunEvent::WarmedUp { requests: 0, in_flight: Default::default() }, 0);
        for at in 1..=200 {
            let ended = RequestEnded {
                failure: None,
                output: Tokens::new(1),
                metrics: RequestMetrics::default(),
            };
            assert_eq!(note(RunEvent::RequestEnded(Box::new(ended)), at), at < 20);
        }
        told
    }

    #[test]
    fn a_tenth_of_the_requests_tells_how_long_all_take() {
        let line = |text: &str| vec![(20, text.to_owned())];
        assert_eq!(told(None, AfterLevel::Unknown), line("This run takes about 3 min more."));
        let first = Some(LevelPosition { number: 1, of: Some(4) });
        assert_eq!(told(first, AfterLevel::Unknown), []);
        let alike = told(first, AfterLevel::Alike(3));
        assert_eq!(alike, line("This run takes about 13 min more."));
        let takes = AfterLevel::Takes(Nanos::from_secs(30));
        assert_eq!(told(first, takes), line("This run takes about 3 min 30 s more."));
    }

    #[test]
    fn how_many_levels_there_are_is_said_where_it_is_known() {
        assert_eq!(LevelPosition { number: 3, of: Some(8) }.to_string(), "[3/8]");
        assert_eq!(LevelPosition { number: 3, of: None }.to_string(), "[3]");
    }
}
