//! How well is known what a level was to find out.

use fizeau_metrics::{PrecisionOutcome, Support};
use serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};

use super::LevelReport;
use crate::block::line;

/// A level that was to go on until figures are known well enough (`--until`).
#[derive(Debug, Clone, PartialEq)]
pub struct Until {
    /// Whether they are; the level was ended for that, or its plan had just enough requests.
    pub is_reached: bool,
    /// How well each is known in the end.
    pub outcomes: Vec<PrecisionOutcome>,
}

/// An object of `reached` and `goals`, each of these with its `half_width`, a share of the figure, or null and the reason.
impl Serialize for Until {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let goals: Vec<Outcome<'_>> = self.outcomes.iter().map(Outcome).collect();
        let mut fields = to.serialize_struct("Until", 2)?;
        fields.serialize_field("reached", &self.is_reached)?;
        fields.serialize_field("goals", &goals)?;
        fields.end()
    }
}

struct Outcome<'a>(&'a PrecisionOutcome);

impl Serialize for Outcome<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("goal", &self.0.goal.to_string())?;
        let known = self.0.half_width.and_then(Support::known);
        map.serialize_entry("half_width", &known)?;
        if known.is_none() {
            map.serialize_entry("half_width_reason", &unknown(self.0))?;
        }
        map.end()
    }
}

impl LevelReport {
    /// A line for each figure, such as `Until mean e2el ci=2%: reached: ±1.9 % after 612 requests`.
    pub(super) fn until_lines(&self) -> Vec<String> {
        let Some(until) = &self.until else { return Vec::new() };
        let n = self.summary.requests.completed;
        let one = |outcome: &PrecisionOutcome| {
            let is_reached = until.is_reached || outcome.is_reached();
            let word = if is_reached { "reached" } else { "not reached" };
            let found = match outcome.half_width.and_then(Support::known) {
                // It was at the look that ended it; the requests that were in flight then have widened it since.
                Some(width) if is_reached && !outcome.is_reached() => {
                    format!("reached; at the end ±{:.1} % (n={n})", 100.0 * width)
                }
                Some(width) => format!("{word}: ±{:.1} % after {n} requests", 100.0 * width),
                None => format!("{word}: {}", unknown(outcome)),
            };
            line(&format!("Until {}:", outcome.goal), found)
        };
        until.outcomes.iter().map(one).collect()
    }
}

/// Why there is no interval.
fn unknown(outcome: &PrecisionOutcome) -> String {
    match outcome.half_width {
        Some(Support::NotSupported { needs, has }) => format!("needs about {needs}, has {has}"),
        Some(Support::Known(_)) | None => "there is no such figure, or it is zero".to_owned(),
    }
}
