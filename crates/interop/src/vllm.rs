//! vLLM's own words for a result: its printed block and its JSON file (`vllm bench serve`, version 0.33).
//!
//! The numbers here follow *vLLM's* definitions, so that they can be compared with a result of its own client:
//! TPOT is `(latency - ttft) / (n - 1)` over requests with `n > 1`, ITL is the gap between chunks pooled over
//! requests whatever the chunks carry, standard deviations divide by the count, percentiles are numpy's linear
//! ones of any sample however small, and an empty sample gives 0.0. Our own definitions, which differ where a
//! chunk carries several tokens, stand in `summary.json`.
//!
//! Two figures are deliberately not vLLM's. Its peaks count whatever touches a one-second bucket, which can
//! report 40 concurrent requests under a cap of 4, and a peak rate below the mean. [`VllmResult`] counts every request
//! and every token: see [`VllmResult::peak_concurrency`] and [`VllmResult::peak_output_tokens_per_s`].

mod block;
mod figures;
mod json;
pub(crate) mod lists;
pub(crate) mod object;
mod peaks;
mod probes;
mod select;
mod tally;

use fizeau_core::{LevelLoad, PerSec, Seconds, Tape, Tokens};
use fizeau_metrics::GoodputGoals;
use fizeau_record::{LevelReport, RequestedLoad, RunSetup, ShardsReport};
use fizeau_workload::{ArrivalLaw, RampShape, Spacing};

pub use json::VllmDetail;
pub use select::{VllmMetric, VllmSelection, VllmSelectionError};
pub use tally::VllmTally;

use figures::Stats;
use lists::Lists;
use probes::ProbeFigures;

/// What was asked of vLLM's client, as its result file records it.
#[derive(Debug, Clone, PartialEq)]
pub struct VllmRun {
    /// When the run began, as `YYYYmmdd-HHMMSS`.
    pub date: String,
    /// The backend's name.
    pub backend: String,
    /// A label of the user's (`--label`).
    pub label: Option<String>,
    /// The model's name as sent.
    pub model_id: String,
    /// The tokenizer's name; absent if none was used.
    pub tokenizer_id: Option<String>,
    /// Pairs of the user's (`--metadata KEY=VALUE`), in order. A key that vLLM's file has already is
    /// overwritten by the result, as there.
    pub metadata: Vec<(String, String)>,
    /// How fast requests were to be sent.
    pub request_rate: VllmRequestRate,
    /// The shape of the gaps between requests: 1 is Poisson, above is smoother, infinite is even (`"inf"`).
    pub burstiness: f64,
    /// The cap on requests in flight.
    pub max_concurrency: Option<u32>,
}

/// How fast requests were to be sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum VllmRequestRate {
    /// At this rate.
    Limited(PerSec),
    /// All at once, or as fast as the cap on requests in flight lets them: `"inf"` in the file.
    Unlimited,
    /// From one rate to another (`--ramp-up-strategy`): `"inf"` in the file too, with the ramp's own fields.
    Ramp {
        /// By which curve.
        strategy: VllmRampStrategy,
        /// The first rate.
        start: PerSec,
        /// The last rate.
        end: PerSec,
    },
}

/// The curve of a ramp, as vLLM names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VllmRampStrategy {
    /// `linear`.
    Linear,
    /// `exponential`.
    Exponential,
}

fizeau_core::words! {
    /// The name in the file.
    pub VllmRampStrategy::as_str {
        Linear = "linear", Exponential = "exponential",
    }
}

