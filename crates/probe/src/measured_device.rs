//! What was measured as a device of the roofline: a file like any other, each figure with this measurement as its source.

mod cached;
mod memory;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use fizeau_core::number::number;
use fizeau_core::{BytesPerSec, FlopsPerSec, Verdict};
use fizeau_roofline::{Collective, Device};

use crate::device::DeviceFacts;
use crate::document::ProbeDocument;
use crate::figures::Figure;
use crate::fit;
use crate::measurement::{AttentionPhase, CollectiveOp, Component, Dtype, Operation};
use crate::row::ProbeRow;

/// A device file (`device.toml`) of what was measured.
///
/// Its figures are the best that any row reached, so that a bound made of them is one that this silicon was seen to allow: more
/// bandwidth or arithmetic than that no row saw. The range beside each begins where the median of the same row's samples may lie at the
/// least, and its note has the median with its interval and how far the samples spread. Reads of arrays that caches hold are there by
/// size, as far as they are faster than memory: a small model's weights stay in caches from step to step. Collectives that devices of this model took
/// part in are there as alpha and beta for each operation, number of ranks and range of sizes: medians, since they serve an
/// expectation and no bound. Links are left out: nobody measures one by itself.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MeasuredDevice {
    /// The text of the file.
    pub toml: String,
    /// The same, read.
    pub device: Device,
}

/// Why measurements make no device: a sentence that says what was not measured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MeasuredDeviceError(String);

/// One figure, and the row that it is from.
struct Cell<'a> {
    best: f64,
    typical: f64,
    /// Where what is typical lies.
    ends: Option<[f64; 2]>,
    row: &'a ProbeRow,
    note: Option<&'static str>,
}

impl MeasuredDevice {
    /// What `document` has of `device`, by the name that it calls it.
    ///
    /// # Errors
    /// If memory's bandwidth or any arithmetic of 16 or 32 bits was not measured of it, or how much it holds is not known.
    pub fn of(document: &ProbeDocument, device: &str) -> Result<Self, MeasuredDeviceError> {
        let facts = document.devices.iter().find(|facts| facts.name == device);
        let lacks = |what: &str| MeasuredDeviceError(format!("of {device}, {what}"));
        let facts = facts.ok_or_else(|| {
            lacks("neither its part nor how much it holds is known; a data sheet that is named has both")
        })?;
        let memory = facts.memory.ok_or_else(|| lacks("it is not known how much it holds"))?;
        let rows = || document.rows.iter().filter(|row| row.measured.device == device);
        let bandwidth = best(rows().filter(|row| memory::is_measured(row, facts)), bandwidth_of);
        let bandwidth = bandwidth.ok_or_else(|| lacks(&memory::lacking(rows(), facts)))?;
        let narrow = best(of_types(rows(), &[Dtype::Bf16, Dtype::F16]), arithmetic_of);
        let single = best(of_types(rows(), &[Dtype::F32]), arithmetic_of).map(|cell| Cell {
            note: Some("by arithmetic of 32 bits, to which operands of 16 bits are widened"),
            ..cell
        });
        let bf16 = [narrow, single].into_iter().flatten().max_by(|a, b| a.best.total_cmp(&b.best));
        let bf16 = bf16.ok_or_else(|| lacks("no arithmetic of 16 or 32 bits was measured"))?;
        let rates = [
            ("fp8", [Dtype::Fp8E4m3, Dtype::Fp8E5m2, Dtype::Mxfp8].as_slice()),
            ("fp4", &[Dtype::Nvfp4, Dtype::Mxfp4]),
            ("int8", &[Dtype::Int8]),
        ];
        let mut toml = format!(
            "# What was measured on {}, not what its vendor prints. Each value is the best of all samples, since it serves as a bound; its\n\
             # range goes from the lower end of where the median lies to the best.\nname = {}\ntitle = {}\n",
            document.host.node,
            quoted(&Self::name_of(facts)),
            quoted(&format!("{} as measured on {}", facts.model, document.host.node))
        );
        if let Some(name) = &facts.data_sheet {
            let _ = writeln!(toml, "data_sheet = {}", quoted(name));
        }
        let date = document.begun.as_deref().and_then(|begun| begun.get(..10));
        let source = format!("fizeau probe {} on {}", document.version(), document.host.node);
        let date = date.map(|date| format!(", date = {}", quoted(date))).unwrap_or_default();
        // Writing to a string does not fail.
        let _ = writeln!(toml, "\n[sources]\nprobe = {{ name = {}{date} }}", quoted(&source));
        let _ = writeln!(
            toml,
            "\n[memory]\ncapacity = {{ value = {}, source = \"probe\" }}",
            memory.get()
        );
        let _ = writeln!(toml, "bandwidth = {}", bandwidth.toml());
        for (working_set, rate) in cached::reads(rows(), bandwidth.best) {
            let _ = writeln!(
                toml,
                "\n[[memory.cached]]\nworking_set = {working_set:.0}\nbandwidth = {}",
                rate.toml()
            );
        }
        let _ = writeln!(toml, "\n[rates]\nbf16 = {}", bf16.toml());
        for (name, dtypes) in rates {
            if let Some(cell) = best(of_types(rows(), dtypes), arithmetic_of) {
                let _ = writeln!(toml, "{name} = {}", cell.toml());
            }
        }
        toml.push_str(&collectives(document, facts));
        let device = Device::from_toml(&toml)
            .map_err(|error| MeasuredDeviceError(format!("the figures make no device: {error}")))?;
        Ok(Self { toml, device })
    }

