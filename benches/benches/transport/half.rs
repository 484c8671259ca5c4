//! The client at half a CPU: a busy loop takes the other half of its core. Both are of the usual priority, else neither
//! would have a half.

use std::process::Command;

use anyhow::Result;
use fizeau::core::{StampSource, Tape};

use crate::Stand;
use crate::compare::notes;
use crate::cores::Priority;
use crate::figures::{Figures, as_read};
use crate::process::{Running, pinned};
use crate::server::Server;
use crate::shape::STREAMS_256;
use crate::table::{Bar, Table};

/// How far from the truth the kernel's stamps may be here, and by how much more ours must be off.
const MOST_APART_MS: f64 = 1.0;

struct Round {
    by_kernel: Figures,
    by_us: Figures,
    server: Figures,
    verdict: String,
}

pub(crate) fn compare(stand: &Stand) -> Result<Table> {
    let server = Server::start(&stand.fizeau, stand.cores.server, stand.priority, &STREAMS_256)?;
    let mut table = Table::new(format!("{}, half a CPU", STREAMS_256.describe()));
    let mut rounds = Vec::new();
    for number in 1..=stand.rounds {
        rounds.push(round(stand, &server, number, &mut table)?);
    }
    rows(&mut table, &rounds);
    Ok(table)
}

fn round(stand: &Stand, server: &Server, number: u8, table: &mut Table) -> Result<Round> {
    server.forget()?;
    let busy = Running::start(&mut busy_loop(stand))?;
    let run = stand.client.run(&STREAMS_256, Priority::Usual, &server.url(), &stand.scratch)?;
    drop(busy);
    notes(table, number, &run);
    let tapes = run.tapes()?.collect::<Result<Vec<Tape>>>()?;
    let by_us = tapes.iter().filter(|tape| tape.stamps == StampSource::User).count();
    if by_us > 0 {
        table.note(format!(
            "round {number}: {by_us} of {} requests have no kernel stamps",
            tapes.len()
        ));
    }
    let record: Vec<Tape> = server.truth()?.tapes().collect();
    let (by_kernel, server) = (Figures::of(&tapes), Figures::of(&record));
    let read: Vec<Tape> = tapes.into_iter().map(as_read).collect();
    let verdict = run.summary.validity.verdict;
    Ok(Round { by_kernel, by_us: Figures::of(&read), server, verdict })
}

fn busy_loop(stand: &Stand) -> Command {
    let mut command = pinned(stand.cores.client, Priority::Usual, "sh");
    command.args(["-c", "while :; do :; done"]);
    command
}

fn rows(table: &mut Table, rounds: &[Round]) {
    let each = |figure: fn(&Round) -> f64| rounds.iter().map(figure);
    let (within, beyond) = (Bar::Within(MOST_APART_MS), Bar::MoreThan(MOST_APART_MS));
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
    table.words("verdict", None, rounds.iter().map(|round| round.verdict.as_str()));
}
