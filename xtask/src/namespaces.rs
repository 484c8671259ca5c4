//! `cargo xtask namespaces`: shards with addresses of their own. Each is in a network namespace, so is the server, and a bridge joins them; a
//! link is cut in mid-run.
//!
//! It takes the right to make namespaces, as root has it, and `ip` of iproute2. Where they are not to be had, that is said and the exit code is 0,
//! unless `CI` is set. What was made is removed, and what was started is ended by its process number.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::process;
use crate::shards::trial::{BENCH, Running, given_or_built, summary};
use crate::tool::exit_code;

/// How many shards there are.
const SHARDS: usize = 3;

/// Where the server listens, in the namespace that has the bridge.
const SERVER: &str = "10.77.0.1:8000";

/// Where shard 0 listens.
const MEETING: &str = "10.77.0.10:5317";

/// How long shards may take until they have sent something.
const MEETING_TAKES: Duration = Duration::from_secs(90);

/// Runs three shards, and three of which one is cut off. `fizeau` is the program, where one is built.
pub(crate) fn run(fizeau: Option<PathBuf>) -> Result<ExitCode> {
    Ok(exit_code(hold(|| given_or_built(fizeau))? || !process::is_ci()))
}

/// Whether it could be tried here; where not, why is said. What does not hold is an error.
pub(crate) fn hold(fizeau: impl FnOnce() -> Result<PathBuf>) -> Result<bool> {
    let network = match Network::start() {
        Ok(network) => network,
        Err(error) => {
            eprintln!(
                "!!! SKIPPED: nothing was tried in namespaces, which cannot be had: {error:#}"
            );
            return Ok(false);
        }
    };
    let fizeau = fizeau()?;
    let home = std::path::absolute("target/namespaces")?;
    fs::create_dir_all(&home)?;
    let trial = Trial { network, fizeau, home };
    let _server = trial.serve()?;
    trial.whole()?;
    trial.cut()?;
    println!("namespaces: all of it holds");
    Ok(true)
}

/// Namespaces joined by a bridge. Dropping it removes them.
struct Network {
    prefix: String,
}

impl Network {
    fn start() -> Result<Self> {
        let network = Self { prefix: format!("fizeau-{}", std::process::id()) };
        let hub = network.place("hub");
        ip(&format!("netns add {hub}"))?;
        ip(&format!("-n {hub} link set dev lo up"))?;
        ip(&format!("-n {hub} link add bridge type bridge"))?;
        ip(&format!("-n {hub} addr add 10.77.0.1/24 dev bridge"))?;
        ip(&format!("-n {hub} link set dev bridge up"))?;
        for index in 0..SHARDS {
            let place = network.place(&index.to_string());
            ip(&format!("netns add {place}"))?;
            ip(&format!("-n {place} link set dev lo up"))?;
            let peer = format!("type veth peer name link0 netns {place}");
            ip(&format!("-n {hub} link add shard{index} {peer}"))?;
            ip(&format!("-n {hub} link set dev shard{index} master bridge up"))?;
            ip(&format!("-n {place} addr add 10.77.0.1{index}/24 dev link0"))?;
            ip(&format!("-n {place} link set dev link0 up"))?;
        }
        Ok(network)
    }

    fn place(&self, name: &str) -> String {
        format!("{}-{name}", self.prefix)
    }

    /// Runs `program` in one of the namespaces.
    fn within(&self, name: &str, program: &Path) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.place(name)]).arg(program);
        command
    }

    /// Takes the link of a shard `up` or `down`.
    fn link(&self, index: usize, state: &str) -> Result<()> {
        ip(&format!("-n {} link set dev shard{index} {state}", self.place("hub")))
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let places = (0..SHARDS).map(|index| index.to_string());
        for place in places.chain(["hub".to_owned()]) {
            // What was not made need not be removed.
            let _ = ip(&format!("netns del {}", self.place(&place)));
        }
    }
}

/// Runs `ip` with these words.
fn ip(words: &str) -> Result<()> {
    let mut command = Command::new("ip");
    let ended = command.args(words.split_whitespace()).output().context("there is no ip")?;
    let said = String::from_utf8_lossy(&ended.stderr);
    ensure!(ended.status.success(), "ip {words}: {}", said.trim());
    Ok(())
}

