//! What a machine really does: a table, a page, pictures.

mod cells;
#[cfg(feature = "pictures")]
mod charts;
mod comparison;
mod fleet;
#[cfg(feature = "pictures")]
mod fleet_chart;
#[cfg(feature = "html")]
mod page;

use std::path::PathBuf;

use fizeau_core::{Verdict, distinct};
use fizeau_probe::{DeviceFacts, Dtype, Operation, ProbeDocument, ProbeRow, Provenance};

use fizeau_record::text::{listed, wrap_hanging};

use crate::{Shown, Verbosity, grid};
use cells::{UNITS, cells, groups};

/// Columns of a line.
const LINE: usize = 80;

/// Reasons that the text has room for; the document has all.
const MOST_REASONS: usize = 4;

/// So many things that cannot be measured have a line of the short text.
const MISSING: usize = 3;

/// How many operations a sentence names.
const NAMED: usize = 4;

impl Shown<'_, Vec<(PathBuf, ProbeDocument)>> {
    /// What was measured of each machine: `a.json has triad and copy; b.json has nothing`.
    #[must_use]
    pub fn operations(&self) -> String {
        let words = self.iter().map(|(path, machine)| {
            format!("{} has {}", path.display(), Shown(machine).operations())
        });
        words.collect::<Vec<_>>().join("; ")
    }
}

