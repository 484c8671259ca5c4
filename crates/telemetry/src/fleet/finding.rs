//! What is worth a sentence about a fleet.

use std::fmt;

use fizeau_core::Millis;
use serde::{Deserialize, Serialize};

use crate::witness::PageTrouble;

/// What is worth a sentence about a fleet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum FleetFinding {
    /// More is done than the bound allows.
    AboveBound {
        /// Whose page says so; none of the whole fleet.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        address: Option<String>,
        /// The share of the bound: above 1.
        share: f64,
    },
    /// A page does not come any more, or never came: the figures of the fleet are without it.
    Silent {
        /// Whose.
        address: String,
        /// Since its last page; absent where none ever came.
        #[serde(rename = "since_ms", default, skip_serializing_if = "Option::is_none")]
        since: Option<Millis>,
        /// Why.
        why: String,
    },
    /// Pages did not come within the window, and then others did.
    Gap {
        /// Whose.
        address: String,
        /// How many.
        missing: u32,
        /// Why the last of them did not.
        why: String,
    },
    /// The page came, and does not say what is needed.
    #[serde(alias = "untold")]
    NotReported {
        /// Whose.
        address: String,
        /// What is wrong with it.
        why: String,
    },
    /// Pages stop half way.
    CutShort {
        /// Whose.
        address: String,
        /// How many since the watch began.
        pages: u64,
    },
    /// Lines of pages are not as they should be.
    Pages {
        /// Whose.
        address: String,
        /// What is wrong with them, since the watch began.
        what: PageTrouble,
    },
    /// Pages name more series than are kept.
    SeriesLeftOut {
        /// Whose.
        address: String,
        /// How many values were left out since the watch began.
        values: u64,
    },
    /// Exporters tell of other devices than those that serve.
    OtherDevices {
        /// How many they tell of.
        #[serde(alias = "told")]
        reported: u64,
        /// How many serve.
        serving: u64,
    },
    /// Counters began anew.
    Restarted {
        /// Whose.
        address: String,
        /// How often within the window.
        times: u32,
    },
    /// Nothing says how long contexts are, so that the bound leaves out the cache.
    NoContext {
        /// Whose page does not say.
        address: String,
    },
    /// Forward-pass records were lost, do not come any more, or have no bound.
    StepsMissing {
        /// What happened to them.
        why: String,
    },
}

impl fmt::Display for FleetFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AboveBound { address, share } => {
                write!(
                    f,
                    "{} at {:.0} % of its bound",
                    address.as_deref().unwrap_or("the fleet"),
                    share * 100.0
                )?;
                f.write_str(
                    ", which is impossible: check the devices, their number, the formats of \
                    weights and cache, and whether drafts are accepted that its page does not count",
                )
            }
            Self::Silent { address, since: Some(since), why } => {
                write!(
                    f,
                    "{address}: no page for {:.0} s, so the figures leave it out: {why}",
                    since.get() / 1e3
                )
            }
            Self::Silent { address, since: None, why } => {
                write!(f, "{address}: no page yet: {why}")
            }
            Self::Gap { address, missing, why } => {
                write!(f, "{address}: {} did not come: {why}", Pages((*missing).into()))
            }
            Self::NotReported { address, why } => write!(f, "{address}: {why}"),
            Self::CutShort { address, pages } => {
                write!(f, "{address}: {} stopped half way; the rest is missing", Pages(*pages))
            }
            Self::Pages { address, what } => write!(f, "{address}: {what}"),
            Self::SeriesLeftOut { address, values } => write!(
                f,
                "{address}: its pages name more series than are kept; {values} values were left out"
            ),
            Self::OtherDevices { reported, serving } => write!(
                f,
                "exporters report {reported} devices, but {serving} serve: name those that serve to know the energy per token"
            ),
            Self::Restarted { address, times: 1 } => {
                write!(f, "{address}: counters began anew: the server was restarted")
            }
            Self::Restarted { address, times } => {
                write!(f, "{address}: counters began anew {times} times: the server was restarted")
            }
            Self::NoContext { address } => write!(
                f,
                "{address}: the length of contexts is not reported, so the bound leaves out the cache and is higher than it should be"
            ),
            Self::StepsMissing { why } => write!(f, "forward-pass records: {why}"),
        }
    }
}

/// So many pages.
struct Pages(u64);

impl fmt::Display for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1 => f.write_str("1 page"),
            many => write!(f, "{many} pages"),
        }
    }
}