/// A level as vLLM's client would report it: from a [`VllmTally`], or from tapes that are all available.
///
/// ```
/// use fizeau_core::{Arrival, Channel, Nanos, Stamp, Tape};
/// use fizeau_metrics::GoodputGoals;
/// use fizeau_interop::{VllmDetail, VllmRequestRate, VllmSelection, VllmRun, VllmTally};
///
/// let mut tape = Tape::sent_at(Stamp::EPOCH);
/// for ms in [20, 25, 30] {
///     let at = Stamp::EPOCH + Nanos::from_millis(ms);
///     tape.arrivals.push(Arrival::tokens(at, 1, Channel::Visible));
/// }
/// let run = VllmRun {
///     date: "20260801-120000".to_owned(),
///     backend: "vllm".to_owned(),
///     label: None,
///     model_id: "org/model".to_owned(),
///     tokenizer_id: None,
///     metadata: Vec::new(),
///     request_rate: VllmRequestRate::Unlimited,
///     burstiness: 1.0,
///     max_concurrency: Some(1),
/// };
/// assert_eq!(run.file_name(), "vllm-infqps-concurrency1-model-20260801-120000.json");
/// let mut tally = VllmTally::new(&VllmSelection::default(), &GoodputGoals::default(), VllmDetail::Brief);
/// tally.add(&tape);
/// let result = tally.finish(run);
/// assert!(result.block().contains("Mean TTFT (ms):                          20.00"));
/// assert!(result.to_json().contains(r#""median_itl_ms":5.0"#));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct VllmResult {
    run: VllmRun,
    goodput: Option<PerSec>,
    duration: Seconds,
    completed: u64,
    failed: u64,
    /// Those of the failed that the client cancelled.
    cancelled: u64,
    /// Of the successful whose prompt's length is known.
    input_tokens: Tokens,
    /// The successful of which it is not.
    input_unknown: u64,
    output_tokens: Tokens,
    requests: Lists,
    detail: VllmDetail,
    peak_concurrency: u64,
    peak_tokens: PerSec,
    probes: Option<ProbeFigures>,
    stats: Vec<(VllmMetric, Stats)>,
}

impl VllmRequestRate {
    /// The rate of arrivals by `law`, of which vLLM knows a constant mean and ramps; for any other it is the `mean` of the plan, if
    /// there is one. That is a part of a file's name, where three places tell rates apart.
    #[must_use]
    pub fn of(law: &ArrivalLaw, mean: Option<PerSec>) -> Self {
        match *law {
            ArrivalLaw::Constant { rate } | ArrivalLaw::Gamma { rate, .. } => Self::Limited(rate),
            ArrivalLaw::Ramp { from: start, to: end, shape, .. } => {
                let strategy = match shape {
                    RampShape::Linear => VllmRampStrategy::Linear,
                    RampShape::Exponential => VllmRampStrategy::Exponential,
                };
                Self::Ramp { strategy, start, end }
            }
            _ => Self::rounded(mean),
        }
    }

    fn rounded(mean: Option<PerSec>) -> Self {
        let rounded = |mean: PerSec| Self::Limited(PerSec::new((mean.get() * 1e3).round() / 1e3));
        mean.map_or(Self::Unlimited, rounded)
    }
}

/// The burstiness that vLLM would have been told for `law`.
const fn burstiness_of(law: &ArrivalLaw) -> f64 {
    match law {
        ArrivalLaw::Ramp { spacing, .. }
        | ArrivalLaw::Stages { spacing, .. }
        | ArrivalLaw::Diurnal { spacing, .. } => match spacing {
            Spacing::Even => f64::INFINITY,
            Spacing::Random { burstiness } => *burstiness,
        },
        ArrivalLaw::Constant { .. } => f64::INFINITY,
        ArrivalLaw::Gamma { burstiness, .. } => *burstiness,
        ArrivalLaw::AllAtOnce | ArrivalLaw::ClosedLoop | ArrivalLaw::OnOff { .. } => 1.0,
    }
}

impl From<LevelLoad> for VllmRequestRate {
    fn from(load: LevelLoad) -> Self {
        match load {
            LevelLoad::Rate(rate) => Self::Limited(rate),
            LevelLoad::Concurrency(_) => Self::Unlimited,
        }
    }
}

impl VllmRun {
    /// What was asked of a level, by the `law` of its run's plan where it has one, as vLLM's client would have been asked; its date is as
    /// the run has it.
    #[must_use]
    pub fn of(
        setup: &RunSetup,
        requested: &RequestedLoad,
        law: Option<&ArrivalLaw>,
        max_concurrency: Option<u32>,
    ) -> Self {
        let rate = requested.arrivals.and_then(|moments| moments.rate);
        let cv_squared = requested.arrivals.and_then(|moments| moments.cv_squared);
        let request_rate = match law {
            Some(law @ (ArrivalLaw::Ramp { .. } | ArrivalLaw::OnOff { .. })) => {
                VllmRequestRate::of(law, rate)
            }
            _ if cv_squared.is_none() => VllmRequestRate::rounded(rate),
            _ => rate.map_or(VllmRequestRate::Unlimited, VllmRequestRate::Limited),
        };
        let burstiness = match law {
            // Each level of a sweep has a law of its own, which its moments tell.
            None | Some(ArrivalLaw::ClosedLoop) => cv_squared.map_or(1.0, |cv| 1.0 / cv),
            Some(law) => burstiness_of(law),
        };
        Self {
            date: setup.started.clone(),
            backend: setup.endpoint.backend.clone(),
            label: None,
            model_id: setup.endpoint.model.clone(),
            tokenizer_id: None,
            metadata: Vec::new(),
            request_rate,
            burstiness,
            max_concurrency,
        }
    }

