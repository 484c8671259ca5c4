//! Several runs in one table, load by load.

use fizeau_metrics::Statistic;
use fizeau_record::text::column_decimals;
use fizeau_record::{ImportedRun, SweepReport};

use crate::table::{TablePlace, places};
use crate::text::{plain, shortened};
use crate::{ChartLevel, ChartRun, Shown, grid};

/// Head, its unit or statistic, and the figure's name.
type SideColumn = ([&'static str; 2], String);

/// The columns of every table of levels, of latencies those that are followed while a run goes on. Above the median stands the
/// latency's name, above the tail its unit.
fn known_columns() -> Vec<SideColumn> {
    let column = |TablePlace { metric, statistic, table, .. }: &TablePlace| {
        let [name, unit] =
            <[&str; 2]>::from(table.group.split_once(' ').unwrap_or((table.group, "")));
        let heads = match (metric.is_latency(), statistic) {
            (false, _) => [table.group, table.head],
            (true, Statistic::P50) => [name, statistic.as_str()],
            (true, _) => [unit, statistic.as_str()],
        };
        Some((heads, metric.column(*statistic)?))
    };
    let shown = |place: &&TablePlace| !place.metric.is_latency() || place.metric.is_live();
    places().0.iter().filter(shown).filter_map(column).collect()
}

/// What is left of the longest name of a run, however narrow the table is to be.
const SHORTEST_NAME: usize = 20;

impl Shown<'_, SweepReport> {
    /// The run, called `name`, in a line: its verdict, its levels and where to run. It may hold what a file says, and so what a terminal
    /// would obey.
    #[must_use]
    pub fn line(&self, name: &str) -> String {
        let verdict = self.verdict().as_str();
        let point = self.operating_point().level().and_then(|level| self.levels().get(level));
        let point = point.map(|level| format!("; run at {}", level.load)).unwrap_or_default();
        format!("{name}: {verdict}, {}{point}", counted(self.levels().len()))
    }
}

impl Shown<'_, ImportedRun> {
    /// The run, called `name`, in a line, in which nothing of it can be checked. It may hold what a file says, and so what a terminal would
    /// obey.
    #[must_use]
    pub fn line(&self, name: &str) -> String {
        format!("{name}: suspect, {}, imported without tapes", counted(self.levels().len()))
    }
}

fn counted(levels: usize) -> String {
    if levels == 1 { "1 level".to_owned() } else { format!("{levels} levels") }
}

impl Shown<'_, Vec<ChartRun>> {
    /// What was measured at each load by each run, those of one load below one another: imported runs too. Names are shortened as far
    /// as a table of `width` columns takes. Without a newline at the end.
    #[must_use]
    pub fn side_by_side(&self, width: usize) -> String {
        let mut levels: Vec<(&ChartRun, &ChartLevel)> =
            self.iter().flat_map(|run| run.levels.iter().map(move |level| (run, level))).collect();
        levels.sort_by(|(_, a), (_, b)| {
            a.load_kind.cmp(b.load_kind).then(a.load_value.total_cmp(&b.load_value))
        });
        let is_known = |name: &str| levels.iter().any(|(_, of)| of.figures.get(name).is_some());
        let mut columns = known_columns();
        columns.retain(|(_, figure)| is_known(figure));
        let head = |line: usize, first: [&str; 2]| -> Vec<String> {
            let heads = columns.iter().map(|(heads, _)| heads[line]);
            first.into_iter().chain(heads).map(str::to_owned).collect()
        };
        let mut rows = vec![head(0, ["load", "run"]), head(1, ["", ""])];
        let cells = columns.iter().map(|(_, figure)| cells(&levels, figure)).collect::<Vec<_>>();
        let mut last = "";
        for (place, (run, level)) in levels.iter().enumerate() {
            let load = if level.load == last { "" } else { &level.load };
            last = &level.load;
            let words = [plain(load), plain(&run.name)];
            let figures = cells.iter().filter_map(|column| column.get(place).cloned());
            rows.push(words.into_iter().chain(figures).collect());
        }
        let mut widths = grid::widths(rows.iter().map(Vec::as_slice));
        let whole = widths.iter().map(|column| column + grid::GAP.len()).sum::<usize>();
        if let Some(column) = widths.get_mut(1) {
            let room = column.saturating_sub(whole.saturating_sub(width + grid::GAP.len()));
            *column = room.max(SHORTEST_NAME).min(*column);
            let names = rows.iter_mut().filter_map(|row| row.get_mut(1));
            names.for_each(|name| *name = shortened(name, *column));
        }
        let line = |row: &Vec<String>| grid::line(row, &widths, |_| true, |column| column < 2);
        let mut lines: Vec<String> = rows.iter().map(line).collect();
        let has_stand_in = levels
            .iter()
            .any(|(_, level)| columns.iter().any(|(_, figure)| is_stand_in(level, figure)));
        lines.extend(has_stand_in.then(|| "* the greatest of fewer than 100 values".to_owned()));
        lines.join("\n")
    }
}

fn cells(levels: &[(&ChartRun, &ChartLevel)], name: &str) -> Vec<String> {
    let value = |level: &ChartLevel| level.figures.get(name).map(|figure| figure.value);
    let decimals = column_decimals(levels.iter().filter_map(|(_, level)| value(level)));
    let cell = |(_, level): &(&ChartRun, &ChartLevel)| {
        let star = if is_stand_in(level, name) { "*" } else { "" };
        value(level).map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}{star}"))
    };
    levels.iter().map(cell).collect()
}

/// Whether the greatest value stands in for a percentile.
fn is_stand_in(level: &ChartLevel, name: &str) -> bool {
    level.figures.get(name).is_some_and(|figure| figure.stand_in)
}