    /// Why `document` makes no device at all: what is lacking of the one whose memory most of its rows are about, which a group of
    /// devices is not; none where some device can be made.
    #[must_use]
    pub fn lacking(document: &ProbeDocument) -> Option<MeasuredDeviceError> {
        let of_rows = document.rows.iter().map(|row| &row.measured.device);
        let named = document.devices.iter().map(|facts| &facts.name).chain(of_rows);
        let names: BTreeSet<&String> = named.collect();
        let errors = names.into_iter().map(|name| (name, Self::of(document, name).err()));
        let errors: Option<Vec<_>> = errors.map(|(name, why)| Some((name, why?))).collect();
        let about = |name: &String| {
            let own = document.rows.iter().filter(|row| row.measured.device == *name);
            own.filter(|row| row.measured.operation.component() == Component::Memory).count()
        };
        // Of several alike the first counts.
        Some(errors?.into_iter().rev().max_by_key(|(name, _)| about(name))?.1)
    }

    /// What the device that is made of `facts` is called.
    pub(crate) fn name_of(facts: &DeviceFacts) -> String {
        format!("{}-measured", slug(&facts.model))
    }
}

/// What devices of that model took to tell each other something, as tables of a device file.
fn collectives(document: &ProbeDocument, facts: &DeviceFacts) -> String {
    // A group is called by its model too: `8 x NVIDIA H100`. Of one that nobody knows more of it is taken to be of these.
    let group = format!(" x {}", facts.model);
    let is_kin = |row: &&ProbeRow| {
        let of = document.devices.iter().find(|of| of.name == row.measured.device);
        of.is_none_or(|of| of.model == facts.model || of.model.ends_with(&group))
    };
    let mut toml = String::new();
    for (fit, within) in fit::quickest(document.rows.iter().filter(is_kin)) {
        let Some(collective) = in_the_roofline(fit.op).filter(|_| fit.ranks > 1) else { continue };
        let (op, ranks) = (quoted(collective.as_str()), fit.ranks);
        let _ = writeln!(toml, "\n[[collectives]]\nop = {op}\nranks = {ranks}");
        let _ = writeln!(toml, "from = {:.1}\nto = {:.1}", fit.from.get(), fit.to.get());
        // None of either is a figure of zero, which a device file has no word for.
        if fit.alpha.get() > 0.0 {
            let _ = writeln!(toml, "alpha = {:e}", fit.alpha.get());
        }
        if let Some(beta) = fit.beta {
            let _ = writeln!(toml, "beta = {:.1}", beta.get());
        }
        if within > 0.0 {
            let _ = writeln!(toml, "within = {within:.2e}");
        }
        toml.push_str("source = \"probe\"\n");
    }
    toml
}