impl Shown<'_, ProbeDocument> {
    /// What was measured, in a few words: `triad and copy`, of many the first and how many more; `nothing` of no row.
    #[must_use]
    pub fn operations(&self) -> String {
        let mut subjects = distinct(self.rows.iter().map(|row| row.measured.subject()));
        let more = subjects.len().saturating_sub(NAMED);
        if more > 0 {
            subjects.truncate(NAMED);
            subjects.push(format!("{more} more"));
        }
        if subjects.is_empty() { "nothing".to_owned() } else { listed(&subjects) }
    }

    /// The machine, a table with a line for each operation, the levels of its memory, and the verdict with its reasons. In brief
    /// the best row of each kind of operation; in full every row. Ends with a newline.
    #[must_use]
    pub fn text(&self, verbosity: Verbosity) -> String {
        let rows: Vec<&ProbeRow> = match verbosity {
            Verbosity::Brief => self.best_of_kinds(),
            Verbosity::Full => self.rows.iter().collect(),
        };
        let table = table(&rows);
        let units = Some(UNITS.to_owned()).filter(|_| !table.is_empty());
        let words = self.levels().into_iter().chain(self.verdict_lines(verbosity));
        let words = words.chain(self.row_notes(verbosity));
        let blank = || std::iter::once(String::new());
        let wrapped = |line: String| wrap_hanging(&line, LINE, "    ");
        let machine = self.machine(verbosity).into_iter().map(wrapped).chain(blank());
        let below = units.into_iter().chain(words).map(wrapped);
        let lines: Vec<String> = machine.chain(table).chain(blank()).chain(below).collect();
        lines.join("\n") + "\n"
    }

    fn machine(&self, verbosity: Verbosity) -> Vec<String> {
        let host = &self.host;
        let mut words: Vec<String> = Vec::new();
        words.extend(Some(host.system.clone()).filter(|system| !system.is_empty()));
        words.extend(host.processors.map(|count| format!("{count} processors")));
        words.extend(host.hypervisor.as_ref().map(|name| match name.starts_with("a ") {
            true => name.clone(),
            false => format!("a virtual machine of {name}"),
        }));
        words.extend(self.whose());
        let mut lines = vec![format!("{}: {}", host.node, words.join(", "))];
        lines
            .extend(self.devices.iter().map(|device| format!("{}: {}", device.name, device.model)));
        let missing = self.devices.iter().flat_map(|device| &device.unavailable);
        match verbosity {
            Verbosity::Full => {
                lines.extend(missing.map(|why| format!("Not measured here: {why}")));
            }
            Verbosity::Brief => {
                let missing: Vec<&String> = missing.collect();
                let shown = missing.iter().take(MISSING);
                lines.extend(shown.map(|why| format!("Not measured here: {why}")));
                if let Some(more) = missing.len().checked_sub(MISSING + 1) {
                    lines.push(format!("Not measured here: {} more; -v names them", more + 1));
                }
            }
        }
        lines.extend(self.notes.iter().map(|note| format!("Note: {note}")));
        lines
    }

    /// Which other tools measured: `measured by nccl-tests 2.18.3`.
    fn whose(&self) -> Option<String> {
        let tools = distinct(self.rows.iter().filter_map(|row| {
            let Provenance::Imported { tool, version, .. } = &row.measured.provenance else {
                return None;
            };
            let version = version.as_ref().map(|version| format!(" {version}"));
            Some(format!("{tool}{}", version.unwrap_or_default()))
        }));
        (!tools.is_empty()).then(|| format!("measured by {}", tools.join(", ")))
    }

    /// The best of each kind of operation, in the order of the components; of what is invalid only where there is nothing else.
    fn best_of_kinds(&self) -> Vec<&ProbeRow> {
        let mut best: Vec<(String, &ProbeRow)> = Vec::new();
        for row in &self.rows {
            let kind = kind(row);
            match best.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, kept)) if is_better(row, kept) => *kept = row,
                Some(_) => {}
                None => best.push((kind, row)),
            }
        }
        best.sort_by_key(|(_, row)| row.measured.operation.component());
        best.into_iter().map(|(_, row)| row).collect()
    }

    /// `By size, read by 1: L1 85 GB/s 8 KiB to 32 KiB; L2 ...`.
    fn levels(&self) -> Vec<String> {
        let curves = distinct(self.plateaus.iter().map(|plateau| &*plateau.curve));
        let line = |curve: &str| {
            let of = self.plateaus.iter().filter(|plateau| plateau.curve == curve);
            let level = |plateau: &fizeau_probe::Plateau| {
                let value = match curve == "latency" {
                    true => format!("{} ns", cells::figure(plateau.value)),
                    false => format!("{} GB/s", cells::figure(plateau.value / 1e9)),
                };
                let (from, to) = (cells::size(plateau.from), cells::size(plateau.to));
                let sizes = if from == to { format!("at {to}") } else { format!("{from} to {to}") };
                format!("{} {value} {sizes}", plateau.level)
            };
            format!("By size, {curve}: {}", of.map(level).collect::<Vec<_>>().join("; "))
        };
        let sizes = |device: &DeviceFacts| {
            let sizes = device.caches.iter().map(|bytes| cells::size(*bytes));
            let sizes = sizes.collect::<Vec<_>>().join(", ");
            let all = device.last_cache.filter(|all| device.caches.last() < Some(all));
            let all = all
                .map(|all| format!("; the last ones of all threads together {}", cells::size(all)));
            (!sizes.is_empty()).then(|| {
                format!("Caches, as the system reports them: {sizes}{}", all.unwrap_or_default())
            })
        };
        let said = self.devices.iter().filter_map(sizes).filter(|_| !curves.is_empty());
        curves.iter().map(|curve| line(curve)).chain(said).collect()
    }

    /// How far the rows are to be believed, and why not further: each reason once, with the number of its rows.
    fn verdict_lines(&self, verbosity: Verbosity) -> Vec<String> {
        let verdict = self.verdict.map_or("none, since nothing was measured", Verdict::as_str);
        let mut lines = vec![format!("Are these figures right? Verdict: {verdict}")];
        let mut reasons: Vec<(&fizeau_probe::Objection, usize)> = Vec::new();
        for objection in self.rows.iter().flat_map(|row| &row.objections) {
            match reasons.iter_mut().find(|(known, _)| known.rule == objection.rule) {
                Some((_, count)) => *count += 1,
                None => reasons.push((objection, 1)),
            }
        }
        reasons.sort_by_key(|(objection, count)| {
            (std::cmp::Reverse(objection.verdict), std::cmp::Reverse(*count))
        });
        let most = match verbosity {
            Verbosity::Brief => MOST_REASONS,
            Verbosity::Full => reasons.len(),
        };
        let more = reasons.len().saturating_sub(most);
        lines.extend(reasons.iter().take(most).map(|(objection, count)| {
            let rows = if *count == 1 { "1 row".to_owned() } else { format!("{count} rows") };
            format!("  {}: {} ({rows})", objection.verdict.as_str(), objection.reason)
        }));
        lines.extend((more > 0).then(|| format!("  and {more} more kinds of reasons")));
        lines
    }

    /// What must be known of rows besides, each note once with the first of its rows; in brief none.
    fn row_notes(&self, verbosity: Verbosity) -> Vec<String> {
        let mut notes: Vec<(&str, &ProbeRow, usize)> = Vec::new();
        let rows = self.rows.iter().filter(|_| verbosity == Verbosity::Full);
        for (row, note) in rows.flat_map(|row| row.measured.notes.iter().map(move |n| (row, n))) {
            match notes.iter_mut().find(|(known, ..)| known == note) {
                Some((.., count)) => *count += 1,
                None => notes.push((note, row, 1)),
            }
        }
        let line = |(note, row, count): (&str, &ProbeRow, usize)| match count {
            1 => format!("note of {}: {note}", row.key),
            _ => format!("note of {count} rows, the first {}: {note}", row.key),
        };
        notes.into_iter().map(line).collect()
    }
}

