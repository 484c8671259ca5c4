//! Results as one HTML file that needs nothing else: no network, light and dark, wide and narrow, on paper.
//!
//! Everything that a page says is put together here as plain text and tables (`top`, `answers`, `figures`, `levels`, ...); the
//! templates beside them only lay it out, and escape it. Charts are drawn in the reader's browser from the same
//! [`ChartRun`]s that pictures are drawn from; without scripts the page has all but those.

mod answers;
mod comparison;
mod figures;
mod imported;
mod levels;
mod peers;
mod running;
mod script;
mod speed_of_light;
mod table;
mod telemetry;
mod template;
mod top;
mod trust;
mod witnesses;

pub use comparison::ComparisonPage;
pub(crate) use template::document;

use serde::Serialize;

use crate::ChartRun;
use crate::Shown;
use answers::Answers;
use figures::Figure;
use fizeau_record::SweepReport;
use table::Table;
use template::{Template, data, render};
use top::Top;
use trust::Trust;

/// All that the page of a run shows.
#[derive(Debug, Serialize)]
struct RunPage {
    top: Top,
    answers: Answers,
    frontier: Figure,
    running: Vec<String>,
    levels: levels::Levels,
    figures: Vec<Figure>,
    light: Option<Table>,
    witnesses: Option<Table>,
    steps: String,
    telemetry: Option<Table>,
    trust: Trust,
    peers: peers::Peers,
    setup: Vec<(&'static str, String)>,
    records: Vec<levels::LevelRecord>,
}

impl Shown<'_, SweepReport> {
    /// The content of `report.html`.
    ///
    /// Its top answers what was measured, whether to believe it, where to run, at what margin and cost, and how far that is from
    /// the speed of light; below are charts, all levels, the checklist with its evidence, the client's own proof, other tools'
    /// figures and what was run on what. Foreign text is escaped everywhere, and nothing is loaded from anywhere.
    #[must_use]
    pub fn page(&self) -> String {
        let runs = [ChartRun::of(self, "")];
        let [mut frontier, figures @ ..] = Figure::all(&runs);
        frontier.tables.extend(speed_of_light::curve(&runs));
        let page = RunPage {
            top: Top::of(self),
            answers: Answers::of(self, &runs[0]),
            frontier,
            running: running::lines(self),
            levels: levels::Levels::of(self, &runs[0]),
            figures: figures.into(),
            light: speed_of_light::table(self),
            witnesses: witnesses::table(self),
            steps: witnesses::picture(&runs),
            telemetry: telemetry::table(self),
            trust: Trust::of(self),
            peers: peers::Peers::of(self),
            setup: setup(self),
            records: levels::records(self),
        };
        render(Template::Run, &format!("Fizeau: {}", self.title()), &page, &data(&runs))
    }
}

/// What was run and on what, row by row.
fn setup(report: &SweepReport) -> Vec<(&'static str, String)> {
    let mut rows = report.setup().rows();
    let goals = report.slo().map_or_else(|| "none".to_owned(), ToString::to_string);
    rows.push(("Goals", goals));
    let price = report
        .price()
        .map(fizeau_record::text::price_words)
        .unwrap_or_else(|| "not given".to_owned());
    rows.push(("Price", price));
    rows
}
