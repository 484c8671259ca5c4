//! Who tells a share of the speed of light, level by level, and a picture of each step beside its bound.

use fizeau_record::{LevelReport, SweepReport};
use fizeau_telemetry::{LightWitness, SpeedWitnesses};

use super::table::{Cell, Head, Row, Table};
use crate::ChartRun;
use crate::telemetry::shown;

const WITNESSES: [LightWitness; 4] = [
    LightWitness::ClientThroughput,
    LightWitness::EngineCounters,
    LightWitness::DeviceActivity,
    LightWitness::ForwardPasses,
];

/// A level a row, a witness a column; none where nobody but clients spoke.
pub(super) fn table(report: &SweepReport) -> Option<Table> {
    let said = report.levels().iter().filter_map(|level| {
        let told = level.telemetry.as_ref()?.witnesses.as_ref()?;
        Some((level, told))
    });
    let heads = WITNESSES.map(|witness| Head::figure(&witness.to_string(), ""));
    let heads = std::iter::once(Head::figure("load", "")).chain(heads);
    let heads = heads.chain([Head::words("where they differ")]);
    let row = |(level, told): (&LevelReport, &SpeedWitnesses)| {
        let share = |witness| told.share_of(witness).map_or_else(|| "-".to_owned(), |t| shown(&t));
        let differ: Vec<String> = told.disagreements.iter().map(ToString::to_string).collect();
        let cells = WITNESSES.map(share).map(Cell::text);
        let load = Cell::text(level.load.number());
        Row::plain([load].into_iter().chain(cells).chain([Cell::left(differ.join("; "))]))
    };
    Table::new("Witnesses of the speed of light", heads, said.map(row))
        .noting([NOTE])
        .unless_empty()
}

const NOTE: &str = "The share of the level's time that devices at their limits would need: by the client's tokens over the bound, by the engine's own count of operations and bytes, by the devices' count of busy cycles, and by the bounds of all steps. They are of the level from its first send to its last end, ramps included, so that the client's is below that of the steady part.";

/// The picture of the steps, as SVG; empty where there are none.
#[cfg(feature = "pictures")]
pub(super) fn picture(runs: &[ChartRun]) -> String {
    crate::Picture::Steps.svg(runs).unwrap_or_default()
}

/// This build draws no pictures.
#[cfg(not(feature = "pictures"))]
pub(super) const fn picture(_: &[ChartRun]) -> String {
    String::new()
}
