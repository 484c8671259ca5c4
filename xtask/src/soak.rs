//! `cargo xtask soak`: the client for an hour against servers that misbehave at random, and a thousand times killed in mid-run. All of it
//! stays on the loopback, is of bounded length, and ends by itself.
//!
//! Three clients run at once: one in a closed loop against HTTP, one at rates against HTTPS, and one at rates against HTTP/2, whose front leaves it
//! again and again. What is held: each request stands once in the client's folder and once in the server's own log, under the same kind of
//! end; memory, open files and sockets do not grow.

mod account;
mod draws;
mod h2;
mod kills;
mod resources;
mod server;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use crate::cargo::Metadata;
use crate::shards::trial::{Running, given_or_built};
use crate::tool::exit_code;
use account::Account;
use h2::Front;
use resources::Watched;
use server::{Scheme, Server};

/// What befalls requests, and how many of them.
const FAULTS: &str = "0.03*reset@5,0.03*stall@3:300ms,0.02*drip,0.02*429,0.01*503,0.02*error@4,0.02*cut-head,0.02*eof,0.02*cut-chunk,\
                      0.005*no-reply,0.02*close";

/// What befalls requests of HTTP/1.1 besides: a front has no such reply to pass on, and resets the stream.
const FAULTS_OF_HTTP1: &str = "0.02*garbage";

/// What all clients ask for. A slow machine shall spoil no reply: only the one that never comes is given up.
const ASKED: &str = "--model m --isl 32 --osl 16 --num-warmups 0 --no-stop --threads 1 --first-token-timeout 5 --salt 5 \
                     --threshold lateness-invalid=600s,cpu-invalid=1";

/// What is sent in a closed loop. Its levels are of so many requests and not of so much time: as a machine gets quieter it sends faster, and
/// what figures of more requests take would look like what is never given back. They are all alike, and shorter than the stretches whose peaks
/// are compared, so that each stretch has the end of one in it, where figures are computed.
const CLOSED: &str = "--levels 16 --num-prompts 24000 --level-seconds 1200";

/// What is sent at rates.
const RATES: &str = "--rates 30 --level-seconds 240";

/// With what HTTP/2 is spoken: several requests at a time on a connection, and several connections.
const HTTP2: &str = "--http-version 2 --http2-streams 4";

/// About how long a round of a client's levels takes, with what is still in flight at their ends. Long, since a sweep keeps the report of
/// each level until its end: 15 of them in an hour hide a leak less than 30 do.
const ROUND_SECONDS: u64 = 245;

/// How often what a process holds is looked at.
const LOOKS: Duration = Duration::from_secs(3);

/// How much longer than twice the time that is asked for the clients may take: their rounds are counted, and take longer on a busy machine.
const SPARE: Duration = Duration::from_secs(600);

/// Soaks for so many minutes, then kills so many runs; none of either is left out. `fizeau` is the program, where one is built.
///
/// # Errors
/// If something does not run here, or a promise does not hold; the message says which.
pub(crate) fn run(minutes: u64, kills: u64, fizeau: Option<PathBuf>) -> Result<ExitCode> {
    let fizeau = given_or_built(fizeau)?;
    let home = Metadata::read(&["--no-deps"])?.target_directory.join("soak");
    fs::create_dir_all(&home).with_context(|| format!("cannot make {}", home.display()))?;
    let soaked = minutes == 0 || soak(&fizeau, &home, minutes)?;
    if kills > 0 {
        kills::hold(&fizeau, &home, kills)?;
    }
    Ok(exit_code(soaked))
}

/// A client, the server that it measures, and where it writes.
struct Pair {
    server: Server,
    /// What speaks HTTP/2 before the server.
    front: Option<Front>,
    client: Running,
    out: PathBuf,
    watched: Watched,
    /// From when its log, which remembers so many requests, is full.
    watched_server: Watched,
}

