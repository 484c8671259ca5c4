//! What a device costs to rent.

use fizeau_core::UsdPerHour;
use serde::Serialize;

use super::DeviceError;
use super::error::{at_most, positive};

/// What an hour of one device costs, as somebody published it at some date. Prices of one part differ by three to
/// seven times among sellers, and go stale in months.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Price {
    #[serde(rename = "low_usd_per_h")]
    pub(super) low: UsdPerHour,
    #[serde(rename = "high_usd_per_h")]
    pub(super) high: UsdPerHour,
    pub(super) kind: String,
    pub(super) source: String,
    pub(super) date: String,
    /// As of a [`super::Cell`].
    #[serde(skip)]
    pub(super) unlisted: bool,
    #[serde(rename = "is_unverified")]
    pub(super) unverified: bool,
    pub(super) note: Option<String>,
}

impl Price {
    /// A price from `low` to `high`: whose, or of which kind of seller, where it was published, and when
    /// (`2026-03`).
    ///
    /// # Errors
    /// If a price is not a positive finite number, or `low` is above `high`.
    pub fn new(
        (low, high): (UsdPerHour, UsdPerHour),
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
            unverified: false,
            note: None,
        })
    }

    /// The lowest that is asked.
    #[must_use]
    pub const fn low(&self) -> UsdPerHour {
        self.low
    }

    /// The highest that is asked.
    #[must_use]
    pub const fn high(&self) -> UsdPerHour {
        self.high
    }

    /// Whose price it is, or what kind of seller's.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Where it was published.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// When it was asked: a year, a month or a day, as in `2026-03`.
    #[must_use]
    pub fn date(&self) -> &str {
        &self.date
    }

    /// Whether the source is weak or was not seen again.
    #[must_use]
    pub const fn is_unverified(&self) -> bool {
        self.unverified
    }

    /// What must be known besides.
    #[must_use]
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }
}
