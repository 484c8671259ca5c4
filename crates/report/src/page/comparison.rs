//! Several runs on one page: what changed, whether it is better, and their frontiers over one another.

mod tested;

use serde::Serialize;

use super::answers::{Answer, Answers};
use super::figures::Figure;
use super::imported::Imported;
use super::levels::Levels;
use super::table::{Cell, Head, Row, Table};
use super::template::{Template, data, render};
use super::top::Top;
use super::{setup, speed_of_light};
use crate::ChartRun;
use fizeau_record::text::listed;
use fizeau_record::{ComparisonReport, ImportedRun, NOT_RECORDED, SweepReport};
use tested::{TestedRun, tested};

/// Two runs or more on one page.
///
/// Their frontiers and all other charts lie over one another. Where they may be compared, the page says of each run whether it is
/// better or worse than the first, figure by figure with intervals; where not, it says why.
///
/// ```
/// # use fizeau_record::SweepReport;
/// # use fizeau_report::ComparisonPage;
/// # fn page(before: SweepReport, after: SweepReport) -> String {
/// let runs = [("v1".to_owned(), before), ("v2".to_owned(), after)];
/// ComparisonPage { runs: &runs, imported: &[], comparison: Err("they were asked different things") }.page()
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ComparisonPage<'a> {
    /// The runs with their names, the baseline first.
    pub runs: &'a [(String, SweepReport)],
    /// Runs of other tools of which there are figures alone: their frontiers lie over the others, and no test is of them.
    pub imported: &'a [(String, ImportedRun)],
    /// What the tests found; or, in plain words, why there are none.
    pub comparison: Result<&'a ComparisonReport, &'a str>,
}

/// All that the page shows.
#[derive(Debug, Serialize)]
struct ComparisonData {
    /// What tells the runs apart and what they have in common, in one line.
    title: String,
    /// Which runs were simulated, in each way; none where all were measured.
    simulated: Vec<SimulatedNotice>,
    tested: Vec<TestedRun>,
    /// Why there are no tests; empty where there are.
    untested: String,
    notes: Vec<String>,
    overview: Table,
    frontier: Figure,
    figures: Vec<Figure>,
    changed: Option<Table>,
    /// Every row of the setups, side by side.
    setups: Table,
    runs: Vec<Run>,
    imported: Vec<Imported>,
}

/// A setup, row by row.
type Rows = Vec<(&'static str, String)>;
/// Runs that must not be taken for what they are not.
#[derive(Debug, Serialize)]
struct SimulatedNotice {
    warning: &'static str,
    /// `a, b and c`; empty where it is all of them.
    who: String,
}

/// A run of its own.
#[derive(Debug, Serialize)]
struct Run {
    name: String,
    top: Top,
    answers: Answers,
    levels: Levels,
}

impl ComparisonPage<'_> {
    /// The content of the page, whole in one file.
    #[must_use]
    pub fn page(&self) -> String {
        let own = self.runs.iter().map(|(name, report)| ChartRun::of(report, name));
        let others = self.imported.iter().map(|(name, run)| crate::Shown(run).charts(name));
        let charts: Vec<ChartRun> = own.chain(others).collect();
        let [mut frontier, figures @ ..] = Figure::all(&charts);
        frontier.tables.extend(speed_of_light::curve(&charts));
        let runs: Vec<Run> =
            self.runs.iter().zip(&charts).map(|(run, chart)| Run::of(run, chart)).collect();
        let others = self.imported.iter().zip(charts.iter().skip(self.runs.len()));
        let imported: Vec<Imported> =
            others.map(|((_, run), chart)| Imported::of(run, chart)).collect();
        let title = self.title();
        let shown = ComparisonData {
            title: title.clone(),
            simulated: simulated(&runs),
            tested: self.comparison.map(|report| tested(report, &self.names())).unwrap_or_default(),
            untested: self.comparison.err().unwrap_or_default().to_owned(),
            notes: self.comparison.map(|report| report.notes.clone()).unwrap_or_default(),
            overview: overview(&runs, &imported),
            frontier,
            figures: figures.into(),
            changed: self.comparison.ok().and_then(changed),
            setups: setups(&self.setups()),
            runs,
            imported,
        };
        render(Template::Comparison, &format!("Fizeau: {title}"), &shown, &data(&charts))
    }

    fn title(&self) -> String {
        let imported = self.imported.iter().map(|run| run.0.as_str());
        self.names().into_iter().chain(imported).collect::<Vec<_>>().join(" against ")
    }

    /// Of the runs that can be tested.
    fn names(&self) -> Vec<&str> {
        self.runs.iter().map(|run| run.0.as_str()).collect()
    }

    /// What was run and on what, of each.
    fn setups(&self) -> Vec<(&str, Rows)> {
        let own = self.runs.iter().map(|(name, report)| (name.as_str(), setup(report)));
        let others = self.imported.iter().map(|(name, run)| (name.as_str(), run.setup().rows()));
        own.chain(others).collect()
    }
}

