//! `cargo xtask slurm`: a run under a real Slurm of this machine: Debian's controller and two node daemons, in a folder of their own.
//!
//! Nothing is installed: packages are unpacked into `target/slurm/`, daemons run as whoever runs this, with ports of their own and without munge,
//! and are ended by their process numbers. Where the packages cannot be had, that is said and the exit code is 0, unless `CI` is set.

mod cluster;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

use anyhow::{Context, Result, ensure};

use crate::cargo;
use crate::shards::free_port;
use cluster::{Cluster, packages};

/// Brings a cluster up, runs a step, an array and a task that dies, and takes the cluster down. `fizeau` is the program, where one is built.
pub(crate) fn run(fizeau: Option<PathBuf>) -> Result<ExitCode> {
    let home = std::path::absolute("target/slurm")?;
    if let Err(error) = packages(&home) {
        eprintln!(
            "xtask: SKIPPED: nothing was tried under Slurm, whose packages cannot be had: {error:#}"
        );
        let is_ci = std::env::var_os("CI").is_some();
        return Ok(if is_ci { ExitCode::FAILURE } else { ExitCode::SUCCESS });
    }
    let fizeau = &fizeau.map_or_else(built, |path| Ok(std::path::absolute(path)?))?;
    let server = Server::start(fizeau)?;
    let cluster = Cluster::start(&home)?;
    let trial = Trial {
        fizeau,
        url: format!("http://127.0.0.1:{}", server.port),
        home: &home,
        cluster: &cluster,
    };
    trial.step()?;
    trial.array()?;
    trial.death()?;
    println!("slurm: all of it holds");
    Ok(ExitCode::SUCCESS)
}

/// The command line, built.
pub(crate) fn built() -> Result<PathBuf> {
    let built = cargo::build(&["--package", "fizeau-cli", "--bin", "fizeau", "--all-features"])?;
    let fizeau = built.first().context("cargo built no program named fizeau in fizeau-cli")?;
    Ok(fizeau.path.clone())
}

/// A simulated server, ended with this.
struct Server {
    child: std::process::Child,
    port: u16,
}

impl Server {
    fn start(fizeau: &Path) -> Result<Self> {
        let port = free_port()?;
        let mut command = Command::new(fizeau);
        command.args(["serve", "--ttft-ms", "20", "--itl-ms", "2", "--port", &port.to_string()]);
        let child = command.stdout(std::process::Stdio::null()).spawn().context("cannot serve")?;
        Ok(Self { child, port })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // What has ended already need not be ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What is tried.
struct Trial<'a> {
    fizeau: &'a Path,
    url: String,
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
        let line = "bench --model m --num-warmups 8 --request-rate 60 --isl 32 --osl 16 --salt 5 --threads 1 \
                    --threshold lateness-invalid=600s,cpu-invalid=1";
        let mut words = vec![self.fizeau.display().to_string()];
        words.extend(line.split_whitespace().map(str::to_owned));
        let more = [
            "--num-prompts",
            requests,
            "--base-url",
            &self.url,
            "--out",
            &out.display().to_string(),
        ];
        words.extend(more.map(str::to_owned));
        words
    }

    /// Four tasks on two nodes are one run.
    fn step(&self) -> Result<()> {
        let out = self.out("step");
        let meeting = format!("127.0.0.1:{}", free_port()?);
        let mut srun = self.cluster.command("srun");
        srun.args(["-K1", "-N2", "-n4"])
            .args(self.bench("300", &out))
            .env("FIZEAU_RENDEZVOUS", meeting);
        let ended = srun.output()?;
        ensure!(ended.status.success(), "srun -N2 -n4: {}", said(&ended));
        let (sent, count, skew) = summary(&out)?;
        ensure!(
            (sent, count) == (300, 4),
            "srun -N2 -n4 sent {sent} of 300 requests from {count} of 4 tasks"
        );
        println!("slurm: srun -N2 -n4: 300 requests once each, begun within {skew:.2} ms");
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
        let (sent, count, _) = summary(&out)?;
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
        let meeting = format!("127.0.0.1:{}", free_port()?);
        let line = self.bench("600", &out).join(" ");
        let dies = "if [ \"$SLURM_PROCID\" = 2 ]; then sleep 6; kill -9 $child; fi";
        let script = format!("{line} & child=$!; {dies}; wait $child");
        let mut srun = self.cluster.command("srun");
        srun.args(["-N2", "-n3", "sh", "-c", &script]).env("FIZEAU_RENDEZVOUS", meeting);
        let ended = srun.output()?;
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

/// How many requests a run sent, from how many tasks, and how far apart those began.
pub(crate) fn summary(out: &Path) -> Result<(u64, u64, f64)> {
    let path = out.join("summary.json");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let summary: serde_json::Value = serde_json::from_str(&text)?;
    let number = |pointer: &str| summary.pointer(pointer).and_then(serde_json::Value::as_u64);
    let skew = summary.pointer("/shards/start_skew_ms").and_then(serde_json::Value::as_f64);
    let found = (number("/requests/sent"), number("/shards/count"));
    Ok((found.0.unwrap_or(0), found.1.unwrap_or(0), skew.unwrap_or(f64::NAN)))
}
