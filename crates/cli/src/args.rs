//! The command line, as types. Nothing here does anything; spellings follow `vllm bench serve` where it has a flag for
//! the same thing.

mod ab;
mod bench;
mod brief;
mod calibrate;
mod calibration;
mod choice;
mod endpoint;
mod engine;
pub(crate) mod goal;
mod hints;
mod load;
mod manual;
mod pareto;
mod parse;
mod plan;
#[cfg(feature = "probe")]
mod probe;
pub(crate) mod refusal;
mod report;
mod run;
mod serve;
mod shards;
mod simulate;
mod sol;
mod stored;
mod sweep;
mod system;
mod telemetry;
mod typed;
mod values;
mod watch;
mod whatif;
mod workload;

pub(crate) use self::{
    ab::*, bench::*, calibrate::*, calibration::*, endpoint::*, engine::*, goal::*, load::*,
    manual::*, pareto::*, parse::*, plan::*, report::*, run::*, serve::*, shards::*, simulate::*,
    sol::*, stored::*, sweep::*, system::*, telemetry::*, typed::TypedNames, watch::*, whatif::*,
    workload::*,
};
#[cfg(feature = "probe")]
pub(crate) use probe::*;

use clap::{CommandFactory, Id, Parser, Subcommand};

/// What clap calls the flags that `augment` adds.
fn ids(augment: fn(clap::Command) -> clap::Command) -> impl Iterator<Item = Id> {
    let command = augment(clap::Command::new("flags"));
    command.get_arguments().map(|arg| arg.get_id().clone()).collect::<Vec<_>>().into_iter()
}

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
    /// Measure an endpoint under one load: one concurrency or one rate.
    ///
    /// It takes the command line of `vllm bench serve`. Without --base-url it measures `http://127.0.0.1:8000`.
    Bench(Box<BenchArgs>),
    /// Measure many loads and find the frontier of throughput and latency.
    ///
    /// Without --base-url, a simulated engine (Llama-3.1-8B on one H100) is started on loopback and measured.
    Sweep(Box<SweepArgs>),
    /// Find the highest load at which an endpoint keeps its goals.
    ///
    /// It raises or lowers the load by factors until one load keeps the goals (--slo) and the next does not, then measures between
    /// them until the answer is known to --tolerance, and at last measures that load for long (--confirm). Without --base-url, a
    /// simulated engine (Llama-3.1-8B on one H100) is started on loopback and measured.
    Search(Box<SearchArgs>),
    /// Measure two endpoints in turns, and say whether they differ.
    ///
    /// In each round both are warmed up and measured with the same requests, never at the same time; the endpoint that begins alternates. Each metric gets
    /// one of three answers: B is better, B is worse, or no difference was detected.
    Ab(Box<AbArgs>),
    /// Fit the constants of the model to a live engine.
    ///
    /// It measures the few loads that determine them best, which takes minutes. The file that it writes is for --calibration of `sol`, `simulate` and `plan`: predictions are then those of
    /// this engine on this device, for models and loads that were not measured too.
    Calibrate(Box<CalibrateArgs>),
    /// Compare stored runs with the first of them, metric by metric.
    ///
    /// Each metric is better, worse, or cannot be told apart. The runs must have sent the same workload to the same model under the
    /// same goals; endpoint, engine, hardware and client may differ, since they are what is compared. Sweeps are compared level by
    /// level.
    Compare(CompareArgs),
    /// Find the rows of a table, or levels of runs, that nothing beats.
    ///
    /// What counts are two or more figures. It takes any table, from any tool. Of folders each level is a row, each run has its own frontier, and all together have one.
    Pareto(Box<ParetoArgs>),
    /// Convert results of other load generators to runs, and back.
    ///
    /// Files of several models or settings become several runs. `fizeau pareto` takes them together with runs of its own.
    Convert(ConvertArgs),
    /// Merge the shards of a run into one run.
    ///
    /// `fizeau bench --shard I/N` makes shards, on several machines.
    Merge(MergeArgs),
    /// Show a stored run again: as text, page, charts or tables.
    ///
    /// With --as it shows what other tools would have reported.
    Report(Box<ReportArgs>),
    /// Explain why a run is slower than its speed of light.
    ///
    /// It says what to try first. TTFT and TPOT are each divided into the time by the data sheet, what the silicon loses against it, operators and collectives,
    /// the overhead of a step, and the wait for other requests.
    Diagnose(Box<DiagnoseArgs>),
    /// Compute the replicas that a rate needs within goals, and the cost.
    ///
    /// It takes the levels of a sweep, or a table of figures. It answers with the highest rate of a replica within the goals, the
    /// number of replicas with headroom and spare ones, their cost by the hour, the request and the token, the cost of a tighter goal,
    /// and the distance from the speed of light. The exit code is 1 if no source keeps the goals.
    Plan(Box<PlanArgs>),
    /// Show at what share of the speed of light a running fleet works.
    ///
    /// It sends no load. It reads the metrics pages of vLLM, SGLang, TensorRT-LLM, llama.cpp or Dynamo again and again. It shows the throughput as a share
    /// of what the devices could reach with the running batch, decode and prefill apart; what limits it; and what a million tokens cost.
    Watch(Box<WatchArgs>),
    /// Serve a simulated engine over HTTP, to try clients out.
    Serve(Box<ServeArgs>),
    /// Simulate an engine in virtual time: one load, a sweep or a search.
    ///
    /// Nothing is sent and nothing is measured: the figures follow from the model, the devices and the engine that the flags
    /// name, by default Llama-3.1-8B on one H100. It writes and prints what `fizeau bench` does, with --levels what `fizeau sweep` does.
    /// Several values for a flag (--tp 1,2,4 --weights bf16,fp8) or several --case put configurations side by side.
    Simulate(Box<SimulateArgs>),
    /// Several configurations of a simulation, side by side.
    #[command(skip)]
    WhatIf(Vec<SimulatedCase>),
    /// List the built-in models, or describe a model.
    Models(ModelsArgs),
    /// Compute how fast a model can be on a device.
    ///
    /// It prints the bound that nothing beats, and what the roofline model expects.
    Sol(Box<SolArgs>),
    /// List the known devices, or show one with its sources.
    Devices(DevicesArgs),
    /// Measure this machine part by part: memory, arithmetic, matrices.
    ///
    /// It measures memory, latency, arithmetic, products of matrices, attention, and collectives among GPUs. Each row says how it was measured and whether it can be trusted. --out stores the results; the file device.toml in that folder
    /// is a device that --hardware takes.
    #[cfg(feature = "probe")]
    Probe(Box<MachineProbeArgs>),
    /// Print what a shell reads to complete commands and flags.
    ///
    /// For bash: `fizeau completions bash > ~/.local/share/bash-completion/completions/fizeau`.
    Completions(CompletionsArgs),
    /// Write the manual pages, one for each command.
    ///
    /// `fizeau man --out ~/.local/share/man/man1` puts them where `man fizeau-bench` finds them.
    Man(ManArgs),
}

