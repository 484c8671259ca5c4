//! The bound of a mixture of experts under balanced routing.

use fizeau_core::PerSec;

use super::{Figures, PhaseCosts};
use crate::UniformLoad;
use crate::system::System;
use crate::timed::ChoosingTokens;

impl System {
    /// [`System::bound_figures`] under balanced routing: each token of a pass chooses its experts for itself and all equally often, so
    /// that no pass but one in a million reads fewer than are counted here ([`Bound::evenly_routed`](crate::Bound::evenly_routed)). What
    /// a mixture of experts can be held against. With `batch` sequences running, fitting or not; else with as many as fit. None where
    /// its output is that of the bound: without experts, or where so few tokens may agree.
    #[must_use]
    pub fn evenly_routed_figures(&self, load: &UniformLoad, batch: Option<f64>) -> Option<Figures> {
        let running = batch.unwrap_or_else(|| self.running_batch(load));
        let most = if batch.is_some() { running } else { self.bound_rate_batch(load, running) };
        let (local, active) = self.local(most);
        // Stages work on micro-batches: fewer tokens a pass read fewer experts in it.
        let step_of = |batch| ChoosingTokens::decoded(self.decode_pass(load, batch).decoding);
        let rate = self.evenly_routed_totals(step_of(most))?;
        let step = self.evenly_routed_totals(step_of(running));
        let prompt =
            self.evenly_routed_totals(ChoosingTokens::prompt(self.prefill_pass(load).tokens()));
        let phases = |step| {
            let prompt = prompt.as_ref().unwrap_or_else(|| self.ideal());
            self.phases_by([prompt, step], load, running)
        };
        let own = phases(step.as_ref().unwrap_or_else(|| self.ideal()));
        let busy = self.busy(load, &PhaseCosts { local, active, ..phases(&rate) }).longest();
        let requests = PerSec::new(active / busy.get());
        Some(Figures::new(load, running, own.alone.total, own.step.total, requests))
    }
}
