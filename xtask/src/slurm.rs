//! `cargo xtask slurm`: a run under a real Slurm of this machine: Debian's controller and two node daemons, in a folder of their own.
//!
//! Nothing is installed: packages are unpacked into `target/slurm/`, daemons run as whoever runs this, with ports of their own and without munge,
//! and are ended by their process numbers. Where the packages cannot be had, that is said and the exit code is 0, unless `CI` is set.

mod cluster;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Output};

use anyhow::{Result, ensure};
use serde_json::Value;

use crate::process;
use crate::shards::trial::{BENCH, Server, WARM_UPS, given_or_built, summary};
use crate::tool::exit_code;
use cluster::{Cluster, packages};

/// Brings a cluster up, runs a step, an array and a task that dies, and takes the cluster down. `fizeau` is the program, where one is built.
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
    trial.sweep()?;
    trial.array()?;
    trial.death()?;
    println!("slurm: all of it holds");
    Ok(true)
}

/// A sweep, but for the server and the folder.
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

    /// So are those of a sweep: `srun` in front is the whole change to a command line.
    fn sweep(&self) -> Result<()> {
        let out = self.out("sweep");
        let mut srun = self.cluster.command("srun");
        srun.args(["-K1", "-N2", "-n4"]).arg(self.fizeau).args(SWEEP.split_whitespace());
        let ended = srun.args(["--base-url", &self.server.url(), "--out"]).arg(&out).output()?;
        ensure!(ended.status.success(), "srun fizeau sweep: {}", said(&ended));
        let sweep: Value = serde_json::from_str(&fs::read_to_string(out.join("sweep.json"))?)?;
        let levels = sweep.get("levels").and_then(Value::as_array).cloned().unwrap_or_default();
        let of = |level: &Value| {
            ["/requests/sent", "/shards/count"].map(|figure| level.pointer(figure)?.as_u64())
        };
        let found: Vec<_> = levels.iter().map(of).collect();
        let known = [Some(80), Some(4)];
        ensure!(found == [known; 2], "srun fizeau sweep: of two levels of 80 by 4: {found:?}");
        println!("slurm: srun -N2 -n4 fizeau sweep, as it stands: two levels of 80 requests");
        Ok(())
    }

    /// The tasks of an array meet in a folder.
    fn array(&self) -> Result<()> {
        let (out, meet) = (self.out("array"), self.out("array.meet"));
        fs::create_dir_all(&meet)?;
        let script = self.home.join("array.sh");
        let line = self.bench("200", &out).join(" ");
        let text = format!("#!/bin/sh\nexport FIZEAU_RENDEZVOUS={}\n{line}\n", meet.display());
        fs::write(&script, text)?;
        let mut sbatch = self.cluster.command("sbatch");
        sbatch.args(["--wait", "--no-requeue", "--array=0-3", "-o"]);
        let ended = sbatch.arg(meet.join("%a.out")).arg(&script).output()?;
        ensure!(ended.status.success(), "sbatch --array=0-3: {}", said(&ended));
        let (sent, count) = summary(&out)?.sent_by();
        ensure!(
            (sent, count) == (200, 4),
            "sbatch --array=0-3 sent {sent} of 200 requests from {count} of 4 tasks"
        );
        println!("slurm: sbatch --array=0-3: 200 requests once each");
        Ok(())
    }

    /// A task that dies ends the run, and what was measured is kept.
    fn death(&self) -> Result<()> {
        let out = self.out("death");
        let line = self.bench("600", &out).join(" ");
        let dies = "if [ \"$SLURM_PROCID\" = 2 ]; then sleep 6; kill -9 $child; fi";
        let script = format!("{line} & child=$!; {dies}; wait $child");
        let mut srun = self.cluster.command("srun");
        let ended = srun.args(["-N2", "-n3", "sh", "-c", &script]).output()?;
        let text = said(&ended);
        ensure!(
            !ended.status.success() && text.contains("shard 2/3 on "),
            "a task that dies: {text}"
        );
        let kept = fs::read_to_string(out.join("shards/0-of-3/tapes.jsonl"))?.lines().count();
        ensure!(kept == 200, "of shard 0 {kept} of 200 requests were kept");
        println!("slurm: a task that dies is named, and the others keep what they measured");
        Ok(())
    }
}

fn said(ended: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}{}", text(&ended.stdout), text(&ended.stderr))
}
