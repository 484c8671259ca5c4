//! `cargo xtask bench real-engine`: what the simulator says of a real engine's times, beside those that are measured.
//!
//! One closed-loop sweep calibrates; then come loads that the fit has not seen, each measured and simulated with the same requests.

mod figures;
mod loads;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Parser;

use crate::engine::{self, EngineKind};
use crate::{cargo, process, sweep};
use figures::{Figures, Table};
use loads::{Capacity, LOADS, Load};

/// Options of `cargo xtask bench real-engine`.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask bench real-engine", about = "The simulator beside a real engine")]
struct Options {
    /// The engine
    #[arg(long, value_enum, default_value_t = EngineKind::Vllm)]
    engine: EngineKind,
    /// How often each load is measured; ratios then have the lowest and the highest beside them
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
    /// How long a level of the sweep and a load take, about
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(5..))]
    seconds: u64,
    /// The engine runs, and variables say where: how this program calls itself
    #[arg(long, hide = true)]
    inside: bool,
}

/// Runs it with `args`: the engine is started first, and stopped at the end if it did not run before.
///
/// # Errors
/// If the engine or `fizeau` cannot be had, or a measurement fails.
pub(crate) fn run(args: &[OsString]) -> Result<ExitCode> {
    let name = OsString::from("real-engine");
    let options = Options::parse_from([&name].into_iter().chain(args));
    if options.inside {
        return Comparison::prepare(&options)?.run(options.repeats);
    }
    let itself = engine::this_program()?;
    let mut again = vec![OsString::from("bench"), name];
    again.extend(args.iter().cloned());
    again.push("--inside".into());
    process::become_command(engine::around_engine(
        options.engine,
        &itself,
        itself.as_os_str(),
        &again,
    )?)
}

/// The engine needs the other cores; and several threads divide the last requests of a closed loop unevenly.
const ONE_THREAD: [&str; 2] = ["--threads", "1"];

/// What is compared, and with what.
struct Comparison {
    fizeau: PathBuf,
    /// Where runs and the calibration go.
    folder: PathBuf,
    /// Flags that describe the engine to the simulator.
    described: Vec<OsString>,
    slots: u32,
    length: Duration,
}

impl Comparison {
    fn prepare(options: &Options) -> Result<Self> {
        let told = |name: &str| {
            env::var_os(name).with_context(|| format!("{name} is not set, which the engine sets"))
        };
        let [model, hardware, _] = sweep::SUBJECT;
        let described =
            vec!["--model-config".into(), told(model)?, "--hardware".into(), told(hardware)?];
        let target = cargo::Metadata::read(&["--no-deps"])?.target_directory;
        let folder = target.join("real-engine").join(options.engine.to_string());
        if folder.exists() {
            fs::remove_dir_all(&folder).context("cannot remove the last comparison")?;
        }
        fs::create_dir_all(&folder).context("cannot make the comparison's folder")?;
        Ok(Self {
            fizeau: sweep::program()?,
            folder,
            described,
            slots: options.engine.recipe().slots,
            length: Duration::from_secs(options.seconds),
        })
    }

    fn run(&self, repeats: u32) -> Result<ExitCode> {
        println!("engine: {}", env::var("FIZEAU_ENGINE").unwrap_or_default());
        let capacity = self.sweep()?;
        println!(
            "calibrated on a closed-loop sweep of {} tokens in, {} out; at most {:.2} requests/s",
            loads::SWEPT.prompt,
            loads::SWEPT.output,
            capacity.requests_per_s
        );
        let mut table = Table::default();
        for load in &LOADS {
            eprintln!("real-engine: {}", load.name);
            let flags = load.flags(capacity, self.slots, self.length);
            let simulated = self.simulate(load, &flags)?;
            let measure = |repeat| self.measure(load, &flags, repeat);
            let measured = (0..repeats).map(measure).collect::<Result<Vec<_>>>()?;
            table.add(load.name, &simulated, &measured);
        }
        print!("{table}");
        println!("runs and calibration: {}", self.folder.display());
        Ok(ExitCode::SUCCESS)
    }

    /// Measures the sweep, fits, and says what the engine's capacity is.
    fn sweep(&self) -> Result<Capacity> {
        let out = self.folder.join("sweep");
        let levels = loads::levels(self.slots);
        let mut words = vec!["sweep".into(), "--levels".into(), levels];
        words.extend(loads::SWEPT.flags());
        words.extend(["--no-stop".into(), "--level-seconds".into()]);
        words.push(self.length.as_secs().to_string());
        words.extend(ONE_THREAD.map(str::to_owned));
        self.fizeau(&words, self.engine_flags(), &out)?;
        let fit = [
            "sol".to_owned(),
            "--fit".to_owned(),
            out.display().to_string(),
            "--engine".to_owned(),
            loads::ENGINE.to_owned(),
        ];
        self.fizeau(&fit, self.described.clone(), &self.calibration())?;
        figures::capacity(&out)
    }

    fn simulate(&self, load: &Load, flags: &[String]) -> Result<Figures> {
        let out = self.folder.join(format!("{}-simulated", load.file()));
        let mut words = vec!["simulate".to_owned(), "--calibration".to_owned()];
        words.push(self.calibration().display().to_string());
        words.extend(["--engine".to_owned(), loads::ENGINE.to_owned()]);
        words.extend(loads::SCHEDULER.map(str::to_owned));
        words.extend_from_slice(flags);
        self.fizeau(&words, self.engine_flags(), &out)?;
        Figures::read(&out)
    }

    fn measure(&self, load: &Load, flags: &[String], repeat: u32) -> Result<Figures> {
        let out = self.folder.join(format!("{}-measured-{repeat}", load.file()));
        let words: Vec<String> =
            [&["bench".to_owned()], flags, &ONE_THREAD.map(str::to_owned)].concat();
        self.fizeau(&words, Vec::new(), &out)?;
        Figures::read(&out)
    }

    fn calibration(&self) -> PathBuf {
        self.folder.join("calibration.json")
    }

    fn engine_flags(&self) -> Vec<OsString> {
        let mut flags = self.described.clone();
        flags.extend(["--max-num-seqs".into(), self.slots.to_string().into()]);
        flags
    }

    /// Runs `fizeau`, whose output goes to `out`; what it prints is kept in a file beside it.
    fn fizeau(&self, words: &[String], more: Vec<OsString>, out: &Path) -> Result<()> {
        let printed = out.with_extension("txt");
        let file = fs::File::create(&printed).context("cannot write what fizeau prints")?;
        let mut command = Command::new(&self.fizeau);
        command.args(words).args(more).arg("--out").arg(out).stdin(Stdio::null());
        command.stdout(file.try_clone()?).stderr(file);
        // The levels of another sweep.
        command.env_remove("FIZEAU_LEVELS");
        let status = command.status().context("cannot run fizeau")?;
        // Goals that are not met and levels that are doubtful are 1 and 2: whether there are figures shows next.
        if !out.exists() {
            let said = fs::read_to_string(&printed).unwrap_or_default();
            let first = words.first().map_or("", String::as_str);
            bail!("fizeau {first} ended with {status} and wrote nothing:\n{said}");
        }
        Ok(())
    }
}
