//! `fizeau bench --calibrate`: what this client can do at most on this machine, against a server that costs it nothing to
//! wait for.

mod echo;
mod search;

use std::fmt;
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;

use fizeau::core::{EosRule, Millis, Nanos, PerSec, Tokens};
use fizeau::experiment::{Client, ConnectionNeeds, WorkloadSpec};
use fizeau::harness::{Cancel, Load, Measure, PlannedLevel};
use fizeau::metrics::{Ceiling, LevelSummary, OnTimeLimit};
use fizeau::transport::{Backend, MonotonicClock, Route, Target};
use fizeau::workload::{Arrivals, Length, Lengths, Plan, Spec, TextCodec};
use serde::Serialize;

use crate::args::BenchArgs;
use crate::commands::bench;
use crate::commands::shared::client;
use crate::commands::shared::{endpoint, workload};
use crate::exit::{Fail, Named};
use crate::terminal::progress::Waiting;
use crate::terminal::runtime;
use echo::{Echo, Pace};
use search::{Search, Went};

/// What this client can do at most on this machine, with requests of the run's shape.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Calibration {
    threads: usize,
    /// Flat out.
    streams: u64,
    tokens_per_s: PerSec,
    requests_per_s: PerSec,
    on_time: OnTime,
}

impl Calibration {
    /// What a run is held against. The paced streams limit it only where the search came to a limit.
    pub(crate) fn ceiling(&self) -> Ceiling {
        let OnTime { streams, reached, .. } = self.on_time;
        let on_time = OnTimeLimit {
            streams: streams.into(),
            // Before its tokens a stream waits for the first one.
            tokens_per_s: PerSec::new(f64::from(streams) * TOKENS as f64 / STREAM_SECONDS),
        };
        let has_limit = reached == Reached::Limit && streams > 0;
        Ceiling {
            streams: self.streams,
            tokens_per_s: self.tokens_per_s,
            on_time: has_limit.then_some(on_time),
        }
    }
}

/// How many paced streams the client serves on time.
#[derive(Debug, Clone, Copy, Serialize)]
struct OnTime {
    /// The most at which no more than one request in a hundred left too late; 0 if none did.
    streams: u32,
    /// The tokens of each per second.
    stream_tokens_per_s: PerSec,
    /// What is too late.
    lateness_ms: Millis,
    /// Whether more was tried.
    reached: Reached,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Reached {
    /// More was too much.
    Limit,
    /// The search ended before the limit was found.
    EndOfSearch,
}

/// How long it is pressed flat out.
const FLAT: Nanos = Nanos::from_secs(3);

/// The paced streams: half a second each, so that many begin and end in a short time.
const TTFT: Nanos = Nanos::from_millis(50);
const ITL: Nanos = Nanos::from_millis(10);
const TOKENS: u64 = 50;

/// How long a paced stream takes.
const STREAM_SECONDS: f64 = 0.54;

/// How long paced streams are begun at each step of the search.
const STEP_SECONDS: f64 = 1.2;

/// How many steps the search takes at most, of two seconds each.
const STEPS: usize = 5;

/// The streams where the run does not limit them.
const STREAMS: u32 = 256;

/// Whether a run is asked for beside the calibration: an endpoint or a model is named.
pub(crate) const fn has_run(args: &BenchArgs) -> bool {
    let endpoint = &args.endpoint;
    !endpoint.base_url.is_empty()
        || args.host.host.is_some()
        || args.host.port.is_some()
        || endpoint.model.is_some()
        || endpoint.served_model_name.is_some()
}

/// Measures the ceiling for requests of the shape that `args` ask for on `route`.
pub(crate) fn run(args: &BenchArgs, route: Route) -> Result<Calibration, Fail> {
    let cap = args.level.load.max_concurrency.and_then(|cap| u32::try_from(cap).ok());
    let all =
        args.level.load.num_prompts.map_or(u32::MAX, |all| u32::try_from(all).unwrap_or(u32::MAX));
    let streams = cap.unwrap_or(STREAMS).min(all).max(1);
    let _running = Waiting::for_calibration();
    let bench = Bench { args, backend: backend(route) };
    runtime::single()?.block_on(async {
        let flat = bench.flat_out(streams).await?;
        let on_time = bench.on_time(streams).await?;
        let throughput = &flat.throughput;
        Ok(Calibration {
            threads: client::spec(&args.client)?.prepare(ConnectionNeeds::of(1))?.threads(),
            streams: streams.into(),
            tokens_per_s: throughput.output_tokens_per_s,
            requests_per_s: throughput.requests_per_s,
            on_time,
        })
    })
}

/// The embedded server speaks two routes; the others cost the client about what completions do.
const fn backend(route: Route) -> Backend {
    if matches!(route, Route::Chat) { Backend::VllmChat } else { Backend::Vllm }
}

/// Counts where the server does not.
type Tokenizer = Option<Arc<dyn TextCodec>>;

/// What all levels of a calibration have in common.
struct Bench<'a> {
    args: &'a BenchArgs,
    backend: Backend,
}

/// One level of it.
struct Level {
    requests: u64,
    /// Where it is not the run's own.
    output_tokens: Option<u64>,
    arrivals: Arrivals,
    load: Load,
    warmup: u64,
}

