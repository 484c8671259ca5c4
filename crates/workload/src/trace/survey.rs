//! The one pass over a trace before anything is sent: every line is read, and what is replayed is counted.

use std::num::NonZeroU64;
use std::sync::Arc;

use fizeau_core::{Nanos, Tokens};
use serde::{Deserialize, Serialize};

use super::cache::{CacheTally, ExpectedCache};
use super::error::TraceError;
use super::reader::{RecordDetail, TraceRecord};
use super::spec::{TracePacing, TraceSpec};
use super::{TraceOpener, open};
use crate::content::RecordReuse;

/// The facts about a trace that are known before anything is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TraceFacts {
    /// How many requests the file has.
    pub records: u64,
    /// How many rows up to the last that is replayed have an empty prompt or reply, and are passed over.
    pub skipped: u64,
    /// How many requests are earlier than one before them, by [`TraceError::JITTER`] at most, and leave together with it;
    /// of those that are replayed, each counted once.
    pub late: u64,
    /// From the first request to the last that is replayed, the file taken once, as recorded.
    pub span: Nanos,
    /// The longest prompt that is replayed.
    pub longest_input: Tokens,
    /// The longest reply that is asked for.
    pub longest_output: Tokens,
    /// The request that is the longest, prompt and reply together; of several the first.
    pub longest: TraceExtent,
    /// Tokens of all prompts, repetitions and all.
    pub input: Tokens,
    /// Tokens of all replies that are asked for, repetitions and all.
    pub output: Tokens,
    /// A figure that follows from all lines of the file: another file has another one, save by a rare chance.
    pub checksum: u64,
}

/// The lengths of one request of a trace, and its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TraceExtent {
    /// Its line in the file, from 1.
    pub line: u64,
    /// Its prompt.
    pub input: Tokens,
    /// Its reply.
    pub output: Tokens,
}

/// What the walks need to know of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct TraceSurvey {
    pub(super) facts: TraceFacts,
    pub(super) cache: ExpectedCache,
    /// How many requests are sent in all.
    pub(super) requests: NonZeroU64,
    /// How many requests of the file are sent, the file taken once.
    pub(super) rows: NonZeroU64,
    /// By how much times move on when the file is begun again.
    pub(super) period: Nanos,
    /// How long after the first request the last of all came, as recorded.
    pub(super) last: Nanos,
    /// The checksum behind the last request of a whole round, and of the last round where that is cut short.
    seals: [(u64, u64); 2],
}

impl TraceSurvey {
    /// The checksum that the lines up to the `rows`-th request have, where it is known.
    pub(super) fn seal(&self, rows: u64) -> Option<u64> {
        self.seals.iter().find(|(sealed, _)| *sealed == rows).map(|(_, checksum)| *checksum)
    }

    /// Reads the file that `open` opens.
    pub(super) fn of(spec: &TraceSpec, opener: &TraceOpener) -> Result<Self, TraceError> {
        let mut reader = open(spec, opener)?;
        let asked = spec.requests.map_or(u64::MAX, NonZeroU64::get);
        let (mut part, mut record) = (SurveyPart::default(), TraceRecord::default());
        let (mut records, mut skipped) = (0, 0);
        while reader.read(&mut record, RecordDetail::Whole)? {
            records += 1;
            if part.rows < asked {
                part.add(&record, spec, reader.checksum())?;
                skipped = reader.skipped();
            }
        }
        let file = || Arc::clone(&spec.name);
        let Some(rows) = NonZeroU64::new(part.rows) else {
            return Err(TraceError::Empty { file: file(), skipped: reader.skipped() });
        };
        let requests = spec.requests.unwrap_or(rows);
        if requests > rows && spec.repeat == RecordReuse::Refused {
            return Err(TraceError::TooFew { file: file(), records, requested: requests.get() });
        }
        let is_timed = matches!(spec.pacing, TracePacing::TimeStamps { .. });
        if requests > rows && is_timed && part.course.span() == Nanos::ZERO {
            let requested = requests.get();
            return Err(TraceError::NoTimePasses { file: file(), records, requested });
        }
        let rest = SurveyPart::first(requests.get() % rows, spec, opener)?;
        let rounds = requests.get() / rows;
        let all = |of: fn(&SurveyPart) -> u64| {
            Tokens::new(of(&part).saturating_mul(rounds).saturating_add(of(&rest)))
        };
        let facts = TraceFacts {
            records,
            skipped: if part.rows == records { reader.skipped() } else { skipped },
            late: part.course.late,
            span: part.course.span(),
            longest_input: part.longest_input,
            longest_output: part.longest_output,
            longest: part.longest,
            input: all(|part| part.input),
            output: all(|part| part.output),
            checksum: reader.checksum(),
        };
        let cached = all(|part| part.cache.cached);
        // Division by no gap would give the longest time there is.
        let mean_gap = facts.span / (rows.get() - 1).max(1);
        let period = facts.span + mean_gap;
        let last = match rest.rows {
            0 => period * (rounds - 1) + facts.span,
            _ => period * rounds + rest.course.span(),
        };
        Ok(Self {
            facts,
            cache: ExpectedCache { cached, prompt: facts.input, basis: part.cache.basis() },
            requests,
            rows,
            period,
            last,
            seals: [(part.rows, part.checksum), (rest.rows, rest.checksum)],
        })
    }
}

