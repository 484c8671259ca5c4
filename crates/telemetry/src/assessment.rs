//! What a server did, held against what its devices could do.

mod error;
mod even_routing;
mod lengths;
mod limit;
mod same_latency;
mod step;

use std::num::NonZeroU64;

use fizeau_core::{Millis, Nanos, PerSec, Seconds, Tokens, Usd, document};
use fizeau_roofline::{HourlyRate, System, UniformLoad};
use serde::{Deserialize, Serialize};

use crate::server::{ReportedGauge, ReportedHistogram, ServerWindow};
use lengths::MeanLengths;
use step::MeanStep;

pub use error::AssessmentError;
pub use even_routing::EvenRoutingAssessment;
pub use lengths::{ContextEstimate, ContextSource};
pub use limit::ServingLimit;
pub use same_latency::SameLatency;

document! {
    /// How near the limit of its devices a server runs, by its own counters: production's share of the speed of light.
    ///
    /// The bound is that of the work which the counters tell of, at the batch that ran: a pass over the mean number of running requests,
    /// with the prompts that came in meanwhile, all overlapped. No engine on these devices can do this work with this batch any faster, so
    /// that a share above 1 means that something else is wrong: the devices, how many there are, the model's formats.
    #[non_exhaustive]
    pub struct ServingAssessment {
        /// The devices that serve.
        pub devices: u64,
        /// The requests in the running batch, on average over the window: by the gauge, or by the time between tokens where that says more.
        pub running: f64,
        /// The requests that waited, likewise.
        pub waiting?: f64,
        /// The share of the KV cache in use, 0 to 1.
        pub kv_use?: f64,
        /// The mean context of a running request; absent where nothing says it, and then bounds are those of empty contexts.
        pub context?: ContextEstimate,
        /// Generated tokens.
        pub output_tokens_per_s: PerSec,
        /// Tokens of prompts, cached ones among them.
        pub prompt_tokens_per_s?: PerSec,
        /// The share of them that a cache had, 0 to 1.
        pub cached_share: f64,
        /// The generated tokens that the bound allows with this batch.
        pub bound_output_tokens_per_s?: PerSec,
        /// The one over the other: 1 is the speed of light of this batch, above which nothing can be. Absent where nothing was generated.
        /// Of a mixture of experts [`ServingAssessment::headline`] says more.
        pub share?: f64,
        /// The same under balanced routing, of a mixture of experts: where that is not the bound.
        pub even_routing?: EvenRoutingAssessment,
        /// What limits it.
        pub limited_by: ServingLimit,
        /// Decode by itself.
        pub decode?: DecodeAssessment,
        /// Prefill by itself.
        pub prefill?: PrefillAssessment,
        /// The mean time that a request waited for the batch, where the server measures it.
        pub queue as "queue_ms"?: Millis,
        /// What a million generated tokens cost now, all of the devices' time theirs; absent without a price, or without tokens.
        pub usd_per_million_output_tokens?: Usd,
        /// What the bound allows at the time per token that users have now.
        pub same_latency?: SameLatency,
    }
}

/// The pace of decode against its bound.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DecodeAssessment {
    /// The requests that decoded at once: generated tokens a second, times the time of each.
    pub batch: f64,
    /// The time per output token.
    #[serde(rename = "tpot_ms")]
    pub tpot: Millis,
    /// The metric that says so.
    pub metric: String,
    /// The least time that a step over so many requests takes, a token's share of it.
    #[serde(rename = "bound_tpot_ms")]
    pub bound_tpot: Millis,
    /// The one over the other.
    pub share: f64,
    /// What the step of the bound waits for.
    pub limited_by: ServingLimit,
}

/// The time of prompts against its bound.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PrefillAssessment {
    /// The mean prompt.
    pub prompt_tokens: Tokens,
    /// From being scheduled to the first token, on average; the queue is not in it.
    #[serde(rename = "prefill_ms")]
    pub prefill: Millis,
    /// The least time of a prompt of that length which has the devices to itself.
    #[serde(rename = "bound_ms")]
    pub bound: Millis,
    /// The one over the other.
    pub share: f64,
    /// What the prompt of the bound waits for.
    pub limited_by: ServingLimit,
}

