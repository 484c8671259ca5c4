//! Where prompts come from.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use fizeau_core::{Nanos, Tokens};
use fizeau_workload::{
    ConversationUse, PrefixRepetition, RecordOrder, RecordReuse, SharedPrefix, TraceFormat,
    TracePacing, VllmRandom,
};

use super::LengthsSpec;

/// Where prompts come from.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum PromptSource {
    /// Made up: token ids or words, of given lengths.
    Random,
    /// vLLM's own made-up prompts, draw for draw. The form is the endpoint's.
    VllmRandom(VllmRandom),
    /// Lines of Shakespeare's sonnets.
    Sonnet,
    /// vLLM's prompts of few prefixes that come again and again. The form is the endpoint's.
    PrefixRepetition(PrefixRepetition),
    /// The records of a file.
    Records(RecordsSource),
    /// The records of a file that have times.
    Trace(TraceSource),
}

impl PromptSource {
    /// The most requests that are sent until a figure is known, where prompts have no end and nobody says how many.
    pub const MOST_UNTIL_KNOWN: NonZeroU64 = NonZeroU64::new(100_000).unwrap();

    /// The most requests that a closed loop sends in `time`: more than anybody serves, where prompts are made as they are sent (up to as
    /// many as a plan of conversations holds), and where they are drawn ahead of all, as vLLM does, as many as are sent
    /// [until a figure is known](Self::MOST_UNTIL_KNOWN).
    pub(crate) fn most_in(&self, time: Nanos) -> NonZeroU64 {
        const PER_SECOND: NonZeroU64 = NonZeroU64::new(100_000).unwrap();
        const PLANNED: NonZeroU64 = NonZeroU64::new(1 << 24).unwrap();
        let seconds = NonZeroU64::new(time.as_secs_f64().ceil() as u64);
        match self {
            Self::Random | Self::Sonnet => {
                PER_SECOND.saturating_mul(seconds.unwrap_or(NonZeroU64::MIN)).min(PLANNED)
            }
            _ => Self::MOST_UNTIL_KNOWN,
        }
    }

    /// Its name.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::VllmRandom(_) => "vllm-random",
            Self::Sonnet => "sonnet",
            Self::PrefixRepetition(_) => "prefix_repetition",
            Self::Records(records) => records.format.name(),
            Self::Trace(trace) => trace.kind.name(),
        }
    }

    /// Every source, which reads `path` if it reads a file, with all else as by default.
    fn all(path: &Path) -> impl Iterator<Item = Self> {
        let shared = RecordFormat::ShareGpt(ConversationUse::FirstExchange);
        let records = [shared, RecordFormat::Custom, RecordFormat::OpenAiBatch]
            .map(|format| Self::Records(RecordsSource::new(format, path)));
        let traces = TraceKind::ALL.map(|kind| Self::Trace(TraceSource::new(kind, path)));
        let vllm = Self::VllmRandom(VllmRandom::default());
        let prefixes = Self::PrefixRepetition(PrefixRepetition::default());
        [Self::Random, vllm, Self::Sonnet, prefixes].into_iter().chain(records).chain(traces)
    }

    /// The source of that name, which reads `path` if it reads a file, with all else as by default; none if there is none.
    ///
    /// ```
    /// use fizeau_experiment::PromptSource;
    /// assert!(PromptSource::named("sonnet", "").is_some_and(|source| source.is_endless()));
    /// assert_eq!(PromptSource::named("random-ids", ""), Some(PromptSource::Random));
    /// assert_eq!(PromptSource::named("azure", "trace.csv").map(|source| source.name()), Some("azure"));
    /// ```
    #[must_use]
    pub fn named(name: &str, path: impl AsRef<Path>) -> Option<Self> {
        // SGLang's name for prompts that are made up of ids.
        let name = if name == "random-ids" { "random" } else { name };
        Self::all(path.as_ref()).find(|source| source.name() == name)
    }

    /// All names, with commas between them.
    #[must_use]
    pub fn names() -> String {
        let names: Vec<&str> = Self::all(Path::new("")).map(|source| source.name()).collect();
        names.join(", ")
    }

    /// What prompts share where nobody says how long they are: sonnets vLLM's prefix, and others nothing.
    #[must_use]
    pub const fn usual_prefix(&self) -> SharedPrefix {
        match self {
            Self::Sonnet => SharedPrefix::Common { tokens: LengthsSpec::SONNET_PREFIX },
            _ => SharedPrefix::None,
        }
    }

    /// Its name, and its file's.
    pub(super) fn description(&self) -> String {
        let path = match self {
            Self::Records(records) => Some(&records.path),
            Self::Trace(trace) => Some(&trace.path),
            _ => None,
        };
        match path.map(PathBuf::as_path).and_then(Path::file_name) {
            Some(file) => format!("{} {}", self.name(), file.to_string_lossy()),
            None => self.name().to_owned(),
        }
    }

    /// Whether prompts are made as they are sent, without end.
    pub const fn is_endless(&self) -> bool {
        matches!(self, Self::Random | Self::VllmRandom(_) | Self::Sonnet)
    }
}

