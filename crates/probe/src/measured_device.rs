//! What was measured as a device of the roofline: a file like any other, each figure with this measurement as its source.

mod cached;
mod disturbed;
mod memory;
mod sheet;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use fizeau_core::number::number;
use fizeau_core::{Bytes, BytesPerSec, FlopsPerSec, Verdict};
use fizeau_roofline::{Collective, Device};

use crate::device::DeviceFacts;
use crate::document::ProbeDocument;
use crate::figures::Figure;
use crate::fit;
use crate::measurement::{
    AttentionPhase, CollectiveOp, Component, Dtype, MemoryKernel, Operation, Provenance,
    SampleStatistic,
};
use crate::row::ProbeRow;
pub(crate) use memory::is_beyond_caches;
use sheet::SheetText;

/// A device file (`device.toml`) of what was measured.
///
/// Its figures are the best that any row reached, so that a bound made of them is one that this silicon was seen to allow: more
/// bandwidth or arithmetic than that no row saw. The range beside each begins where the median of the same row's samples may lie at the
/// least, and its note has the median with its interval and how far the samples spread. Reads of arrays that caches hold are there by
/// size, as far as they are faster than memory: a small model's weights stay in caches from step to step. Collectives that devices of this model took
/// part in are there as alpha and beta for each operation, number of ranks and range of sizes: medians, since they serve an
/// expectation and no bound. Of collectives alone a device is made that is otherwise its data sheet's ([`of_sheet`](Self::of_sheet)). What nobody measures by itself is the data sheet's, with its sources: links, power, prices, and how much
/// of its memory software sees where the measurements do not tell how much there is.
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
    figure: Figure<f64>,
    row: &'a ProbeRow,
    note: Option<String>,
}

/// What a device file has in figures.
struct Figures<'a> {
    capacity: Bytes,
    bandwidth: Cell<'a>,
    cached: Vec<cached::SizedCell<'a>>,
    /// Each with its key, `bf16` first.
    rates: Vec<(&'static str, Cell<'a>)>,
    /// Whether other tools measured all of it, none of which tells how much a device holds.
    is_imported: bool,
}

impl MeasuredDevice {
    /// What `document` has of `device`, by the name that it calls it.
    ///
    /// # Errors
    /// If memory's bandwidth or any arithmetic of 16 or 32 bits was not measured of it, or how much it holds is not known.
    pub fn of(document: &ProbeDocument, device: &str) -> Result<Self, MeasuredDeviceError> {
        let facts = document.devices.iter().find(|facts| facts.name == device);
        let facts = facts.ok_or_else(|| {
            MeasuredDeviceError(format!(
                "of {device}, neither its part nor how much it holds is known; a data sheet that is named has both"
            ))
        })?;
        let figures = Figures::of(document, facts)?;
        let mut toml = head(document, facts);
        // Writing to a string does not fail.
        let _ = write!(toml, "{}", figures.toml(document, facts));
        let device = Device::from_toml(&toml)
            .map_err(|error| MeasuredDeviceError(format!("the figures make no device: {error}")))?;
        Ok(Self { toml, device })
    }

