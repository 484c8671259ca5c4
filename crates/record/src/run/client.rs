//! The client that was to measure.

use fizeau_core::{Millis, PerSec, document};
use serde::{Deserialize, Serialize};

document! {
    /// The client that was to measure.
    pub struct ClientPlan {
        /// How many threads were to measure.
        pub threads: usize,
        /// Where the verdict was to begin to doubt, as given; where nothing was, the defaults hold.
        #[serde(default)]
        pub thresholds: Vec<String>,
        /// What it can do at most, where that was measured.
        pub calibration?: ClientCalibration,
    }
}

/// What a client can do at most on its machine, with requests of the run's shape.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClientCalibration {
    /// How many threads measured.
    pub threads: usize,
    /// How many streams it was pressed with flat out.
    pub streams: u64,
    /// The tokens that came of them.
    pub tokens_per_s: PerSec,
    /// The requests that completed.
    pub requests_per_s: PerSec,
    /// How many paced streams it serves on time.
    pub on_time: OnTimeStreams,
}

impl ClientCalibration {
    /// A few lines for a person.
    #[must_use]
    pub fn words(&self) -> String {
        let on_time = &self.on_time;
        let least = if on_time.reached == CalibrationEnd::EndOfSearch { "at least " } else { "" };
        format!(
            "this client's own ceiling on this machine, {} threads:\n  \
               flat out, {} streams    {:.0} tokens/s, {:.0} requests/s\n  \
               sent on time up to      {least}{} streams of {:.0} tokens/s\n                          \
               (lateness p99 at most {} ms)\n\
             over plain HTTP/1.1: TLS and HTTP/2 cost more, which is not in these figures\n\
             a lower estimate: the embedded server shares the machine with the client",
            self.threads,
            self.streams,
            self.tokens_per_s.get(),
            self.requests_per_s.get(),
            on_time.streams,
            on_time.stream_tokens_per_s.get(),
            on_time.lateness_ms.get()
        )
    }
}

/// How many paced streams a client serves on time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OnTimeStreams {
    /// The most at which no more than one request in a hundred left too late; 0 if none did.
    pub streams: u32,
    /// The tokens of each per second.
    pub stream_tokens_per_s: PerSec,
    /// What is too late.
    pub lateness_ms: Millis,
    /// Whether more was tried.
    pub reached: CalibrationEnd,
}

/// What ended the search of a client's limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CalibrationEnd {
    /// More was too much.
    Limit,
    /// The search ended before the limit was found.
    EndOfSearch,
}
