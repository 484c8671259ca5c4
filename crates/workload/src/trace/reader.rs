//! A trace file as a row of records.

use std::io::BufRead;
use std::num::NonZeroU64;
use std::sync::Arc;

use fizeau_core::{Nanos, Tokens};
use serde::{Deserialize, Serialize};

use super::csv::{AZURE, BURSTGPT, TraceColumns};
use super::error::{LineFault, TraceError};
use super::lines::TraceLines;
use super::mooncake;
use crate::length::Length;

/// The file format of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceFormat {
    /// The traces published with Azure's papers on LLM inference (github.com/Azure/AzurePublicDataset, 2023 and 2024): CSV
    /// with the columns `TIMESTAMP`, `ContextTokens` and `GeneratedTokens`, in any order, others beside them.
    Azure,
    /// BurstGPT (github.com/HPMLL/BurstGPT), either edition: CSV with the columns `Timestamp` (seconds), `Request tokens`
    /// and `Response tokens`, in any order. Requests that failed have no response tokens. The session ids of the second
    /// edition are not used: each request stands alone.
    BurstGpt,
    /// Mooncake's traces (github.com/kvcache-ai/Mooncake), and those of vLLM's `timed_trace`, of other units: a line of JSON for each
    /// request with `timestamp`, `input_length`, `output_length`, and `hash_ids`, one for each block of the prompt. Without `hash_ids` a
    /// prompt begins like no other. Further fields are passed over.
    Mooncake {
        /// How many tokens a block has: 512 in Mooncake's published traces.
        block: NonZeroU64,
        /// How long a `timestamp` of 1 is: a millisecond in Mooncake's published traces.
        #[serde(
            rename = "tick_ns",
            default = "millisecond",
            skip_serializing_if = "is_millisecond"
        )]
        tick: Nanos,
    },
}

const fn millisecond() -> Nanos {
    Nanos::from_millis(1)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_millisecond(tick: &Nanos) -> bool {
    *tick == millisecond()
}

impl TraceFormat {
    /// Mooncake's format with its own blocks of 512 tokens and its milliseconds.
    #[must_use]
    pub const fn mooncake() -> Self {
        Self::Mooncake { block: NonZeroU64::MIN.saturating_add(511), tick: millisecond() }
    }

    /// The same as vLLM's `timed_trace` reads it by default: seconds, and blocks of 16 tokens (`vllm/benchmarks/datasets`, since pull
    /// request 39795).
    #[must_use]
    pub const fn timed_trace() -> Self {
        Self::Mooncake { block: NonZeroU64::MIN.saturating_add(15), tick: Nanos::from_secs(1) }
    }

    /// The columns that are read, where there are columns.
    const fn columns(self) -> Option<[&'static str; 3]> {
        match self {
            Self::Azure => Some(AZURE.columns),
            Self::BurstGpt => Some(BURSTGPT.columns),
            Self::Mooncake { .. } => None,
        }
    }

    /// What the fields of a prompt's and a reply's length are called.
    const fn lengths(self) -> [&'static str; 2] {
        match self.columns() {
            Some([_, input, output]) => [input, output],
            None => ["input_length", "output_length"],
        }
    }
}

/// One request of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct TraceRecord {
    /// The line where it stands, from 1.
    pub line: u64,
    /// When it came, from an instant that the format chooses: for Azure the year 1970, for the others the start of the
    /// recording.
    pub at: Nanos,
    /// Tokens of the prompt; at least 1.
    pub input: Tokens,
    /// Tokens of the reply; at least 1.
    pub output: Tokens,
    /// Which blocks the prompt begins with; empty for formats that do not say.
    pub blocks: Vec<u64>,
}

/// What the formats have in common of a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct TraceRow {
    pub(super) at: Nanos,
    pub(super) input: u64,
    pub(super) output: u64,
}

/// How much of a record is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordDetail {
    /// Time and lengths: a request that somebody else sends.
    Outline,
    /// All of it.
    Whole,
}

/// Reads a trace as a stream: an iterator over its records that ends with the first error.
///
/// Memory is that of one line, which may have 16 MiB, whatever the length of the file. Blank lines are passed over, and so
/// are rows with an empty prompt or reply, which nobody could send again; [`TraceReader::skipped`] counts these. A
/// byte-order mark, CRLF and quoted fields are fine. The order of time stamps is not looked at.
///
/// ```
/// use fizeau_workload::{TraceFormat, TraceReader};
/// let file = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n";
/// let mut trace = TraceReader::new("azure.csv", TraceFormat::Azure, file.as_bytes());
/// let first = trace.next().transpose()?.map(|record| (record.input.get(), record.output.get()));
/// assert_eq!(first, Some((374, 44)));
/// # Ok::<(), fizeau_workload::TraceError>(())
/// ```
#[derive(Debug)]
pub struct TraceReader<R> {
    lines: TraceLines<R>,
    format: TraceFormat,
    table: Option<TraceColumns>,
    skipped: u64,
    /// Where an iterator reads to, so that each record's blocks are allocated once and no larger than they are.
    present: TraceRecord,
    ended: bool,
}

