//! Collectives as they were measured, from the tables `[[collectives]]`.

use fizeau_core::{Bytes, BytesPerSec, Seconds};

use super::figure::Sources;
use super::section::Section;
use crate::device::DeviceError;
use crate::device::quantity::FigureQuantity;
use crate::{Collective, MeasuredCollective};

const MOST_RANKS: u32 = 1_000_000;

/// A line over a range of sizes: `op`, `ranks`, `from`, `to`, `alpha` and `beta`, one of which may be absent, and `within`.
pub(super) fn read(
    section: &Section<'_>,
    sources: &Sources<'_>,
) -> Result<MeasuredCollective, DeviceError> {
    section.only(&["op", "ranks", "from", "to", "alpha", "beta", "within", "source", "date"])?;
    let wanted = format!("one of {}", Collective::ALL.map(Collective::as_str).join(", "));
    let op = section.needed_text("op", &wanted)?;
    let Some(collective) = Collective::ALL.into_iter().find(|known| known.as_str() == op) else {
        let value = section.value("op");
        return Err(value.map_or_else(
            || section.missing("op", &wanted),
            |value| section.wrong("op", value, &wanted),
        ));
    };
    let ranks = section.count("ranks", 2..=MOST_RANKS)?;
    let size = |field| sources.needed(section, field, FigureQuantity::Memory);
    let sizes = [size("collectives.from")?, size("collectives.to")?];
    let figure =
        |field, of| sources.cell(section, field, of).map(|cell| cell.map(|cell| cell.number));
    let latency = figure("collectives.alpha", FigureQuantity::Time)?.unwrap_or(0.0);
    let bandwidth = figure("collectives.beta", FigureQuantity::Bandwidth)?;
    let within = section.number("within", "a share above 0, such as 0.05")?.unwrap_or(0.0);
    let (source, _) = sources.of(section)?;
    let line = (Seconds::new(latency), bandwidth.map(BytesPerSec::new));
    let sizes = sizes.map(|size| Bytes::new(size.number));
    Ok(MeasuredCollective::new(collective, ranks, sizes, line, source).with_within(within))
}