/// What a pass of a model is made of; none of what no model asks for.
const fn in_the_roofline(op: CollectiveOp) -> Option<Collective> {
    Some(match op {
        CollectiveOp::AllReduce => Collective::AllReduce,
        CollectiveOp::AllGather => Collective::AllGather,
        CollectiveOp::ReduceScatter => Collective::ReduceScatter,
        CollectiveOp::AllToAll => Collective::AllToAll,
        CollectiveOp::SendRecv => Collective::SendReceive,
        _ => return None,
    })
}

impl<'a> Cell<'a> {
    fn of(row: &'a ProbeRow, figure: Figure<f64>) -> Self {
        let Figure { typical, typical_ci: ends, .. } = figure;
        Self { best: figure.peak(), typical, ends, row, note: None }
    }

    fn toml(&self) -> String {
        let samples = self.row.measured.timing.samples.len();
        let whose = match samples {
            0 => "the best that is reported".to_owned(),
            1 => "the only sample".to_owned(),
            count => format!("the best of {count} samples"),
        };
        let mut note = format!("{whose} of: {}; {}", self.row.measured.subject(), self.median());
        if let Some(more) = self.note {
            let _ = write!(note, "; {more}");
        }
        if self.row.verdict != Verdict::Valid {
            let _ = write!(note, "; {}", self.row.verdict.as_str());
        }
        let best = self.best.round();
        let low = self.ends.map_or(self.typical, |[low, _]| low).round().min(best);
        let note = quoted(&note);
        format!(
            "{{ value = {best:.1}, range = [{low:.1}, {best:.1}], source = \"probe\", note = {note} }}"
        )
    }

    /// `median 12.1 G/s, nineteen times in twenty from 11.9 to 12.3`.
    fn median(&self) -> String {
        let giga = |value: f64| number(value / 1e9);
        let spread = self.row.figures.spread;
        let spread =
            spread.map(|spread| format!(", half of the samples within {:.1} %", 100.0 * spread));
        let ends = self.ends.map(|[low, high]| {
            format!(", which lies from {} to {} nineteen times in twenty", giga(low), giga(high))
        });
        format!(
            "median {} G/s{}{}",
            giga(self.typical),
            ends.unwrap_or_default(),
            spread.unwrap_or_default()
        )
    }
}

/// The row with the highest best that is not invalid.
fn best<'a>(
    rows: impl Iterator<Item = &'a ProbeRow>,
    figure: impl Fn(&ProbeRow) -> Option<Figure<f64>>,
) -> Option<Cell<'a>> {
    let cells = rows
        .filter(|row| row.verdict != Verdict::Invalid)
        .filter_map(|row| Some(Cell::of(row, figure(row)?)));
    cells.max_by(|a, b| a.best.total_cmp(&b.best))
}

fn bandwidth_of(row: &ProbeRow) -> Option<Figure<f64>> {
    Some(row.figures.bandwidth()?.map(BytesPerSec::get))
}

fn arithmetic_of(row: &ProbeRow) -> Option<Figure<f64>> {
    Some(row.figures.arithmetic?.map(FlopsPerSec::get))
}

/// Rows of arithmetic on operands of those types. Attention of a decode step is none: its traffic limits it, so that its rate says
/// nothing of what the device can compute.
fn of_types<'a>(
    rows: impl Iterator<Item = &'a ProbeRow>,
    dtypes: &[Dtype],
) -> impl Iterator<Item = &'a ProbeRow> {
    rows.filter(|row| {
        let is_arithmetic = match &row.measured.operation {
            Operation::Attention { shape, .. } => shape.phase == AttentionPhase::Prefill,
            other => matches!(other.component(), Component::Compute | Component::Gemm),
        };
        is_arithmetic && row.measured.dtype.is_some_and(|dtype| dtypes.contains(&dtype))
    })
}

/// As TOML has text between quotes.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push(' '),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Small letters, digits and single hyphens.
fn slug(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-")
}
