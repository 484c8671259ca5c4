//! `cargo xtask slurm`: a run under a real Slurm of this machine: Debian's controller and two node daemons, in a folder of their own.
//!
//! Nothing is installed: packages are unpacked into `target/slurm/`, daemons run as whoever runs this, with ports of their own and without munge,
//! and are ended by their process numbers. Where the packages cannot be had, that is said and the exit code is 0, unless `CI` is set.

mod cluster;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::process;
use crate::shards::trial::{BENCH, Server, WARM_UPS, given_or_built, summary};
use crate::tool::exit_code;
use cluster::{Cluster, packages};

/// Brings a cluster up, runs a step, the recipes and a task that dies, and takes the cluster down. `fizeau` is the program, where one is built.
pub(crate) fn run(fizeau: Option<PathBuf>) -> Result<ExitCode> {
    Ok(exit_code(hold(|| given_or_built(fizeau))? || !process::is_ci()))
}

/// Whether it could be tried here; where not, why is said. What does not hold is an error.
pub(crate) fn hold(fizeau: impl FnOnce() -> Result<PathBuf>) -> Result<bool> {
    let home = std::path::absolute("target/slurm")?;
    if let Err(error) = packages(&home) {
        eprintln!(
            "!!! SKIPPED: nothing was tried under Slurm, whose packages cannot be had: {error:#}"
        );
        return Ok(false);
    }
    let fizeau = &fizeau()?;
    let server = &Server::start(fizeau, &home)?;
    let cluster = &Cluster::start(&home)?;
    let trial = Trial { fizeau, server, home: &home, cluster };
    trial.step()?;
    trial.recipe("slurm.sbatch", &["--nodes=2", "--ntasks-per-node=2"])?;
    trial.recipe("slurm-array.sbatch", &["--array=0-3"])?;
    trial.death()?;
    println!("slurm: all of it holds");
    Ok(true)
}

/// What the recipes measure, which takes longer than a trial.
const RECIPES_SWEEP: &str = "fizeau sweep --levels 64,256,1024 --level-seconds 60";

/// What is measured in its place.
const SWEEP: &str = "sweep --model m --rates 40,60 --num-prompts 80 --num-warmups 4 --isl 32 --osl 16 --salt 5 --threads 1 \
                     --threshold lateness-invalid=600s,cpu-invalid=1";

/// What is tried.
struct Trial<'a> {
    fizeau: &'a Path,
    server: &'a Server,
    home: &'a Path,
    cluster: &'a Cluster,
}

