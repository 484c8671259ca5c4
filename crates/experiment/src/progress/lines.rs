//! A run under way in two lines of text.

use std::time::Duration;

use fizeau_record::text::{clock, duration_ms};

use super::{ProgressState, RunningLevel, TimeLeft};

impl ProgressState {
    /// What is to be told `now`, no line of it longer than `width`: what runs and how long, and below it what came of it so far.
    /// Where there is no room for all, the least important goes first.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use fizeau_experiment::{RunEvent, LevelStarted, ProgressState};
    ///
    /// let mut state = ProgressState::default();
    /// assert_eq!(state.lines(Duration::from_secs(3), 80), "preparing  0:03");
    /// let level = LevelStarted::new("concurrency 8".to_owned(), 100);
    /// state.note(&RunEvent::LevelStarted(level), Duration::from_secs(4));
    /// assert_eq!(state.lines(Duration::from_secs(46), 80), "concurrency 8: warming up  0:42");
    /// assert_eq!(state.lines(Duration::from_secs(46), 30), "concurrency 8: warming up");
    /// ```
    #[must_use]
    pub fn lines(&self, now: Duration, width: usize) -> String {
        let Some(running) = self.level() else {
            return cut(&format!("preparing  {}", clock(now)), width);
        };
        let head = fit(&head(running, now), width);
        match running.measured(now) {
            None => head,
            Some(_) => format!("{head}\n{}", fit(&figures(running, now), width)),
        }
    }
}

/// A part of a line. The greater the number, the sooner it goes.
type Part = (u8, String);

fn head(running: &RunningLevel, now: Duration) -> Vec<Part> {
    let place = running.position();
    let place = place.map_or_else(String::new, |place| format!("{place} "));
    let warming = if running.measured(now).is_none() { ": warming up" } else { "" };
    let mut parts =
        vec![(0, format!("{place}{}{warming}", running.name())), (2, clock(running.elapsed(now)))];
    parts.extend(running.left(now).map(|left| (1, words(left))));
    parts
}

/// How long it still takes, in words.
fn words(left: TimeLeft) -> String {
    // Of what is left a second that has begun counts.
    let whole = |time: Duration| clock(time.saturating_add(Duration::from_nanos(999_999_999)));
    match left {
        TimeLeft::Run(time) => format!("about {} left", whole(time)),
        TimeLeft::Level(time) => format!("about {} of the level left", whole(time)),
    }
}

fn figures(running: &RunningLevel, now: Duration) -> Vec<Part> {
    let mut parts = vec![
        (
            0,
            match running.goal() {
                Some(goal) => format!("{}/{goal} done", running.done()),
                None => format!("{} done", running.done()),
            },
        ),
        (3, format!("{} in flight", running.in_flight())),
        (if running.failed() > 0 { 1 } else { 6 }, format!("{} failed", running.failed())),
    ];
    parts.extend(running.output_tps(now).map(|rate| (4, format!("{:.0} tok/s", rate.get()))));
    let percentile = |percent| running.ttft(percent).map(|ttft| duration_ms(ttft.as_millis_f64()));
    parts.extend(percentile(50.0).map(|p50| (2, format!("TTFT p50 {p50}"))));
    // As everywhere: too few for a 99th percentile have a greatest value.
    let (tail, percent) = if running.ttfts() < 100 { ("max", 100.0) } else { ("p99", 99.0) };
    parts.extend(percentile(percent).map(|value| (5, format!("{tail} {value}"))));
    parts
}

/// `parts` in a line with two spaces between them, without the least important where all are longer than `width`.
fn fit(parts: &[Part], width: usize) -> String {
    let mut kept: Vec<&Part> = parts.iter().collect();
    loop {
        let words: Vec<&str> = kept.iter().map(|(_, word)| &**word).collect();
        let line = words.join("  ");
        let last = kept.iter().map(|(rank, _)| *rank).max().filter(|_| kept.len() > 1);
        let Some(rank) = last.filter(|_| line.chars().count() > width) else {
            return cut(&line, width);
        };
        kept.retain(|part| part.0 != rank);
    }
}

/// The first `width` characters.
fn cut(line: &str, width: usize) -> String {
    line.chars().take(width).collect()
}

#[cfg(test)]
#[cfg(all(feature = "simulate", feature = "tui"))]
mod tests {
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