/// What rows of one kind have in common; only their best is shown in brief.
fn kind(row: &ProbeRow) -> String {
    let (measured, operation) = (&row.measured, &row.measured.operation);
    let what = match operation {
        Operation::Memory { kernel, .. } => kernel.as_str().to_owned(),
        Operation::Gemm { role, .. } => format!("gemm {}", role.as_deref().unwrap_or_default()),
        Operation::Attention { shape, .. } => format!("attention {}", shape.phase),
        Operation::Recurrence { shape, .. } if shape.tokens == 1 => "states, a step".to_owned(),
        Operation::Norm { role, .. } => format!("norm {}", role.as_deref().unwrap_or_default()),
        Operation::Collective { shape, .. } => format!("{} {}", shape.op, shape.ranks),
        other => other.to_string().split(',').next().unwrap_or_default().to_owned(),
    };
    let dtype = measured.dtype.map_or("", Dtype::as_str);
    format!("{} {what} {dtype} {}", measured.device, operation.component())
}

/// Whether `row` says more of its kind than `kept`: of latencies that of the larger memory, else the faster; what is invalid says least.
fn is_better(row: &ProbeRow, kept: &ProbeRow) -> bool {
    let is_invalid = |row: &ProbeRow| row.verdict == Verdict::Invalid;
    match (is_invalid(row), is_invalid(kept)) {
        (false, true) => return true,
        (true, false) => return false,
        _ => {}
    }
    match (&row.measured.operation, &kept.measured.operation) {
        (
            Operation::Latency { working_set: own, .. },
            Operation::Latency { working_set: other, .. },
        )
        | (
            Operation::LoadedLatency { working_set: own, .. },
            Operation::LoadedLatency { working_set: other, .. },
        ) => own > other,
        // Bandwidth from memory, not from a cache: what is largest first.
        (
            Operation::Memory { working_set: own, .. },
            Operation::Memory { working_set: other, .. },
        ) if own != other => own > other,
        _ => cells::rate(row) > cells::rate(kept),
    }
}

fn table(rows: &[&ProbeRow]) -> Vec<String> {
    let mut table = Vec::new();
    for group in groups(rows) {
        table.push(group.head());
        table.extend(group.rows.iter().map(|row| cells(row, group.unit)));
    }
    let mut widths = grid::widths(table.iter().map(Vec::as_slice));
    // Figures of many digits take their room from the words.
    let whole = widths.iter().sum::<usize>() + grid::GAP.len() * widths.len().saturating_sub(1);
    if let Some(words) = widths.first_mut().filter(|_| whole > LINE) {
        *words = words.saturating_sub(whole - LINE);
        table.iter_mut().for_each(|row| row[0] = cells::cut(&row[0], *words));
    }
    let line = |row: &Vec<String>| grid::line(row, &widths, |_| true, |column| column == 0);
    table.iter().map(line).collect()
}