/// The commands by what a person wants.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Measure", &["bench", "sweep", "search", "ab", "calibrate", "probe"]),
    ("Compare", &["compare", "pareto", "report", "merge"]),
    ("Decide", &["diagnose", "plan", "watch"]),
    ("Model", &["sol", "simulate", "serve", "models", "devices"]),
    ("Convert", &["convert"]),
    ("Install", &["completions", "man"]),
];

/// What the codes of `exit.rs` mean.
const EXIT_CODES: &str = "\
Exit codes: 0 done; 1 done, but the verdict is invalid, a condition was not met
(--slo, --require, --fail-on, --until) or a result could not be written; 2 the
command line or a file is wrong; 3 the endpoint or device cannot be used; 4 a
shard is missing, 5 shards disagree, 6 a shard was late; 130 interrupted, and
what was measured is kept.";

/// The command line, whose help groups the commands.
pub(crate) fn command() -> clap::Command {
    let command = Cli::command();
    let line = |name: &&str| {
        let about = command.find_subcommand(name).and_then(clap::Command::get_about)?;
        Some(format!("  {name:<11} {about}\n"))
    };
    let group = |(title, names): (&str, &[&str])| {
        format!("{title}:\n{}\n", names.iter().filter_map(line).collect::<String>())
    };
    let groups: String = GROUPS.into_iter().map(group).collect();
    command.mut_subcommands(brief::help).help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}\n\n\
         `fizeau COMMAND --help` describes the flags of a command.\n\n{EXIT_CODES}"
    ))
}
