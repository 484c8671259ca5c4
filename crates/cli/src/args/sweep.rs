//! `fizeau sweep`.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;

use clap::Args;
use fizeau::core::{LoadKind, Nanos};

use super::choice::choice;
use super::values::{seconds, share, time};
use super::{
    ChoosingArgs, ClientArgs, EndpointArgs, GoalArgs, LiveArgs, PriceArgs, SamplingArgs, ShardArgs,
    SpacingArgs, SpeedOfLightArgs, TargetArgs, TelemetryArgs, TrustArgs, WindowArgs, WorkloadArgs,
};
use crate::exit::{Fail, refuse_given};

#[derive(Debug, Clone, Args)]
pub(crate) struct SweepArgs {
    #[command(flatten)]
    pub(crate) levels: LevelsArgs,
    #[command(flatten)]
    pub(crate) protocol: ProtocolArgs,
    /// Continue a sweep that was broken off: give the same flags, and its folder. Levels that are finished there are not measured
    /// again.
    #[arg(long, value_name = "DIR", conflicts_with = "out", help_heading = "Protocol")]
    pub(crate) resume: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) measure: MeasureArgs,
    /// Sweep several systems one after the other with the same requests, each into a folder of its name, and show the frontier of
    /// each and of all; give the flag once for each system. `fizeau pareto DIR` shows it again, on other axes too.
    #[arg(long, value_name = "NAME=URL", help_heading = "Endpoint")]
    pub(crate) system: Vec<String>,
}

/// What a sweep and a search have in common: whom they measure, with what, and what the levels are held against.
#[derive(Debug, Clone, Args)]
pub(crate) struct MeasureArgs {
    #[command(flatten)]
    pub(crate) size: LevelSizeArgs,
    /// The time for all of it, such as 20m, 90s or 1h. A sweep divides it among levels, repeats, refinement and the sustained run; a
    /// search among its levels and the long ones of --confirm, and at the end it says what more time would give.
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = "Protocol")]
    pub(crate) budget: Option<Nanos>,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) endpoint: EndpointArgs,
    #[command(flatten)]
    pub(crate) workload: WorkloadArgs,
    #[command(flatten)]
    pub(crate) sampling: SamplingArgs,
    #[command(flatten)]
    pub(crate) client: ClientArgs,
    #[command(flatten)]
    pub(crate) shards: ShardArgs,
    #[command(flatten)]
    pub(crate) verdict: VerdictArgs,
    #[command(flatten)]
    pub(crate) telemetry: TelemetryArgs,
    #[command(flatten)]
    pub(crate) speed_of_light: SpeedOfLightArgs,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    #[command(flatten)]
    pub(crate) subject: SubjectArgs,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    #[command(flatten)]
    pub(crate) live: LiveArgs,
}

impl MeasureArgs {
    /// Such `levels` of it.
    pub(crate) const fn series<'a>(&'a self, levels: &'a LevelsArgs) -> SeriesArgs<'a> {
        let Self {
            size,
            workload,
            verdict: VerdictArgs { goals, choosing, price, .. },
            window,
            ..
        } = self;
        SeriesArgs { levels, size, workload, goals, choosing, price, window }
    }
}

/// The flags of a series of levels, whoever answers.
#[derive(Clone, Copy)]
pub(crate) struct SeriesArgs<'a> {
    pub(crate) levels: &'a LevelsArgs,
    pub(crate) size: &'a LevelSizeArgs,
    pub(crate) workload: &'a WorkloadArgs,
    pub(crate) goals: &'a GoalArgs,
    pub(crate) choosing: &'a ChoosingArgs,
    pub(crate) price: &'a PriceArgs,
    pub(crate) window: &'a WindowArgs,
}

/// Which loads a sweep has.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Levels")]
pub(crate) struct LevelsArgs {
    /// The concurrencies to measure, from the lowest to the highest; by default 1,2,4,8,16,32,64,128, and none where --rates names rates.
    /// Given several times, all of them.
    #[arg(long, visible_alias = "concurrency", value_delimiter = ',')]
    #[arg(env = "FIZEAU_LEVELS", value_name = "N,...")]
    pub(crate) levels: Vec<u32>,
    /// vLLM's spelling of --levels, and refused beside --rates, where it would be the most in flight: a sweep caps no rate, but
    /// `fizeau bench --request-rate RATE --max-concurrency N` does.
    #[arg(long, value_delimiter = ',', value_name = "N,...", conflicts_with = "levels")]
    pub(crate) max_concurrency: Vec<u32>,
    /// The rates to measure, from the lowest to the highest, in requests per second, beside or without --levels: 1,2,4.5; or auto:8 for eight rates from a
    /// tenth to 1.2 times the highest throughput of --levels. Requests are sent at these rates whether or not earlier ones are done.
    /// With conversations (--turns) every turn counts; `fizeau bench --request-rate` counts those that begin.
    #[arg(long, visible_aliases = ["request-rate", "rate"], value_name = "RATE,...")]
    pub(crate) rates: Option<String>,
    /// End each level as soon as a figure is known well enough, after at most --num-prompts requests (then by default 100000):
    /// ci=2% (the mean end-to-end latency), p99 ttft ci=5%, output_tps ci=1%. The number is half the width of the figure's 95 %
    /// interval over the figure. Several are separated by commas. If a level does not reach it, the exit code is 1.
    /// "ci=2% from 2s" only shortens levels, from 2 s on: a mean that is known early ends one, and no level has to reach it.
    #[arg(long, value_name = "FIGURE")]
    pub(crate) until: Option<String>,
}

