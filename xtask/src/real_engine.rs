//! `cargo xtask bench real-engine`: what the simulator says of a real engine's times, beside those that are measured.
//!
//! `fizeau calibrate` calibrates; then come loads that the fit has not seen, each measured and simulated with the same requests.

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
use loads::{LOADS, Load};

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
    /// How long a load takes, about; all of the calibration takes at most six times as long
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(5..))]
    seconds: u64,
    /// The folder of an earlier comparison: its runs are not measured again, but fitted and simulated anew
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
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
    if let Some(from) = &options.from {
        return Comparison::again(&options, from)?.run(0);
    }
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

/// The folders of what is measured to calibrate, and of what the engine does at most.
const CALIBRATING: &str = "calibrating";
const CAPACITY: &str = "capacity";
/// The calibration's budget, in the length of a load.
const CALIBRATION_LOADS: u64 = 6;

/// An empty folder for a comparison: what was in it is gone.
fn fresh_folder(name: &str) -> Result<PathBuf> {
    let target = cargo::Metadata::read(&["--no-deps"])?.target_directory;
    let folder = target.join("real-engine").join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).context("cannot remove the last comparison")?;
    }
    fs::create_dir_all(&folder).context("cannot make the comparison's folder")?;
    Ok(folder)
}

/// The engine needs the other cores; and several threads divide the last requests of a closed loop unevenly.
const ONE_THREAD: [&str; 2] = ["--threads", "1"];

/// What is compared, and with what.
struct Comparison {
    fizeau: PathBuf,
    /// Where simulated runs and the calibration go.
    folder: PathBuf,
    /// Where measured runs are.
    measured: PathBuf,
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
        let folder = fresh_folder(&options.engine.to_string())?;
        Ok(Self {
            fizeau: sweep::program()?,
            measured: folder.clone(),
            folder,
            described,
            slots: options.engine.recipe().slots,
            length: Duration::from_secs(options.seconds),
        })
    }

    /// Of what was measured in `from`, whose runs keep what describes the engine.
    fn again(options: &Options, from: &Path) -> Result<Self> {
        let calibrating = from.join(CALIBRATING);
        let run = fs::read_dir(&calibrating).ok().and_then(|mut runs| runs.next()?.ok());
        let run = run.with_context(|| format!("{}: no run in it", calibrating.display()))?.path();
        let kept = |flag: &str, name: &str| {
            let path = run.join(name);
            let path =
                path.canonicalize().with_context(|| format!("{} is not there", path.display()));
            Ok::<_, anyhow::Error>([OsString::from(flag), path?.into()])
        };
        let described =
            [kept("--model-config", "model-config.json")?, kept("--hardware", "device.toml")?];
        Ok(Self {
            fizeau: sweep::program()?,
            measured: from.to_path_buf(),
            folder: fresh_folder(&format!("{}-again", options.engine))?,
            described: described.concat(),
            slots: options.engine.recipe().slots,
            length: Duration::from_secs(options.seconds),
        })
    }

    /// Measures each load so many times; none where that was done.
    fn run(&self, repeats: u32) -> Result<ExitCode> {
        if repeats > 0 {
            println!("engine: {}", env::var("FIZEAU_ENGINE").unwrap_or_default());
            self.calibrate()?;
        }
        self.fit()?;
        let capacity = figures::capacity(&self.measured.join(CAPACITY))?;
        println!("at most {:.2} requests/s", capacity.requests_per_s);
        let mut table = Table::default();
        for load in &LOADS {
            eprintln!("real-engine: {}", load.name);
            let flags = load.flags(capacity, self.slots, self.length);
            let simulated = self.simulate(load, &flags)?;
            (0..repeats).try_for_each(|repeat| self.measure(load, &flags, repeat))?;
            table.add(load.name, &simulated, &self.measurements(load)?);
        }
        print!("{table}");
        println!("runs and calibration: {}", self.folder.display());
        Ok(ExitCode::SUCCESS)
    }

    /// Measures what the engine does at most, which warms it up, and the loads that calibrate.
    fn calibrate(&self) -> Result<()> {
        let flags = loads::saturating(self.slots, self.length);
        self.bench(&flags, &self.measured.join(CAPACITY))?;
        let budget = format!("{}s", CALIBRATION_LOADS * self.length.as_secs());
        let words = ["calibrate", "--engine", loads::ENGINE, "--max-context", loads::CONTEXT]
            .into_iter()
            .chain(["--budget", &budget])
            .chain(ONE_THREAD);
        let words: Vec<String> = words.map(str::to_owned).collect();
        let mut more = self.engine_flags();
        more.extend(["--out-dir".into(), self.measured.join(CALIBRATING).into()]);
        self.fizeau(&words, more, &self.measured.join("calibrated.json"))
    }

    /// Fits what was measured to calibrate: the same again as `fizeau calibrate` has fitted, from the folders.
    fn fit(&self) -> Result<()> {
        let loads = self.measured.join(CALIBRATING);
        let loads = fs::read_dir(&loads).with_context(|| format!("{}", loads.display()))?;
        let mut loads = loads.map(|entry| Ok(entry?.path())).collect::<Result<Vec<PathBuf>>>()?;
        loads.sort();
        let mut words = vec!["sol".to_owned(), "--engine".to_owned(), loads::ENGINE.to_owned()];
        for load in loads {
            words.extend(["--fit".to_owned(), load.display().to_string()]);
        }
        self.fizeau(&words, self.described.clone(), &self.calibration())
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

    fn measure(&self, load: &Load, flags: &[String], repeat: u32) -> Result<()> {
        self.bench(flags, &self.measurement(load, repeat))
    }

    fn bench(&self, flags: &[String], out: &Path) -> Result<()> {
        let words: Vec<String> =
            [&["bench".to_owned()], flags, &ONE_THREAD.map(str::to_owned)].concat();
        self.fizeau(&words, Vec::new(), out)
    }

    fn measurement(&self, load: &Load, repeat: u32) -> PathBuf {
        self.measured.join(format!("{}-measured-{repeat}", load.file()))
    }

    /// Of all times that it was measured.
    fn measurements(&self, load: &Load) -> Result<Vec<Figures>> {
        let each = (0..).map(|repeat| self.measurement(load, repeat));
        let figures: Vec<Figures> = each
            .take_while(|out| out.exists())
            .map(|out| Figures::read(&out))
            .collect::<Result<_>>()?;
        if figures.is_empty() {
            bail!("{} is not there", self.measurement(load, 0).display());
        }
        Ok(figures)
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
