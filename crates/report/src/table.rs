//! The columns of the table of levels, shared by the terminal and the page.

use fizeau_core::PerSec;
use fizeau_metrics::Distribution;

use crate::number::column_decimals;
use crate::{LatencyBasis, LevelReport, LoadPoint, Tail};

/// One column with its cells, a cell for each level.
#[derive(Debug)]
pub(crate) struct Column {
    /// What stands above the heads of columns that belong together, with the unit.
    pub(crate) group: &'static str,
    /// What stands above the cells.
    pub(crate) head: &'static str,
    /// How soon it may be left out where there is no room, the lowest first; none if it must stay.
    pub(crate) rank: Option<u8>,
    /// The cells.
    pub(crate) cells: Vec<Cell>,
}

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cell {
    /// The figure, or `-` where there is none.
    pub(crate) text: String,
    /// Whether the greatest value stands in for a percentile.
    pub(crate) marked: bool,
}

/// The columns for levels of one kind of load.
pub(crate) fn columns(levels: &[&LevelReport]) -> Vec<Column> {
    let by_rate = |level: &&LevelReport| matches!(level.load, LoadPoint::Rate(_));
    let (asked, unit) = if levels.iter().any(by_rate) { ("asked", "req/s") } else { ("", "conc") };
    let column = |group, head, rank, cells| Column { group, head, rank, cells };
    let must = None;
    let load = loads(levels);
    let requests = rates(levels, |l| l.summary.throughput.requests_per_s);
    let tokens = rates(levels, |l| l.summary.throughput.output_tokens_per_s);
    let [ttft_p50, ttft_p99] = latencies(levels, |l| &l.summary.metrics.ttft);
    let [tpot_p50, tpot_p99] = latencies(levels, |l| &l.summary.metrics.tpot);
    let [e2el_p50, e2el_p99] = latencies(levels, |l| &l.summary.metrics.e2el);
    let failed = texts(levels, |l| l.summary.requests.failed.to_string());
    let mut columns = vec![
        column(asked, unit, must, load),
        column("req", "/s", must, requests),
        column("out tok", "/s", must, tokens),
        column("TTFT ms", "p50", Some(3), ttft_p50),
        column("TTFT ms", "p99", must, ttft_p99),
        column("TPOT ms", "p50", must, tpot_p50),
        column("TPOT ms", "p99", Some(1), tpot_p99),
        column("E2EL ms", "p50", Some(2), e2el_p50),
        column("E2EL ms", "p99", must, e2el_p99),
        column("", "failed", must, failed),
    ];
    let share = |l: &&LevelReport| Some((l.speed_of_light.output_share()?.percent(), false));
    // A column without a single figure is said to be absent, with the reason, below the table.
    if levels.iter().any(|level| share(level).is_some()) {
        columns.push(column("SoL", "%", must, figures(levels.iter().map(share))));
    }
    let good = |l: &&LevelReport| Some((100.0 * l.summary.throughput.goodput?.share, false));
    if levels.iter().any(|level| good(level).is_some()) {
        columns.push(column("good", "%", must, figures(levels.iter().map(good))));
    }
    columns
}

/// The loads, those of saturated levels with a mark behind the digits.
fn loads(levels: &[&LevelReport]) -> Vec<Cell> {
    let any = levels.iter().any(|level| level.is_saturated());
    let mark = |level: &LevelReport| match (any, level.is_saturated()) {
        (_, true) => "!",
        (true, false) => " ",
        (false, false) => "",
    };
    let cell = |level: &&LevelReport| Cell {
        text: format!("{}{}", level.load, mark(level)),
        marked: false,
    };
    levels.iter().map(cell).collect()
}

fn texts(levels: &[&LevelReport], text: fn(&LevelReport) -> String) -> Vec<Cell> {
    let cell = |level: &&LevelReport| Cell { text: text(level), marked: false };
    levels.iter().map(cell).collect()
}

/// Rates; a window without a length has none.
fn rates(levels: &[&LevelReport], rate: fn(&LevelReport) -> PerSec) -> Vec<Cell> {
    let measured = |level: &LevelReport| level.summary.throughput.duration.get() > 0.0;
    figures(levels.iter().map(|&level| measured(level).then(|| (rate(level).get(), false))))
}

/// The median and the tail of a latency.
fn latencies(levels: &[&LevelReport], of: fn(&LevelReport) -> &Distribution) -> [Vec<Cell>; 2] {
    let median = |level: &&LevelReport| Some((of(level).p50.value()?.get(), false));
    let tail = |level: &&LevelReport| {
        let tail = Tail::of(of(level))?;
        Some((tail.ms(), tail.basis == LatencyBasis::Max))
    };
    [figures(levels.iter().map(median)), figures(levels.iter().map(tail))]
}

/// Cells with the decimals that suit the whole column.
fn figures(values: impl Iterator<Item = Option<(f64, bool)>>) -> Vec<Cell> {
    let values: Vec<Option<(f64, bool)>> = values.collect();
    let decimals = column_decimals(values.iter().flatten().map(|value| value.0));
    let cell = |value: &Option<(f64, bool)>| match value {
        Some((value, marked)) if value.is_finite() => {
            Cell { text: format!("{value:.decimals$}"), marked: *marked }
        }
        _ => Cell { text: "-".to_owned(), marked: false },
    };
    values.iter().map(cell).collect()
}
