//! The bound beside the measurement.

use fizeau_roofline::{Bound, Share};
use serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};

/// How far a level is from the best that the hardware could do.
#[derive(Debug, Clone, PartialEq)]
pub enum SpeedOfLight {
    /// The bound of this level, and the share of it that was reached.
    Known {
        /// What nothing can beat at this load.
        bound: Bound,
        /// What was reached of it.
        shares: fizeau_roofline::SpeedOfLight,
    },
    /// There is no bound to compare with.
    Absent {
        /// Why, in plain words: `no model configuration was given`.
        reason: String,
    },
}

impl SpeedOfLight {
    /// The share of the output token rate, the headline; none where there is no bound or nothing was measured.
    #[must_use]
    pub fn output_share(&self) -> Option<Share> {
        match self {
            Self::Known { shares, .. } => shares.output_tokens_per_s,
            Self::Absent { .. } => None,
        }
    }

    /// Why there is no bound; none if there is one.
    pub(crate) fn reason(&self) -> Option<&str> {
        match self {
            Self::Known { .. } => None,
            Self::Absent { reason } => Some(reason),
        }
    }
}

/// `bound` and `share` by figure; null where there is no bound, since the reason is a sibling of the whole.
impl Serialize for SpeedOfLight {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self::Known { bound, shares } = self else {
            return to.serialize_none();
        };
        let mut fields = to.serialize_struct("SpeedOfLight", 2)?;
        fields.serialize_field("bound", &BoundJson(bound))?;
        fields.serialize_field("share", &SharesJson(shares))?;
        fields.end()
    }
}

struct BoundJson<'a>(&'a Bound);

impl Serialize for BoundJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let bound = self.0;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("ttft_ms", &bound.ttft.to_millis())?;
        map.serialize_entry("tpot_ms", &bound.single_tpot.to_millis())?;
        map.serialize_entry("full_batch_step_ms", &bound.tpot.to_millis())?;
        map.serialize_entry("e2el_ms", &bound.e2el.to_millis())?;
        map.serialize_entry("requests_per_s", &bound.requests_per_s)?;
        map.serialize_entry("output_tokens_per_s", &bound.output_tokens_per_s)?;
        map.serialize_entry("batch", &bound.batch)?;
        map.serialize_entry("limited_by", bound.limited_by.as_str())?;
        map.end()
    }
}

struct SharesJson<'a>(&'a fizeau_roofline::SpeedOfLight);

impl Serialize for SharesJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let shares = self.0;
        let each = [
            ("ttft", shares.ttft),
            ("tpot", shares.tpot),
            ("requests_per_s", shares.requests_per_s),
            ("output_tokens_per_s", shares.output_tokens_per_s),
        ];
        let mut map = to.serialize_map(None)?;
        for (name, share) in each {
            map.serialize_entry(name, &share.map(Share::get))?;
            if share.is_none() {
                let reason = "nothing was measured to compare with";
                map.serialize_entry(&format!("{name}_reason"), reason)?;
            }
        }
        map.end()
    }
}
