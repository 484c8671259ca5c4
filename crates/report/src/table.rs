//! The columns of the table of levels, shared by whatever shows one.

use fizeau_core::PerSec;
use fizeau_metrics::{Distribution, Interval, Statistic, Support};
use fizeau_record::requests_interval;
use fizeau_record::text::{half_width, supported};
use fizeau_record::{LatencyBasis, LevelReport, LoadPoint, Tail};

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

impl Column {
    /// Whether it is for wide tables alone: an interval, or a figure beside those that a level is known by.
    pub(crate) fn is_extra(&self) -> bool {
        self.rank.is_some_and(|rank| rank < FIRST_USUAL)
    }
}

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cell {
    /// The figure, or `-` where there is none.
    pub(crate) text: String,
    /// Whether the greatest value stands in for a percentile.
    pub(crate) marked: bool,
}

/// The head of a column of intervals: half the width of each.
pub(crate) const PLUS_MINUS: &str = "±";

/// What it means.
pub(crate) const PLUS_MINUS_NOTE: &str = "±: half of the 95 % interval";

/// Columns with a lower rank are extra.
const FIRST_USUAL: u8 = 10;

/// The columns for levels of one kind of load, those for wide tables too.
pub(crate) fn columns(levels: &[&LevelReport]) -> Vec<Column> {
    let by_rate = |level: &&LevelReport| matches!(level.load, LoadPoint::Rate(_));
    let (asked, unit) = if levels.iter().any(by_rate) { ("asked", "req/s") } else { ("", "conc") };
    let column = |group, head, rank, cells| Column { group, head, rank, cells };
    let failed = texts(levels, |l| l.summary.requests.failed.to_string());
    let mut columns = vec![column(asked, unit, None, loads(levels))];
    columns.extend(with_interval("req", "/s", [None, Some(8)], &figures(levels, requests)));
    columns.extend(with_interval("out tok", "/s", [None, Some(7)], &figures(levels, tokens)));
    // The ranks of median, tail, and the interval of each.
    let latencies: [(_, [Option<u8>; 4], Latency); 3] = [
        ("TTFT ms", [Some(12), Some(1), Some(18), Some(5)], |l| &l.summary.metrics.ttft),
        ("TPOT ms", [Some(15), Some(0), Some(10), Some(4)], |l| &l.summary.metrics.tpot),
        ("E2EL ms", [Some(11), Some(2), None, Some(6)], |l| &l.summary.metrics.e2el),
    ];
    for (group, [median, of_median, tail, of_tail], of) in latencies {
        let medians = figures(levels, |level| p50(of(level)));
        columns.extend(with_interval(group, "p50", [median, of_median], &medians));
        let tails = figures(levels, |level| p99(of(level)));
        columns.extend(with_interval(group, "p99", [tail, of_tail], &tails));
    }
    columns.push(column("", "failed", Some(16), failed));
    // A column without a single figure is said to be absent, with the reason, below the table.
    let shares: [(_, _, Option<u8>, Of); 3] = [
        ("SoL", "%", Some(17), |level| {
            Figure::known(level.speed_of_light.output_share()?.percent())
        }),
        ("good", "%", Some(14), good_share),
        ("good", "req/s", Some(3), good_rate),
    ];
    for (group, head, rank, of) in shares {
        let figures = figures(levels, of);
        if figures.iter().any(Option::is_some) {
            columns.push(column(group, head, rank, cells(&figures)));
        }
    }
    columns
}

