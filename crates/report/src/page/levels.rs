//! Levels as tables: what each measured, of which part, over how many runs, and all that is known of it.

use fizeau_core::{Millis, document};
use fizeau_metrics::{Metric, Statistic};
use serde::Serialize;

use super::table::{Cell, Head, Row, Table};
use crate::Shown;
use crate::Verbosity;
use crate::columns::failed;
use crate::level::{PLATEAU_NOTE, not_steady, part_cells, part_name};
use crate::sweep::{HEADS, ONE_RUN_NOTE, REPEATS_NOTE, SATURATED_NOTE};
use crate::table::{TablePlace, places};
use crate::{ChartLevel, ChartRun};
use fizeau_core::LoadKind;
use fizeau_record::STAND_IN_NOTE;
use fizeau_record::text::supported;
use fizeau_record::{FrontierPosition, LevelReport, SweepReport};

document! {
    /// All tables of levels.
    #[derive(Debug)]
    pub(super) view Levels, pub(super) fn of(report: &SweepReport, run: &ChartRun) {
        let kinds = Shown(report).kinds();
    } {
        /// One for each kind of load.
        tables: Vec<Table> =
            kinds.iter().enumerate().map(|(nth, kind)| table(report, run, kind, nth)).collect(),
        /// Below all of them.
        notes: Vec<String> = notes(report),
        repeats: Option<Table> = repeats(report),
        percentiles: Option<Table> = percentiles(report),
        windows: Option<Table> = windows(report),
    }
}

/// All that is known of a level, as text.
#[derive(Debug, Serialize)]
pub(super) struct LevelRecord {
    load: String,
    text: String,
}

/// A column of figures: what it is of, in which unit, and whether it stays where no level has it.
pub(super) struct Column {
    pub(super) name: String,
    pub(super) head: String,
    pub(super) unit: &'static str,
    pub(super) stays: bool,
}

fn column(name: &str, head: &str, unit: &'static str, stays: bool) -> Column {
    Column { name: name.to_owned(), head: head.to_owned(), unit, stays }
}

/// The columns of a latency: its median and its tail, of one that is pooled the tail alone.
fn latency_columns(metric: Metric) -> Vec<Column> {
    let median = metric.is_of_requests().then_some(Statistic::P50);
    let each = median.into_iter().chain([Statistic::P99]).filter_map(|statistic| {
        let head = format!("{} {}", statistic.as_str(), metric.entry().label);
        Some(column(&metric.column(statistic)?, &head, metric.entry().unit, true))
    });
    each.collect()
}

/// Of rates and shares that tables have those of every level, or those that only some have.
fn rate_columns(places: Vec<TablePlace>, stays: bool) -> impl Iterator<Item = Column> {
    let rates = places.into_iter().filter(|place| !place.metric.is_latency());
    rates.filter_map(move |TablePlace { metric, statistic, .. }| {
        let [head, unit] = metric.entry().name;
        Some(column(&metric.column(statistic)?, head, unit, stays))
    })
}

pub(super) fn columns() -> impl Iterator<Item = Column> {
    let (every, mut of_some) = places();
    of_some.reverse();
    let of_one = [
        column("output_tps_per_device", "a device", "tokens/s", false),
        column("user_tps", "a user", "tokens/s", true),
    ];
    let cost = column("cost_per_million_output", "a million tokens", "USD", false);
    let latencies = Metric::headline().flat_map(latency_columns);
    let figures = rate_columns(every, true).chain(of_one).chain(latencies);
    figures.chain(rate_columns(of_some, false)).chain([cost])
}

