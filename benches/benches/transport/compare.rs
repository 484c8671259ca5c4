//! One shape: Fizeau, wrk and a bare loop in turn, on the same server.

use std::time::Duration;

use anyhow::Result;
use fizeau::core::Tape;

use crate::Stand;
use crate::client::{ClientRun, Headroom, Need, Summary};
use crate::cores::{Others, Watch};
use crate::figures::Figures;
use crate::server::{Server, Truth};
use crate::shape::Shape;
use crate::table::{Bar, Table};
use crate::wrk::WrkRun;

/// What was seen in one round.
struct Round {
    client: ClientRun,
    /// CPU of the server meanwhile.
    server_cpu: Duration,
    others: Others,
    /// Only where the server's timing is exact.
    sides: Option<Sides>,
    wrk: Option<WrkRun>,
    /// CPU seconds per million tokens of the bare loop.
    floor: Option<f64>,
}

/// The same figures on both sides.
struct Sides {
    client: Figures,
    server: Figures,
    truth: Truth,
}

/// Runs `shape` as often as asked.
pub(crate) fn compare(stand: &Stand, shape: &Shape) -> Result<Table> {
    let server = Server::start(&stand.fizeau, stand.cores.server, stand.priority, shape)?;
    let mut rounds = Vec::new();
    for _ in 0..stand.rounds {
        rounds.push(round(stand, shape, &server)?);
    }
    Ok(table(shape, &rounds))
}

/// Runs `shape` so often, without wrk and the bare loop.
pub(crate) fn alone(stand: &Stand, shape: &Shape, rounds: u8) -> Result<Table> {
    let server = Server::start(&stand.fizeau, stand.cores.server, stand.priority, shape)?;
    let rounds = (0..rounds).map(|_| fizeau(stand, shape, &server)).collect::<Result<Vec<_>>>()?;
    Ok(table(shape, &rounds))
}

fn round(stand: &Stand, shape: &Shape, server: &Server) -> Result<Round> {
    let round = fizeau(stand, shape, server)?;
    let wrk = stand.wrk.as_ref().map(|wrk| wrk.run(shape, stand.priority, server)).transpose()?;
    let floor = stand.floor.cpu_per_million(shape, stand.priority, server)?;
    Ok(Round { wrk, floor: Some(floor), ..round })
}

fn fizeau(stand: &Stand, shape: &Shape, server: &Server) -> Result<Round> {
    server.forget()?;
    let (watch, before) = (Watch::start(stand.cores)?, server.cpu()?);
    let client = stand.client.run(shape, stand.priority, &server.url(), &stand.scratch)?;
    let server_cpu = server.cpu()?.saturating_sub(before);
    let others = watch.others(server_cpu, client.finished.cpu)?;
    let sides = shape.is_paced().then(|| Sides::of(&client, server.truth()?)).transpose()?;
    Ok(Round { client, server_cpu, others, sides, wrk: None, floor: None })
}

impl Sides {
    fn of(client: &ClientRun, truth: Truth) -> Result<Self> {
        let tapes = client.tapes()?.collect::<Result<Vec<Tape>>>()?;
        let (client, record) = (Figures::of(&tapes), truth.tapes().collect::<Vec<_>>());
        Ok(Self { client, server: Figures::of(&record), truth })
    }
}

fn table(shape: &Shape, rounds: &[Round]) -> Table {
    let mut table = Table::new(shape.describe());
    if shape.is_paced() {
        accuracy(&mut table, shape, rounds);
    }
    cost(&mut table, shape, rounds);
    for (number, round) in (1..).zip(rounds) {
        notes(&mut table, number, &round.client);
    }
    if let Some(room) =
        rounds.last().and_then(|round| round.client.summary.client.headroom.as_ref())
    {
        headroom(&mut table, room);
    }
    table
}

/// What was checked before the first request left.
fn headroom(table: &mut Table, room: &Headroom) {
    for (name, need) in [("file descriptors", room.file_descriptors), ("local ports", room.ports)] {
        if let Some(Need { needed, limit }) = need {
            table.note(format!("checked beforehand: {name}: {needed} needed, {limit} allowed"));
        }
    }
}

/// What the client says of the CPU that it had, and of what it read too late.
pub(crate) fn proof<'a>(table: &mut Table, rounds: &(impl Iterator<Item = &'a Summary> + Clone)) {
    let percent = |share: fn(&Summary) -> Option<f64>| {
        rounds.clone().map(move |round| share(round).map_or(f64::NAN, |share| share * 100.0))
    };
    let delay = percent(|summary| summary.client.run_delay_share);
    table.row("ready without a CPU, %", 2, Bar::None, delay);
    let stolen = percent(|summary| summary.client.steal_share);
    table.row("stolen by the hypervisor, %", 2, Bar::None, stolen);
    let merged = percent(|summary| summary.jitter.merged_gap_share);
    table.row("gaps lost in merged reads, %", 2, Bar::None, merged);
}