impl<R: BufRead> TraceReader<R> {
    /// The trace that `reader` gives; messages call it `file`. A buffer of 64 KiB or more is worth while.
    #[must_use]
    pub fn new(file: impl Into<Arc<str>>, format: TraceFormat, reader: R) -> Self {
        let lines = TraceLines::new(file.into(), reader);
        Self {
            lines,
            format,
            table: None,
            skipped: 0,
            present: TraceRecord::default(),
            ended: false,
        }
    }

    /// How many rows had an empty prompt or reply so far.
    #[must_use]
    pub const fn skipped(&self) -> u64 {
        self.skipped
    }

    /// A figure that follows from the lines so far.
    pub(super) const fn checksum(&self) -> u64 {
        self.lines.checksum()
    }

    /// Reads the next record into `record`; false at the end of the file.
    pub(super) fn read(
        &mut self,
        record: &mut TraceRecord,
        detail: RecordDetail,
    ) -> Result<bool, TraceError> {
        while self.lines.advance()? {
            if self.format.columns().is_some() && self.table.is_none() {
                self.table = self.header().map_err(|fault| self.lines.fault(fault))?;
                continue;
            }
            record.blocks.clear();
            let row = self.row(&mut record.blocks, detail);
            let row = row.and_then(|row| self.within_reason(row, &record.blocks));
            let row = row.map_err(|fault| self.lines.fault(fault))?;
            if row.input == 0 || row.output == 0 {
                self.skipped += 1;
                continue;
            }
            record.line = self.lines.number();
            record.at = row.at;
            (record.input, record.output) = (Tokens::new(row.input), Tokens::new(row.output));
            return Ok(true);
        }
        match self.format.columns() {
            Some(names) if self.table.is_none() => {
                let expected = format!("a header with the columns {}", names.join(", "));
                let fault =
                    LineFault { field: "header", found: "an empty file".to_owned(), expected };
                Err(fault.in_line(self.lines.file(), 1))
            }
            _ => Ok(false),
        }
    }

    fn header(&self) -> Result<Option<TraceColumns>, LineFault> {
        self.format.columns().map(|names| TraceColumns::of(self.lines.line(), names)).transpose()
    }

    fn row(&mut self, blocks: &mut Vec<u64>, detail: RecordDetail) -> Result<TraceRow, LineFault> {
        let line = self.lines.line();
        match (self.format, &mut self.table) {
            (TraceFormat::Azure, Some(table)) => AZURE.read(table.row(line)?),
            (TraceFormat::BurstGpt, Some(table)) => BURSTGPT.read(table.row(line)?),
            (TraceFormat::Mooncake { tick, .. }, _) => {
                mooncake::read(line, tick, (detail == RecordDetail::Whole).then_some(blocks))
            }
            _ => Err(LineFault::at("header", line, "a header")),
        }
    }

    /// Refuses lengths that no request can have, and more blocks than the prompt has room for: the sure sign of a trace
    /// with blocks of another size.
    fn within_reason(&self, row: TraceRow, blocks: &[u64]) -> Result<TraceRow, LineFault> {
        for (field, length) in self.format.lengths().into_iter().zip([row.input, row.output]) {
            if length > Length::MAX.get() {
                let expected = format!("at most {} tokens", Length::MAX);
                return Err(LineFault { field, found: length.to_string(), expected });
            }
        }
        if let TraceFormat::Mooncake { block, .. } = self.format {
            let most = row.input.div_ceil(block.get());
            if blocks.len() as u64 > most {
                let found = format!("{} blocks", blocks.len());
                let expected = format!(
                    "at most {most}, {} tokens being blocks of {block} (the trace may have blocks of another size)",
                    row.input
                );
                return Err(LineFault { field: "hash_ids", found, expected });
            }
        }
        Ok(row)
    }
}

impl<R: BufRead> Iterator for TraceReader<R> {
    type Item = Result<TraceRecord, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let mut record = std::mem::take(&mut self.present);
        match self.read(&mut record, RecordDetail::Whole) {
            Ok(true) => {
                self.present = record;
                Some(Ok(self.present.clone()))
            }
            ended => {
                self.ended = true;
                ended.err().map(Err)
            }
        }
    }
}
