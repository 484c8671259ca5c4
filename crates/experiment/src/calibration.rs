//! What a client can do at most on its machine, against a server that costs it nothing to wait for.

mod search;

use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;

use fizeau_core::{EosRule, Millis, Nanos, PerSec, Tape, Tokens};
use fizeau_harness::{Cancel, DriveLimits, Measure, PlannedLevel, TextAfter};
use fizeau_metrics::LevelSummary;
use fizeau_record::{CalibrationEnd, ClientCalibration, OnTimeStreams};
use fizeau_transport::{Backend, MonotonicClock, Route, Target};
use fizeau_workload::{ArrivalLaw, Length, Lengths, Plan, PlanSpec, TextCodec};

use crate::client::{ClientSpec, ConnectionNeeds, MeasuringClient, PACED_SECONDS, PACED_TOKENS};
use crate::endpoint::ConnectionSpec;
use crate::event::Watcher;
use crate::experiment::{Experiment, ExperimentKind};
use crate::input::{Blame, ExperimentError, InputError, InputField};
use crate::workload::WorkloadSpec;
use search::{LevelOutcome, LimitSearch};

/// How long it is pressed flat out.
const FLAT: Nanos = Nanos::from_secs(3);

/// The paced streams: half a second each, so that many begin and end in a short time.
const TTFT: Nanos = Nanos::from_millis(50);
const ITL: Nanos = Nanos::from_millis(10);

/// How long paced streams are begun at each step of the search.
const STEP_SECONDS: f64 = 1.2;

/// How many steps the search takes at most, of two seconds each.
const STEPS: usize = 5;

/// One level of it.
struct CalibrationLevel {
    requests: u64,
    /// Where it is not the run's own.
    output_tokens: Option<u64>,
    arrivals: ArrivalLaw,
    load: DriveLimits,
    warmup: u64,
}

/// What a client is calibrated with: what it can do at most on its machine with such requests, told of the [client](Experiment::client)
/// of an experiment, whose endpoint is not called.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CalibrationSettings<F> {
    /// What is asked: made-up prompts.
    pub workload: WorkloadSpec,
    /// What becomes of the text of replies.
    pub text: TextAfter,
    /// How many streams there are flat out; with as many the search for the paced ones begins.
    pub streams: u32,
    /// Starts a server of such a pace.
    pub start: F,
}

/// A server that answers at a pace of its own and costs the client nothing to wait for, best in a process of its own. It ends when
/// this is dropped.
pub trait PacedServer {
    /// Where it is.
    fn base_url(&self) -> &str;
}

/// How fast a server sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerPace {
    /// The time to a reply's first token.
    pub ttft: Nanos,
    /// The time between its tokens.
    pub itl: Nanos,
}

/// The streams where the run does not limit them.
const STREAMS: u32 = 256;

impl<F> CalibrationSettings<F> {
    /// Prompts of `workload` to servers that `start` starts: two, one after the other.
    pub const fn new(workload: WorkloadSpec, start: F) -> Self {
        Self { workload, text: TextAfter::Drop, streams: STREAMS, start }
    }
}

impl<F, S> ExperimentKind for CalibrationSettings<F>
where
    F: Fn(ServerPace) -> Result<S, ExperimentError> + Clone + Send + 'static,
    S: PacedServer,
{
    type Outcome = ClientCalibration;

    /// It takes some fifteen seconds.
    async fn run(
        experiment: &Experiment<Self>,
        _: &mut impl Watcher,
    ) -> Result<ClientCalibration, ExperimentError> {
        let (own, client) = (&experiment.settings, &experiment.conduct.client);
        let endpoint = experiment.conduct.endpoint.prepare_unnamed()?;
        let calibration = Calibration {
            client,
            reached: &endpoint.reached,
            workload: &own.workload,
            text: own.text,
            // Of the routes that a server may have, the others cost the client about what completions do.
            backend: match endpoint.target.route() {
                Route::Chat => Backend::VllmChat,
                _ => Backend::Vllm,
            },
            streams: own.streams,
        };
        let server = (own.start)(ServerPace { ttft: Nanos::ZERO, itl: Nanos::ZERO })?;
        let throughput = calibration.flat_out(&server).await?.throughput;
        drop(server);
        let server = (own.start)(ServerPace { ttft: TTFT, itl: ITL })?;
        let on_time = calibration.on_time(&server).await?;
        Ok(ClientCalibration {
            threads: client.prepare(ConnectionNeeds::of(1))?.threads(),
            streams: own.streams.into(),
            tokens_per_s: throughput.output_tokens_per_s,
            requests_per_s: throughput.requests_per_s,
            on_time,
        })
    }
}

/// A calibration under way.
struct Calibration<'a> {
    client: &'a ClientSpec,
    reached: &'a ConnectionSpec,
    workload: &'a WorkloadSpec,
    text: TextAfter,
    backend: Backend,
    streams: u32,
}