/// A column of figures, and that of their intervals, where any has one.
fn with_interval(
    group: &'static str,
    head: &'static str,
    [rank, rank_of_interval]: [Option<u8>; 2],
    figures: &[Option<Figure>],
) -> impl Iterator<Item = Column> {
    let has_any = figures.iter().flatten().any(|figure| figure.ends.is_some());
    let intervals = has_any.then(|| {
        let half = |figure: &Option<Figure>| {
            let figure = figure.as_ref()?;
            Some(half_width(figure.value, figure.ends?))
        };
        let cell = |figure: &Option<Figure>| Cell {
            text: half(figure).unwrap_or_else(|| "-".to_owned()),
            marked: false,
        };
        let cells = figures.iter().map(cell).collect();
        Column { group, head: PLUS_MINUS, rank: rank_of_interval, cells }
    });
    [Column { group, head, rank, cells: cells(figures) }].into_iter().chain(intervals)
}

/// A figure of a level, with the ends of its 95 % interval.
#[derive(Debug, Clone, Copy)]
struct Figure {
    value: f64,
    ends: Option<(f64, f64)>,
    marked: bool,
}

impl Figure {
    fn known(value: f64) -> Option<Self> {
        value.is_finite().then_some(Self { value, ends: None, marked: false })
    }

    fn within(self, ends: Option<(f64, f64)>) -> Self {
        Self { ends, ..self }
    }
}

type Of = fn(&LevelReport) -> Option<Figure>;
type Latency = fn(&LevelReport) -> &Distribution;

fn figures(
    levels: &[&LevelReport],
    of: impl Fn(&LevelReport) -> Option<Figure>,
) -> Vec<Option<Figure>> {
    levels.iter().map(|level| of(level)).collect()
}

/// Each with the digits that its own interval supports.
fn cells(figures: &[Option<Figure>]) -> Vec<Cell> {
    let cell = |figure: &Option<Figure>| match figure {
        Some(figure) => Cell { text: supported(figure.value, figure.ends), marked: figure.marked },
        None => Cell { text: "-".to_owned(), marked: false },
    };
    figures.iter().map(cell).collect()
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

/// A rate; a window without a length has none.
fn rate(level: &LevelReport, rate: PerSec) -> Option<Figure> {
    let is_measured = level.summary.throughput.duration.get() > 0.0;
    Figure::known(rate.get()).filter(|_| is_measured)
}

fn requests(level: &LevelReport) -> Option<Figure> {
    let figure = rate(level, level.summary.throughput.requests_per_s)?;
    Some(figure.within(requests_interval(&level.summary)))
}

fn tokens(level: &LevelReport) -> Option<Figure> {
    let all = &level.summary.throughput;
    let figure = rate(level, all.output_tokens_per_s)?;
    Some(figure.within(ends(all.intervals.output_tokens_per_s, PerSec::get)))
}

fn good_rate(level: &LevelReport) -> Option<Figure> {
    let all = &level.summary.throughput;
    let figure = rate(level, all.goodput?.rate)?;
    Some(figure.within(ends(all.intervals.goodput_per_s, PerSec::get)))
}

fn good_share(level: &LevelReport) -> Option<Figure> {
    let all = &level.summary.throughput;
    let percent = |share: f64| 100.0 * share;
    let figure = Figure::known(percent(all.goodput?.share))?;
    Some(figure.within(ends(all.intervals.good_share, percent)))
}

fn p50(of: &Distribution) -> Option<Figure> {
    let figure = Figure::known(of.p50.value()?.get())?;
    Some(figure.within(of.interval(Statistic::P50).map(|ends| (ends.low.get(), ends.high.get()))))
}

/// The 99th percentile, or the greatest value in its place.
fn p99(of: &Distribution) -> Option<Figure> {
    let tail = Tail::of(of)?;
    let marked = tail.basis == LatencyBasis::Max;
    let interval = of.interval(Statistic::P99).filter(|_| !marked);
    let ends = interval.map(|ends| (ends.low.get(), ends.high.get()));
    Some(Figure { marked, ends, ..Figure::known(tail.ms())? })
}

fn ends<T>(interval: Option<Support<Interval<T>>>, of: impl Fn(T) -> f64) -> Option<(f64, f64)> {
    let interval = interval?.known()?;
    Some((of(interval.low), of(interval.high)))
}
