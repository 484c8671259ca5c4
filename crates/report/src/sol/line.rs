//! An answer as one line of JSON.

use fizeau_roofline::Figures;
use serde::{Serialize, Serializer};

use super::Answer;

/// An answer as `fizeau sol --points` prints it, one line of JSON.
#[derive(Debug, Clone, Copy)]
pub struct SolLine<'a> {
    /// The answer.
    pub answer: &'a Answer,
    /// What was wrong with the query beside what the answer warns of.
    pub notes: &'a [String],
}

/// Why there is no answer, as the line that stands in its place.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct SolError<'a> {
    /// One sentence.
    pub error: &'a str,
}

impl SolLine<'_> {
    /// Puts the line behind `out`, without a newline at its end.
    ///
    /// # Errors
    /// Never, as long as memory lasts; the writer's own error otherwise.
    pub fn append_to(&self, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        serde_json::to_writer(out, &Line::of(self))
    }
}

impl SolError<'_> {
    /// Puts the line behind `out`, without a newline at its end.
    ///
    /// # Errors
    /// Never, as long as memory lasts; the writer's own error otherwise.
    pub fn append_to(&self, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        serde_json::to_writer(out, self)
    }
}

#[derive(Serialize)]
struct Line<'a> {
    params: Counts,
    weight_bytes: Number,
    kv_bytes_per_token: Number,
    max_batch: Number,
    running_batch: Number,
    bound: Block,
    expected: Block,
    limited_by: Limits,
    warnings: Warnings<'a>,
}

#[derive(Serialize)]
struct Counts {
    total: u64,
    active: u64,
    streamed: u64,
}

#[derive(Serialize)]
struct Limits {
    prefill: &'static str,
    decode: &'static str,
}

/// The figures of one way of reckoning.
#[derive(Serialize)]
struct Block {
    ttft_ms: Number,
    tpot_ms: Number,
    output_tokens_per_s: Number,
    requests_per_s: Number,
}

impl<'a> Line<'a> {
    fn of(SolLine { answer, notes }: &SolLine<'a>) -> Self {
        let parameters = &answer.parameters;
        Self {
            params: Counts {
                total: parameters.total,
                active: parameters.active,
                streamed: parameters.streamed,
            },
            weight_bytes: Number(answer.weight_bytes.get().round()),
            kv_bytes_per_token: Number(answer.kv_bytes_per_token.get()),
            max_batch: Number(answer.max_batch),
            running_batch: Number(answer.running_batch),
            bound: Block::of(&answer.bound),
            expected: Block::of(&answer.expected),
            limited_by: Limits { prefill: answer.prefill, decode: answer.decode },
            warnings: Warnings(&answer.warnings, notes),
        }
    }
}

impl Block {
    fn of(figures: &Figures) -> Self {
        Self {
            ttft_ms: Number(figures.ttft.get() * 1e3),
            tpot_ms: Number(figures.tpot.get() * 1e3),
            output_tokens_per_s: Number(figures.output_tokens_per_s.get()),
            requests_per_s: Number(figures.requests_per_s.get()),
        }
    }
}

/// A number without a fraction where it has none, and null where it is none.
struct Number(f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            value if value.fract() == 0.0 && value.abs() < 1e15 => {
                serializer.serialize_i64(value as i64)
            }
            value => serializer.serialize_f64(value),
        }
    }
}

struct Warnings<'a>(&'a [String], &'a [String]);

impl Serialize for Warnings<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().chain(self.1))
    }
}