/// The first requests of a file.
#[derive(Debug, Default)]
struct SurveyPart {
    rows: u64,
    course: OffsetTracker,
    longest_input: Tokens,
    longest_output: Tokens,
    longest: TraceExtent,
    input: u64,
    output: u64,
    cache: CacheTally,
    checksum: u64,
}

impl SurveyPart {
    /// The first `rows` requests, where only a part of the file is sent a last time.
    fn first(rows: u64, spec: &TraceSpec, opener: &TraceOpener) -> Result<Self, TraceError> {
        let mut part = Self::default();
        if rows == 0 {
            return Ok(part);
        }
        let (mut reader, mut record) = (open(spec, opener)?, TraceRecord::default());
        while part.rows < rows && reader.read(&mut record, RecordDetail::Whole)? {
            part.add(&record, spec, reader.checksum())?;
        }
        Ok(part)
    }

    fn add(
        &mut self,
        record: &TraceRecord,
        spec: &TraceSpec,
        checksum: u64,
    ) -> Result<(), TraceError> {
        if spec.pacing != TracePacing::ClosedLoop {
            self.course.place(record, &spec.name)?;
        }
        let (input, output) = (record.input, record.output);
        if let Some(context) = spec.context.filter(|context| input + output > *context) {
            let (file, line) = (Arc::clone(&spec.name), record.line);
            return Err(TraceError::TooLong { file, line, input, output, context });
        }
        self.rows += 1;
        self.longest_input = self.longest_input.max(input);
        self.longest_output = self.longest_output.max(output);
        if input + output > self.longest.input + self.longest.output {
            self.longest = TraceExtent { line: record.line, input, output };
        }
        self.input = self.input.saturating_add(input.get());
        self.output = self.output.saturating_add(output.get());
        self.cache.add(&record.blocks, input, spec.block());
        self.checksum = checksum;
        Ok(())
    }
}

/// The time stamps of a file as offsets from the first, never decreasing.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OffsetTracker {
    first: Option<Nanos>,
    latest: Nanos,
    latest_line: u64,
    late: u64,
}

impl OffsetTracker {
    /// The offset of `record`, which comes next.
    pub(super) fn place(
        &mut self,
        record: &TraceRecord,
        file: &Arc<str>,
    ) -> Result<Nanos, TraceError> {
        let first = *self.first.get_or_insert(record.at);
        if record.at >= self.latest {
            (self.latest, self.latest_line) = (record.at, record.line);
        } else {
            let back = self.latest.saturating_sub(record.at);
            if back > TraceError::JITTER {
                let (file, line, earlier) = (Arc::clone(file), record.line, self.latest_line);
                return Err(TraceError::OutOfOrder { file, line, earlier, back });
            }
            self.late += 1;
        }
        Ok(self.latest.saturating_sub(first))
    }

    fn span(&self) -> Nanos {
        self.first.map_or(Nanos::ZERO, |first| self.latest.saturating_sub(first))
    }
}
