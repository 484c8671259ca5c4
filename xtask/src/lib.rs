//! `cargo xtask`: the one door for CI and maintainers. One module per command.
//!
//! **Use it** to sweep, test and measure this repository. **Do not depend on it**: it is never published, and
//! what a user needs is in the `fizeau` library and its command line.
//!
//! # Invariants
//!
//! - It links none of the crates that it builds and checks, so it compiles in seconds and works while they do
//!   not.
//! - Whatever it downloads goes through `apt-get download`, into `target/slurm/`, through `pip`, into `target/engine/`, `target/engine-vllm/`, `target/ptx/` and `target/wheel/`, through `npm`, into `target/vendor/`, or is Debian's
//!   `chromium` for the tests of the page.
//! - It exits with the code of the program that it ran for you: 0 done, 1 failed, 2 a wrong command line.

mod bench;
mod calibrate_report;
mod cargo;
mod counts;
mod docs;
mod elsewhere;
mod engine;
mod features;
mod fuzz;
mod mutants;
mod namespaces;
mod process;
mod ptx;
mod real_engine;
mod release;
mod sbom;
mod semver;
mod shards;
mod slurm;
mod soak;
mod sweep;
mod test;
mod tidy;
mod tool;
mod vendor;
mod wheel;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use counts::Counts;
pub use tidy::{Finding, Repo, layering};

/// The commands of `cargo xtask`.
#[derive(Debug, Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    about = "The door for CI and maintainers"
)]
struct Cli {
    #[command(subcommand)]
    command: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Build the command line and sweep: the simulated engine, or with --base-url a server
    #[command(disable_help_flag = true)]
    Sweep {
        /// Arguments of `fizeau sweep`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// Run one command line as N processes of this machine, which measure together: `cargo xtask shards 2 -- fizeau sweep ...`
    #[command(disable_help_flag = true)]
    Shards {
        /// How many
        count: usize,
        /// What to run; `fizeau` is built first
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// One run by 1, 2, 3 and 8 processes of this machine as rows of a table: whatever is counted is the same
    ShardTable {
        /// A program that is built already; by default it is built first
        fizeau: Option<PathBuf>,
    },
    /// Run shards under a real Slurm of this machine, unpacked into target/slurm
    Slurm {
        /// A program that is built already; by default it is built first
        fizeau: Option<PathBuf>,
    },
    /// Run shards in network namespaces of this machine, which takes root's rights, and cut a link in mid-run
    Namespaces {
        /// A program that is built already; by default it is built first
        fizeau: Option<PathBuf>,
    },
    /// Every check there is; what CI runs
    Test,
    /// Run the benches; `transport` runs the client side by side with wrk alone, `real-engine` the simulator beside a real engine; each
    /// lists its options with `--help`
    Bench {
        /// Only benches whose name contains this; options of the bench
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// Whether measured levels keep to the speed of light, and how far off a calibration on them is
    CalibrateReport {
        /// `--ship FILE`, `--residuals FILE.csv` or `--residuals-svg DIR`, and then CSV files of measured levels; otherwise the published ones
        /// in `fixtures/`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// The checks that need no build: layers, licences, sources, pages
    Tidy {
        /// First write what follows from the sources: the lists of public items, and what each library says of its place
        #[arg(long)]
        write: bool,
    },
    /// Fetch the page's chart library again, as `vendored.json` names it, and compare its sums
    Vendor {
        /// Take what is fetched and write its sums down: after the list was given a new version
        #[arg(long)]
        accept: bool,
    },
    /// Assemble the kernels for GPUs with NVIDIA's assembler, which needs no GPU
    Ptx,
    /// Write what the pages show of commands and pictures anew, and build the book
    Docs,
    /// Give bytes of any kind to all that reads somebody else's (cargo-fuzz, nightly)
    Fuzz {
        /// Only this one
        target: Option<String>,
        /// How long each
        #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
        minutes: u32,
    },
    /// How many small faults the tests find, crate by crate (cargo-mutants)
    Mutants {
        /// Only these crates
        crates: Vec<String>,
        /// A part of the mutants, as `0/20`: every twentieth, from the first on
        #[arg(long)]
        shard: Option<String>,
    },
    /// Measure servers that misbehave at random for so long, and kill so many sweeps in mid-run: nothing grows, nothing is lost
    Soak {
        /// How long, three clients at once; 0 leaves it out
        #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(..=600))]
        minutes: u64,
        /// How many sweeps to kill
        #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(..=10_000))]
        kills: u64,
        /// A program that is built already; by default it is built first
        fizeau: Option<PathBuf>,
    },
    /// Check that each crate builds with any few of its features
    Features {
        /// How many at a time
        #[arg(long, default_value_t = 1)]
        depth: usize,
    },
    /// Check the libraries for macOS and Windows, as far as their standard libraries are to be had here
    Elsewhere {
        /// Only these targets, such as aarch64-apple-darwin
        targets: Vec<String>,
    },
    /// The public items of the libraries against the last tag (cargo-semver-checks)
    Semver,
    /// The list of all that the program is made of, as CycloneDX has it, and beside it the licences and notices of all that
    Sbom {
        /// The file; by default target/sbom.cdx.json
        out: Option<PathBuf>,
    },
    /// Build the Python package, install it and test it there
    Wheel,
    /// Whether what lies here could be published
    Release {
        /// Publish nothing: what there is, since a person publishes
        #[arg(long, required = true)]
        dry_run: bool,
    },
    /// A real engine on this machine's CPU: llama.cpp's server with a tiny random model
    #[command(subcommand)]
    Engine(engine::Action),
}

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Task::Sweep { args } => sweep::run(&args),
        Task::Shards { count, args } => shards::run(count, &args),
        Task::ShardTable { fizeau } => shards::table::run(fizeau),
        Task::Slurm { fizeau } => slurm::run(fizeau),
        Task::Namespaces { fizeau } => namespaces::run(fizeau),
        Task::Test => test::run(),
        Task::Bench { args } => bench::run(&args),
        Task::CalibrateReport { args } => calibrate_report::run(&args),
        Task::Tidy { write: true } => tidy::run(tidy::Written::Anew),
        Task::Tidy { write: false } => tidy::run(tidy::Written::Compared),
        Task::Vendor { accept } => vendor::run(match accept {
            true => vendor::Changed::Accept,
            false => vendor::Changed::Refuse,
        }),
        Task::Ptx => ptx::run(),
        Task::Docs => docs::run(),
        Task::Fuzz { target, minutes } => fuzz::run(target.as_deref(), minutes),
        Task::Mutants { crates, shard } => mutants::run(&crates, shard.as_deref()),
        Task::Soak { minutes, kills, fizeau } => soak::run(minutes, kills, fizeau),
        Task::Features { depth } => features::run(depth),
        Task::Elsewhere { targets } => elsewhere::run(&targets),
        Task::Semver => semver::run(),
        Task::Sbom { out } => sbom::run(out),
        Task::Wheel => wheel::run(),
        Task::Release { dry_run: _ } => release::run(),
        Task::Engine(action) => engine::run(action),
    };
    done.unwrap_or_else(|error| {
        eprintln!("xtask: {error:#}");
        ExitCode::FAILURE
    })
}
