//! `cargo xtask namespaces`: shards with addresses of their own. Each is in a network namespace, so is the server, and a bridge joins them; a
//! link is cut in mid-run. Where a shard's folders are its own, its tapes come to shard 0 over the network.
//!
//! It takes the right to make namespaces, as root has it, and `ip` of iproute2. Where they are not to be had, that is said and the exit code is 0,
//! unless `CI` is set. What was made is removed, and what was started is ended by its process number.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::process;
use crate::shards::table::ids;
use crate::shards::trial::{BENCH, LOG, Running, WARM_UPS, answered_in, given_or_built, summary};
use crate::tool::exit_code;

/// How many shards there are.
const SHARDS: usize = 3;

/// Where the server listens, in the namespace that has the bridge.
const SERVER: &str = "10.77.0.1:8000";

/// Where shard 0 listens.
const MEETING: &str = "10.77.0.10:5317";

/// How long shards may take until they have sent something.
const MEETING_TAKES: Duration = Duration::from_secs(90);

/// Runs three shards, three that see no folder of one another's, and three of which one is cut off. `fizeau` is the program, where one is built.
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
    trial.apart()?;
    trial.cut()?;
    println!("namespaces: all of it holds");
    Ok(true)
}

/// Whose folders shards see.
#[derive(Clone, Copy)]
enum Folders {
    /// All see the same.
    Shared,
    /// Each sees its own.
    Own,
}

/// Hides the folder that is named first behind one of its own, and becomes the program that is named next.
const HIDDEN: &str = "mount -t tmpfs tmpfs \"$0\" && exec \"$@\"";

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
        self.started(name, self.network.within(place, &self.fizeau), change)
    }

    fn started(
        &self,
        name: &str,
        mut command: Command,
        change: impl FnOnce(&mut Command),
    ) -> Result<Running> {
        change(&mut command);
        Running::start(name, command, &self.home)
    }

    /// How many requests of each address the server answered by its own log.
    fn answered(&self) -> Result<BTreeMap<String, u64>> {
        let (host, port) = SERVER.split_once(':').context("HOST:PORT")?;
        let asks = format!("exec 3<>/dev/tcp/{host}/{port}; printf '%s' \"$0\" >&3; cat <&3");
        let mut bash = self.network.within("hub", Path::new("bash"));
        let ended = bash.args(["-c", &asks, LOG]).output()?;
        let mut answered = BTreeMap::new();
        for request in answered_in(&String::from_utf8_lossy(&ended.stdout))? {
            let client = request.get("client").and_then(serde_json::Value::as_str);
            *answered.entry(client.unwrap_or("nobody").to_owned()).or_default() += 1;
        }
        Ok(answered)
    }

    /// Runs all shards of a run to its end, and sees that all its requests are in the report, each once.
    fn is_whole(&self, requests: u64, out: &Path, folders: Folders) -> Result<String> {
        for shard in &mut self.bench(requests, out, folders)? {
            let code = shard.ends()?;
            ensure!(code == Some(0), "{} ended with {code:?}: {}", shard.name, shard.said()?);
        }
        let summary = summary(out)?;
        let (sent, count) = summary.sent_by();
        ensure!(
            (sent, count) == (requests, SHARDS as u64),
            "{count} shards of {SHARDS} sent {sent} of {requests} requests"
        );
        let kept = ids(out)?.len() as u64;
        ensure!(kept == requests, "of {requests} requests {kept} have a tape");
        Ok(summary.skew())
    }

    fn serve(&self) -> Result<Running> {
        let (host, port) = SERVER.split_once(':').context("HOST:PORT")?;
        let words = ["serve", "--ttft-ms", "20", "--itl-ms", "2", "--host", host, "--port", port];
        self.start("server", "hub", |command| {
            command.args(words);
        })
    }

    /// Starts all shards of a run, which each prove that they know the secret.
    fn bench(&self, requests: u64, out: &Path, folders: Folders) -> Result<Vec<Running>> {
        // What an earlier trial left.
        let _ = fs::remove_dir_all(out);
        fs::create_dir_all(out)?;
        let start = |index: usize| {
            let (name, place) = (format!("shard-{index}"), index.to_string());
            let fizeau = &self.fizeau;
            let command = match folders {
                // What a mount hides from others is gone with the process.
                Folders::Own if index > 0 => {
                    let mut command = self.network.within(&place, Path::new("unshare"));
                    command.args(["--mount", "sh", "-c", HIDDEN]).arg(out).arg(fizeau);
                    command
                }
                _ => self.network.within(&place, fizeau),
            };
            self.started(&name, command, |command| {
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

    /// Three clients of three addresses are one run, and each sends its third from its own.
    fn whole(&self) -> Result<()> {
        let skew = self.is_whole(300, &self.home.join("whole"), Folders::Shared)?;
        let answered = self.answered()?;
        // Shards warm the server up too.
        let all: u64 = answered.values().sum();
        let own = (0..SHARDS).map(|index| answered.get(&format!("10.77.0.1{index}")));
        let is_own = own.flatten().filter(|count| **count >= 100).count() == answered.len();
        ensure!(
            is_own && answered.len() == SHARDS && all == 300 + WARM_UPS,
            "the server answered {answered:?}, and not a hundred of each of {SHARDS} shards and {WARM_UPS} more"
        );
        println!(
            "namespaces: 300 requests, a hundred from each of {SHARDS} addresses by the server's log, begun within {skew}"
        );
        Ok(())
    }

    /// Shards that see no folder of one another's: what they measured comes to shard 0 over the network.
    fn apart(&self) -> Result<()> {
        let out = self.home.join("apart");
        self.is_whole(300, &out, Folders::Own)?;
        let part = |index: usize| out.join(format!("shards/{index}-of-{SHARDS}"));
        for index in 1..SHARDS {
            let kept = fs::read_to_string(part(index).join("tapes.jsonl"))?.lines().count();
            ensure!(kept == 100, "of shard {index} {kept} of 100 tapes came to shard 0");
            // That it writes for itself alone.
            ensure!(!part(index).join("run.json").exists(), "shard 0 sees shard {index}'s folder");
        }
        println!("namespaces: without a shared folder all 300 tapes come to shard 0");
        Ok(())
    }

    /// A shard whose link is cut in mid-run is named by the others, and what each had measured is kept.
    fn cut(&self) -> Result<()> {
        let (out, last) = (self.home.join("cut"), SHARDS - 1);
        let mut shards = self.bench(900, &out, Folders::Shared)?;
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
