//! Other tools' figures of the same tapes, beside ours.

mod explain;
mod figure;

pub use explain::Explanation;

use fizeau_metrics::{OwnFigures, PeerFigure, PeerReport, PeerUnit, PeerValue};
use serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};

use crate::terminal::wrap;
#[cfg(feature = "html")]
use figure::SAME;
use figure::{difference, shown};

/// What a tool would have reported, each figure with ours beside it where we have one.
///
/// It serializes as an object of `tool`, `version` and `figures`.
///
/// ```
/// use fizeau_core::{Arrival, Channel, Nanos, Stamp, Tape};
/// use fizeau_metrics::{OwnFigures, Peer, PeerSettings};
/// use fizeau_report::PeerComparison;
///
/// let ms = |n| Stamp::EPOCH + Nanos::from_millis(n);
/// let mut tape = Tape::sent_at(ms(0));
/// tape.arrivals.push(Arrival::tokens(ms(20), 8, Channel::Visible));
/// tape.arrivals.push(Arrival::tokens(ms(40), 2, Channel::Visible));
///
/// let settings = PeerSettings::default();
/// let own = OwnFigures::of([&tape], &settings);
/// let both = PeerComparison::new(&Peer::AiPerf.figures([&tape], &settings), &own);
/// let line = "inter_token_latency.avg                  ms        2.2222      10.000      -78 %";
/// assert!(both.text(80).contains(line));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PeerComparison {
    tool: &'static str,
    version: &'static str,
    rows: Vec<Beside>,
}

/// A figure, and ours.
#[derive(Debug, Clone, PartialEq)]
struct Beside {
    figure: PeerFigure,
    ours: Option<PeerValue>,
}

/// How wide the columns are: name, unit, theirs, ours, difference.
const WIDTHS: [usize; 5] = [40, 5, 11, 11, 10];

/// How many names of absent figures are said for one reason.
const NAMED: usize = 3;

impl PeerComparison {
    /// The figures of `report`, beside those of `own`: both of the same tapes.
    #[must_use]
    pub fn new(report: &PeerReport, own: &OwnFigures) -> Self {
        let beside =
            |figure: &PeerFigure| Beside { figure: figure.clone(), ours: own.beside(figure) };
        Self {
            tool: report.peer.key(),
            version: report.peer.version(),
            rows: report.figures.iter().map(beside).collect(),
        }
    }

    /// A table with a line a figure, and below it why some are absent. It needs 80 columns; sentences are broken to fit
    /// `width`. Without a newline after the last line.
    #[must_use]
    pub fn text(&self, width: usize) -> String {
        let mut lines = vec![format!("{}, from the same tapes", self.version)];
        let heads = ["figure", "", self.tool, "Fizeau", "difference"];
        // The longest name of a tool is longer than its column, and the one of units is empty.
        let heads = if self.tool.len() > WIDTHS[2] {
            ["figure", "", "theirs", "Fizeau", "difference"]
        } else {
            heads
        };
        lines.push(row(heads.map(str::to_owned)));
        for beside in &self.rows {
            let cells = beside.cells();
            if cells[0].len() > WIDTHS[0] {
                let [name, figures @ ..] = cells;
                lines.push(name);
                let [unit, theirs, ours, difference] = figures;
                lines.push(row([String::new(), unit, theirs, ours, difference]));
            } else {
                lines.push(row(cells));
            }
        }
        lines.extend(self.absences().into_iter().map(|text| wrap(&text, width)));
        lines.join("\n")
    }

    /// The tool with its version.
    #[cfg(feature = "html")]
    pub(crate) const fn version(&self) -> &'static str {
        self.version
    }

    /// A row for each figure that differs from ours or that we have not: its name, its unit, theirs, ours, the difference. Then
    /// the names of those that are as ours.
    #[cfg(feature = "html")]
    pub(crate) fn parted(&self) -> (Vec<[String; 5]>, Vec<String>) {
        let cells = self.rows.iter().map(Beside::cells);
        let (same, rows): (Vec<_>, _) = cells.partition(|[.., difference]| difference == SAME);
        (rows, same.into_iter().map(|[name, ..]| name).collect())
    }

    /// Each reason once, with the figures that it keeps away.
    pub(crate) fn absences(&self) -> Vec<String> {
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for beside in &self.rows {
            let PeerValue::Absent(reason) = beside.figure.value else { continue };
            let name = beside.figure.name.as_str();
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, names)) => names.push(name),
                None => reasons.push((reason, vec![name])),
            }
        }
        let said = |(reason, names): (&str, Vec<&str>)| match names.split_at_checked(NAMED) {
            Some((first, rest @ [_, ..])) => {
                format!("- {reason}: {} and {} more", first.join(", "), rest.len())
            }
            _ => format!("- {reason}: {}", names.join(", ")),
        };
        reasons.into_iter().map(said).collect()
    }
}

fn row(cells: [String; 5]) -> String {
    let [name, unit, theirs, ours, difference] = cells;
    let [n, u, t, o, d] = WIDTHS;
    // What is right-aligned needs a space before it only if it fills its column.
    let line = format!("{name:<n$} {unit:<u$}{theirs:>t$} {ours:>o$} {difference:>d$}");
    line.trim_end().to_owned()
}

impl Beside {
    fn cells(&self) -> [String; 5] {
        let unit = self.figure.unit;
        let theirs = self.figure.value.get();
        let cell =
            |value: PeerValue| value.get().map_or_else(|| "-".to_owned(), |v| shown(v, unit));
        let ours = self.ours.map(cell).unwrap_or_default();
        let both = theirs.zip(self.ours.and_then(PeerValue::get));
        let difference = both.map(|(theirs, ours)| difference(theirs, ours)).unwrap_or_default();
        [
            self.figure.name.clone(),
            unit.as_str().to_owned(),
            cell(self.figure.value),
            ours,
            difference,
        ]
    }
}

impl Serialize for PeerComparison {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut fields = to.serialize_struct("PeerComparison", 3)?;
        fields.serialize_field("tool", self.tool)?;
        fields.serialize_field("version", self.version)?;
        fields.serialize_field("figures", &self.rows)?;
        fields.end()
    }
}

impl Serialize for Beside {
    /// `name`, `unit`, `value`, and where we have a name for it `ours` and `ours_value`; what is absent is null with a reason.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("name", &self.figure.name)?;
        map.serialize_entry("unit", unit(self.figure.unit))?;
        value(&mut map, "value", self.figure.value)?;
        if let Some((name, ours)) = self.figure.ours.zip(self.ours) {
            map.serialize_entry("ours", name)?;
            value(&mut map, "ours_value", ours)?;
        }
        map.end()
    }
}

fn value<M: SerializeMap>(map: &mut M, key: &str, value: PeerValue) -> Result<(), M::Error> {
    map.serialize_entry(key, &value.get())?;
    match value {
        PeerValue::Absent(reason) => map.serialize_entry(&format!("{key}_reason"), reason),
        PeerValue::Known(_) => Ok(()),
    }
}

/// The unit in files, where an empty text would say nothing.
const fn unit(unit: PeerUnit) -> &'static str {
    match unit {
        PeerUnit::Count => "count",
        PeerUnit::Share => "share",
        unit => unit.as_str(),
    }
}
