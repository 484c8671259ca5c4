//! What a reader calls the things that files call by short names.

use std::time::Duration;

use fizeau_core::{StampSource, TokenSource};
use fizeau_metrics::{Goal, Slo};

/// What characters there are to draw with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Charset {
    /// ASCII alone: for pipes, files, and terminals whose locale is not UTF-8.
    #[default]
    Ascii,
    /// Lines, and dots of Braille patterns.
    Unicode,
}

impl Charset {
    /// `text` in these characters: in ASCII the sign of plus and minus is two.
    #[must_use]
    pub fn words(self, text: &str) -> String {
        match self {
            Self::Ascii => text.replace('±', "+-"),
            Self::Unicode => text.to_owned(),
        }
    }
}

/// A time as a clock shows it.
///
/// ```
/// use std::time::Duration;
/// let shown = [0, 42, 3599, 3723].map(|s| fizeau_record::text::clock(Duration::from_secs(s)));
/// assert_eq!(shown, ["0:00", "0:42", "59:59", "1:02:03"]);
/// ```
#[must_use]
pub fn clock(time: Duration) -> String {
    let (hours, minutes, seconds) =
        (time.as_secs() / 3600, time.as_secs() / 60 % 60, time.as_secs() % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        hours => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// What takes less long is over before it is read how long it takes.
const WORTH_TELLING: Duration = Duration::from_secs(10);

/// How long something takes that is about to begin, in words; none where it is over before that is read.
#[must_use]
pub fn expected_time(time: Duration) -> Option<String> {
    (time >= WORTH_TELLING).then(|| minutes_and_seconds(time))
}

/// A time in words: `42 s`, `3 min 5 s`.
#[must_use]
pub fn minutes_and_seconds(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    match (seconds / 60, seconds % 60) {
        (0, seconds) => format!("{seconds} s"),
        (minutes, 0) => format!("{minutes} min"),
        (minutes, seconds) => format!("{minutes} min {seconds} s"),
    }
}

/// How many devices: `one device`, `8 devices`.
#[must_use]
pub fn counted_devices(devices: u64) -> String {
    match devices {
        1 => "one device".to_owned(),
        many => format!("{many} devices"),
    }
}

/// The goals as they were given.
#[must_use]
pub fn slo_words(slo: &Slo) -> String {
    let goals: Vec<String> = slo.goals.iter().map(Goal::describe).collect();
    goals.join(", ")
}

/// Who stamped arrivals.
#[must_use]
pub const fn stamps(source: StampSource) -> &'static str {
    match source {
        StampSource::Kernel => "kernel",
        StampSource::Simulated => "simulated engine, virtual time",
        StampSource::User => "user (this process, after reading)",
    }
}

/// Where counts of tokens come from, and whether they are exact.
#[must_use]
pub const fn token_source(source: TokenSource) -> &'static str {
    match source {
        TokenSource::Tokenless => "none are generated (exact)",
        TokenSource::TokenIds => "token ids (exact)",
        TokenSource::ContinuousUsage => "continuous usage (exact)",
        TokenSource::Logprobs => "log-probabilities (exact)",
        TokenSource::FinalUsageSpread => "final usage, spread over chunks (estimate)",
        TokenSource::Tokenizer => "our tokenizer (estimate)",
        TokenSource::Events => "chunks (not tokens)",
    }
}

/// Names joined as in a sentence: `1, 2 and 4`.
pub fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Each reason once, behind the loads that it is given for: `concurrency 8 and concurrency 16: no request completed`.
pub(crate) fn by_reason(given: impl IntoIterator<Item = (String, String)>) -> Vec<String> {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for (reason, load) in given {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, loads)) => loads.push(load),
            None => reasons.push((reason, vec![load])),
        }
    }
    let words = |(reason, loads): (String, Vec<String>)| format!("{}: {reason}", listed(&loads));
    reasons.into_iter().map(words).collect()
}