/// The table of the levels with these indices, which are of one kind of load.
fn table(report: &SweepReport, run: &ChartRun, kind: &[usize], nth: usize) -> Table {
    let levels = || kind.iter().filter_map(|&index| Some((index, run.levels.get(index)?)));
    let has = |column: &Column| {
        let is_known = levels().any(|(_, level)| level.figures.get(&column.name).is_some());
        column.stays
            || (is_known && (column.name != "output_tps_per_device" || run.devices > Some(1)))
    };
    let columns: Vec<Column> = columns().filter(has).collect();
    let has_light = levels().any(|(_, level)| level.light_share.is_some());
    let by_rate = kind.first().and_then(|&index| report.levels().get(index));
    let by_rate = by_rate.is_some_and(|level| level.load.kind() == LoadKind::Rate);
    let (load, unit) = if by_rate { ("load", "requests/s") } else { ("concurrency", "") };
    // What is to be made of a level is read first: of a wide table the end is out of sight.
    let mut heads = vec![Head::figure(load, unit), Head::words("position"), Head::words("verdict")];
    heads.extend(columns.iter().map(|column| Head::figure(&column.head, column.unit)));
    heads.push(Head::figure("failed", ""));
    heads.extend(has_light.then(|| Head::figure("speed of light", "%")));
    let row = |(index, chart): (usize, &ChartLevel)| {
        let level = report.levels().get(index)?;
        let (class, position) = position(report, index)?;
        let position = Cell { class: "left position", ..Cell::text(position) };
        let verdict = Cell { class: "left word", ..Cell::text(chart.verdict) };
        let mut cells = vec![load_cell(level), position, verdict];
        cells.extend(columns.iter().map(|column| Cell::figure(chart.figures.get(&column.name))));
        let failed = failed(level);
        cells.push(Cell::number(failed as f64, failed.to_string()));
        cells.extend(has_light.then(|| light_cell(chart)));
        Some(Row { class, cells })
    };
    let name = if nth == 0 { "levels".to_owned() } else { format!("levels-{}", nth + 1) };
    Table::new("Levels", heads, levels().filter_map(row)).named(name)
}

fn load_cell(level: &LevelReport) -> Cell {
    let mark = if level.is_saturated() { "!" } else { "" };
    Cell::number(level.load.value(), format!("{}{mark}", level.load.number()))
}

fn light_cell(level: &ChartLevel) -> Cell {
    let share =
        level.light_share.map(|share| Cell::number(100.0 * share, supported(100.0 * share, None)));
    share.unwrap_or_else(|| Cell::text("-"))
}

/// How a row looks, and how its level stands to the others in words.
fn position(report: &SweepReport, index: usize) -> Option<(&'static str, String)> {
    Some(match report.positions().get(index)? {
        // One that keeps the goals may be beaten by one that does not.
        _ if report.operating_point().level() == Some(index) => {
            ("chosen", "operating point".to_owned())
        }
        FrontierPosition::Frontier => ("best", "on the frontier".to_owned()),
        FrontierPosition::Dominated { by } => {
            ("dimmed", format!("dominated by {}", Shown(report).label_of(*by)))
        }
        FrontierPosition::LeftOut { reason } => ("dimmed", format!("left out: {reason}")),
    })
}

fn notes(report: &SweepReport) -> Vec<String> {
    let failures = Shown(report).failure_lines().into_iter();
    let mut notes: Vec<String> = failures.map(|said| format!("{said}.")).collect();
    let never = Shown(report).never_measured();
    if !never.is_empty() {
        notes.push(format!("Left out: {}.", never.join(", ")));
    }
    if !report.repeats().is_empty() {
        notes.push(format!("{ONE_RUN_NOTE}."));
        notes.extend(Shown(report).kept_goals());
    }
    if report.has_stand_in() {
        notes.push(format!("* {STAND_IN_NOTE}."));
    }
    if report.levels().iter().any(LevelReport::is_saturated) {
        notes.push(format!("! {SATURATED_NOTE}."));
    }
    notes.push(format!(
        "Small print: 95 % intervals, where they are known; figures have the digits that their \
         interval supports. TTFT: send start to first token. TPOT: mean time per token after the \
         first chunk. ITL: gaps between tokens. E2EL: send start to last token. Failed requests \
         are in no latency. A user: 1 / p50 TPOT. Speed of light: output tokens/s as a share of {}.",
        Shown(report).light_words()
    ));
    notes
}