    /// The data sheet's own device with the collectives that were measured, where a data sheet is named and no device can be made of
    /// measurements ([`lacking`](Self::lacking) says why). It has the data sheet's name, since nothing of the device itself was measured,
    /// and each figure keeps its source.
    #[must_use]
    pub fn of_sheet(document: &ProbeDocument) -> Option<Self> {
        Self::lacking(document)?;
        document.devices.iter().find_map(|facts| {
            let collectives = Some(collectives(document, facts)).filter(|text| !text.is_empty())?;
            let (node, sheet) =
                (&document.host.node, Device::named(facts.data_sheet.as_ref()?).ok()?);
            let title = format!("{} with collectives as measured on {node}", sheet.title);
            let title = format!("title = {}", quoted(&title));
            let mut toml = format!(
                "# What its vendor prints, but for collectives, which were measured on {node}.\n"
            );
            toml += &sheet::whole(facts, &title, &source(document))?;
            toml += &collectives;
            Some(Self { device: Device::from_toml(&toml).ok()?, toml })
        })
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

impl<'a> Figures<'a> {
    fn of(document: &'a ProbeDocument, facts: &DeviceFacts) -> Result<Self, MeasuredDeviceError> {
        let lacks = |what: &str| MeasuredDeviceError(format!("of {}, {what}", facts.name));
        let capacity = facts.memory.ok_or_else(|| lacks("it is not known how much it holds"))?;
        let rows = || document.rows.iter().filter(|row| row.measured.device == facts.name);
        let bandwidth = best(rows().filter(|row| memory::is_measured(row, facts)), bandwidth_of);
        let mut bandwidth = bandwidth.ok_or_else(|| lacks(&memory::lacking(rows(), facts)))?;
        bandwidth.note =
            read_beside(&bandwidth, rows().filter(|row| memory::is_measured(row, facts)));
        let narrow = best(of_types(rows(), &[Dtype::Bf16, Dtype::F16]), arithmetic_of);
        let single = best(of_types(rows(), &[Dtype::F32]), arithmetic_of).map(|cell| Cell {
            note: Some(
                "by arithmetic of 32 bits, to which operands of 16 bits are widened".to_owned(),
            ),
            ..cell
        });
        let bf16 = [narrow, single].into_iter().flatten().max_by(|a, b| a.best.total_cmp(&b.best));
        let bf16 = bf16.ok_or_else(|| lacks("no arithmetic of 16 or 32 bits was measured"))?;
        let narrower = [
            ("fp8", [Dtype::Fp8E4m3, Dtype::Fp8E5m2, Dtype::Mxfp8].as_slice()),
            ("fp4", &[Dtype::Nvfp4, Dtype::Mxfp4]),
            ("int8", &[Dtype::Int8]),
        ];
        let narrower = narrower.into_iter().filter_map(|(name, dtypes)| {
            Some((name, best(of_types(rows(), dtypes), arithmetic_of)?))
        });
        let is_imported =
            |row: &ProbeRow| matches!(row.measured.provenance, Provenance::Imported { .. });
        Ok(Self {
            capacity,
            cached: cached::reads(rows(), bandwidth.best),
            bandwidth,
            rates: std::iter::once(("bf16", bf16)).chain(narrower).collect(),
            is_imported: rows().all(is_imported),
        })
    }

    /// The file from the table of its sources on.
    fn toml(&self, document: &ProbeDocument, facts: &DeviceFacts) -> String {
        let mut toml = format!("\n[sources]\n{}\n", source(document));
        let sheet = SheetText::of(facts);
        toml.push_str(&sheet.sources);
        let capacity = |source| {
            format!("capacity = {{ value = {}, source = {source} }}\n", self.capacity.get())
        };
        // What other tools do not tell is the sheet's, of the table or of whoever named another one.
        let [capacity, below] = match facts.specification.first().filter(|_| self.is_imported) {
            Some(_) if !sheet.capacity.concat().is_empty() => sheet.capacity,
            Some(printed) => {
                let _ = writeln!(toml, "printed = {{ name = {} }}", quoted(&printed.source));
                [capacity("\"printed\""), String::new()]
            }
            None => [capacity("\"probe\""), String::new()],
        };
        let bandwidth = self.bandwidth.toml();
        let _ = write!(toml, "\n[memory]\n{capacity}bandwidth = {bandwidth}\n{below}");
        for (working_set, rate) in &self.cached {
            let _ = writeln!(
                toml,
                "\n[[memory.cached]]\nworking_set = {working_set:.0}\nbandwidth = {}",
                rate.toml()
            );
        }
        toml.push_str("\n[rates]\n");
        for (name, cell) in &self.rates {
            let _ = writeln!(toml, "{name} = {}", cell.toml());
        }
        toml + &collectives(document, facts) + &sheet.others
    }
}

/// The line of a file's sources for what `document` has.
fn source(document: &ProbeDocument) -> String {
    let date = document.begun.as_deref().and_then(|begun| begun.get(..10));
    let source = format!("fizeau probe {} on {}", document.version(), document.host.node);
    let date = date.map(|date| format!(", date = {}", quoted(date))).unwrap_or_default();
    format!("probe = {{ name = {}{date} }}", quoted(&source))
}

/// What the file says before its figures.
fn head(document: &ProbeDocument, facts: &DeviceFacts) -> String {
    let mut toml = format!(
        "# What was measured on {}, not what its vendor prints. Each value is the best of all samples, since it serves as a bound; its\n\
         # range goes from the lower end of where the median lies to the best.\nname = {}\ntitle = {}\n",
        document.host.node,
        quoted(&MeasuredDevice::name_of(facts)),
        quoted(&format!("{} as measured on {}", facts.model, document.host.node))
    );
    if let Some(name) = &facts.data_sheet {
        let _ = writeln!(toml, "data_sheet = {}", quoted(name));
    }
    if let Some(note) = disturbed::note(document, facts) {
        let _ = writeln!(toml, "note = {}", quoted(&note));
    }
    toml
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
    for of in fit::quickest(document.rows.iter().filter(is_kin)) {
        let fit = &of.fit;
        let Some(collective) = in_the_roofline(fit.op).filter(|_| fit.ranks > 1) else { continue };
        let (name, ranks) = (collective.as_str(), fit.ranks);
        for nodes in &of.left_out {
            let on = nodes.map_or("a number of nodes that is not told".to_owned(), |count| {
                format!("{count} nodes")
            });
            let _ = write!(
                toml,
                "\n# {name} among {ranks} was measured on {on} too, which is not in here."
            );
        }
        let _ = writeln!(toml, "\n[[collectives]]\nop = {}\nranks = {ranks}", quoted(name));
        let _ = writeln!(toml, "from = {:.1}\nto = {:.1}", fit.from.get(), fit.to.get());
        // None of either is a figure of zero, which a device file has no word for.
        if fit.alpha.get() > 0.0 {
            let _ = writeln!(toml, "alpha = {}", ranged(fit.alpha.get(), of.alpha));
        }
        if let Some(beta) = fit.beta {
            let _ = writeln!(toml, "beta = {}", ranged(beta.get(), of.beta));
        }
        if of.within > 0.0 {
            let _ = writeln!(toml, "within = {:.2e}", of.within);
        }
        toml.push_str("source = \"probe\"\n");
    }
    toml
}

/// A figure of a fit, with where it lies among the fits that leave out one of its sizes.
fn ranged(value: f64, range: Option<[f64; 2]>) -> String {
    match range {
        // A figure of zero is no end that a device file could have.
        Some([low, high]) if low > 0.0 && high.is_finite() => {
            format!("{{ value = {value:e}, range = [{low:e}, {high:e}] }}")
        }
        _ => format!("{value:e}"),
    }
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
        Self { best: figure.peak(), figure, row, note: None }
    }

    fn toml(&self) -> String {
        let mut note = self.whose();
        if let Some(more) = &self.note {
            let _ = write!(note, "; {more}");
        }
        if self.row.verdict != Verdict::Valid {
            let _ = write!(note, "; {}", self.row.verdict.as_str());
        }
        let best = self.best.round();
        let low = self.figure.typical_ci.map_or(self.figure.typical, |[low, _]| low);
        let low = low.round().min(best);
        let note = quoted(&note);
        format!(
            "{{ value = {best:.1}, range = [{low:.1}, {best:.1}], source = \"probe\", note = {note} }}"
        )
    }

    /// Of what it is the best; of a tool that reports no best, what it is. And what is typical, where that is something else.
    fn whose(&self) -> String {
        let subject = self.row.measured.subject();
        let samples = self.row.measured.timing.samples.len();
        match (samples, self.figure.best, self.figure.statistic) {
            (1, ..) => format!("the only sample of: {subject}; {}", self.typical()),
            (2.., ..) => format!("the best of {samples} samples of: {subject}; {}", self.typical()),
            (0, Some(_), SampleStatistic::Best) => {
                format!("the best that is reported of: {subject}")
            }
            (0, Some(_), _) => {
                format!("the best that is reported of: {subject}; {}", self.typical())
            }
            (0, None, statistic) => {
                format!("the {} of: {subject}; no best is reported", called(statistic))
            }
        }
    }

    /// `median 12.1 G/s, nineteen times in twenty from 11.9 to 12.3`.
    fn typical(&self) -> String {
        let giga = |value: f64| number(value / 1e9);
        let spread = self.row.figures.spread;
        let spread =
            spread.map(|spread| format!(", half of the samples within {:.1} %", 100.0 * spread));
        let ends = self.figure.typical_ci.map(|[low, high]| {
            format!(", which lies from {} to {} nineteen times in twenty", giga(low), giga(high))
        });
        format!(
            "{} {} G/s{}{}",
            called(self.figure.statistic),
            giga(self.figure.typical),
            ends.unwrap_or_default(),
            spread.unwrap_or_default()
        )
    }
}

/// A statistic in words.
const fn called(statistic: SampleStatistic) -> &'static str {
    match statistic {
        SampleStatistic::Single => "only operation",
        SampleStatistic::NotReported => "figure, which the tool does not call best or mean,",
        other => other.as_str(),
    }
}

/// What reads alone reached, where the `fastest` is no read: a decode step reads its weights and writes hardly anything.
fn read_beside<'a>(fastest: &Cell<'_>, rows: impl Iterator<Item = &'a ProbeRow>) -> Option<String> {
    let is_read = |row: &&ProbeRow| {
        matches!(row.measured.operation, Operation::Memory { kernel: MemoryKernel::Read, .. })
    };
    if is_read(&fastest.row) {
        return None;
    }
    let read = best(rows.filter(is_read), bandwidth_of)?;
    Some(format!("reads alone reached {} G/s", number(read.best / 1e9)))
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

/// Of a stream each array counts once, as in STREAM: some processors do not read what ordinary stores replace, so that with what such reads
/// would have moved it may be more than memory carried.
fn bandwidth_of(row: &ProbeRow) -> Option<Figure<f64>> {
    let is_stream = matches!(row.measured.operation, Operation::Memory { .. });
    let counted_once = row.figures.stream.filter(|_| is_stream);
    Some(counted_once.or_else(|| row.figures.bandwidth())?.map(BytesPerSec::get))
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