impl Calibration<'_> {
    /// As many tokens as there is time for, in a closed loop.
    async fn flat_out(&self, server: &impl PacedServer) -> Result<LevelSummary, ExperimentError> {
        let streams = self.streams;
        let level = CalibrationLevel {
            // Time is up long before.
            requests: u64::from(u32::MAX),
            output_tokens: None,
            arrivals: ArrivalLaw::ClosedLoop,
            load: DriveLimits { max_in_flight: NonZeroU32::new(streams), stop_after: Some(FLAT) },
            warmup: streams.into(),
        };
        let client = self.client.prepare(ConnectionNeeds::of(streams.into()))?;
        let summary = self.measure(server, &client, level).await?;
        if summary.requests.completed == 0 {
            return Err(ExperimentError::broken(
                "no request to the calibration's server completed",
            ));
        }
        Ok(summary)
    }

    /// Doubles the paced streams until requests leave too late, or halves them until they do not.
    async fn on_time(&self, server: &impl PacedServer) -> Result<OnTimeStreams, ExperimentError> {
        let limit = self.client.thresholds.lateness_suspect;
        let mut search = LimitSearch::new(self.streams, STEPS);
        while let Some(streams) = search.next() {
            search.note(self.begins(server, streams, limit).await?);
        }
        Ok(OnTimeStreams {
            streams: search.best(),
            stream_tokens_per_s: PerSec::new(1.0 / ITL.as_secs_f64()),
            lateness_ms: limit,
            reached: if search.has_failed() {
                CalibrationEnd::Limit
            } else {
                CalibrationEnd::EndOfSearch
            },
        })
    }

    /// Whether `streams` paced streams begin on time. More than the system has room for do not.
    async fn begins(
        &self,
        server: &impl PacedServer,
        streams: u32,
        limit: Millis,
    ) -> Result<LevelOutcome, ExperimentError> {
        let cap = streams.saturating_mul(2);
        let Ok(client) = self.client.prepare(ConnectionNeeds::of(cap.into())) else {
            return Ok(LevelOutcome::Ill);
        };
        let rate = f64::from(streams) / PACED_SECONDS;
        let level = CalibrationLevel {
            requests: (rate * STEP_SECONDS).ceil() as u64,
            output_tokens: Some(PACED_TOKENS),
            arrivals: ArrivalLaw::Constant { rate: PerSec::new(rate) },
            load: DriveLimits { max_in_flight: NonZeroU32::new(cap), stop_after: None },
            warmup: 0,
        };
        let summary = self.measure(server, &client, level).await?;
        let lateness = &summary.metrics.send_lateness;
        let tail = lateness.p99.value().or(lateness.max);
        let is_on_time = tail.is_some_and(|tail| tail.get() <= limit.get());
        Ok(if is_on_time && summary.requests.failed == 0 {
            LevelOutcome::Well
        } else {
            LevelOutcome::Ill
        })
    }

    async fn measure(
        &self,
        server: &impl PacedServer,
        client: &MeasuringClient,
        level: CalibrationLevel,
    ) -> Result<LevelSummary, ExperimentError> {
        let target = Target::new(server.base_url(), self.backend, "echo");
        let target = target.blame(InputField::ClientCalibration)?;
        let target = target.keep_text(self.workload.keep_text(self.text));
        let target = self.reached.apply_plain(target);
        let (plan, tokenizer) = self.plan(&target, &level)?;
        let clock = MonotonicClock::new();
        let mut pool = client.start(&target, clock, tokenizer, &Cancel::new())?;
        let CalibrationLevel { warmup, load, .. } = level;
        let planned = PlannedLevel { warmup, text: self.text, ..PlannedLevel::new(&plan, load) };
        let mut nowhere: Option<Vec<Tape>> = None;
        let run =
            pool.measure(planned, &mut nowhere, &mut ()).await.map_err(ExperimentError::broken)?;
        Ok(run.summary)
    }

    /// The prompts of a level, and what counts their tokens where the server does not.
    fn plan(
        &self,
        target: &Target,
        level: &CalibrationLevel,
    ) -> Result<(Plan, Tokenizer), InputError> {
        let mut made_up = self.workload.parts(target)?;
        let lengths = match level.output_tokens {
            None => made_up.spec.lengths.clone(),
            Some(output) => with_output(&made_up.spec.lengths, output),
        };
        made_up.spec = PlanSpec {
            requests: NonZeroU64::new(level.requests).unwrap_or(NonZeroU64::MIN),
            arrivals: level.arrivals.clone(),
            lengths,
            // The server has no end of its own.
            eos: EosRule::Ignore,
            ..made_up.spec.clone()
        };
        let tokenizer = made_up.tokenizer.clone();
        Ok((made_up.plan()?, tokenizer))
    }
}

/// Counts where the server does not.
type Tokenizer = Option<Arc<dyn TextCodec>>;

/// Prompts of the same lengths, and outputs of `tokens`.
fn with_output(lengths: &Lengths, tokens: u64) -> Lengths {
    let input = match lengths {
        Lengths::Independent { input, .. } => input.clone(),
        Lengths::Pairs(_) => Length::Fixed(lengths.quantile(0.5).input),
    };
    Lengths::Independent { input, output: Length::Fixed(Tokens::new(tokens)) }
}
