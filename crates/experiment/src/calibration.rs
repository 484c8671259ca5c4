//! What a client can do at most on its machine, against a server that costs it nothing to wait for.

mod process;
mod search;

use std::num::{NonZeroU32, NonZeroU64};

use fizeau_core::{EosRule, Millis, Nanos, PerSec, Tape, Tokens};
use fizeau_harness::{DriveLimits, LevelRun, Measure, PlannedLevel, TextAfter};
use fizeau_record::{CalibrationEnd, ClientCalibration, OnTimeStreams};
use fizeau_transport::{Backend, MonotonicClock, Route, Target};
use fizeau_workload::{ArrivalLaw, Length, Lengths, Plan, PlanSpec};

use crate::client::{ConnectionNeeds, PACED_SECONDS, PACED_TOKENS};
use crate::event::Watcher;
use crate::experiment::{Experiment, ExperimentKind};
use crate::input::{Blame, ExperimentError, InputError, InputField};
use crate::workload::{PlanParts, WorkloadSpec};
pub use process::ServerProcess;
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
        let (own, conduct) = (&experiment.settings, &experiment.conduct);
        let endpoint = conduct.endpoint.prepare_unnamed()?;
        // Of the routes that a server may have, the others cost the client about what completions do.
        let backend = match endpoint.target.route() {
            Route::Chat => Backend::VllmChat,
            _ => Backend::Vllm,
        };
        let reach = |base_url: &str| {
            let target = Target::new(base_url, backend, "echo");
            let target = target.blame(InputField::ClientCalibration)?;
            let target = target.keep_text(own.workload.keep_text(own.text));
            Ok::<Target, InputError>(endpoint.reached.apply_plain(target))
        };
        let parts = own.workload.parts(&reach("http://127.0.0.1:1")?)?;
        let mut server: Option<(ServerPace, S)> = None;
        let over_http = |pace: ServerPace, in_flight: u32| {
            let running = match server.take() {
                Some((of, running)) if of == pace => running,
                before => {
                    // One ends before the next begins.
                    drop(before);
                    (own.start)(pace)?
                }
            };
            let (_, running) = server.insert((pace, running));
            let target = reach(running.base_url())?;
            let client = conduct.client.prepare(ConnectionNeeds::of(in_flight.into()))?;
            client.start(&target, MonotonicClock::new(), parts.tokenizer.clone(), &conduct.cancel)
        };
        experiment.calibration(&parts, over_http).run().await
    }
}

impl<F> Experiment<CalibrationSettings<F>> {
    /// Calibrates over any transport, in either clock: `with` gives what measures a server of such a pace with at most so many requests
    /// in flight, or refuses their number as an [input](ExperimentError::Input) where there is no room for them. The server of the
    /// settings is not started, and what calls it off is the switch of what measures.
    ///
    /// # Errors
    /// If nothing completes, a request cannot be expressed, or it is called off: of half a calibration nothing is concluded.
    pub async fn calibrate_with<M: Measure>(
        &self,
        with: impl FnMut(ServerPace, u32) -> Result<M, ExperimentError>,
    ) -> Result<ClientCalibration, ExperimentError> {
        let endpoint = self.conduct.endpoint.prepare_unnamed()?;
        let parts = self.settings.workload.parts(&endpoint.target)?;
        self.calibration(&parts, with).run().await
    }

    const fn calibration<'a, W>(&self, parts: &'a PlanParts, with: W) -> Calibration<'a, W> {
        let CalibrationSettings { text, streams, .. } = self.settings;
        let lateness = self.conduct.client.thresholds.lateness_suspect;
        Calibration { with, parts, text, streams, lateness }
    }
}

/// A calibration under way.
struct Calibration<'a, W> {
    /// Gives what measures a server of that pace with so many requests in flight.
    with: W,
    /// What is asked.
    parts: &'a PlanParts,
    text: TextAfter,
    streams: u32,
    /// A request that leaves later than this is late.
    lateness: Millis,
}

