//! An answer as one line of JSON.

use fizeau_core::document;
use fizeau_roofline::{LoadAnalysis, Parameters};
use serde::{Serialize, Serializer};

use fizeau_record::{CalibratedBlock, CalibratedPrediction, JsonError, JsonNumber as Number};

use super::figures::{Block, Limiting};

/// An answer as `fizeau sol --points` prints it, one line of JSON.
#[derive(Debug, Clone, Copy)]
pub struct SolLine<'a> {
    /// The answer.
    pub answer: &'a LoadAnalysis,
    /// What a calibration predicts, if there is one.
    pub calibrated: Option<CalibratedPrediction<'a>>,
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
    /// Never, as long as memory lasts.
    pub fn append_to(&self, out: &mut Vec<u8>) -> Result<(), JsonError> {
        let line = AnswerFields::of(self.answer, self.notes).with(self.calibrated.as_ref());
        serde_json::to_writer(out, &line).map_err(JsonError::new)
    }
}

impl SolError<'_> {
    /// Puts the line behind `out`, without a newline at its end.
    ///
    /// # Errors
    /// Never, as long as memory lasts.
    pub fn append_to(&self, out: &mut Vec<u8>) -> Result<(), JsonError> {
        serde_json::to_writer(out, self).map_err(JsonError::new)
    }
}

document! {
    /// The fields that an answer has wherever it is printed.
    pub(super) view AnswerFields<'a>, pub(super) fn of(answer: &'a LoadAnalysis, notes: &'a [String]) {} {
        params: Counts = (&answer.parameters).into(),
        weight_bytes: Number = Number(answer.weight_bytes.get().round()),
        kv_bytes_per_token: Number = Number(answer.kv_bytes_per_token.get()),
        max_batch: Option<u64> = answer.max_batch,
        running_batch: Number = Number(answer.running_batch),
        bound: Block = Block::of(&answer.bound),
        even_routing?: Block = answer.evenly_routed.as_ref().map(Block::of),
        expected: Block = Block::of(&answer.expected),
        calibrated?: CalibratedBlock = None,
        limited_by: Limiting = answer.into(),
        warnings: Warnings<'a> = Warnings(&answer.warnings, notes),
    }
}

document! {
    view Counts, from |parameters: &Parameters| {} {
        total: u64 = parameters.total,
        active: u64 = parameters.active,
        streamed: u64 = parameters.streamed,
    }
}

impl<'a> AnswerFields<'a> {
    /// The same with a prediction.
    pub(super) fn with(self, calibrated: Option<&CalibratedPrediction<'_>>) -> Self {
        Self { calibrated: calibrated.map(CalibratedPrediction::block), ..self }
    }

    /// Without what is of requests.
    pub(super) fn of_step(answer: &'a LoadAnalysis, notes: &'a [String]) -> Self {
        Self {
            bound: Block::of_step(&answer.bound),
            even_routing: answer.evenly_routed.as_ref().map(Block::of_step),
            expected: Block::of_step(&answer.expected),
            ..Self::of(answer, notes)
        }
    }
}

#[derive(Debug)]
struct Warnings<'a>(&'a [String], &'a [String]);

/// By hand, since two lists are one in the line.
impl Serialize for Warnings<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().chain(self.1))
    }
}
