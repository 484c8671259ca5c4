//! Rates over time, from what requests did in it.

use fizeau_core::{Confidence, Nanos};

use crate::{BatchMeans, SampleSupport};

/// Equal slots of time that amounts are spread over.
pub(super) struct TimeSlots {
    per_second: f64,
    /// What each slot has of amounts that begin or end in it.
    amounts: Vec<f64>,
    /// By how much the amount of every slot from this one on changes.
    steps: Vec<f64>,
}

/// As many as [`BatchMeans::of_rate`] counts in, at most.
const MOST_SLOTS: u64 = 4096;

impl TimeSlots {
    /// As many as there are `events`.
    pub(super) fn new(events: u64, duration: Nanos) -> Self {
        let slots = events.min(MOST_SLOTS) as usize;
        let per_second = slots as f64 / duration.as_secs_f64();
        Self { per_second, amounts: vec![0.0; slots], steps: vec![0.0; slots + 1] }
    }

    /// Spreads `amount` evenly between two instants; all of it counts at one where they are the same.
    pub(super) fn spread(&mut self, from: Nanos, to: Nanos, amount: f64) {
        let Some(last) = self.amounts.len().checked_sub(1) else { return };
        let place = |at: Nanos| (at.as_secs_f64() * self.per_second).min(self.amounts.len() as f64);
        let (from, to) = (place(from), place(to));
        let slot = |place: f64| (place as usize).min(last);
        let (first, end) = (slot(from), slot(to));
        if first >= end {
            self.amounts[end] += amount;
            return;
        }
        let density = amount / (to - from);
        self.amounts[first] += density * ((first + 1) as f64 - from);
        self.amounts[end] += density * (to - end as f64);
        self.steps[first + 1] += density;
        self.steps[end] -= density;
    }

    fn rates(&self) -> Vec<f64> {
        let mut whole = 0.0;
        let rate = |(amount, step): (&f64, &f64)| {
            whole += step;
            (amount + whole) * self.per_second
        };
        self.amounts.iter().zip(&self.steps).map(rate).collect()
    }

    /// The mean rate with its interval, of what `has` requests were the cause of: what it would take is said in requests, not
    /// in slots.
    pub(super) fn mean(&self, has: u64) -> Option<SampleSupport<BatchMeans>> {
        let rates = self.rates();
        Some(match BatchMeans::of(&rates, Confidence::P95).ok()? {
            SampleSupport::NotSupported { needs, .. } => {
                // In requests; slots are as many or fewer.
                let in_requests = (needs * has).div_ceil(rates.len().max(1) as u64);
                SampleSupport::NotSupported { needs: in_requests.max(needs), has }
            }
            other => other,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::TimeSlots;
    use fizeau_core::Nanos;

    #[test]
    fn what_is_spread_over_slots_is_all_there() {
        let ms = Nanos::from_millis;
        let mut slots = TimeSlots::new(4, ms(4_000));
        slots.spread(ms(500), ms(2_500), 8.0);
        assert_eq!(slots.rates(), [2.0, 4.0, 2.0, 0.0]);
        slots.spread(ms(3_000), ms(3_000), 1.0);
        slots.spread(ms(4_000), ms(4_000), 1.0);
        slots.spread(ms(1_250), ms(1_750), 1.0);
        assert_eq!(slots.rates(), [2.0, 5.0, 2.0, 2.0]);
    }
}