    /// The same of a level whose `report` tells that shards did not come: the load is what the others offered of it.
    #[must_use]
    pub fn offered(mut self, report: &LevelReport) -> Self {
        let did_not_come = |of: &ShardsReport| of.missing.len() > of.gone_in_level.len();
        if report.shards.as_deref().is_some_and(did_not_come) {
            let rate = report.requested.arrivals.and_then(|law| law.rate);
            if let (VllmRequestRate::Limited(all), Some(rate)) = (&mut self.request_rate, rate) {
                *all = rate;
            }
            if let LevelLoad::Concurrency(slots) = report.load {
                self.max_concurrency = self.max_concurrency.map(|cap| cap.min(slots.get()));
            }
        }
        self
    }

    /// The name that vLLM gives the result's file:
    /// `{label or backend}-{rate}qps[-concurrency{N}]-{model's last part}-{date}.json`, of a ramp
    /// `-ramp-up-{strategy}-{start}qps-{end}qps` in place of the rate. A `/` in the label becomes
    /// `-`, since it would name a folder.
    #[must_use]
    pub fn file_name(&self) -> String {
        let label = self.label.as_ref().unwrap_or(&self.backend);
        let label = label.replace('/', "-");
        let rate = match self.request_rate {
            // As Python prints a float: `10.0`.
            VllmRequestRate::Limited(rate) => format!("{:?}", rate.get()),
            VllmRequestRate::Unlimited => "inf".to_owned(),
            // vLLM takes whole rates there.
            VllmRequestRate::Ramp { strategy, start, end } => {
                format!("ramp-up-{}-{}qps-{}", strategy.as_str(), start.get(), end.get())
            }
        };
        let concurrency = self.max_concurrency.map(|cap| format!("-concurrency{cap}"));
        let concurrency = concurrency.unwrap_or_default();
        let model = self.model_id.rsplit('/').next().unwrap_or_default();
        format!("{label}-{rate}qps{concurrency}-{model}-{}.json", self.date)
    }
}

impl VllmResult {
    /// The result of a level from all its tapes: a [`VllmTally`] over them.
    #[must_use]
    pub fn of<'a>(
        run: VllmRun,
        tapes: impl IntoIterator<Item = &'a Tape>,
        selection: &VllmSelection,
        goals: &GoodputGoals,
        detail: VllmDetail,
    ) -> Self {
        let mut tally = VllmTally::new(selection, goals, detail);
        tapes.into_iter().for_each(|tape| tally.add(tape));
        tally.finish(run)
    }

    /// Requests per second that met every goal, by vLLM's rule: its TPOT, which for a reply of a single token is
    /// 0 and so meets any goal. None without goals, and where they go
    /// beyond what vLLM can be asked for. What `fizeau-metrics` calls goodput differs in this, and
    /// where a first chunk carries several tokens.
    #[must_use]
    pub const fn goodput(&self) -> Option<PerSec> {
        self.goodput
    }

    /// How many requests were made: those that completed and those that failed.
    #[must_use]
    pub const fn num_prompts(&self) -> u64 {
        self.completed + self.failed
    }

    /// The greatest number of requests that were in flight at one instant, from send start to last token (to
    /// the end of the reply for one that failed). Never above the cap: vLLM's own figure can be, since it
    /// counts every request that touches a whole second.
    #[must_use]
    pub const fn peak_concurrency(&self) -> u64 {
        self.peak_concurrency
    }

    /// The greatest number of tokens received in any second that begins at a full hundredth of one (in the whole level
    /// where it is shorter), and at least the mean over the level. vLLM's own figure counts chunks in fixed seconds and
    /// can be below the mean.
    #[must_use]
    pub const fn peak_output_tokens_per_s(&self) -> PerSec {
        self.peak_tokens
    }
}
