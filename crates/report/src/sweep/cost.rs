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
}