/// How large a level is.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Levels")]
pub(crate) struct LevelSizeArgs {
    #[command(flatten)]
    pub(crate) spacing: SpacingArgs,
    /// The number of requests of a level; by default as many as its time has room for, of a data set ten for each request in flight
    /// and at least 100, which a p99 needs.
    #[arg(long, value_name = "N")]
    pub(crate) num_prompts: Option<NonZeroU64>,
    /// A level sends no further request after this many seconds; by default 60, with --until 180, with --budget as its share allows.
    #[arg(long, visible_alias = "duration", value_name = "SECONDS", value_parser = seconds)]
    pub(crate) level_seconds: Option<f64>,
    /// The number of requests before each level that never count; by default as many as are in flight, at a rate a tenth of the level,
    /// and at most 50.
    #[arg(long, value_name = "N")]
    pub(crate) num_warmups: Option<u64>,
}

/// What the levels are held against.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Goals")]
pub(crate) struct VerdictArgs {
    #[command(flatten)]
    pub(crate) goals: GoalArgs,
    #[command(flatten)]
    pub(crate) choosing: ChoosingArgs,
    /// The folder that the run is written to; by default one named by the date under fizeau-runs/.
    #[arg(long, value_name = "DIR", help_heading = "Result")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) price: PriceArgs,
}

/// What the report says of the server in words of whoever runs it.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Checklist")]
pub(crate) struct SubjectArgs {
    /// A line for the report that says what engine and hardware the endpoint runs on. Where it names vLLM, SGLang or TensorRT-LLM, levels
    /// are compared with what is expected of that engine on --hardware.
    #[arg(long, value_name = "TEXT", env = "FIZEAU_ENGINE")]
    pub(crate) engine: Option<String>,
    /// A line for the report that says how weights and key-value cache are stored. --model-config sets it too.
    #[arg(long, value_name = "TEXT")]
    pub(crate) precision: Option<String>,
}

// How a sweep goes on from level to level.

/// What a measured and a simulated sweep have in common.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Protocol")]
pub(crate) struct ProtocolArgs {
    /// Measure each load this many times, in rounds: all loads once, then again. Its figures are then means over the runs with an
    /// interval across them.
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) repeats: NonZeroU32,
    /// After the rising levels, measure up to this many more where they are most useful: at the highest load within the goals, or else where
    /// more load brings no more throughput. By default none; with --budget as many as it allows.
    #[arg(long, value_name = "N")]
    pub(crate) refine: Option<u32>,
    /// At the end, measure the operating point for this many seconds to see whether it holds. By default not; with --budget for up
    /// to 300 s.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) sustain: Option<f64>,
    /// Raise the load no further after two levels in succession that bring nothing: less than 5 % more requests per second than the best
    /// lower level at a higher latency, or a rate whose queue grows. This is the default of `fizeau sweep`.
    #[arg(long, conflicts_with = "no_stop")]
    pub(crate) stop_at_saturation: bool,
    /// Measure all levels, whatever they show. This is the default of `fizeau simulate`.
    #[arg(long)]
    pub(crate) no_stop: bool,
}

impl ProtocolArgs {
    /// Refuses the first of its flags that was given, for the reason `why`.
    pub(super) fn refuse(&self, why: &str) -> Result<(), Fail> {
        let Self { repeats, refine, sustain, stop_at_saturation, no_stop } = self;
        let flags = [
            (repeats.get() > 1, "--repeats"),
            (refine.is_some(), "--refine"),
            (sustain.is_some(), "--sustain"),
            (*stop_at_saturation, "--stop-at-saturation"),
            (*no_stop, "--no-stop"),
        ];
        refuse_given(&flags, |flag| format!("{flag}: {why}"))
    }
}

// `fizeau search`, and `fizeau simulate --search`.

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Search the highest rate, or the highest concurrency.
    #[arg(long, value_parser = choice::<LoadKind>(), value_name = "LOAD", default_value = "rate", help_heading = "Search")]
    pub(crate) over: LoadKind,
    #[command(flatten)]
    pub(crate) search: SearchFlags,
    #[command(flatten)]
    pub(crate) measure: MeasureArgs,
}

/// What a search on either clock has.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Search")]
pub(crate) struct SearchFlags {
    /// The lowest load, in requests per second or in flight, with which a search begins; with --to too it begins in the middle of both.
    /// By default a rate begins at what 16 requests in flight complete, and a concurrency at 16.
    #[arg(long, value_name = "LOAD")]
    pub(crate) from: Option<f64>,
    /// The highest load; by default 100 times the first rate, or 4096 in flight.
    #[arg(long, value_name = "LOAD")]
    pub(crate) to: Option<f64>,
    /// The most levels to measure, without those of --confirm.
    #[arg(long, value_name = "N", default_value_t = 12, visible_alias = "max-runs")]
    pub(crate) max_levels: u32,
    /// The precision that is wanted: half the width of the answer's interval over the answer. The search ends as soon as it is reached.
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "3%")]
    pub(crate) tolerance: f64,
    /// The confidence of the interval, and of whether a level keeps the goals.
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "0.95")]
    pub(crate) confidence: f64,
    /// Measure the load that was found once more for this many seconds, to see whether the goals hold; 0 for not. If they do not,
    /// the search measures at least one step of --tolerance below it, and then two steps further down. The answer is the load that
    /// holds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value_t = 300.0)]
    pub(crate) confirm: f64,
}