/// How true the client's figures are, and how good the server was that they are held against.
fn accuracy(table: &mut Table, shape: &Shape, rounds: &[Round]) {
    let bars = shape.bars;
    let side = |figure: fn(&Sides) -> f64| {
        rounds.iter().map(move |round| round.sides.as_ref().map_or(f64::NAN, figure))
    };
    let ttft_apart = side(|s| s.client.ttft_p99 - s.server.ttft_p99);
    let itl_apart = side(|s| s.client.itl_p99 - s.server.itl_p99);
    table.row("TTFT p99, client - server, ms", 3, Bar::within(bars.ttft_apart), ttft_apart);
    table.row("ITL p99, client - server, ms", 4, Bar::within(bars.itl_apart), itl_apart);
    table.row("TTFT p99, server's record, ms", 3, Bar::None, side(|s| s.server.ttft_p99));
    table.row("ITL p99, server's record, ms", 4, Bar::None, side(|s| s.server.itl_p99));
    let late = |figure: fn(&crate::server::Lateness) -> f64| {
        let of = move |sides: &Sides| sides.truth.lateness_ms.as_ref().map(figure);
        rounds.iter().map(move |round| round.sides.as_ref().and_then(of).unwrap_or(f64::NAN))
    };
    table.row("server's own lateness p50, ms", 4, Bar::None, late(|late| late.p50));
    table.row("server's own lateness p99, ms", 4, Bar::None, late(|late| late.p99));
    table.row("server's own lateness max, ms", 3, Bar::None, late(|late| late.max));
    let lateness = |round: &Round| round.client.summary.metrics.send_lateness_ms.p99;
    let lateness = rounds.iter().map(|round| lateness(round).unwrap_or(f64::NAN));
    table.row("send lateness p99, ms", 3, Bar::at_most(bars.lateness), lateness);
    let lag = |round: &Round| round.client.summary.metrics.read_lag_ms.as_ref()?.p99;
    let lag = rounds.iter().map(|round| lag(round).unwrap_or(f64::NAN));
    table.row("read lag p99 (kernel stamps), ms", 3, Bar::None, lag);
    proof(table, &rounds.iter().map(|round| &round.client.summary));
    let verdicts = rounds.iter().map(|round| round.client.summary.validity.verdict.as_str());
    table.words("verdict", bars.lateness.map(|_| "valid"), verdicts);
}

/// What the client took.
fn cost(table: &mut Table, shape: &Shape, rounds: &[Round]) {
    let bars = shape.bars;
    let ours = |round: &Round| round.client.cpu_per_million();
    let wrk = |round: &Round| round.wrk.as_ref().map_or(f64::NAN, WrkRun::cpu_per_million);
    let cpu = Bar::at_most(bars.cpu);
    table.row("CPU s per million tokens", 2, cpu, rounds.iter().map(ours));
    if rounds.iter().any(|round| round.wrk.is_some()) {
        let ratio = Bar::at_most(bars.cpu_ratio);
        let ratios = rounds.iter().map(|round| ours(round) / wrk(round));
        table.row("CPU s per million tokens, wrk", 2, Bar::None, rounds.iter().map(wrk));
        table.row("CPU, ours / wrk's", 2, ratio, ratios);
    }
    if rounds.iter().any(|round| round.floor.is_some()) {
        let floor = |round: &Round| round.floor.unwrap_or(f64::NAN);
        let ratio = Bar::at_most(bars.floor_ratio);
        let ratios = rounds.iter().map(|round| ours(round) / floor(round));
        let floors = rounds.iter().map(floor);
        table.row("CPU s per million tokens, bare loop", 2, Bar::None, floors);
        table.row("CPU, ours / the bare loop's", 2, ratio, ratios);
    }
    let server = |round: &Round| {
        round.server_cpu.as_secs_f64() / round.client.summary.tokens.output as f64 * 1e6
    };
    table.row("CPU s per million tokens, server", 2, Bar::None, rounds.iter().map(server));
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let peak = |round: &Round| round.client.finished.peak_bytes.map_or(f64::NAN, megabytes);
    table.row("peak memory, MB", 1, Bar::at_most(bars.peak), rounds.iter().map(peak));
    let rate = |round: &Round| round.client.summary.throughput.output_tokens_per_s / 1e3;
    table.row("thousand tokens per second", 1, Bar::None, rounds.iter().map(rate));
    let percent = |share: fn(&Others) -> f64| rounds.iter().map(move |r| share(&r.others) * 100.0);
    table.row("others on the server's core, %", 0, Bar::None, percent(|others| others.on_server));
    table.row("others on the client's core, %", 0, Bar::None, percent(|others| others.on_client));
}

/// What the run says of itself.
pub(crate) fn notes(table: &mut Table, round: u8, run: &ClientRun) {
    let validity = &run.summary.validity;
    for reason in &validity.reasons {
        table.note(format!("round {round}, {}: {}", validity.verdict, reason.text));
    }
    if run.summary.requests.failed > 0 {
        table.note(format!("round {round}: {} requests FAILED", run.summary.requests.failed));
    }
}
