//! The command line, as types. Nothing here does anything; spellings follow `vllm bench serve` where it has a flag for
//! the same thing.

mod ab;
mod arrivals;
mod bench;
mod calibration;
mod choice;
mod choices;
mod choosing;
mod client;
mod compare;
mod convert;
mod data;
mod decision;
mod devices;
mod drafts;
mod endpoint;
mod engine;
mod export;
mod goal;
mod lengths;
mod level;
mod live;
mod mechanisms;
mod merge;
mod models;
mod pareto;
mod physics;
mod pictures;
mod plan;
mod price;
mod protocol;
pub(crate) mod refusal;
mod report;
mod sampling;
mod search;
mod serve;
mod simulate;
mod sol;
mod sweep;
mod system;
mod trust;
pub(crate) mod whatif;
mod window;
mod workload;

pub(crate) use ab::{AbArgs, AnswerArgs};
pub(crate) use arrivals::{ArrivalArgs, RampArg};
pub(crate) use bench::{BenchArgs, SonnetArgs};
pub(crate) use calibration::CalibrationArgs;
pub(crate) use choices::ChoiceArgs;
pub(crate) use choosing::ChoosingArgs;
pub(crate) use client::ClientArgs;
pub(crate) use compare::{CompareArgs, FailOn};
pub(crate) use convert::ConvertArgs;
pub(crate) use data::{DataArgs, SessionArgs};
pub(crate) use decision::DecisionArgs;
pub(crate) use devices::DevicesArgs;
pub(crate) use drafts::{ApartArgs, DraftArgs};
pub(crate) use endpoint::{ConnectionArgs, EndpointArgs, HttpVersionArg};
pub(crate) use engine::{EngineArgs, StepArgs};
pub(crate) use export::ExportArgs;
pub(crate) use goal::GoalArgs;
pub(crate) use lengths::{LawArgs, PrefixArgs, RangeStyleArg};
pub(crate) use level::LevelArgs;
pub(crate) use live::LiveArgs;
pub(crate) use mechanisms::MechanismArgs;
pub(crate) use merge::MergeArgs;
pub(crate) use models::ModelsArgs;
pub(crate) use pareto::{AxisArgs, ParetoAnswerArgs, ParetoArgs, ParetoRunArgs};
pub(crate) use physics::PhysicsArgs;
pub(crate) use pictures::PictureArgs;
pub(crate) use plan::PlanArgs;
pub(crate) use price::PriceArgs;
pub(crate) use protocol::{BudgetArgs, ProtocolArgs};
pub(crate) use report::{ReportArgs, ViewArgs};
pub(crate) use sampling::SamplingArgs;
pub(crate) use search::{SearchArgs, SearchFlags};
pub(crate) use serve::ServeArgs;
pub(crate) use simulate::SimulateArgs;
pub(crate) use sol::{CurveArg, SolArgs, SolLoadArgs};
pub(crate) use sweep::{LevelsArgs, SeriesArgs, SweepArgs, VerdictArgs};
pub(crate) use system::SystemArgs;
pub(crate) use trust::{MISSED, TrustArgs};
pub(crate) use window::WindowArgs;
pub(crate) use workload::WorkloadArgs;

use clap::{Parser, Subcommand};

/// Measure how fast an LLM endpoint is, prove that the measurement can be trusted, and say how far the endpoint is from
/// the speed of light.
#[derive(Debug, Parser)]
#[command(name = "fizeau", version, max_term_width = 110)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure one level: one concurrency or one rate. Takes the command line of `vllm bench serve`.
    Bench(Box<BenchArgs>),
    /// Measure many concurrencies and find the frontier of throughput against latency.
    ///
    /// Without --base-url, a simulated engine (Llama-3.1-8B on one H100) is started on loopback and swept.
    Sweep(Box<SweepArgs>),
    /// Find the highest rate or concurrency within goals, in few levels.
    ///
    /// It goes up or down by factors until the edge of the goals lies between two loads, then measures near where the edge seems
    /// to be until it is known to --tolerance, and at last runs there for long (--confirm). Without --base-url, a simulated
    /// engine (Llama-3.1-8B on one H100) is started on loopback and searched.
    Search(Box<SearchArgs>),
    /// Measure two endpoints in turns, with the same requests, and say whether they differ.
    ///
    /// In each round both are warmed and measured, never at the same time; who is first alternates. Each metric gets one of
    /// three answers: B is better, B is worse, or no difference was detected.
    Ab(Box<AbArgs>),
    /// Hold stored runs against the first of them, and say of each metric whether it is better, worse, or not to be told apart.
    ///
    /// Runs must have sent the same workload to the same model under the same goals; endpoint, engine, hardware and client may
    /// differ, since they are what is compared. Sweeps are compared level by level.
    Compare(CompareArgs),
    /// Say which rows of a table, or which levels of runs, no other beats: the frontier of two or more figures.
    ///
    /// Takes any table, from whatever tool. Of folders each level is a row, each run has its own frontier, and all together
    /// have one.
    Pareto(Box<ParetoArgs>),
    /// Take results of other load generators in as runs, or write a run as one of theirs.
    ///
    /// Files of several models or settings become several runs. `fizeau pareto` takes them beside runs of its own.
    Convert(ConvertArgs),
    /// Make one run of the shards of one (`fizeau bench --shard I/N`, on several machines).
    Merge(MergeArgs),
    /// Show a stored run again: as it was, as another tool would have had it, or what a word means to whom.
    Report(Box<ReportArgs>),
    /// Say how many replicas and devices a rate takes within goals, and what that costs.
    ///
    /// From the levels of a sweep, or a table of figures: the highest rate of a replica within the goals, replicas with headroom
    /// and spare ones, what they cost by the hour, the request and the token, what a tighter goal would cost, and how far it is
    /// from the speed of light. The exit code is 1 where no source keeps the goals.
    Plan(Box<PlanArgs>),
    /// Serve the simulated engine behind HTTP, for trying clients out.
    Serve(Box<ServeArgs>),
    /// Simulate an engine in virtual time: one level as `fizeau bench` measures it, or with --levels a sweep.
    ///
    /// Nothing is sent and nothing is measured: the figures follow from the model, the devices and the engine that the flags
    /// name, by default Llama-3.1-8B on one H100. Files and blocks are those of `fizeau bench` and `fizeau sweep`. Several
    /// values for a flag (--tp 1,2,4 --weights bf16,fp8) or several --case put configurations side by side.
    Simulate(Box<SimulateArgs>),
    /// List the models that are built in, or say what is understood of one: parameters, bytes, cache, warnings.
    Models(ModelsArgs),
    /// Say how fast a model can be on a device: the bound that nothing beats, and what physics leads one to expect.
    Sol(Box<SolArgs>),
    /// List the devices that are known, or show one: each figure with its source and date.
    Devices(DevicesArgs),
}
