//! The client beside a second program on its core, both of the usual priority: one that is always busy takes half of the core;
//! one that wakes every 10 ms interrupts it.

use std::process::Command;

use anyhow::Result;
use fizeau::core::{StampSource, Tape};

use crate::Stand;
use crate::client::Summary;
use crate::compare::{notes, proof};
use crate::cores::{Others, Priority, Watch};
use crate::figures::{Figures, as_read};
use crate::process::{Running, pinned};
use crate::server::{Lateness, Server};
use crate::shape::STREAMS_256;
use crate::table::{Bar, Table};

/// How far from the truth the kernel's stamps may be here, and by how much more ours must be off.
const MOST_APART_MS: f64 = 1.0;

/// What else runs on the client's core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Disturbance {
    /// A busy loop.
    HalfCore,
    /// It wakes every 10 ms and starts a process each time, which takes a millisecond or so.
    Wakes,
}

impl Disturbance {
    const fn name(self) -> &'static str {
        match self {
            Self::HalfCore => "a busy loop at half of the core",
            Self::Wakes => "a process that wakes every 10 ms",
        }
    }

    fn command(self, stand: &Stand) -> Command {
        let script = match self {
            Self::HalfCore => "while :; do :; done",
            Self::Wakes => "while :; do sleep 0.01; done",
        };
        let mut command = pinned(stand.cores.client, Priority::Usual, "sh");
        command.args(["-c", script]);
        command
    }
}

struct Round {
    by_kernel: Figures,
    by_us: Figures,
    server: Figures,
    lateness: Option<Lateness>,
    others: Others,
    summary: Summary,
}

/// One table a disturbance.
pub(crate) fn compare(stand: &Stand) -> Result<Vec<Table>> {
    let server = Server::start(&stand.fizeau, stand.cores.server, stand.priority, &STREAMS_256)?;
    [Disturbance::HalfCore, Disturbance::Wakes]
        .map(|by| disturbed(stand, &server, by))
        .into_iter()
        .collect()
}

fn disturbed(stand: &Stand, server: &Server, by: Disturbance) -> Result<Table> {
    let mut table = Table::new(format!("{}, {}", STREAMS_256.describe(), by.name()));
    let mut rounds = Vec::new();
    for number in 1..=stand.rounds {
        let busy = Running::start(&mut by.command(stand))?;
        rounds.push(round(stand, server, number, &mut table)?);
        drop(busy);
    }
    rows(&mut table, by, &rounds);
    Ok(table)
}

fn round(stand: &Stand, server: &Server, number: u8, table: &mut Table) -> Result<Round> {
    server.forget()?;
    let (watch, before) = (Watch::start(stand.cores)?, server.cpu()?);
    let run = stand.client.run(&STREAMS_256, Priority::Usual, &server.url(), &stand.scratch)?;
    let others = watch.others(server.cpu()?.saturating_sub(before), run.finished.cpu)?;
    notes(table, number, &run);
    let tapes = run.tapes()?.collect::<Result<Vec<Tape>>>()?;
    let by_us = tapes.iter().filter(|tape| tape.stamps == StampSource::User).count();
    if by_us > 0 {
        table.note(format!(
            "round {number}: {by_us} of {} requests have no kernel stamps",
            tapes.len()
        ));
    }
    let truth = server.truth()?;
    let record: Vec<Tape> = truth.tapes().collect();
    let by_kernel = Figures::of(&tapes);
    let read: Vec<Tape> = tapes.into_iter().map(as_read).collect();
    Ok(Round {
        by_kernel,
        by_us: Figures::of(&read),
        server: Figures::of(&record),
        lateness: truth.lateness_ms,
        others,
        summary: run.summary,
    })
}

fn rows(table: &mut Table, by: Disturbance, rounds: &[Round]) {
    let each = |figure: fn(&Round) -> f64| rounds.iter().map(figure);
    let within = Bar::Within(MOST_APART_MS);
    // What wakes and soon sleeps again need not hurt stamps that are taken as data is read.
    let beyond = match by {
        Disturbance::HalfCore => Bar::MoreThan(MOST_APART_MS),
        Disturbance::Wakes => Bar::None,
    };
    let ttft = each(|r| r.by_kernel.ttft_p99 - r.server.ttft_p99);
    let itl = each(|r| r.by_kernel.itl_p99 - r.server.itl_p99);
    table.row("TTFT p99 - server, kernel, ms", 3, within, ttft);
    table.row("ITL p99 - server, kernel, ms", 3, within, itl);
    let ttft = each(|r| r.by_us.ttft_p99 - r.server.ttft_p99);
    let itl = each(|r| r.by_us.itl_p99 - r.server.itl_p99);
    table.row("TTFT p99 - server, user stamps, ms", 3, beyond, ttft);
    table.row("ITL p99 - server, user stamps, ms", 3, beyond, itl);
    table.row("TTFT p99, server's record, ms", 3, Bar::None, each(|r| r.server.ttft_p99));
    table.row("ITL p99, server's record, ms", 3, Bar::None, each(|r| r.server.itl_p99));
    let late = each(|r| r.lateness.map_or(f64::NAN, |late| late.p99));
    table.row("server's own lateness p99, ms", 4, Bar::None, late);
    let percent = |share: fn(&Others) -> f64| rounds.iter().map(move |r| share(&r.others) * 100.0);
    table.row("others on the server's core, %", 0, Bar::None, percent(|others| others.on_server));
    table.row("others on the client's core, %", 0, Bar::None, percent(|others| others.on_client));
    proof(table, &rounds.iter().map(|round| &round.summary));
    let verdicts = rounds.iter().map(|round| round.summary.validity.verdict.as_str());
    table.words("verdict", None, verdicts);
}
