//! Traces: what real users asked, and when, replayed.

mod cache;
mod csv;
mod error;
mod lines;
mod mooncake;
mod prompt;
mod reader;
mod spec;
mod survey;
mod walk;

pub use cache::{CacheBasis, ExpectedCache};
pub use error::TraceError;
pub use reader::{TraceFormat, TraceReader, TraceRecord};
pub use spec::{TracePacing, TraceSpec};
pub use survey::{TraceExtent, TraceFacts};

use std::io::{self, BufRead};
use std::num::NonZeroU64;
use std::sync::Arc;

use fizeau_core::{Nanos, PerSec};

use crate::arrivals::rate_of;
use crate::codec::TextCodec;
use crate::parts::RequestPhase;
use crate::seed::{Salt, Seed};
use crate::workload::{Pacing, RequestWalk, SessionNumbers, Shard, Workload};
use prompt::TracePrompts;
use survey::TraceSurvey;
use walk::TraceWalk;

/// Opens the file of a trace from its start. It is called once for the check, and once more for each walk and each time
/// that a walk begins the file again, on any thread. A buffer of 64 KiB or more is worth while.
pub type TraceOpener = Arc<dyn Fn() -> io::Result<Box<dyn BufRead + Send>> + Send + Sync>;

type FileReader = TraceReader<Box<dyn BufRead + Send>>;

/// A trace as a plan: the lengths and instants of its requests, to the token and the nanosecond, in constant memory.
///
/// When it is made, the whole file is read once: what is wrong in any line is said before anything is sent, and counts
/// are known. Each walk then reads the file again as it goes. A file that was changed in between ends the walk with an
/// error, at the latest where the last request of the file is read; what was sent until then was sent.
///
/// Nobody publishes the texts, so prompts are made: a block id of a Mooncake trace stands for the same tokens wherever it
/// comes (on any shard), and whatever has no id is random and like nothing else. Each request stands alone. Cloning is
/// cheap.
///
/// ```
/// use std::sync::Arc;
/// use fizeau_core::RequestSource;
/// use fizeau_workload::{Shard, Trace, TraceFormat, TraceSpec, Workload};
/// let file = r#"{"timestamp": 0, "input_length": 600, "output_length": 52, "hash_ids": [46, 47]}
/// {"timestamp": 1500, "input_length": 530, "output_length": 26, "hash_ids": [46, 48]}"#;
/// let spec = TraceSpec::new("conversation.jsonl", TraceFormat::mooncake());
/// let trace = Trace::new(spec, Arc::new(move || Ok(Box::new(file.as_bytes()))))?;
/// assert_eq!(trace.expected_cache().cached.get(), 512);
/// let mut walk = trace.walk(Shard::WHOLE.sessions());
/// let first = walk.next_request()?;
/// assert_eq!(first.and_then(|first| first.request.input_tokens).map(|n| n.get()), Some(600));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Trace {
    spec: Arc<TraceSpec>,
    opener: TraceOpener,
    survey: TraceSurvey,
    prompts: Arc<TracePrompts>,
}

impl Trace {
    /// The plan that follows from `spec` and the file that `open` opens.
    ///
    /// # Errors
    /// If a number in `spec` is out of its range, the file cannot be read, a line is not what the format says, time stamps
    /// go backwards, a request is too long, there are too few, or `spec` asks for exact text.
    pub fn new(spec: TraceSpec, open: TraceOpener) -> Result<Self, TraceError> {
        Self::made(spec, open, None)
    }

    /// The same, with `tokenizer` to fit exact text under. Other content does not use it.
    ///
    /// # Errors
    /// As [`Trace::new`], or if the tokenizer fails on a first text.
    pub fn with_tokenizer(
        spec: TraceSpec,
        open: TraceOpener,
        tokenizer: Arc<dyn TextCodec>,
    ) -> Result<Self, TraceError> {
        Self::made(spec, open, Some(tokenizer))
    }

