//! vLLM's own words for a result: its printed block and its JSON file (`vllm bench serve`, version 0.33).
//!
//! The numbers here follow *vLLM's* definitions, so that they can be held against a result of its own client:
//! TPOT is `(latency - ttft) / (n - 1)` over requests with `n > 1`, ITL is the gap between chunks pooled over
//! requests whatever the chunks carry, standard deviations divide by the count, percentiles are numpy's linear
//! ones of any sample however small, and an empty sample gives 0.0. Our own definitions, which differ where a
//! chunk carries several tokens, stand in `summary.json`.
//!
//! Goodput is vLLM's where it comes from [`VllmResult::goodput`].
//!
//! Two figures are deliberately not vLLM's. Its peaks count whatever touches a one-second bucket, which can
//! report 40 concurrent requests under a cap of 4, and a peak rate below the mean. [`VllmResult`] counts
//! exactly: see [`VllmResult::peak_concurrency`] and [`VllmResult::peak_output_tokens_per_s`].

mod block;
mod figures;
mod json;
mod peaks;
mod select;

use fizeau_core::{PerSec, Seconds, Tape, Tokens};
use fizeau_metrics::GoodputGoals;

pub use json::Detail;
pub use select::{Percentile, Selection, SelectionError, VllmMetric};

use figures::{PerRequest, Stats};

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
    pub request_rate: RequestRate,
    /// The shape of the gaps between requests: 1 is Poisson, above is smoother, infinite is even (`"inf"`).
    pub burstiness: f64,
    /// The cap on requests in flight.
    pub max_concurrency: Option<u32>,
}

/// How fast requests were to be sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RequestRate {
    /// At this rate.
    Limited(PerSec),
    /// All at once, or as fast as the cap on requests in flight lets them: `"inf"` in the file.
    Unlimited,
}

/// A level as vLLM's client would report it.
///
/// ```
/// use fizeau_core::{Arrival, Channel, Nanos, Stamp, Tape};
/// use fizeau_report::{Detail, RequestRate, Selection, VllmResult, VllmRun};
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
///     request_rate: RequestRate::Unlimited,
///     burstiness: 1.0,
///     max_concurrency: Some(1),
/// };
/// assert_eq!(run.file_name(), "vllm-infqps-concurrency1-model-20260801-120000.json");
/// let result = VllmResult::of(run, &[tape], &Selection::default(), None);
/// assert!(result.block().contains("Mean TTFT (ms):                          20.00"));
/// assert!(result.to_json(Detail::Brief)?.contains(r#""median_itl_ms":5.0"#));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct VllmResult {
    run: VllmRun,
    goodput: Option<PerSec>,
    duration: Seconds,
    completed: u64,
    failed: u64,
    input_tokens: Tokens,
    output_tokens: Tokens,
    requests: PerRequest,
    peak_concurrency: u64,
    peak_tokens: PerSec,
    stats: Vec<(VllmMetric, Stats)>,
}

impl VllmRun {
    /// The name that vLLM gives the result's file:
    /// `{label or backend}-{rate}qps[-concurrency{N}]-{model's last part}-{date}.json`. A `/` in the label becomes
    /// `-`, since it would name a folder.
    #[must_use]
    pub fn file_name(&self) -> String {
        let label = self.label.as_ref().unwrap_or(&self.backend);
        let label = label.replace('/', "-");
        let rate = match self.request_rate {
            // As Python prints a float: `10.0`.
            RequestRate::Limited(rate) => format!("{:?}", rate.get()),
            RequestRate::Unlimited => "inf".to_owned(),
        };
        let concurrency = self.max_concurrency.map(|cap| format!("-concurrency{cap}"));
        let concurrency = concurrency.unwrap_or_default();
        let model = self.model_id.rsplit('/').next().unwrap_or_default();
        format!("{label}-{rate}qps{concurrency}-{model}-{}.json", self.date)
    }
}

impl VllmResult {
    /// The result of a level from its tapes.
    ///
    /// The number of prompts is the number of tapes, so completed and failed always add up to it. The duration
    /// runs from the first release to the last end. `goodput` is given ([`VllmResult::goodput`]), since vLLM's
    /// file does not record the goals either.
    #[must_use]
    pub fn of(
        run: VllmRun,
        tapes: &[Tape],
        selection: &Selection,
        goodput: Option<PerSec>,
    ) -> Self {
        let completed = tapes.iter().filter(|tape| tape.is_success());
        let requests = PerRequest::of(tapes);
        let output_tokens = Tokens::new(requests.output_lens.iter().sum());
        let duration = figures::duration(tapes);
        let mean_rate = figures::rate(output_tokens.get() as f64, duration);
        let completed_count = completed.clone().count() as u64;
        let available = |metric: &VllmMetric| match metric {
            VllmMetric::ClientQueueTime => run.max_concurrency.is_some(),
            VllmMetric::E2elIncludingClientQueue => {
                let limited = matches!(run.request_rate, RequestRate::Limited(_));
                run.max_concurrency.is_some() && limited
            }
            _ => true,
        };
        let metrics = selection.metrics.iter().copied().filter(available);
        let stats = metrics.map(|metric| {
            let values = figures::values(metric, tapes);
            (metric, Stats::of(values, &selection.percentiles))
        });
        Self {
            duration,
            completed: completed_count,
            failed: tapes.len() as u64 - completed_count,
            input_tokens: completed.filter_map(Tape::input_tokens).sum(),
            output_tokens,
            peak_concurrency: peaks::concurrency(tapes),
            peak_tokens: peaks::tokens_per_s(tapes, mean_rate),
            stats: stats.collect(),
            requests,
            goodput,
            run,
        }
    }

    /// Requests per second that met every goal, by vLLM's rule: its TPOT, which for a reply of a single token is
    /// 0 and so meets any goal. None without goals. What `fizeau-metrics` calls goodput differs in this, and
    /// where a first chunk carries several tokens.
    #[must_use]
    pub fn goodput(tapes: &[Tape], goals: &GoodputGoals) -> Option<PerSec> {
        let good = tapes.iter().filter(|tape| figures::meets(tape, goals));
        let rate = |good: usize| figures::rate(good as f64, figures::duration(tapes));
        (!goals.is_empty()).then(|| rate(good.count()))
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

    /// The greatest number of tokens received in any second (in the whole level where it is shorter), and at
    /// least the mean over the level. vLLM's own figure counts chunks in fixed seconds and can be below the
    /// mean.
    #[must_use]
    pub const fn peak_output_tokens_per_s(&self) -> PerSec {
        self.peak_tokens
    }
}