impl Pair {
    fn start(fizeau: &Path, home: &Path, scheme: Scheme, loads: &str, rounds: u64) -> Result<Self> {
        let name = scheme.name();
        let faults = match scheme {
            Scheme::Http | Scheme::Https => format!("{FAULTS},{FAULTS_OF_HTTP1}"),
            Scheme::Http2 => FAULTS.to_owned(),
        };
        let server =
            Server::start(fizeau, home, scheme, &["--fault", &faults, "--engine-seed", "1"])?;
        let front = (scheme == Scheme::Http2).then(|| Front::start(server.port())).transpose()?;
        let url = front.as_ref().map_or_else(|| server.url(), Front::url);
        let out = home.join(name);
        if out.exists() {
            fs::remove_dir_all(&out)?;
        }
        let mut command = Command::new(fizeau);
        command.arg("sweep").args(loads.split_whitespace()).args(ASKED.split_whitespace());
        command.args(["--repeats", &rounds.to_string(), "--base-url", &url]);
        command.args(server.trusted()).arg("--out").arg(&out);
        let client = Running::start(&format!("client-{name}"), command, home)?;
        let watched = Watched::new(format!("client, {name}"), client.id());
        let watched_server = Watched::new(format!("server, {name}"), server.id());
        Ok(Self { server, front, client, out, watched, watched_server })
    }

    fn look(&mut self, at: Duration) {
        // The page of all levels, which a sweep makes at its end, is no measuring.
        if !self.out.join("sweep.json").exists() {
            self.watched.look(at);
        }
        if self.server.log().is_full {
            self.watched_server.look(at);
        }
    }

    /// The account of its requests, once it has ended.
    fn account(&mut self) -> Result<Account> {
        let (code, said) = (self.client.ends()?, self.client.said()?);
        ensure!(matches!(code, Some(0 | 1)), "{} ended with {code:?}: {said}", self.client.name);
        let cut = self.front.as_ref().map(Front::cut).unwrap_or_default();
        Account::of(&self.out, self.server.log(), &cut)
    }
}

/// Whether it held; what was seen is printed.
fn soak(fizeau: &Path, home: &Path, minutes: u64) -> Result<bool> {
    let rounds = (minutes * 60).div_ceil(ROUND_SECONDS).max(1);
    let mut pairs = [
        Pair::start(fizeau, home, Scheme::Http, CLOSED, rounds)?,
        Pair::start(fizeau, home, Scheme::Https, RATES, rounds)?,
        Pair::start(fizeau, home, Scheme::Http2, &format!("{RATES} {HTTP2}"), rounds)?,
    ];
    let (begun, longest) = (Instant::now(), Duration::from_secs(2 * 60 * minutes) + SPARE);
    loop {
        let mut running = 0;
        for pair in &mut pairs {
            let is_running = pair.client.is_running()?;
            running += usize::from(is_running);
            pair.server.read_log()?;
            if is_running {
                pair.look(begun.elapsed());
            }
        }
        if begun.elapsed() > longest {
            bail!("the clients still run after {} s", longest.as_secs());
        }
        thread::sleep(LOOKS);
        if running == 0 {
            break;
        }
    }
    println!("soak: {:.1} minutes", begun.elapsed().as_secs_f64() / 60.0);
    let (mut held, mut unknown) = (true, Vec::new());
    for pair in &mut pairs {
        // What the last ones gave up has reached the server by now.
        pair.server.read_log()?;
        let account = pair.account()?;
        println!("soak: {}: {account}", pair.client.name);
        pair.front.iter().for_each(|front| println!("soak: front: {front}"));
        held &= account.is_even();
        for watched in [&pair.watched, &pair.watched_server] {
            println!("soak: {watched}");
            match watched.is_flat() {
                Some(is_flat) => held &= is_flat,
                None => unknown.push(watched.name().to_owned()),
            }
        }
    }
    println!("soak: {}", verdict(held, &unknown));
    Ok(held && unknown.is_empty())
}

/// What it came to, where of `unknown` it cannot be told whether it grew.
fn verdict(held: bool, unknown: &[String]) -> String {
    match (held, unknown) {
        (false, _) => "FAILED: see above".to_owned(),
        (true, []) => "all of it holds".to_owned(),
        (true, unknown) => format!(
            "NOT SHOWN: whatever was measured holds, but whether {} grow cannot be told: that takes Linux, and 25 minutes of looks",
            unknown.join(" and ")
        ),
    }
}
