//! `fizeau probe`.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::slice;

use clap::{Args, Subcommand, ValueEnum};
use fizeau::core::{Choice, NamedChoice};
use fizeau::probe::Component;

use super::choice::among;
use super::{SpreadArgs, UniformLoadArgs, VerbosityArgs};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct MachineProbeArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ProbeCommand>,
    /// What to measure; by default all of it.
    #[arg(value_name = "COMPONENT", value_parser = among(components()))]
    pub(crate) components: Vec<&'static [Component]>,
    /// The devices to measure: the processor, the GPUs (NVIDIA's, through their driver), or all that there are.
    #[arg(long, value_name = "DEVICE", value_enum, default_value_t = DeviceArg::All)]
    pub(crate) device: DeviceArg,
    /// Measure the processor on at most this many threads; by default on as many as this program may use.
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroU32>,
    /// The time for all of it, in seconds. Measurements share it by their weight; the first ones are the most important.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..), default_value_t = 45)]
    pub(crate) seconds: u64,
    /// Take five times as long: narrower intervals, and bandwidth by size and by threads of all six kernels of memory with both kinds of
    /// stores.
    #[arg(long)]
    pub(crate) thorough: bool,
    /// Measure nothing: read what other tools printed or wrote of one machine. The form is found from the content; docs/probe.md
    /// lists those that are known.
    #[arg(
        long,
        value_name = "FILE",
        num_args = 1..,
        conflicts_with_all = ["components", "threads", "seconds", "thorough", "model_config"]
    )]
    pub(crate) import: Vec<PathBuf>,
    /// Hold what is measured against this device's data sheet: a name that `fizeau devices` lists, or a TOML file. Shares of the
    /// specification come from it, and device.toml names it.
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) hardware: Option<String>,
    /// A folder for the results: each measurement as it is made, then probe.json, the page probe.html, and device.toml, a device that
    /// --hardware takes. %n in its name is the machine's name.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the document (schema fizeau.probe/2) instead of text.
    #[arg(long)]
    pub(crate) json: bool,
    /// Measure the matrix products and the attention of this model instead of square matrices: a name that `fizeau models` lists, or
    /// its config.json. The flags below say how that model is deployed, as for `fizeau sol`.
    #[arg(long, value_name = "NAME|FILE", help_heading = "Model")]
    pub(crate) model_config: Option<String>,
    #[command(flatten, next_help_heading = "Model")]
    pub(crate) spread: SpreadArgs,
    #[command(flatten, next_help_heading = "Model")]
    pub(crate) load: UniformLoadArgs,
    #[command(flatten)]
    pub(crate) output: VerbosityArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProbeCommand {
    /// Show stored results again.
    Show(ShownArgs),
    /// Show two machines side by side, operation by operation.
    Compare(ComparedArgs),
    /// Show the machines of a fleet side by side, the slowest first.
    Fleet(FleetArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ShownArgs {
    /// A folder that `fizeau probe --out` wrote, a probe.json, or what another tool printed.
    #[arg(value_name = "RESULTS")]
    pub(crate) results: PathBuf,
    /// Write a page with all charts and rows into this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write each chart that has data as SVG into this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) svg: Option<PathBuf>,
    /// Print the document (schema fizeau.probe/2) instead of text.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) output: VerbosityArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ComparedArgs {
    /// The first machine: a folder that `fizeau probe --out` wrote, a probe.json, or what another tool printed.
    #[arg(value_name = "A")]
    pub(crate) a: PathBuf,
    /// The second machine.
    #[arg(value_name = "B")]
    pub(crate) b: PathBuf,
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FleetArgs {
    /// The machines, or one with several devices: folders that `fizeau probe --out` wrote, files probe.json, or what other tools printed.
    #[arg(value_name = "RESULTS", num_args = 1.., required = true)]
    pub(crate) results: Vec<PathBuf>,
    /// End with exit code 1 if an operation of any machine is below this share of the fleet's median, or any has wrong results, none to
    /// compare or none that can be read, or fewer operations or devices than most.
    #[arg(long, value_name = "SHARE", value_parser = super::values::part)]
    pub(crate) fail_below: Option<f64>,
    /// Write a page with the fleet's distribution into this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Devices of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DeviceArg {
    /// The processor.
    Cpu,
    /// GPUs; exit code 3 if there is none.
    Gpu,
    /// All that there are.
    All,
}

/// What may be named: one, or all of them.
fn components() -> Vec<NamedChoice<&'static [Component]>> {
    let each = Component::CHOICES.iter();
    let each = each.map(|one| NamedChoice::new(one.word, slice::from_ref(&one.value), one.about));
    each.chain([NamedChoice::new("all", Component::ALL.as_slice(), "All of it")]).collect()
}
