//! What tokens cost at the operating point, in words.

use fizeau_record::text;
use fizeau_record::{CostFigure, SweepReport};
use fizeau_roofline::PriceOrigin;

use crate::Shown;

impl Shown<'_, SweepReport> {
    /// What a million output tokens cost at the operating point: `0.185 USD, at 2.50 USD a device-hour, as given`; none where that
    /// is not known.
    pub(crate) fn cost_words(&self) -> Option<String> {
        let usd = self.cost_at_operating_point().ok()?.usd?;
        Some(format!("{} USD, {}", usd.usd(), text::at_price(self.price()?)))
    }

    /// What a million output tokens cost at the level of that index, in US dollars at a price of one's own; none at one that somebody
    /// published.
    pub(crate) fn own_cost_at(&self, level: usize) -> Option<CostFigure> {
        let is_published = |origin: &PriceOrigin| matches!(origin, PriceOrigin::Published { .. });
        self.price().filter(|price| !is_published(&price.origin))?;
        self.cost_at(level).ok()?.usd
    }
}