impl ServingAssessment {
    /// What `server` said over a window of that `length`, held against `system`: all devices behind that server, its replicas among
    /// them. At `price` a device, the cheapest of it.
    ///
    /// ```
    /// use fizeau_core::{Nanos, Stamp, UsdPerHour};
    /// use fizeau_roofline::{Deployment, Device, HourlyRate, KnownModel, System};
    /// use fizeau_telemetry::{Fetch, History, Page, ServerWindow, ServingAssessment, ServingLimit, Window};
    ///
    /// // Sixteen requests run all the time, and get 60 tokens a second each.
    /// let mut history = History::new();
    /// for second in 0..=10 {
    ///     let page = format!("vllm:num_requests_running 16\nvllm:generation_tokens_total {}\n", 960 * second);
    ///     let at = Stamp::EPOCH + Nanos::from_secs(second);
    ///     history.record(Fetch { requested: at, answered: at }, &Page::read(page.as_bytes(), None)?);
    /// }
    /// let length = Nanos::from_secs(10);
    /// let window = Window::within(Stamp::EPOCH, Stamp::EPOCH + length);
    /// let server = ServerWindow::of(&history, window, Nanos::from_secs(2));
    ///
    /// let model = KnownModel::named("llama-3.1-8b")?.model()?;
    /// let system = System::new(model, Device::named("h100-sxm")?.clone(), Deployment::SINGLE)?;
    /// let price = HourlyRate::given(UsdPerHour::new(2.0))?;
    /// let now = ServingAssessment::of(&server, length, &system, Some(&price))?;
    /// // A step reads 15.0 GB of weights in 4.48 ms; a token takes 16.7 ms.
    /// assert_eq!(format!("{:.3}", now.share.ok_or("tokens")?), "0.269");
    /// assert_eq!(now.limited_by, ServingLimit::Weights);
    /// assert_eq!(format!("{:.2}", now.usd_per_million_output_tokens.ok_or("a price")?.get()), "0.58");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the server tells neither its running requests nor its tokens, or the window has no length.
    pub fn of(
        server: &ServerWindow,
        length: Nanos,
        system: &System,
        price: Option<&HourlyRate>,
    ) -> Result<Self, AssessmentError> {
        let work = Work::of(server, length)?;
        let lengths = MeanLengths::of(server, &work, system);
        let step = (work.running > 0.0 && work.generated > 0.0)
            .then(|| MeanStep::of(system, &work, lengths.as_ref()));
        let decode = decode(server, system, &work, lengths.as_ref());
        let load = lengths.as_ref().and_then(|lengths| lengths.load(work.cached));
        let prefill = load.as_ref().and_then(|load| prefill(server, system, load));
        let cost = |rate: PerSec| price.and_then(|price| usd_per_million(system, price, rate));
        let same_latency = lengths.as_ref().zip(decode.as_ref()).and_then(|(lengths, decode)| {
            let target = Seconds::new(decode.tpot.get() / 1e3);
            SameLatency::of(system, &work, lengths, target, cost)
        });
        let rate = work.rate(work.generated);
        let bound = step.as_ref().map(|step| step.output_tokens_per_s);
        let even_routing = bound.and_then(|bound| {
            let phases = (decode.as_ref(), prefill.as_ref());
            EvenRoutingAssessment::of(system, &work, lengths.as_ref(), phases, bound, cost)
        });
        let mean = |gauge: &Option<ReportedGauge>| gauge.as_ref().map(|told| told.figure.mean);
        let kv_use = mean(&server.kv_use);
        let waiting = mean(&server.waiting);
        let limited_by = limit::judge(&limit::Signs {
            running: work.running,
            waiting,
            kv_use,
            most: load.as_ref().map(|load| system.max_batch(load)),
            step: step.as_ref().map(|step| &step.pass),
            is_working: work.generated > 0.0 || work.prompts > 0.0,
        });
        Ok(Self {
            devices: system.deployment().devices(),
            running: work.running,
            waiting,
            kv_use,
            context: lengths.as_ref().map(MeanLengths::context),
            output_tokens_per_s: rate,
            prompt_tokens_per_s: server
                .prompt_tokens
                .as_ref()
                .map(|told| work.rate(told.figure.delta)),
            cached_share: work.cached,
            bound_output_tokens_per_s: bound,
            share: bound.map(|bound| rate / bound),
            even_routing,
            limited_by,
            decode,
            prefill,
            queue: server.queue_time.as_ref().and_then(|told| told.figure.mean).map(Millis::new),
            usd_per_million_output_tokens: cost(rate),
            same_latency,
        })
    }

    /// The share of the speed of light to name first: that at even routing, of a mixture of experts, and else [`Self::share`].
    #[must_use]
    pub fn headline(&self) -> Option<f64> {
        self.even_routing.as_ref().map(|even| even.share).or(self.share)
    }

    /// Decode, held against the same.
    #[must_use]
    pub fn headline_decode(&self) -> Option<&DecodeAssessment> {
        self.even_routing.as_ref().map_or(self.decode.as_ref(), |even| even.decode.as_ref())
    }

    /// Prefill, held against the same.
    #[must_use]
    pub fn headline_prefill(&self) -> Option<&PrefillAssessment> {
        self.even_routing.as_ref().map_or(self.prefill.as_ref(), |even| even.prefill.as_ref())
    }

    /// What the same allows at the time per token of now.
    #[must_use]
    pub fn headline_same_latency(&self) -> Option<&SameLatency> {
        let even = self.even_routing.as_ref();
        even.map_or(self.same_latency.as_ref(), |even| even.same_latency.as_ref())
    }

    /// Whether more was done than the bound allows, by more than gauges that are looked at now and then explain.
    #[must_use]
    pub fn is_impossible(&self) -> bool {
        const TOLERANCE: f64 = 0.05;
        let shares = [self.share, self.decode.as_ref().map(|decode| decode.share)];
        shares.into_iter().flatten().any(|share| share > 1.0 + TOLERANCE)
    }
}

