//! A run under way for whoever reads no terminal: how long it takes, and a line for each level.

use std::time::Duration;

use fizeau_core::{LoadKind, Millis, PerSec};
use fizeau_metrics::Verdict;
use fizeau_record::LevelReport;
use fizeau_record::text::{duration_ms, minutes_and_seconds, number};

use super::{ProgressState, RunningLevel, TimeLeft};
use crate::event::RunEvent;

impl ProgressState {
    /// What is to be told of `event`, once it is noted: at the start how long the run takes, where that is known, and a line for each
    /// level that ended. None of a run of one level, whose result follows at once.
    #[must_use]
    pub fn line(&self, event: &RunEvent, now: Duration) -> Option<String> {
        let running = self.level()?;
        let place = running.position()?;
        match event {
            RunEvent::LevelStarted(_) if place.number == 1 => match running.left(now)? {
                TimeLeft::Run(time) => {
                    Some(format!("This run takes about {}.", minutes_and_seconds(time)))
                }
                TimeLeft::Level(_) => None,
            },
            RunEvent::LevelEnded(report) => Some(format!("{place} {}", ended(running, report))),
            _ => None,
        }
    }
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
    use crate::event::LevelPosition;

    #[test]
    fn how_many_levels_there_are_is_said_where_it_is_known() {
        assert_eq!(LevelPosition { number: 3, of: Some(8) }.to_string(), "[3/8]");
        assert_eq!(LevelPosition { number: 3, of: None }.to_string(), "[3]");
    }
}
