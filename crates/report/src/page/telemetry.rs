//! What servers said of each level, beside what the client saw.

use fizeau_record::{LevelReport, LevelTelemetry, SweepReport};

use super::table::{Cell, Head, Row, Table};
use crate::telemetry::{TelemetryFigure, figures};

/// A level a row, with the figures that any level has; none where nobody was asked.
pub(super) fn table(report: &SweepReport) -> Option<Table> {
    let said = || report.levels().iter().filter_map(|level| Some((level, told(level)?)));
    let is_known = |of: &&TelemetryFigure| said().any(|(_, said)| of.shown(said).is_some());
    let figures: Vec<&TelemetryFigure> = figures().filter(is_known).collect();
    let heads = figures.iter().map(|of| Head::figure(of.name, of.unit));
    let heads = std::iter::once(Head::figure("load", "")).chain(heads);
    let row = |(level, said): (&LevelReport, &LevelTelemetry)| {
        let cells = figures.iter().map(|of| of.shown(said).unwrap_or_else(|| "-".to_owned()));
        Row::plain(std::iter::once(level.load.number()).chain(cells).map(Cell::text))
    };
    Table::new("Server", heads, said().map(row)).noting([NOTE]).unless_empty()
}

/// What others than the client said of it; none where no page was read.
fn told(level: &LevelReport) -> Option<&LevelTelemetry> {
    level.telemetry.as_deref().filter(|said| !said.sources.is_empty())
}

const NOTE: &str = "From the servers' own pages of metrics. Counters are over exactly the level; gauges are weighted by time. The gap of a \
    latency is the client's mean less the server's: the network, HTTP, and queues before the server's own clock starts.";
