//! Whether to believe it: what speaks against it, the checklist with its evidence, and the client's own proof.

use fizeau_core::{LevelLoad, document};
use fizeau_metrics::Distribution;

use super::imported;
use super::table::{Cell, Head, Row, Table};
use crate::Shown;
use crate::grouped::GroupedReason;
use crate::level::tail;
use crate::shards;
use crate::text::{Verbosity, VerdictNotes};
use fizeau_record::text;
use fizeau_record::text::percent;
use fizeau_record::{CheckOutcome, ChecklistRow, LevelReport, ShardHealth, SweepReport};

document! {
    /// What speaks for and against a run.
    #[derive(Debug)]
    pub(super) view Trust, pub(super) fn of(report: &SweepReport) {
        let VerdictNotes { findings, notes: others } = Shown(report).level_notes(Verbosity::Full);
        let findings = findings.into_iter().map(|finding| format!("Finding: {finding}."));
        let others = findings.chain(others.into_iter().map(|note| format!("Note: {note}.")));
        let light = Shown(report).speed_of_light_reasons().into_iter();
        let light = light.map(|reason| format!("Speed of light not computed: {reason}."));
        let of_run = report.checklist();
        let unknown = report.not_known();
    } {
        verdict: &'static str = report.verdict().as_str(),
        /// What there is to say where there is no reason.
        nothing: &'static str = match report.levels() {
            [] => "No level was measured.",
            _ => "No problem found at any level.",
        },
        reasons: Vec<Reason> = Shown(report).reasons().iter().map(Reason::of).collect(),
        /// What could not be checked, and what is absent.
        notes: Vec<String> = others.chain(light).collect(),
        /// Where another tool measured, what it did not tell.
        not_known: Option<Table> = (!unknown.is_empty()).then(|| imported::not_known(unknown)),
        headline: String = Shown(&of_run).headline(),
        checklist: Table = checklist(of_run.rows()),
        client: Option<Table> = client(report),
        /// How each client fared, where several measured together.
        shards: Option<Table> = shard_table(report),
    }
}

document! {
    /// A reason against levels.
    #[derive(Debug)]
    view Reason, fn of(reason: &GroupedReason<'_, LevelLoad>) {} {
        verdict: &'static str = reason.verdict.as_str(),
        text: String = reason.text.to_owned(),
        at: String = reason.at(),
    }
}

fn checklist(rows: &[ChecklistRow]) -> Table {
    let row = |row: &ChecklistRow| Row {
        class: match row.outcome {
            CheckOutcome::Pass => "pass",
            CheckOutcome::Fail => "fail",
            CheckOutcome::Unknown => "unknown",
            CheckOutcome::Simulated => "dimmed",
        },
        cells: vec![
            Cell::text(row.check.to_string()),
            Cell::left(row.check.words()),
            Cell { class: "left outcome", ..Cell::text(row.outcome.as_str()) },
            Cell::left(&*row.evidence),
        ],
    };
    let heads = ["row", "requirement", "outcome", "evidence"];
    Table::new("Checklist", heads.map(Head::words), rows.iter().map(row))
}

/// A column: its head, its unit, and its cell for a level.
type Column = (&'static str, &'static str, fn(&LevelReport) -> String);

const CLIENT: [Column; 10] = [
    ("load", "", |level| level.load.number()),
    ("threads", "", |level| own(level, level.client.watch.threads.to_string())),
    ("stamps", "", |level| own(level, level.client.stamps.map_or("-", text::stamps).to_owned())),
    ("send lateness", "ms", |level| or_dash(&level.summary.metrics.send_lateness)),
    ("read lag", "ms", |level| or_dash(&level.summary.metrics.read_lag)),
    ("CPU", "", |level| share(level.client.watch.cpu_share)),
    ("CPU starvation", "", |level| share(level.client.watch.run_delay_share)),
    ("CPU stolen", "", |level| share(level.client.watch.steal_share)),
    ("connections", "", |level| {
        let client = &level.client;
        own(level, format!("{} / {}", client.connections_fresh, client.connections_replaced))
    }),
    ("ceiling", "", |level| share(level.ceiling_share())),
];

/// What shows that the client was not the bottleneck; none where nothing was measured.
fn client(report: &SweepReport) -> Option<Table> {
    if report.levels().is_empty() || report.is_simulated() {
        return None;
    }
    let row = |level: &LevelReport| Row::plain(CLIENT.map(|(_, _, cell)| Cell::text(cell(level))));
    let heads = CLIENT.map(|(head, unit, _)| Head::figure(head, unit));
    Some(Table::new("Client", heads, report.levels().iter().map(row)).noting([CLIENT_NOTE]))
}

const CLIENT_NOTE: &str = "Send lateness: intended release to send start. Read lag: the kernel's stamp of an arrival to its reading. \
    Both p50 / p99 / max. CPU, CPU starvation: the share of time in which the busiest measuring thread ran, and in which the most \
    delayed one waited for a CPU. CPU stolen: the share of all CPUs' time that the hypervisor gave to others. Connections: made in the level / broken as a request was sent, which was sent again. Ceiling: tokens/s or streams, \
    whichever is nearer to what the client can do on this machine, as a share of that.";

/// How each client fared, where several measured together.
fn shard_table(report: &SweepReport) -> Option<Table> {
    let all = shards::over(report.levels())?;
    let heads = [Head::words("shard"), Head::words("host")];
    let figures = shards::columns().map(|(head, unit, _)| Head::figure(head, unit));
    let row = |one: &ShardHealth| {
        let names = [&one.shard, &one.host].map(|name| Cell::left(name.clone()));
        let cells = shards::columns().map(|(_, _, cell)| Cell::text(cell(one)));
        Row::plain(names.into_iter().chain(cells))
    };
    let table = Table::new("Shards", heads.into_iter().chain(figures), all.health.iter().map(row));
    let mut notes = all.lines();
    notes.push(shards::COLUMNS_NOTE.to_owned());
    Some(table.noting(notes))
}

/// What only our own client tells of itself.
fn own(level: &LevelReport, text: String) -> String {
    if level.unseen.is_some() { "-".to_owned() } else { text }
}

fn or_dash(sample: &Distribution) -> String {
    if sample.n == 0 { "-".to_owned() } else { tail(sample) }
}

fn share(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), percent)
}
