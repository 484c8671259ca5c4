//! A run under way in two lines of text.

use std::time::Duration;

use fizeau::core::{Millis, Nanos};
use fizeau::experiment::{LevelPlace, ProgressState, RunningLevel, TimeLeft};

use crate::terminal::screen;

/// Where the terminal does not say how wide it is.
const USUAL_WIDTH: usize = 80;

/// How wide the terminal is.
pub(super) fn width() -> usize {
    screen::of_stderr().unwrap_or(USUAL_WIDTH)
}

/// What is told `now`, no line of it longer than `width`: what runs and how long, and below it what came of it so far. Where
/// there is no room for all, the least important goes first.
pub(crate) fn lines(state: &ProgressState, now: Duration, width: usize) -> String {
    let Some(running) = state.level() else {
        return cut(&format!("preparing  {}", clock(now)), width);
    };
    let head = fit(&head(running, now), width);
    match running.measured(now) {
        None => head,
        Some(_) => format!("{head}\n{}", fit(&figures(running, now), width)),
    }
}

/// A part of a line. The greater the number, the sooner it goes.
type Part = (u8, String);

fn head(running: &RunningLevel, now: Duration) -> Vec<Part> {
    let place = running.place();
    let place =
        place.map_or_else(String::new, |LevelPlace { number, of }| format!("[{number}/{of}] "));
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
    let percentile = |percent| running.ttft(percent).map(Nanos::to_millis).map(short);
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

/// A time as a clock shows it: `0:42`, `1:02:03`.
pub(crate) fn clock(time: Duration) -> String {
    let (hours, minutes, seconds) =
        (time.as_secs() / 3600, time.as_secs() / 60 % 60, time.as_secs() % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        hours => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// A latency in three digits: `0.95 ms`, `12.3 ms`, `1.23 s`.
pub(crate) fn short(latency: Millis) -> String {
    let ms = latency.get();
    let (figure, unit) = if ms < 999.5 { (ms, "ms") } else { (ms / 1e3, "s") };
    let decimals = match figure {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{figure:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_a_clock() {
        let at = |seconds| clock(Duration::from_secs(seconds));
        assert_eq!([at(0), at(42), at(3599), at(3723)], ["0:00", "0:42", "59:59", "1:02:03"]);
    }

    #[test]
    fn latencies_have_three_digits() {
        let of = |micros| short(Nanos::from_micros(micros).to_millis());
        assert_eq!(
            [of(950), of(9_994), of(9_996), of(12_340), of(99_960), of(999_400), of(999_600)],
            ["0.95 ms", "9.99 ms", "10.0 ms", "12.3 ms", "100 ms", "999 ms", "1.00 s"]
        );
    }

    #[test]
    fn the_least_important_goes_first() {
        let parts = [(0, "load".to_owned()), (2, "0:42".to_owned()), (1, "left".to_owned())];
        assert_eq!(fit(&parts, 16), "load  0:42  left");
        assert_eq!(fit(&parts, 15), "load  left");
        assert_eq!(fit(&parts, 9), "load");
        assert_eq!(fit(&parts, 3), "loa");
    }
}
