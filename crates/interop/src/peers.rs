//! One record, many definitions: what other load generators would have reported of the same tapes.
//!
//! Tools give one name to different figures, and different names to one. Each file here has the rules of one
//! tool; `run.rs`, `request.rs` and `gaps.rs` have what they take from a tape, `sample.rs` their percentile rules, `buckets.rs` and
//! `steady.rs` how some of them find peaks and a steady state. [`TermDefinition`] holds the same as words.

pub(crate) mod aiperf;
mod buckets;
mod comparison;
mod definition;
mod evalscope;
mod explain;
mod gaps;
mod genai_perf;
mod guidellm;
mod headline;
mod inference_benchmarker;
mod inference_perf;
mod loadgen;
mod own;
mod report;
mod request;
pub(crate) mod run;
mod sample;
mod sglang;
mod steady;
mod vllm;
mod vllm_rust;

use fizeau_core::{Nanos, Tape};

use fizeau_metrics::{GoodputGoals, LevelSummary, LoadPacing};
use fizeau_record::PeerComparison;

pub use comparison::beside_ours;
pub use definition::{PeerTerm, TermDefinition};
pub use explain::TermExplanation;
pub use own::OwnFigures;
pub use report::{PeerFigure, PeerReport, PeerStatistic, PeerUnit, PeerValue};

use own::OwnTally;
use run::Run;
pub(crate) use sample::Sample;

/// A tool whose figures can be computed from our tapes.
///
/// The figures have the tool's own names, units and rules, the odd ones too: that is what makes them comparable
/// with a report of that tool, and not with each other. Three things are the same for all. Probes beside the
/// load are left out. The counts of tokens are the tape's, also where the tool would run a tokenizer of its own
/// over the text. And a figure whose rule is not known to the letter, or that needs what a tape does not hold,
/// is absent with a reason.
///
/// ```
/// use fizeau_core::{Arrival, Channel, Nanos, Stamp, Tape};
/// use fizeau_interop::{Peer, PeerSettings};
///
/// let ms = |n| Stamp::EPOCH + Nanos::from_millis(n);
/// let mut tape = Tape::sent_at(ms(0));
/// for at in [20, 25, 30, 35, 40] {
///     tape.arrivals.push(Arrival::tokens(ms(at), 1, Channel::Visible));
/// }
///
/// let settings = PeerSettings::default();
/// let figure = |peer: Peer, name: &str| peer.figures([&tape], &settings).value(name);
/// // One reply of five tokens: 20 ms over four gaps, for two tools under two names ...
/// assert_eq!(figure(Peer::VllmPython, "mean_tpot_ms"), Some(5.0));
/// assert_eq!(figure(Peer::AiPerf, "inter_token_latency.avg"), Some(5.0));
/// // ... and 40 ms over five tokens for a third, which has the first token in it.
/// assert_eq!(figure(Peer::GuideLlm, "successful.time_per_output_token_ms.mean"), Some(8.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Peer {
    /// `vllm bench serve`, the client written in Python.
    VllmPython,
    /// `vllm-rs bench serve`, the client written in Rust.
    VllmRust,
    /// SGLang's `bench_serving`.
    Sglang,
    /// NVIDIA's AIPerf.
    AiPerf,
    /// GuideLLM.
    GuideLlm,
    /// inference-perf of the Kubernetes project.
    InferencePerf,
    /// Hugging Face's inference-benchmarker.
    InferenceBenchmarker,
    /// MLPerf's LoadGen, in the server scenario.
    LoadGen,
    /// EvalScope's `perf`.
    EvalScope,
    /// NVIDIA's GenAI-Perf, which AIPerf followed.
    GenAiPerf,
}

/// What a tool was told that is not on a tape.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PeerSettings {
    /// The goals of its goodput; figures of goodput are absent where there are none, and where
    /// they go beyond [`SimpleGoals`](fizeau_metrics::SimpleGoals).
    pub goals: GoodputGoals,
    /// The cap on requests in flight (`--max-concurrency`), if there was one.
    pub max_concurrency: Option<u32>,
    /// What set the pace. No tool's own figures go by it: our goodput beside them does, which counts from the schedule where there is one.
    pub pacing: LoadPacing,
    /// How long the level took at least by the clock of who measured it: where a failed request has no known end, the tapes do not tell.
    pub lasted: Nanos,
}

impl Peer {
    /// The tool with this [`Peer::key`].
    ///
    /// ```
    /// use fizeau_interop::Peer;
    /// assert_eq!(Peer::from_key("aiperf"), Some(Peer::AiPerf));
    /// assert_eq!(Peer::from_key("curl"), None);
    /// ```
    #[must_use]
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|peer| peer.key() == key)
    }

    /// What the tool would have reported of `tapes`.
    #[must_use]
    pub fn figures<'a>(
        self,
        tapes: impl IntoIterator<Item = &'a Tape>,
        settings: &PeerSettings,
    ) -> PeerReport {
        self.figures_of(&Run::of(tapes, settings))
    }

    fn figures_of(self, run: &Run) -> PeerReport {
        let rules = match self {
            Self::VllmPython => vllm::figures,
            Self::VllmRust => vllm_rust::figures,
            Self::Sglang => sglang::figures,
            Self::AiPerf => aiperf::figures,
            Self::GuideLlm => guidellm::figures,
            Self::InferencePerf => inference_perf::figures,
            Self::InferenceBenchmarker => inference_benchmarker::figures,
            Self::LoadGen => loadgen::figures,
            Self::EvalScope => evalscope::figures,
            Self::GenAiPerf => genai_perf::figures,
        };
        rules(run).into_report(self)
    }
}

/// What all tools take from the tapes of a run, one by one, so that none need be held.
#[derive(Debug, Default)]
pub(crate) struct PeerTally {
    run: Run,
    own: OwnTally,
}

impl PeerTally {
    pub(crate) fn add(&mut self, tape: &Tape) {
        self.run.add(tape);
        self.own.add(tape);
    }

    /// The figures of all tools beside ours, which `summary` has of the same tapes.
    pub(crate) fn beside_ours(
        self,
        summary: &LevelSummary,
        settings: PeerSettings,
    ) -> Vec<PeerComparison> {
        let Self { mut run, own } = self;
        run.settings = settings;
        let own = own.finish(&run.steps, summary.clone());
        let one = |peer: Peer| beside_ours(&peer.figures_of(&run), &own);
        Peer::ALL.into_iter().map(one).collect()
    }
}

fizeau_core::words! {
    /// Its name and the version whose rules are followed here.
    pub Peer::version {
        VllmPython = "vllm bench serve 0.33.0", VllmRust = "vllm-rs bench serve 0.33.0",
        Sglang = "SGLang bench_serving 0.5.23", AiPerf = "AIPerf 0.13.0", GuideLlm = "GuideLLM 0.8.1",
        InferencePerf = "inference-perf 0.7.0", InferenceBenchmarker = "inference-benchmarker 1.1.0",
        LoadGen = "MLPerf LoadGen b66003e",
        EvalScope = "EvalScope 1.14.1", GenAiPerf = "GenAI-Perf 0.0.16",
    }
}

fizeau_core::words! {
    /// The word for it on a command line: `vllm`, `aiperf`.
    pub Peer::key, all {
        VllmPython = "vllm", VllmRust = "vllm-rs", Sglang = "sglang", AiPerf = "aiperf",
        GuideLlm = "guidellm", InferencePerf = "inference-perf",
        InferenceBenchmarker = "inference-benchmarker", LoadGen = "loadgen",
        EvalScope = "evalscope", GenAiPerf = "genai-perf",
    }
}