/// What the runs of each load came to together; none where each was measured once.
fn repeats(report: &SweepReport) -> Option<Table> {
    let rows = Shown(report).repeat_rows().into_iter();
    let rows = rows.map(|row| Row::plain(row.map(Cell::text)));
    let table = Table::new("Repeats", HEADS.map(|head| Head::figure(head, "")), rows);
    table.noting([format!("{REPEATS_NOTE}.")]).unless_empty()
}

const SHARES: [(&str, Statistic); 5] = [
    ("p50", Statistic::P50),
    ("p90", Statistic::P90),
    ("p95", Statistic::P95),
    ("p99", Statistic::P99),
    ("p99.9", Statistic::P999),
];

/// The tails of each latency, level by level.
fn percentiles(report: &SweepReport) -> Option<Table> {
    let mut heads = vec![Head::figure("load", ""), Head::words("latency")];
    heads.extend(SHARES.map(|(name, _)| Head::figure(name, "ms")));
    heads.push(Head::figure("greatest", "ms"));
    heads.push(Head::figure("values", ""));
    let mut rows = Vec::new();
    for level in report.levels() {
        let sample = |metric: Metric| Some((metric, metric.distribution(&level.summary)?));
        for (metric, sample) in
            Metric::headline().filter_map(sample).filter(|(_, sample)| sample.n > 0)
        {
            let mut cells = vec![load_cell(level), Cell::left(metric.entry().label)];
            cells.extend(SHARES.map(|(_, share)| latency(sample.statistic(share))));
            let n = Cell::number(sample.n as f64, sample.n.to_string());
            cells.extend([latency(sample.max), n]);
            rows.push(Row::plain(cells));
        }
    }
    Table::new("Percentiles of each latency", heads, rows)
        .named("percentiles")
        .noting(["A dash: the sample is too small for that percentile."])
        .unless_empty()
}

/// Percentiles of a row have three digits each: rounded by intervals of their own, a higher one may read as less than a lower one.
fn latency(value: Option<Millis>) -> Cell {
    let Some(ms) = value.map(Millis::get) else { return Cell::text("-") };
    Cell::number(ms, supported(ms, None))
}

/// The part of each level that was measured beside the whole, or why there is none.
fn windows(report: &SweepReport) -> Option<Table> {
    let heads = [
        ("load", ""),
        ("sent in it", ""),
        ("excluded first/last", ""),
        ("requests", "/s"),
        ("output tokens", "/s"),
        ("p50 / p99 TTFT", "ms"),
        ("p50 / p99 E2EL", "ms"),
    ];
    let sent = report.levels().iter().filter(|level| level.summary.requests.sent > 0);
    let row = |level: &LevelReport| {
        let load = Cell::text(Shown(report).label(level.load));
        match &level.summary.windowed.part {
            Ok(part) => {
                let kind = Cell::left(part_name(&part.window));
                Row::plain([load, kind].into_iter().chain(part_cells(part).map(Cell::text)))
            }
            Err(none) => {
                let why = Cell::left(format!("none: {}", not_steady(none.why)));
                Row::plain([load, Cell { class: "rest", ..why }])
            }
        }
    };
    let mut heads = Vec::from(heads.map(|(head, unit)| Head::figure(head, unit)));
    heads.insert(1, Head::words("part"));
    Table::new("Steady state", heads, sent.map(row))
        .noting([format!(
            "The steady state of each level, the window that was asked for, or {PLATEAU_NOTE}. The table of levels \
             covers the whole run."
        )])
        .unless_empty()
}

/// Each level with all that is known of it.
pub(super) fn records(report: &SweepReport) -> Vec<LevelRecord> {
    let record = |level: &LevelReport| LevelRecord {
        load: level.load.to_string(),
        text: Shown(level).block(Verbosity::Full),
    };
    report.levels().iter().map(record).collect()
}
