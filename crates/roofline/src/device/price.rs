//! What a device costs to rent.

use fizeau_core::UsdPerHour;
use serde::Serialize;

use super::DeviceError;
use super::error::{at_most, positive};

/// What an hour of one device costs, as somebody published it at some date. Prices of one part differ by three to
/// seven times among sellers, and go stale in months.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Price {
    /// The lowest that is asked.
    #[serde(rename = "low_usd_per_h")]
    pub low: UsdPerHour,
    /// The highest that is asked.
    #[serde(rename = "high_usd_per_h")]
    pub high: UsdPerHour,
    /// Whose price it is, or what kind of seller's.
    pub kind: String,
    /// Where it was published.
    pub source: String,
    /// When it was asked: a year, a month or a day, as in `2026-03`.
    pub date: String,
    /// As of a [`super::PublishedFigure`].
    #[serde(skip)]
    pub(super) unlisted: bool,
    /// Whether the source is weak or was not seen again.
    pub is_unverified: bool,
    /// What must be known besides.
    pub note: Option<String>,
}

impl Price {
    /// A price from `low` to `high`: whose, or of which kind of seller, where it was published, and when
    /// (`2026-03`).
    ///
    /// # Errors
    /// If a price is not a positive finite number, or `low` is above `high`.
    pub fn new(
        low: UsdPerHour,
        high: UsdPerHour,
        kind: impl Into<String>,
        source: impl Into<String>,
        date: impl Into<String>,
    ) -> Result<Self, DeviceError> {
        let most = positive(high.get(), "highest price")?;
        at_most(positive(low.get(), "lowest price")?, most, "lowest price", "the highest price")?;
        Ok(Self {
            low,
            high,
            kind: kind.into(),
            source: source.into(),
            date: date.into(),
            unlisted: false,
            is_unverified: false,
            note: None,
        })
    }
}