/// What is tried.
struct Trial {
    network: Network,
    fizeau: PathBuf,
    home: PathBuf,
}

impl Trial {
    fn start(&self, name: &str, place: &str, change: impl FnOnce(&mut Command)) -> Result<Running> {
        let mut command = self.network.within(place, &self.fizeau);
        change(&mut command);
        Running::start(name, command, &self.home)
    }

    fn serve(&self) -> Result<Running> {
        let (host, port) = SERVER.split_once(':').context("HOST:PORT")?;
        let words = ["serve", "--ttft-ms", "20", "--itl-ms", "2", "--host", host, "--port", port];
        self.start("server", "hub", |command| {
            command.args(words);
        })
    }

    /// Starts all shards of a run, which each prove that they know the secret.
    fn bench(&self, requests: u64, out: &Path) -> Result<Vec<Running>> {
        // What an earlier trial left.
        let _ = fs::remove_dir_all(out);
        let start = |index: usize| {
            self.start(&format!("shard-{index}"), &index.to_string(), |command| {
                command
                    .args(BENCH.split_whitespace())
                    .arg("--num-prompts")
                    .arg(requests.to_string());
                command.args(["--base-url", &format!("http://{SERVER}")]).arg("--out").arg(out);
                command.env("FIZEAU_SHARD_INDEX", index.to_string());
                command.env("FIZEAU_SHARD_COUNT", SHARDS.to_string());
                command.env("FIZEAU_RENDEZVOUS", MEETING).env("FIZEAU_SHARD_SECRET", "bridge");
            })
        };
        (0..SHARDS).map(start).collect()
    }

    /// Three clients of three addresses are one run.
    fn whole(&self) -> Result<()> {
        let out = self.home.join("whole");
        for shard in &mut self.bench(300, &out)? {
            let code = shard.ends()?;
            ensure!(code == Some(0), "{} ended with {code:?}: {}", shard.name, shard.said()?);
        }
        let summary = summary(&out)?;
        let (sent, count) = summary.sent_by();
        ensure!(
            (sent, count) == (300, SHARDS as u64),
            "{count} shards of {SHARDS} sent {sent} of 300 requests"
        );
        println!(
            "namespaces: 300 requests from {SHARDS} addresses, begun within {}",
            summary.skew()
        );
        Ok(())
    }

    /// A shard whose link is cut in mid-run is named by the others, and what each had measured is kept.
    fn cut(&self) -> Result<()> {
        let (out, last) = (self.home.join("cut"), SHARDS - 1);
        let mut shards = self.bench(900, &out)?;
        let tapes = |index: usize| out.join(format!("shards/{index}-of-{SHARDS}/tapes.jsonl"));
        let begun = Instant::now();
        while !fs::metadata(tapes(last)).is_ok_and(|file| file.len() > 0) {
            ensure!(
                begun.elapsed() < MEETING_TAKES,
                "shard {last} sent nothing: {}",
                shards[last].said()?
            );
            thread::sleep(Duration::from_millis(50));
        }
        thread::sleep(Duration::from_secs(3));
        self.network.link(last, "down")?;
        for shard in shards.iter_mut().take(last) {
            let (code, said) = (shard.ends()?, shard.said()?);
            let is_named = said.contains(&format!("shard {last}/{SHARDS} on "));
            ensure!(code == Some(4) && is_named, "{} ended with {code:?}: {said}", shard.name);
        }
        // The one that was cut off waits for replies that are on their way, and then finds nobody.
        self.network.link(last, "up")?;
        let alone = &mut shards[last];
        let (code, said) = (alone.ends()?, alone.said()?);
        ensure!(code == Some(4), "the one that was cut off ended with {code:?}: {said}");
        for index in 0..last {
            let kept = fs::read_to_string(tapes(index))?.lines().count();
            ensure!(kept == 300, "of shard {index} {kept} of 300 requests were kept");
        }
        println!(
            "namespaces: a cut link is noticed, its shard is named, and what was measured is kept"
        );
        Ok(())
    }
}
