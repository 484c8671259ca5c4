//! What a client can do at most on its machine, against a server that costs it nothing to wait for.

mod search;

use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;

use fizeau_core::{EosRule, Millis, Nanos, PerSec, Tape, Tokens};
use fizeau_harness::{Cancel, Load, Measure, PlannedLevel, TextAfter};
use fizeau_metrics::LevelSummary;
use fizeau_record::{CalibrationEnd, ClientCalibration, OnTimeStreams};
use fizeau_transport::{Backend, MonotonicClock, Target};
use fizeau_workload::{Arrivals, Length, Lengths, Plan, Spec, TextCodec};

use crate::client::{Client, ClientSpec, ConnectionNeeds, PACED_SECONDS, PACED_TOKENS};
use crate::endpoint::ConnectionSpec;
use crate::input::{Blame, ExperimentError, Field, InputError};
use crate::workload::WorkloadSpec;
use search::{Search, Went};

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
struct Level {
    requests: u64,
    /// Where it is not the run's own.
    output_tokens: Option<u64>,
    arrivals: Arrivals,
    load: Load,
    warmup: u64,
}

/// The client that is to be measured, and the requests that it sends.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CalibrationSpec {
    /// The client.
    pub client: ClientSpec,
    /// How the server is reached, as far as a server on loopback can follow.
    pub connections: ConnectionSpec,
    /// What is asked: made-up prompts.
    pub workload: WorkloadSpec,
    /// What becomes of the text of replies.
    pub text: TextAfter,
    /// What the server speaks.
    pub backend: Backend,
    /// How many streams there are flat out; with as many the search for the paced ones begins.
    pub streams: u32,
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

impl CalibrationSpec {
    /// The streams where the run does not limit them.
    pub const STREAMS: u32 = 256;

    /// The usual client with prompts of `workload`, to a server that speaks as vLLM does.
    pub fn new(workload: WorkloadSpec) -> Self {
        Self {
            client: ClientSpec::default(),
            connections: ConnectionSpec::default(),
            workload,
            text: TextAfter::Drop,
            backend: Backend::Vllm,
            streams: Self::STREAMS,
        }
    }

    /// Measures, in some fifteen seconds, against two servers that `start` starts one after the other.
    ///
    /// # Errors
    /// If an input is wrong, the system refuses what a client needs, a server does not start, or none of its replies is whole.
    pub async fn run<S: PacedServer>(
        &self,
        start: impl Fn(ServerPace) -> Result<S, ExperimentError>,
    ) -> Result<ClientCalibration, ExperimentError> {
        let server = start(ServerPace { ttft: Nanos::ZERO, itl: Nanos::ZERO })?;
        let throughput = self.flat_out(&server).await?.throughput;
        drop(server);
        let server = start(ServerPace { ttft: TTFT, itl: ITL })?;
        let on_time = self.on_time(&server).await?;
        Ok(ClientCalibration {
            threads: self.client.prepare(ConnectionNeeds::of(1))?.threads(),
            streams: self.streams.into(),
            tokens_per_s: throughput.output_tokens_per_s,
            requests_per_s: throughput.requests_per_s,
            on_time,
        })
    }

    /// As many tokens as there is time for, in a closed loop.
    async fn flat_out(&self, server: &impl PacedServer) -> Result<LevelSummary, ExperimentError> {
        let streams = self.streams;
        let level = Level {
            // Time is up long before.
            requests: u64::from(u32::MAX),
            output_tokens: None,
            arrivals: Arrivals::ClosedLoop,
            load: Load { max_in_flight: NonZeroU32::new(streams), stop_after: Some(FLAT) },
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
        let mut search = Search::new(self.streams, STEPS);
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
    ) -> Result<Went, ExperimentError> {
        let cap = streams.saturating_mul(2);
        let Ok(client) = self.client.prepare(ConnectionNeeds::of(cap.into())) else {
            return Ok(Went::Ill);
        };
        let rate = f64::from(streams) / PACED_SECONDS;
        let level = Level {
            requests: (rate * STEP_SECONDS).ceil() as u64,
            output_tokens: Some(PACED_TOKENS),
            arrivals: Arrivals::Constant { rate: PerSec::new(rate) },
            load: Load { max_in_flight: NonZeroU32::new(cap), stop_after: None },
            warmup: 0,
        };
        let summary = self.measure(server, &client, level).await?;
        let lateness = &summary.metrics.send_lateness;
        let tail = lateness.p99.value().or(lateness.max);
        let is_on_time = tail.is_some_and(|tail| tail.get() <= limit.get());
        Ok(if is_on_time && summary.requests.failed == 0 { Went::Well } else { Went::Ill })
    }

    async fn measure(
        &self,
        server: &impl PacedServer,
        client: &Client,
        level: Level,
    ) -> Result<LevelSummary, ExperimentError> {
        let target = Target::new(server.base_url(), self.backend, "echo");
        let target = target.blame(Field::ClientCalibration)?;
        let target = target.keep_text(self.workload.keep_text(self.text));
        let target = self.connections.apply_plain(target);
        let (plan, tokenizer) = self.plan(&target, &level)?;
        let clock = MonotonicClock::new();
        let mut crew = client.start(&target, clock, tokenizer, &Cancel::new())?;
        let Level { warmup, load, .. } = level;
        let planned = PlannedLevel { warmup, text: self.text, ..PlannedLevel::new(&plan, load) };
        let mut nowhere: Option<Vec<Tape>> = None;
        let run =
            crew.measure(planned, &mut nowhere, &mut ()).await.map_err(ExperimentError::broken)?;
        Ok(run.summary)
    }

    /// The prompts of a level, and what counts their tokens where the server does not.
    fn plan(&self, target: &Target, level: &Level) -> Result<(Plan, Tokenizer), InputError> {
        let mut made_up = self.workload.parts(target)?;
        let lengths = match level.output_tokens {
            None => made_up.spec.lengths.clone(),
            Some(output) => with_output(&made_up.spec.lengths, output),
        };
        made_up.spec = Spec {
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