impl Trial<'_> {
    fn out(&self, name: &str) -> PathBuf {
        let out = self.home.join("runs").join(name);
        // What an earlier trial left.
        let _ = fs::remove_dir_all(&out);
        out
    }

    fn bench(&self, requests: &str, out: &Path) -> Vec<String> {
        let mut words = vec![self.fizeau.display().to_string()];
        words.extend(BENCH.split_whitespace().map(str::to_owned));
        let more = [
            "--num-prompts",
            requests,
            "--base-url",
            &self.server.url(),
            "--out",
            &out.display().to_string(),
        ];
        words.extend(more.map(str::to_owned));
        words
    }

    /// Four tasks on two nodes are one run, and meet on the step's first node without being told where.
    fn step(&self) -> Result<()> {
        let out = self.out("step");
        let mut srun = self.cluster.command("srun");
        let ended = srun.args(["-K1", "-N2", "-n4"]).args(self.bench("300", &out)).output()?;
        ensure!(ended.status.success(), "srun -N2 -n4: {}", said(&ended));
        let summary = summary(&out)?;
        let (sent, count) = summary.sent_by();
        ensure!(
            (sent, count) == (300, 4),
            "srun -N2 -n4 sent {sent} of 300 requests from {count} of 4 tasks"
        );
        let answered = self.server.answered()?.saturating_sub(WARM_UPS);
        ensure!(answered == 300, "of 300 requests the server saw {answered}");
        println!("slurm: srun -N2 -n4: 300 requests once each, begun within {}", summary.skew());
        Ok(())
    }

    /// Submits a recipe as it lies there, with another sweep, on fewer nodes (`size`). Its tasks are one run, and none is started again.
    fn recipe(&self, name: &str, size: &[&str]) -> Result<()> {
        let home = self.out(name);
        fs::create_dir_all(&home)?;
        let text = fs::read_to_string(Path::new("recipes").join(name))?;
        ensure!(text.contains(RECIPES_SWEEP), "{name} has another sweep than: {RECIPES_SWEEP}");
        let script = home.join(name);
        let own = format!("{} {SWEEP}", self.fizeau.display());
        fs::write(&script, text.replace(RECIPES_SWEEP, &own))?;
        let mut sbatch = self.cluster.command("sbatch");
        sbatch.env("FIZEAU_BASE_URL", self.server.url()).env("FIZEAU_MODEL", "m");
        sbatch.args(["--wait", "--parsable"]).args(size).arg("--chdir").arg(&home);
        let ended = sbatch.arg(&script).output()?;
        ensure!(ended.status.success(), "{name}: {}{}", said(&ended), printed(&home)?);
        let job = String::from_utf8_lossy(&ended.stdout).trim().to_owned();
        let shown = self.cluster.command("scontrol").args(["show", "job", &job]).output()?;
        let shown = said(&shown);
        let is_once = shown.contains("Requeue=0") && !shown.contains("Requeue=1");
        ensure!(is_once, "a job of {name} may be started again: {shown}");
        let sweep = fs::read_to_string(swept(&home.join("fizeau-runs"))?)?;
        let sweep: Value = serde_json::from_str(&sweep)?;
        let levels = sweep.get("levels").and_then(Value::as_array).cloned().unwrap_or_default();
        let of = |level: &Value| {
            ["/requests/sent", "/shards/count"].map(|figure| level.pointer(figure)?.as_u64())
        };
        let found: Vec<_> = levels.iter().map(of).collect();
        let known = [Some(80), Some(4)];
        ensure!(found == [known; 2], "{name}: of two levels of 80 requests by 4 tasks: {found:?}");
        println!("slurm: recipes/{name} by 4 tasks, Requeue=0: two levels of 80 requests");
        Ok(())
    }

    /// A task that dies ends the step, as in the recipe, and what was measured until then is kept.
    fn death(&self) -> Result<()> {
        let out = self.out("death");
        let line = self.bench("600", &out).join(" ");
        let dies = "if [ \"$SLURM_PROCID\" = 2 ]; then sleep 6; kill -9 $child; fi";
        let script = format!("{line} & child=$!; {dies}; wait $child");
        let mut srun = self.cluster.command("srun");
        let ended = srun.args(["-K1", "-N2", "-n3", "sh", "-c", &script]).output()?;
        ensure!(!ended.status.success(), "a step whose task dies ended well: {}", said(&ended));
        let parts = [0, 1, 2].map(|index| out.join(format!("shards/{index}-of-3")));
        let kept = fs::read_to_string(parts[0].join("tapes.jsonl"))?.lines().count();
        ensure!((1..200).contains(&kept), "of shard 0 {kept} of 200 requests were kept");
        let merged = self.out("death-merged");
        let mut merge = Command::new(self.fizeau);
        let ended = merge.arg("merge").args(&parts).arg("--out").arg(&merged).output()?;
        ensure!(merged.join("summary.json").is_file(), "fizeau merge: {}", said(&ended));
        println!(
            "slurm: a task that dies ends its step (-K1), and what all had measured is merged"
        );
        Ok(())
    }
}

/// The `sweep.json` of the only run in `runs`.
fn swept(runs: &Path) -> Result<PathBuf> {
    let entries = fs::read_dir(runs)?.collect::<Result<Vec<_>, _>>()?;
    let found = entries.iter().map(|entry| entry.path().join("sweep.json"));
    let mut found: Vec<PathBuf> = found.filter(|sweep| sweep.is_file()).collect();
    let one = found.pop().filter(|_| found.is_empty());
    one.with_context(|| format!("{} has not one run", runs.display()))
}

/// What the tasks of a job printed, whose files are in `home`.
fn printed(home: &Path) -> Result<String> {
    let files = fs::read_dir(home)?.flatten().map(|file| file.path());
    let files = files.filter(|path| path.extension().is_some_and(|kind| kind == "out"));
    Ok(files.map(|path| fs::read_to_string(path).unwrap_or_default()).collect())
}

fn said(ended: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}{}", text(&ended.stdout), text(&ended.stderr))
}