impl<M, W> Calibration<'_, W>
where
    M: Measure,
    W: FnMut(ServerPace, u32) -> Result<M, ExperimentError>,
{
    async fn run(mut self) -> Result<ClientCalibration, ExperimentError> {
        let flat = self.flat_out().await?;
        let (throughput, streams) = (flat.summary.throughput, self.streams.into());
        Ok(ClientCalibration {
            threads: flat.client.watch.threads as usize,
            streams,
            tokens_per_s: throughput.output_tokens_per_s,
            requests_per_s: throughput.requests_per_s,
            on_time: self.on_time().await?,
        })
    }

    /// As many tokens as there is time for, in a closed loop.
    async fn flat_out(&mut self) -> Result<LevelRun, ExperimentError> {
        let streams = self.streams;
        let level = CalibrationLevel {
            // Time is up long before.
            requests: u64::from(u32::MAX),
            output_tokens: None,
            arrivals: ArrivalLaw::ClosedLoop,
            load: DriveLimits { max_in_flight: NonZeroU32::new(streams), stop_after: Some(FLAT) },
            warmup: streams.into(),
        };
        let with = (self.with)(ServerPace { ttft: Nanos::ZERO, itl: Nanos::ZERO }, streams)?;
        let run = self.measure(with, level).await?;
        if run.summary.requests.completed == 0 {
            return Err(ExperimentError::broken(
                "no request to the calibration's server completed",
            ));
        }
        Ok(run)
    }

    /// Doubles the paced streams until requests leave too late, or halves them until they do not.
    async fn on_time(&mut self) -> Result<OnTimeStreams, ExperimentError> {
        let mut search = LimitSearch::new(self.streams, STEPS);
        while let Some(streams) = search.next() {
            search.note(self.begins(streams).await?);
        }
        Ok(OnTimeStreams {
            streams: search.best(),
            stream_tokens_per_s: PerSec::new(1.0 / ITL.as_secs_f64()),
            lateness_ms: self.lateness,
            reached: if search.has_failed() {
                CalibrationEnd::Limit
            } else {
                CalibrationEnd::EndOfSearch
            },
        })
    }

    /// Whether `streams` paced streams begin on time. More than the system has room for do not.
    async fn begins(&mut self, streams: u32) -> Result<LevelOutcome, ExperimentError> {
        let cap = streams.saturating_mul(2);
        let with = match (self.with)(ServerPace { ttft: TTFT, itl: ITL }, cap) {
            Err(ExperimentError::Input(_)) => return Ok(LevelOutcome::Ill),
            with => with?,
        };
        let rate = f64::from(streams) / PACED_SECONDS;
        let level = CalibrationLevel {
            requests: (rate * STEP_SECONDS).ceil() as u64,
            output_tokens: Some(PACED_TOKENS),
            arrivals: ArrivalLaw::Constant { rate: PerSec::new(rate) },
            load: DriveLimits { max_in_flight: NonZeroU32::new(cap), stop_after: None },
            warmup: 0,
        };
        let summary = self.measure(with, level).await?.summary;
        let lateness = &summary.metrics.send_lateness;
        let tail = lateness.p99.value().or(lateness.max);
        let is_on_time = tail.is_some_and(|tail| tail.get() <= self.lateness.get());
        Ok(if is_on_time && summary.requests.failed == 0 {
            LevelOutcome::Well
        } else {
            LevelOutcome::Ill
        })
    }

    async fn measure(
        &self,
        mut with: M,
        level: CalibrationLevel,
    ) -> Result<LevelRun, ExperimentError> {
        let plan = self.plan(&level)?;
        let CalibrationLevel { warmup, load, .. } = level;
        let planned = PlannedLevel { warmup, text: self.text, ..PlannedLevel::new(&plan, load) };
        let mut nowhere: Option<Vec<Tape>> = None;
        let run = with.measure(planned, &mut nowhere, &mut ()).await;
        let run = run.map_err(ExperimentError::told)?;
        match run.is_partial() {
            true => Err(ExperimentError::broken("the calibration was called off")),
            false => Ok(run),
        }
    }

    /// The prompts of a level.
    fn plan(&self, level: &CalibrationLevel) -> Result<Plan, InputError> {
        let spec = &self.parts.spec;
        let lengths = match level.output_tokens {
            None => spec.lengths.clone(),
            Some(output) => with_output(&spec.lengths, output),
        };
        self.parts.plan_of(PlanSpec {
            requests: NonZeroU64::new(level.requests).unwrap_or(NonZeroU64::MIN),
            arrivals: level.arrivals.clone(),
            lengths,
            // The server has no end of its own.
            eos: EosRule::Ignore,
            ..spec.clone()
        })
    }
}

/// Prompts of the same lengths, and outputs of `tokens`.
fn with_output(lengths: &Lengths, tokens: u64) -> Lengths {
    let input = match lengths {
        Lengths::Independent { input, .. } => input.clone(),
        Lengths::Pairs(_) => Length::Fixed(lengths.quantile(0.5).input),
    };
    Lengths::Independent { input, output: Length::Fixed(Tokens::new(tokens)) }
}
