//! Sweeps that are killed at random instants: of no finished level a byte is lost, and what is left reads as a part.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::draws::Draws;
use super::server::{Scheme, Server};
use crate::shards::trial::Running;

/// A sweep of four short levels.
const SWEEP: &str = "sweep --model m --levels 1,2,4,8 --isl 8 --osl 8 --num-prompts 8 --num-warmups 0 --no-stop --threads 1 \
                     --threshold lateness-invalid=600s,cpu-invalid=1";

/// How many levels that is.
const LEVELS: usize = 4;

/// After how many kills one of the folders is taken up again.
const RESUMED: u64 = 20;

/// The files of a finished level, by their paths.
type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Kills so many sweeps.
///
/// # Errors
/// If a byte is lost, or a folder does not read as what it is.
pub(super) fn hold(fizeau: &Path, home: &Path, kills: u64) -> Result<()> {
    let home = &home.join("kills");
    fs::create_dir_all(home).with_context(|| format!("cannot make {}", home.display()))?;
    let server = Server::start(fizeau, home, Scheme::Http, &[])?;
    let trial = Trial { fizeau, home, url: server.url(), out: home.join("killed") };
    let whole = trial.whole()?;
    let (mut draws, mut bytes, mut kept, mut begun) =
        (Draws::of(27), 0, [0; LEVELS + 1], Instant::now());
    for kill in 0..kills {
        let finished = trial.killed(whole.mul_f64(1.1 * draws.share()))?;
        let levels = levels_of(&finished);
        kept[levels] += 1;
        bytes += finished.values().map(Vec::len).sum::<usize>();
        trial.reads(levels).with_context(|| format!("kill {kill}, {levels} finished levels"))?;
        if kill % RESUMED == 0 && levels > 0 && levels < LEVELS {
            trial.resumes(&finished).with_context(|| format!("kill {kill}, taken up again"))?;
        }
        if begun.elapsed() > Duration::from_secs(60) {
            println!("kills: {} of {kills}", kill + 1);
            begun = Instant::now();
        }
    }
    println!(
        "kills: {kills}; with 0, 1, 2, 3, 4 finished levels: {kept:?}; {bytes} bytes of these, 0 lost"
    );
    Ok(())
}

struct Trial<'a> {
    fizeau: &'a Path,
    home: &'a Path,
    url: String,
    out: PathBuf,
}

impl Trial<'_> {
    fn start(&self, folder: &str) -> Result<Running> {
        let mut command = Command::new(self.fizeau);
        command.args(SWEEP.split_whitespace()).args(["--base-url", &self.url]);
        Running::start(
            "killed",
            {
                command.arg(folder).arg(&self.out);
                command
            },
            self.home,
        )
    }

    /// How long a sweep takes that nobody kills.
    fn whole(&self) -> Result<Duration> {
        self.clear()?;
        let begun = Instant::now();
        let mut sweep = self.start("--out")?;
        let code = sweep.ends()?;
        ensure!(matches!(code, Some(0 | 1)), "a sweep ended with {code:?}: {}", sweep.said()?);
        let took = begun.elapsed();
        self.reads(LEVELS)?;
        Ok(took)
    }

    /// Starts a sweep and kills it after that time. What finished levels had on the disk before must be there after.
    fn killed(&self, after: Duration) -> Result<Files> {
        self.clear()?;
        let mut sweep = self.start("--out")?;
        thread::sleep(after);
        let before = finished(&self.out)?;
        sweep.kill()?;
        let mut lost = before.iter().filter(|(path, bytes)| !is_there(path, bytes));
        if let Some((path, _)) = lost.next() {
            anyhow::bail!("{} was whole, and is not after the kill", path.display());
        }
        // A level may have been finished between the two looks.
        finished(&self.out)
    }

    /// What is left reads as so many finished levels, and as a whole sweep only where all are there.
    fn reads(&self, levels: usize) -> Result<()> {
        let mut report = Command::new(self.fizeau);
        report.arg("report").arg(&self.out).arg("--json").stdin(Stdio::null());
        let ended = report.output().context("cannot start the report")?;
        let said = String::from_utf8_lossy(&ended.stderr);
        if levels == 0 && ended.status.code() == Some(2) {
            ensure!(!said.contains("panicked"), "{said}");
            return Ok(());
        }
        ensure!(matches!(ended.status.code(), Some(0 | 1)), "{:?}: {said}", ended.status);
        let document: Value = serde_json::from_slice(&ended.stdout).context("report --json")?;
        let of = document.get("levels").and_then(Value::as_array).context("no levels")?;
        let found = of.iter().filter(|level| level["status"] == "finished").count();
        ensure!(found == levels, "{found} levels read as finished, {levels} are");
        Ok(())
    }

    /// The sweep goes on where it was cut off, and leaves finished levels as they are.
    fn resumes(&self, before: &Files) -> Result<()> {
        let mut sweep = self.start("--resume")?;
        let code = sweep.ends()?;
        ensure!(matches!(code, Some(0 | 1)), "it ended with {code:?}: {}", sweep.said()?);
        let changed = before.iter().find(|(path, bytes)| !is_there(path, bytes));
        ensure!(changed.is_none(), "{:?} was measured again", changed.map(|(path, _)| path));
        self.reads(LEVELS)
    }

    fn clear(&self) -> Result<()> {
        match fs::remove_dir_all(&self.out) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }
}

/// All files of the levels below `out` that are finished: those with a summary that says so.
fn finished(out: &Path) -> Result<Files> {
    let mut files = Files::new();
    let Ok(levels) = fs::read_dir(out) else { return Ok(files) };
    for level in levels {
        let level = level?.path();
        let Ok(text) = fs::read(level.join("summary.json")) else { continue };
        let summary: Value = serde_json::from_slice(&text).with_context(|| {
            format!("{} is there, and is not whole", level.join("summary.json").display())
        })?;
        let tapes = fs::read(level.join("tapes.jsonl"))?;
        let lines = tapes.iter().filter(|byte| **byte == b'\n').count();
        let sent = summary.pointer("/requests/sent").and_then(Value::as_u64);
        ensure!(
            sent == Some(lines as u64),
            "{} has {lines} of {sent:?} tapes, and a summary",
            level.display()
        );
        for file in fs::read_dir(&level)? {
            let path = file?.path();
            // What is being written has another name until it is whole.
            if path.extension().is_some_and(|end| end == "part") {
                continue;
            }
            if let Ok(bytes) = fs::read(&path) {
                files.insert(path, bytes);
            }
        }
    }
    Ok(files)
}

fn is_there(path: &Path, bytes: &[u8]) -> bool {
    fs::read(path).is_ok_and(|found| found == bytes)
}

fn levels_of(files: &Files) -> usize {
    files.keys().filter(|path| path.ends_with("summary.json")).count()
}
