//! A file as it is read: measurements, and what was left out and why.

use crate::device::DeviceFacts;
use crate::import::ImportedMeasurements;
use crate::import::error::MeasurementImportError;
use crate::import::source::Source;
use crate::import::tells::Tells;
use crate::measurement::{Measurement, Operation, Provenance};

/// That a file is not of a format, and what is missing.
#[derive(Debug)]
pub(super) struct NotThis(pub(super) String);

impl NotThis {
    /// That there is no such thing.
    pub(super) fn no(what: &str) -> Self {
        Self(format!("no {what}"))
    }
}

/// What a measurement of so many GPUs together is listed under.
pub(super) fn gpus(ranks: Option<u32>) -> String {
    match ranks {
        Some(0 | 1) => "gpu0".to_owned(),
        Some(ranks) => format!("gpu0-{}", ranks - 1),
        None => "gpus".to_owned(),
    }
}

/// A file as it is read.
#[derive(Debug)]
pub(super) struct Reading<'a> {
    source: &'a Source,
    tool: &'static str,
    /// What of it is counted: `line`, `row`.
    piece: &'static str,
    pub(super) version: Option<String>,
    found: ImportedMeasurements,
    skipped: Vec<Skipped>,
}

/// Pieces of a file that were left out for one reason.
#[derive(Debug)]
struct Skipped {
    why: String,
    count: usize,
    first: usize,
}

impl<'a> Reading<'a> {
    /// Of what `tool` printed in lines.
    pub(super) fn of_lines(source: &'a Source, tool: &'static str) -> Self {
        let mut reading = Self::of_rows(source, tool);
        reading.piece = "line";
        if let Some(torn) = source.torn() {
            reading.note(format!(
                "line {} has no end and breaks off in a number: the file is torn there, and the line is left out",
                torn.number
            ));
        }
        reading
    }

    /// Of what `tool` wrote in rows of a document.
    pub(super) fn of_rows(source: &'a Source, tool: &'static str) -> Self {
        Self {
            source,
            tool,
            piece: "row",
            version: None,
            found: ImportedMeasurements::default(),
            skipped: Vec::new(),
        }
    }

    pub(super) const fn source(&self) -> &'a Source {
        self.source
    }

    /// That the tool is a variant of that name.
    pub(super) const fn rename(&mut self, tool: &'static str) {
        self.tool = tool;
    }

    /// A measurement of `operation` on `device`, from the piece `place` of the file. None where nothing is told of it: then it is
    /// left out.
    pub(super) fn measured(
        &mut self,
        place: usize,
        device: &str,
        operation: Operation,
        tells: Tells,
    ) -> Option<&mut Measurement> {
        if tells.is_empty() {
            self.skip(place, "there is no time and no rate above zero");
            return None;
        }
        let provenance = Provenance::Imported {
            tool: self.tool.to_owned(),
            version: self.version.clone(),
            file: self.source.file().map(str::to_owned),
        };
        let seen = Measurement::new(device, operation, tells.timing(), provenance);
        self.found.measurements.push(seen);
        self.found.measurements.last_mut()
    }

    pub(super) fn measurements(&mut self) -> &mut [Measurement] {
        &mut self.found.measurements
    }

    /// Leaves a piece of the file out, and says why.
    pub(super) fn skip(&mut self, place: usize, why: &str) {
        match self.skipped.iter_mut().find(|skipped| skipped.why == why) {
            Some(skipped) => skipped.count += 1,
            None => self.skipped.push(Skipped { why: why.to_owned(), count: 1, first: place }),
        }
    }

    /// Says something of the file, once.
    pub(super) fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.found.notes.contains(&note) {
            self.found.notes.push(note);
        }
    }

    /// The machine's name.
    pub(super) fn node(&mut self, name: &str) {
        self.found.node.get_or_insert_with(|| name.trim().to_owned());
    }

    /// What part `device` is.
    pub(super) fn device(&mut self, device: &str, model: &str) {
        let (devices, model) = (&mut self.found.devices, model.trim());
        if !model.is_empty() && devices.iter().all(|known| known.name != device) {
            devices.push(DeviceFacts::new(device, model));
        }
    }

    /// A version of a library or the like, once.
    pub(super) fn setting(&mut self, setting: String) {
        if !self.found.settings.contains(&setting) {
            self.found.settings.push(setting);
        }
    }

    /// A variable of an environment, if it is one of those that are kept.
    pub(super) fn environment(&mut self, name: &str, value: &str) {
        if name.starts_with("NCCL_") || name == "CUDA_VISIBLE_DEVICES" {
            self.setting(format!("{name}={value}"));
        }
    }

    pub(super) fn finish(self) -> Result<ImportedMeasurements, MeasurementImportError> {
        let Self { source, tool, piece, version, mut found, skipped } = self;
        let sentence = |Skipped { why, count, first }: Skipped| match count {
            1 => format!("left out in {piece} {first}: {why}"),
            _ => format!("left out {count} times from {piece} {first} on: {why}"),
        };
        found.notes.extend(skipped.into_iter().map(sentence));
        if found.measurements.is_empty() {
            let file = source.name().to_owned();
            return Err(MeasurementImportError::NoRow {
                file,
                tool: tool.to_owned(),
                notes: found.notes,
            });
        }
        Ok(ImportedMeasurements { tool: tool.to_owned(), version, ..found })
    }
}
