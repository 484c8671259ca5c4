//! Other tools' figures of the same tapes, beside ours, as a table.

mod figure;

use figure::{SAME, difference, shown};

use fizeau_record::{PeerComparison, PeerRow};
use serde::Serialize;

use crate::{Shown, Verbosity};
use fizeau_record::text::wrap;

fn cells(figure: &PeerRow) -> [String; 5] {
    let cell = |value: Option<f64>| {
        value.map_or_else(|| ABSENT.to_owned(), |value| shown(value, figure.unit == "count"))
    };
    let both = figure.value.zip(figure.ours_value.flatten());
    [
        figure.name.clone(),
        match figure.unit.as_str() {
            "count" | "share" => String::new(),
            unit => unit.to_owned(),
        },
        cell(figure.value),
        figure.ours_value.map(cell).unwrap_or_default(),
        both.map(|(theirs, ours)| difference(theirs, ours)).unwrap_or_default(),
    ]
}

/// How wide the columns are: name, unit, theirs, ours, difference.
const WIDTHS: [usize; 5] = [40, 5, 11, 11, 10];

/// What stands for a figure that there is not.
const ABSENT: &str = "-";

/// How many names of absent figures are said for one reason.
const NAMED: usize = 3;

/// Some tools' figures of one level. It serializes as `tools`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PeerTables {
    /// The figures of each, beside ours.
    pub tools: Vec<PeerComparison>,
    /// vLLM's own block, where its figures are among them.
    #[serde(skip)]
    pub block: Option<String>,
}

/// The figure that is otherwise counted than one would expect.
const PEAK: &str = "max_concurrent_requests";

/// What vLLM's own block has otherwise.
const PEAKS: &str = "The peaks in this block are exact. vLLM's own peaks, in the table below, count\nin fixed one-second bins.";

impl PeerTables {
    /// vLLM's block, and a table for each tool; in brief without the figures that are as ours. Sentences are broken to fit `width`.
    /// Without a newline after the last line.
    #[must_use]
    pub fn text(&self, width: usize, verbosity: Verbosity) -> String {
        let block = self.block.iter().map(|block| format!("{block}\n{PEAKS}"));
        let tables = self.tools.iter().map(|tool| Shown(tool).text(width, verbosity));
        block.chain(tables).collect::<Vec<_>>().join("\n\n")
    }
}

impl Shown<'_, PeerComparison> {
    /// A table with a line a figure, in brief of those that differ from ours, and below it why some are absent. It needs 80 columns;
    /// sentences are broken to fit `width`. Without a newline after the last line.
    #[must_use]
    pub fn text(&self, width: usize, verbosity: Verbosity) -> String {
        let mut lines = vec![format!("{}, from the same requests", self.version)];
        let heads = ["figure", "", self.tool.as_str(), "Fizeau", "change"];
        // The longest name of a tool is longer than its column, and the one of units is empty.
        let heads = if self.tool.len() > WIDTHS[2] {
            ["figure", "", "theirs", "Fizeau", "change"]
        } else {
            heads
        };
        lines.push(row(heads.map(str::to_owned)));
        let (rows, same) = match verbosity {
            Verbosity::Brief => self.parted(),
            Verbosity::Full => (self.figures.iter().map(cells).collect(), Vec::new()),
        };
        for cells in rows {
            if cells[0].len() > WIDTHS[0] {
                let [name, figures @ ..] = cells;
                lines.push(name);
                let [unit, theirs, ours, difference] = figures;
                lines.push(row([String::new(), unit, theirs, ours, difference]));
            } else {
                lines.push(row(cells));
            }
        }
        lines.extend(match same.len() {
            0 => None,
            1 => Some("1 more figure is the same (-v shows it)".to_owned()),
            more => Some(format!("{more} more figures are the same (-v shows them)")),
        });
        lines.extend(self.absences().into_iter().map(|text| wrap(&text, width)));
        lines.extend(self.footnotes().map(|text| wrap(text, width)));
        lines.join("\n")
    }

    /// What a reader of the table would ask of it.
    fn footnotes(&self) -> impl Iterator<Item = &'static str> {
        // What they lack too has its reason already.
        let mut figures = self.figures.iter();
        let has_few =
            figures.any(|figure| figure.ours_value == Some(None) && figure.value.is_some());
        let has_peak = self.figures.iter().any(|figure| figure.name == PEAK);
        let few = has_few.then_some("- in the column Fizeau: there are too few values");
        let peak = has_peak.then_some(
            "max_concurrent_requests counts every request that was in flight at any time within a second",
        );
        few.into_iter().chain(peak)
    }

    /// A row for each figure that differs from ours or that we have not: its name, its unit, theirs, ours, the difference. Then
    /// the names of those that are as ours. What is absent is in neither: [its reason](Self::absences) names it.
    pub(crate) fn parted(&self) -> (Vec<[String; 5]>, Vec<String>) {
        let cells = self.figures.iter().filter(|figure| figure.value.is_some()).map(cells);
        let (same, rows): (Vec<_>, _) = cells.partition(|[.., difference]| difference == SAME);
        (rows, same.into_iter().map(|[name, ..]| name).collect())
    }

    /// Each reason once, with the figures that it keeps away.
    pub(crate) fn absences(&self) -> Vec<String> {
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for figure in &self.figures {
            let Some(reason) = figure.value_reason.as_deref() else { continue };
            let name = figure.name.as_str();
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