/// The records of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordsSource {
    /// How it is written.
    pub format: RecordFormat,
    /// Where it is.
    pub path: PathBuf,
    /// The output tokens of each request, whatever the file says.
    pub output: Option<Tokens>,
    /// In which order they are taken.
    pub order: RecordOrder,
    /// What happens when they are fewer than are asked for.
    pub repeat: RecordReuse,
}

impl RecordsSource {
    /// The records of the file at `path`, shuffled, as often as it takes.
    pub fn new(format: RecordFormat, path: impl Into<PathBuf>) -> Self {
        let (output, order, repeat) = (None, RecordOrder::default(), RecordReuse::default());
        Self { format, path: path.into(), output, order, repeat }
    }
}

/// A format of data sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordFormat {
    /// Conversations as ShareGPT has them, and what is taken of each.
    ShareGpt(ConversationUse),
    /// JSON lines of one's own.
    Custom,
    /// Requests as OpenAI's batches have them.
    OpenAiBatch,
}

impl RecordFormat {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ShareGpt(_) => "sharegpt",
            Self::Custom => "custom",
            Self::OpenAiBatch => "openai-batch",
        }
    }

    /// Whether whole conversations are asked for.
    pub(super) const fn takes_conversations(self) -> bool {
        matches!(self, Self::ShareGpt(ConversationUse::Conversation))
    }

    /// Whether a record may be a conversation of several turns.
    pub(super) const fn may_have_turns(self) -> bool {
        matches!(self, Self::ShareGpt(ConversationUse::Conversation) | Self::Custom)
    }
}

/// The records of a file that have times.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TraceSource {
    /// How it is written.
    pub kind: TraceKind,
    /// Where it is. It is read twice.
    pub path: PathBuf,
    /// When its requests leave.
    pub pacing: TracePacing,
    /// What happens when it has fewer requests than are asked for.
    pub repeat: RecordReuse,
    /// How many tokens a block has, where that is not as its kind has it by default; of a kind with blocks.
    pub block: Option<NonZeroU64>,
    /// How long a time stamp of 1 is, where that is not as its kind has it by default; of a kind with blocks.
    pub tick: Option<Nanos>,
}

impl TraceSource {
    /// The trace in the file at `path`, at its own times, as often as it takes.
    pub fn new(kind: TraceKind, path: impl Into<PathBuf>) -> Self {
        let pacing = TracePacing::TimeStamps { speed_up: 1.0 };
        let (repeat, block, tick) = (RecordReuse::default(), None, None);
        Self { kind, path: path.into(), pacing, repeat, block, tick }
    }

    /// How it is written, in the units that it is in.
    pub(super) fn format(&self) -> TraceFormat {
        match self.kind.format() {
            TraceFormat::Mooncake { block, tick } => TraceFormat::Mooncake {
                block: self.block.unwrap_or(block),
                tick: self.tick.unwrap_or(tick),
            },
            table => table,
        }
    }
}

/// A format of traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceKind {
    /// Mooncake's.
    Mooncake,
    /// Mooncake's as vLLM reads it: by default in seconds, and in blocks of 16 tokens.
    TimedTrace,
    /// Azure's.
    Azure,
    /// BurstGPT's.
    BurstGpt,
}

impl TraceKind {
    const fn format(self) -> TraceFormat {
        match self {
            Self::Mooncake => TraceFormat::mooncake(),
            Self::TimedTrace => TraceFormat::timed_trace(),
            Self::Azure => TraceFormat::Azure,
            Self::BurstGpt => TraceFormat::BurstGpt,
        }
    }
}

fizeau_core::words! {
    /// Its name.
    pub TraceKind::name, all {
        Mooncake = "mooncake", TimedTrace = "timed_trace", Azure = "azure", BurstGpt = "burstgpt",
    }
}