    fn made(
        spec: TraceSpec,
        opener: TraceOpener,
        tokenizer: Option<Arc<dyn TextCodec>>,
    ) -> Result<Self, TraceError> {
        spec.check()?;
        let prompts = TracePrompts::new(&spec, tokenizer)?;
        let survey = TraceSurvey::of(&spec, &opener)?;
        Ok(Self { spec: Arc::new(spec), opener, survey, prompts: Arc::new(prompts) })
    }

    /// The same requests with other prompts, without reading the file again: for another level of a sweep.
    #[must_use]
    pub fn reseeded(&self, seed: Seed, salt: Salt) -> Self {
        let spec = TraceSpec { seed, salt, ..TraceSpec::clone(&self.spec) };
        let prompts = Arc::new(self.prompts.reseeded(&spec));
        Self { spec: Arc::new(spec), prompts, ..self.clone() }
    }

    /// What the plan was made from.
    #[must_use]
    pub fn spec(&self) -> &TraceSpec {
        &self.spec
    }

    /// What was found in the file.
    #[must_use]
    pub const fn facts(&self) -> &TraceFacts {
        &self.survey.facts
    }

    /// How often the file is begun: more than once where it has fewer requests than were asked for.
    #[must_use]
    pub fn rounds(&self) -> u64 {
        self.survey.requests.get().div_ceil(self.survey.rows.get())
    }

    /// The mean rate of those requests that leave before `end`, an offset from the start; of all where there is none. None where times
    /// are left out, or there is no gap.
    ///
    /// # Errors
    /// If the file, which is read again up to `end`, is not what it was.
    pub fn mean_rate(&self, end: Option<Nanos>) -> Result<Option<PerSec>, TraceError> {
        let (gaps, last) = match end {
            None => (self.survey.requests.get() - 1, self.survey.last),
            Some(end) => self.due_before(end)?,
        };
        Ok(self.spec.instant(last).and_then(|span| rate_of(gaps, span)))
    }

    /// How many requests follow the first before `end`, and how long after it the last of them came.
    fn due_before(&self, end: Nanos) -> Result<(u64, Nanos), TraceError> {
        let all = Shard::WHOLE.sessions();
        let mut walk = TraceWalk::new(self.clone(), RequestPhase::Measured, all);
        let mut due = (0, Nanos::ZERO);
        while let Some((number, _, offset)) = walk.next_record()? {
            if self.spec.instant(offset).is_none_or(|at| at >= end) {
                break;
            }
            due = (number, offset);
        }
        Ok(due)
    }

    /// What a prefix cache without bounds would supply; nothing where the format has no ids of blocks.
    #[must_use]
    pub const fn expected_cache(&self) -> ExpectedCache {
        self.survey.cache
    }
}

fizeau_core::debug_in_part!(Trace { spec, survey });

impl Workload for Trace {
    fn requests(&self) -> NonZeroU64 {
        self.survey.requests
    }

    fn pacing(&self) -> Pacing {
        match self.spec.pacing {
            TracePacing::ClosedLoop => Pacing::ClosedLoop,
            TracePacing::TimeStamps { .. } => Pacing::OpenLoop { peak: None },
        }
    }

    fn walk(&self, which: SessionNumbers) -> RequestWalk {
        Box::new(TraceWalk::new(self.clone(), RequestPhase::Measured, which))
    }

    /// Prompts as long as those of the trace, from its first request on; none begins like another.
    fn warmup(&self, which: SessionNumbers) -> RequestWalk {
        Box::new(TraceWalk::new(self.clone(), RequestPhase::Warmup, which))
    }
}

/// Opens the file of `spec`.
fn open(spec: &TraceSpec, opener: &TraceOpener) -> Result<FileReader, TraceError> {
    let reader = opener().map_err(|error| lines::read_error(&spec.name, 0, &error))?;
    Ok(TraceReader::new(Arc::clone(&spec.name), spec.format, reader))
}
