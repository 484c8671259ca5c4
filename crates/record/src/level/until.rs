//! How well is known what a level was to find out.

use fizeau_metrics::{PrecisionOutcome, Support};
use serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};

/// A level that was to go on until figures are known well enough (`--until`).
#[derive(Debug, Clone, PartialEq)]
pub struct Until {
    /// Whether they are; the level was ended for that, or its plan had just enough requests.
    pub is_reached: bool,
    /// How well each is known in the end.
    pub outcomes: Vec<PrecisionOutcome>,
}

impl Until {
    /// How wide its interval is, such as `±1.9 %`, or why there is none.
    #[must_use]
    pub fn found(outcome: &PrecisionOutcome) -> String {
        match outcome.half_width.and_then(Support::known) {
            Some(width) => format!("±{:.1} %", 100.0 * width),
            None => unknown(outcome),
        }
    }

    /// Whether the goal of `outcome`, which is one of its own, is reached. What was in flight when all were still counts, so
    /// that an interval may be a little wider in the end.
    #[must_use]
    pub fn has_reached(&self, outcome: &PrecisionOutcome) -> bool {
        self.is_reached || outcome.is_reached()
    }
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

#[cfg(feature = "schema")]
fizeau_core::object_schema!(
    Until,
    "Until",
    "A level that went on until figures were known.",
    |o| o.field::<bool>("reached").field::<Vec<Outcome<'_>>>("goals")
);

#[cfg(feature = "schema")]
fizeau_core::object_schema!(Outcome<'_>, "UntilGoal", "How well one figure is known.", |o| o
    .field::<String>("goal")
    .or_reason::<f64>("half_width"));

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

/// Why there is no interval.
fn unknown(outcome: &PrecisionOutcome) -> String {
    match outcome.half_width {
        Some(Support::NotSupported { needs, has }) => format!("needs about {needs}, has {has}"),
        Some(Support::Known(_)) | None => "there is no such figure, or it is zero".to_owned(),
    }
}
