//! Where the client's CPU goes, function by function, as `perf` samples it.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::Stand;
use crate::client::ClientRun;
use crate::process::{Running, pinned};
use crate::server::Server;
use crate::shape::STREAMS_1000;
use crate::table::{Bar, Table};

/// Functions that take less than this share of the client's CPU, in per cent, are summed up.
const LEAST_PERCENT: f64 = 0.5;

/// One function's part.
struct Part {
    percent: f64,
    in_kernel: bool,
    name: String,
}

/// One run of 1000 streams under `perf record`; microseconds a token are shares of the samples, times the CPU time of a run without it,
/// since what perf starts is not among what its own end is charged with.
pub(crate) fn run(stand: &Stand) -> Result<Table> {
    let server = Server::start(&stand.fizeau, stand.cores.server, stand.priority, &STREAMS_1000)?;
    let (folder, samples) = (stand.scratch.fresh("run")?, stand.scratch.fresh("perf.data")?);
    let command =
        |folder| stand.client.command(&STREAMS_1000, stand.priority, &server.url(), folder);
    let cpu_per_million = ClientRun::of(&mut command(&folder), &folder)?.cpu_per_million();
    let folder = stand.scratch.fresh("run")?;
    let inner = command(&folder);
    let mut command = pinned(stand.cores.client, stand.priority, "perf");
    command.args(["record", "--quiet", "--freq", "1999", "--output"]).arg(&samples).arg("--");
    command.arg(inner.get_program()).args(inner.get_args());
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    ClientRun::of(&mut command, &folder)
        .context("perf cannot record: apt-get install linux-perf, and run as root")?;
    Ok(table(&parts(&samples)?, cpu_per_million))
}

/// What `perf report` makes of it, the greatest first.
fn parts(samples: &Path) -> Result<Vec<Part>> {
    let mut report = Command::new("perf");
    report.args(["report", "--stdio", "--no-children", "--fields", "overhead,dso,sym"]);
    report.args(["--field-separator", ";", "--percent-limit", "0", "--input"]).arg(samples);
    report.stdin(std::process::Stdio::null());
    report.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let report = Running::start(&mut report)?.finish()?;
    let parts: Vec<Part> = report.stdout.lines().filter_map(part).collect();
    ensure!(!parts.is_empty(), "perf report says nothing:\n{}", report.stderr);
    Ok(parts)
}

/// `12.34%;[kernel.kallsyms];[k] tcp_recvmsg`.
fn part(line: &str) -> Option<Part> {
    let mut fields = line.splitn(3, ';').map(str::trim);
    let percent = fields.next()?.strip_suffix('%')?.parse().ok()?;
    let (_, symbol) = (fields.next()?, fields.next()?);
    let (space, name) = symbol.split_once(' ')?;
    Some(Part { percent, in_kernel: space == "[k]", name: name.trim().to_owned() })
}

fn table(parts: &[Part], us_per_token: f64) -> Table {
    let mut table = Table::new(format!("{}, under perf", STREAMS_1000.describe()));
    let us = |percent: f64| percent / 100.0 * us_per_token;
    let all = |in_kernel: bool| {
        us(parts.iter().filter(|part| part.in_kernel == in_kernel).map(|part| part.percent).sum())
    };
    table.row("us per token", 2, Bar::None, std::iter::once(us_per_token));
    table.row("of these, kernel", 2, Bar::None, std::iter::once(all(true)));
    table.row("of these, user", 2, Bar::None, std::iter::once(all(false)));
    for (in_kernel, space) in [(true, "kernel"), (false, "user")] {
        let of_space = || parts.iter().filter(move |part| part.in_kernel == in_kernel);
        for part in of_space().filter(|part| part.percent >= LEAST_PERCENT) {
            table.note(format!("{space} {:.3} us  {}", us(part.percent), part.name));
        }
        let rest = of_space().map(|part| part.percent).filter(|percent| *percent < LEAST_PERCENT);
        table.note(format!("{space} {:.3} us  all others together", us(rest.sum())));
    }
    table
}