impl Run {
    fn of((name, report): &(String, SweepReport), chart: &ChartRun) -> Self {
        Self {
            name: name.clone(),
            top: Top::of(report),
            answers: Answers::of(report, chart),
            levels: Levels::of(report, chart),
        }
    }
}

fn simulated(runs: &[Run]) -> Vec<SimulatedNotice> {
    let warning = |run: &Run| run.top.banner.as_ref().map(|banner| banner.warning);
    let mut warnings: Vec<&'static str> = runs.iter().filter_map(warning).collect();
    warnings.sort_unstable();
    warnings.dedup();
    let one = |said: &'static str| {
        let names = runs.iter().filter(|run| warning(run) == Some(said));
        let names: Vec<String> = names.map(|run| run.name.clone()).collect();
        let who = if names.len() == runs.len() { String::new() } else { listed(&names) };
        SimulatedNotice { warning: said, who }
    };
    warnings.into_iter().map(one).collect()
}

/// A line a run: its verdict and its answers.
fn overview(runs: &[Run], imported: &[Imported]) -> Table {
    let names = |run: &Run| run.answers.answers.each_ref().map(|answer| answer.name);
    let count = runs.first().map_or(0, |run| run.answers.answers.len());
    let mut heads = vec![Head::words("run"), Head::words("verdict")];
    for (nth, name) in runs.first().map(names).into_iter().flatten().enumerate() {
        // Without a goal a run of one level has no operating point.
        let is_all = runs.iter().all(|run| names(run).get(nth) == Some(&name));
        heads.push(Head::words(if is_all { name } else { "Level" }));
    }
    let answer = |answer: &Answer| Cell {
        below: answer.lines.first().cloned().unwrap_or_default(),
        ..Cell::left(&*answer.headline)
    };
    let row = |run: &Run| {
        let verdict = &run.top.verdict;
        let verdict = Cell { below: verdict.why.clone(), ..Cell::left(verdict.word) };
        let first = [Cell { below: run.top.model.clone(), ..Cell::left(&*run.name) }, verdict];
        Row::plain(first.into_iter().chain(run.answers.answers.iter().map(answer)))
    };
    let rows = runs.iter().map(row).chain(imported.iter().map(|run| run.overview(count)));
    Table::new("Each run by itself", heads, rows)
}

/// Every field that differs, of each comparison.
fn changed(report: &ComparisonReport) -> Option<Table> {
    let several = report.comparisons.len() > 1;
    let mut rows = Vec::new();
    for comparison in &report.comparisons {
        let forced = comparison.forced.iter().map(|field| (field, "fail", "must agree"));
        let fields = forced.chain(comparison.changed.iter().map(|field| (field, "", "")));
        for (field, class, note) in fields {
            let run = several.then(|| Cell::left(&*comparison.candidate.name));
            let cells = [Cell { below: note.to_owned(), ..Cell::left(field.label()) }];
            let values = field.values().map(Cell::left);
            rows.push(Row { class, cells: run.into_iter().chain(cells).chain(values).collect() });
        }
    }
    let candidate = match &*report.comparisons {
        [only] => &*only.candidate.name,
        _ => "there",
    };
    let fields = ["field", &report.baseline.name, candidate];
    let heads = several.then_some("run").into_iter().chain(fields);
    Table::new("What changed", heads.map(Head::words), rows).unless_empty()
}

/// What a run says of what it does not know.
const NOT_KNOWN: [&str; 3] = [NOT_RECORDED, "unknown", "not given"];

/// What was run and on what, a column a run; rows that differ are marked.
fn setups(runs: &[(&str, Rows)]) -> Table {
    let first = runs.first().map(|run| run.1.clone()).unwrap_or_default();
    let row = |(index, (name, _)): (usize, &(&str, String))| {
        let values = runs.iter();
        let unknown = || NOT_RECORDED.to_owned();
        let value = |run: &(&str, Rows)| run.1.get(index).map_or_else(unknown, |row| row.1.clone());
        let values: Vec<String> = values.map(value).collect();
        // What nobody recorded differs from nothing.
        let mut known = values.iter().filter(|value| !NOT_KNOWN.contains(&value.as_str()));
        let first = known.next();
        let class = if known.all(|other| Some(other) == first) { "" } else { "differs" };
        let cells = [Cell::text(*name)].into_iter().chain(values.into_iter().map(Cell::left));
        Row { class, cells: cells.collect() }
    };
    let heads = [""].into_iter().chain(runs.iter().map(|run| run.0)).map(Head::words);
    Table::new("What was run, and on what", heads, first.iter().enumerate().map(row))
        .noting(["Rows in bold differ."])
}
