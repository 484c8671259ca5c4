//! Faults in how events are spelt.

use super::Met;
use super::event::{Data, Event};
use super::kind::Kind;

/// Writes events as text.
pub(super) struct Speller {
    met: Met,
    spelt: u64,
}

/// The text of an event, or of what goes with events.
#[derive(Debug, Default)]
pub(super) struct Spelt {
    pub(super) bytes: Vec<u8>,
    pub(super) tokens: u64,
}

impl Speller {
    pub(super) fn new(met: &Met) -> Self {
        Self { met: met.clone(), spelt: 0 }
    }

    pub(super) fn spell(&mut self, mut event: Event) -> Spelt {
        self.pad(&mut event);
        let number = self.spelt;
        self.spelt += 1;
        let mut lines = Vec::new();
        if number == 0 && self.met.has(Kind::Bom) {
            lines.push("\u{feff}: begins".to_owned());
        }
        if self.met.has(Kind::Comments) {
            // Bare and not, each an event without data.
            lines.extend([":".to_owned(), String::new(), ": ping".to_owned(), String::new()]);
        }
        if self.met.has(Kind::GluedComments) {
            lines.push(": glued".to_owned());
        }
        if self.met.has(Kind::ExtraFields) {
            let alone = [format!("id: {number}"), "retry: 1000".to_owned(), String::new()];
            lines.extend(alone);
            lines.extend(["id".to_owned(), "unknown: field".to_owned()]);
        }
        if let Some(name) = &event.name {
            lines.push(format!("event: {name}"));
        }
        lines.extend(self.data(&event.data));
        lines.push(String::new());
        Spelt { bytes: self.join(&lines).into_bytes(), tokens: event.tokens }
    }

    /// A comment for its own sake.
    pub(super) fn comment(&self, text: &str) -> Spelt {
        let lines = [format!(": {text}"), String::new()];
        Spelt { bytes: self.join(&lines).into_bytes(), tokens: 0 }
    }

    fn pad(&self, event: &mut Event) {
        let Some(fault) = self.met.get(Kind::Huge) else {
            return;
        };
        let size = usize::try_from(fault.count()).unwrap_or(usize::MAX);
        if let Some(object) = event.value().and_then(|value| value.as_object_mut()) {
            object.insert("padding".to_owned(), "x".repeat(size).into());
        }
    }

    fn data(&self, data: &Data) -> Vec<String> {
        let text = match data {
            Data::Json(value) if self.met.has(Kind::MultiData) => format!("{value:#}"),
            Data::Json(value) => value.to_string(),
            Data::Text(text) => text.clone(),
        };
        let no_space = self.met.has(Kind::NoSpace);
        let line = |line: &str| match (no_space, data) {
            (false, _) => format!("data: {line}"),
            (true, Data::Json(_)) => format!("data:{line} "),
            (true, Data::Text(_)) => format!("data:{line}"),
        };
        text.lines().map(line).collect()
    }

    fn join(&self, lines: &[String]) -> String {
        let end = match () {
            () if self.met.has(Kind::Cr) => "\r",
            () if self.met.has(Kind::Crlf) => "\r\n",
            () => "\n",
        };
        lines.iter().flat_map(|line| [line.as_str(), end]).collect()
    }
}
