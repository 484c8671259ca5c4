//! What tokens cost at the operating point, in words.

use fizeau_record::SweepReport;
use fizeau_record::text;

use crate::Shown;

impl Shown<'_, SweepReport> {
    /// What a million output tokens cost at the operating point: `0.185 USD, at 2.50 USD a device-hour, as given`; none where that
    /// is not known.
    pub(crate) fn cost_words(&self) -> Option<String> {
        let usd = self.cost_at_operating_point().ok()?.usd?;
        Some(format!("{} USD, {}", usd.usd(), text::at_price(self.price()?)))
    }

    /// What an hour of a device costs, who says so and when, in words; none where nobody said.
    ///
    /// ```text
    /// 1.49 US dollars a device and hour: the lowest of on-demand list prices, ..., 2025-11; no offer, --gpu-hour says yours
    /// ```
    pub(crate) fn price_words(&self) -> Option<String> {
        self.price().map(text::price_words)
    }
}