impl Bench<'_> {
    /// As many tokens as there is time for, in a closed loop.
    async fn flat_out(&self, streams: u32) -> Result<LevelSummary, Fail> {
        let server = Echo::start(Pace { ttft: Nanos::ZERO, itl: Nanos::ZERO })?;
        let level = Level {
            // Time is up long before.
            requests: u64::from(u32::MAX),
            output_tokens: None,
            arrivals: Arrivals::ClosedLoop,
            load: Load { max_in_flight: NonZeroU32::new(streams), stop_after: Some(FLAT) },
            warmup: streams.into(),
        };
        let client =
            client::spec(&self.args.client)?.prepare(ConnectionNeeds::of(streams.into()))?;
        let summary = self.measure(&server, &client, level).await?;
        if summary.requests.completed == 0 {
            return Err(Fail::broken("--calibrate: no request to the embedded server completed"));
        }
        Ok(summary)
    }

    /// Doubles the paced streams until requests leave too late, or halves them until they do not.
    async fn on_time(&self, start: u32) -> Result<OnTime, Fail> {
        let server = Echo::start(Pace { ttft: TTFT, itl: ITL })?;
        let limit = client::spec(&self.args.client)?.thresholds.lateness_suspect;
        let mut search = Search::new(start, STEPS);
        while let Some(streams) = search.next() {
            search.note(self.begins(&server, streams, limit).await?);
        }
        Ok(OnTime {
            streams: search.best(),
            stream_tokens_per_s: PerSec::new(1.0 / ITL.as_secs_f64()),
            lateness_ms: limit,
            reached: if search.has_failed() { Reached::Limit } else { Reached::EndOfSearch },
        })
    }

    /// Whether `streams` paced streams begin on time. More than the system has room for do not.
    async fn begins(&self, server: &Echo, streams: u32, limit: Millis) -> Result<Went, Fail> {
        let cap = streams.saturating_mul(2);
        let Ok(client) = client::spec(&self.args.client)?.prepare(ConnectionNeeds::of(cap.into()))
        else {
            return Ok(Went::Ill);
        };
        let rate = f64::from(streams) / STREAM_SECONDS;
        let level = Level {
            requests: (rate * STEP_SECONDS).ceil() as u64,
            output_tokens: Some(TOKENS),
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
        server: &Echo,
        client: &Client,
        level: Level,
    ) -> Result<LevelSummary, Fail> {
        let target = Target::new(server.base_url(), self.backend, "echo").named("--calibrate")?;
        let text = bench::text_after(&self.args.level);
        let keep = self.made_up()?.keep_text(text);
        let target =
            endpoint::reached(&self.args.endpoint.connections).apply_plain(target.keep_text(keep));
        let (plan, tokenizer) = self.plan(&target, &level)?;
        let clock = MonotonicClock::new();
        let mut crew = client.start(&target, clock, tokenizer, &Cancel::new())?;
        let Level { warmup, load, .. } = level;
        let planned = PlannedLevel { warmup, text, ..PlannedLevel::new(&plan, load) };
        let mut nowhere: Option<Vec<fizeau::core::Tape>> = None;
        let run = crew.measure(planned, &mut nowhere, &mut ()).await.map_err(Fail::broken)?;
        Ok(run.summary)
    }

    /// Made-up prompts of the lengths that the flags ask for, which is not what a data set has.
    fn plan(&self, target: &Target, level: &Level) -> Result<(Plan, Tokenizer), Fail> {
        let mut made_up = self.made_up()?.parts(target)?;
        let lengths = match level.output_tokens {
            None => made_up.spec.lengths.clone(),
            Some(output) => with_output(&made_up.spec.lengths, output),
        };
        made_up.spec = Spec {
            requests: NonZeroU64::new(level.requests).unwrap_or(NonZeroU64::MIN),
            arrivals: level.arrivals.clone(),
            lengths,
            // The embedded server has no end of its own.
            eos: EosRule::Ignore,
            ..made_up.spec.clone()
        };
        let tokenizer = made_up.tokenizer.clone();
        Ok((made_up.plan()?, tokenizer))
    }

    fn made_up(&self) -> Result<WorkloadSpec, Fail> {
        workload::made_up(&self.args.level.workload, bench::nominal(&self.args.level))
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

impl fmt::Display for Calibration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { threads, streams, tokens_per_s, requests_per_s, on_time } = self;
        let least = if on_time.reached == Reached::EndOfSearch { "at least " } else { "" };
        writeln!(f, "this client's own ceiling on this machine, {threads} threads:")?;
        writeln!(
            f,
            "  flat out, {streams} streams    {:.0} tokens/s, {:.0} requests/s",
            tokens_per_s.get(),
            requests_per_s.get()
        )?;
        writeln!(
            f,
            "  sent on time up to      {least}{} streams of {:.0} tokens/s",
            on_time.streams,
            on_time.stream_tokens_per_s.get()
        )?;
        writeln!(
            f,
            "                          (lateness p99 at most {} ms)",
            on_time.lateness_ms.get()
        )?;
        writeln!(
            f,
            "over plain HTTP/1.1: TLS and HTTP/2 cost more, which is not in these figures"
        )?;
        f.write_str("a lower estimate: the embedded server shares the machine with the client")
    }
}
