//! `cargo xtask shards N -- fizeau sweep ...`: one run as so many processes of this machine, each on a core of its own.

pub(crate) mod table;
pub(crate) mod trial;

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read};
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result, bail};

use crate::{cargo, process};

/// Starts `count` processes of the command line `args`, whose first word may be `fizeau`, and waits for all of them. What shard 0 says
/// goes where ours goes; what the others say stands behind their numbers. The exit code is that of shard 0, or else that of the first
/// other that did not end well.
pub(crate) fn run(count: usize, args: &[OsString]) -> Result<ExitCode> {
    let Some((first, rest)) = args.split_first() else {
        bail!("say what to run, such as: cargo xtask shards 2 -- fizeau sweep --base-url ...");
    };
    if count == 0 {
        bail!("0 processes: give at least 1");
    }
    let program = if first == "fizeau" { built()? } else { first.clone() };
    let meeting = format!("127.0.0.1:{}", free_port()?);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let is_pinned = process::output_of(Command::new("taskset").arg("--version")).is_some();
    if !is_pinned {
        eprintln!(
            "xtask: taskset is not installed, so that the processes share the cores as the system likes"
        );
    }
    let mut started: Vec<(Child, Option<JoinHandle<()>>)> = Vec::new();
    for index in 0..count {
        let mut command = match is_pinned {
            true => {
                let mut command = Command::new("taskset");
                command.args(["-c", &(index % cores).to_string()]).arg(&program);
                command
            }
            false => Command::new(&program),
        };
        command.args(rest).env("FIZEAU_SHARD_INDEX", index.to_string());
        command.env("FIZEAU_SHARD_COUNT", count.to_string()).env("FIZEAU_RENDEZVOUS", &meeting);
        if index > 0 {
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        }
        let mut child = command.spawn().with_context(|| format!("cannot start process {index}"))?;
        let said = child.stderr.take().map(|said| thread::spawn(move || tell(index, said)));
        started.push((child, said));
    }
    let mut code = 0;
    for (mut child, said) in started {
        let ended = child.wait()?.code().unwrap_or(1);
        code = if code == 0 { ended } else { code };
        if let Some(said) = said {
            // What it said is said.
            let _ = said.join();
        }
    }
    Ok(u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Passes on what process `index` says.
fn tell(index: usize, said: impl Read) {
    for line in BufReader::new(said).lines().map_while(std::io::Result::ok) {
        eprintln!("shard {index}: {line}");
    }
}

/// The command line, as `cargo xtask sweep` builds it.
fn built() -> Result<OsString> {
    let package = ["--profile", "sweep", "--package", "fizeau-cli", "--bin", "fizeau"];
    let built = cargo::build(&[&package[..], &["--no-default-features"]].concat())?;
    let fizeau = built.first().context("cargo built no program named fizeau in fizeau-cli")?;
    Ok(fizeau.path.clone().into())
}

/// A port that nobody has at present.
pub(crate) fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no port is free")?;
    Ok(listener.local_addr()?.port())
}