/// What the counters tell of a window.
#[derive(Clone, Copy)]
struct Work {
    length: Seconds,
    running: f64,
    generated: f64,
    prompts: f64,
    /// The share of the prompts' tokens that was not computed.
    cached: f64,
    /// Tokens that a step gives a request: more than 1 where drafts are accepted.
    tokens_per_step: f64,
}

impl Work {
    fn of(server: &ServerWindow, length: Nanos) -> Result<Self, AssessmentError> {
        let missing = |what| AssessmentError::NotReported { what, exporter: server.exporter };
        if length == Nanos::ZERO {
            return Err(AssessmentError::NoTime);
        }
        let running = server.running.as_ref().ok_or_else(|| missing("running requests"))?;
        let generated = server.generation_tokens.as_ref();
        let generated = generated.ok_or_else(|| missing("generated tokens"))?;
        let length = Seconds::new(length.as_secs_f64());
        // The time between tokens, of all requests together, says how many decoded (Little's law). It counts what came between two
        // pages too, of which a gauge says nothing: as a load begins it lags behind. Times are in milliseconds.
        let between_tokens = server.itl.as_ref().map_or(0.0, |told| told.figure.sum.delta / 1e3);
        Ok(Self {
            length,
            running: running.figure.mean.max(between_tokens / length.get()).max(0.0),
            generated: generated.figure.delta.max(0.0),
            prompts: server.prompt_tokens.as_ref().map_or(0.0, |told| told.figure.delta.max(0.0)),
            cached: server.cached_share().unwrap_or(0.0),
            tokens_per_step: server.tokens_per_step().unwrap_or(1.0),
        })
    }

    fn rate(&self, count: f64) -> PerSec {
        PerSec::new(count / self.length.get())
    }
}

fn decode(
    server: &ServerWindow,
    system: &System,
    work: &Work,
    lengths: Option<&MeanLengths>,
) -> Option<DecodeAssessment> {
    if work.generated <= 0.0 || work.running <= 0.0 {
        return None;
    }
    let told = |histogram: &Option<ReportedHistogram>| {
        let told = histogram.as_ref()?;
        Some((Millis::new(told.figure.mean.filter(|mean| *mean > 0.0)?), told.metric.clone()))
    };
    // Where drafts are accepted, the time between two events is not that of a token.
    let by_event = Some(&server.itl).filter(|_| work.tokens_per_step <= 1.0).and_then(told);
    let (tpot, metric) = by_event.or_else(|| told(&server.tpot)).or_else(|| {
        let metric = server.running.as_ref()?.metric.clone();
        Some(((work.length * (work.running / work.generated)).to_millis(), metric))
    })?;
    let batch = (work.rate(work.generated).get() * tpot.get() / 1e3).min(work.running);
    let told = DecodeAssessment {
        batch,
        tpot,
        metric,
        bound_tpot: Millis::new(0.0),
        share: 0.0,
        limited_by: ServingLimit::Idle,
    };
    Some(told.held_against(system, work, lengths))
}

impl DecodeAssessment {
    /// The same, held against the bound of `system`.
    fn held_against(self, system: &System, work: &Work, lengths: Option<&MeanLengths>) -> Self {
        let pass = MeanStep::decoding(system, self.batch, work.tokens_per_step, lengths);
        let bound_tpot = (pass.total * (1.0 / work.tokens_per_step)).to_millis();
        let (share, limited_by) = (bound_tpot / self.tpot, pass.binding.limit().into());
        Self { bound_tpot, share, limited_by, ..self }
    }
}

fn prefill(
    server: &ServerWindow,
    system: &System,
    load: &UniformLoad,
) -> Option<PrefillAssessment> {
    let took = server.prefill_time.as_ref()?.figure.mean.filter(|mean| *mean > 0.0)?;
    Some(PrefillAssessment::of(system, load, Millis::new(took)))
}

impl PrefillAssessment {
    /// Of a prompt of `load` that took so long.
    fn of(system: &System, load: &UniformLoad, prefill: Millis) -> Self {
        let alone = UniformLoad { concurrency: NonZeroU64::MIN, ..*load };
        let bound = system.bound_figures(&alone).ttft.to_millis();
        Self {
            prompt_tokens: load.input_tokens,
            prefill,
            bound,
            share: bound / prefill,
            limited_by: system.bound_pass(&system.prefill_pass(&alone)).binding.limit().into(),
        }
    }
}

fn usd_per_million(system: &System, price: &HourlyRate, rate: PerSec) -> Option<Usd> {
    let seconds = system.deployment().devices() as f64 / rate.get() * 1e6;
    seconds.is_finite().then(|| price.low * Seconds::new(seconds))
}

/// Far more tokens than a request has.
const MOST: f64 = 1e9;

/// Whole tokens of a mean length, at least one.
fn whole(tokens: f64) -> Tokens {
    Tokens::new(tokens.clamp(1.0, MOST) as u64)
}
