//! Energy, and figures under a limit of power.

use fizeau_core::Watts;
use fizeau_record::text::number;
use fizeau_roofline::{PowerDraw, PowerError};

use super::{SolExtra, SolSubject, by_each};

impl SolExtra {
    /// What the load takes in energy, and its figures where no device may draw more than `limit`.
    ///
    /// # Errors
    /// If the limit is no more than what the device draws at rest.
    pub fn energy(of: &SolSubject<'_>, draw: &PowerDraw, limit: Watts) -> Result<Self, PowerError> {
        let [bound, expected] = by_each(|by| of.system.energy(by, of.load, of.batch, draw, limit));
        let found = [bound?, expected?];
        let free = of.system.bound_running(of.load, of.batch);
        let title = format!("Power of at most {:.0} W a device", limit.get());
        let mut aside = Self::new("power", title);
        aside.both("prefill_watts", "draw in prefill, W", |i| found[i].prefill.get());
        aside.both("decode_watts", "draw in decode, W", |i| found[i].decode.get());
        aside
            .both("prefill_stretch", "prefill longer by a factor of", |i| found[i].prefill_stretch);
        aside.both("decode_stretch", "decode longer by a factor of", |i| found[i].decode_stretch);
        aside.both("ttft_ms", "TTFT within the limit, ms", |i| found[i].figures.ttft.get() * 1e3);
        aside.both("tpot_ms", "TPOT within the limit, ms", |i| {
            found[i].figures.tpot.map(|tpot| tpot.get() * 1e3)
        });
        aside.both("output_tokens_per_s", "output tokens/s within the limit", |i| {
            found[i].figures.output_tokens_per_s.get()
        });
        aside.both("joules_per_output_token", "J per output token", |i| {
            found[i].per_output_token.get()
        });
        aside.both("tokens_per_mwh", "million output tokens per MWh", |i| {
            found[i].tokens_per_mwh() / 1e6
        });
        let [within, without] = [found[0].figures, free].map(|of| of.output_tokens_per_s.get());
        if within < without * (1.0 - 1e-6) {
            aside
                .note("Overlapped, as in the bound, prefill and decode would draw more than that:");
            let [within, without] = [within, without].map(number);
            aside.note(format!("of {without} output tokens/s the limit leaves {within}."));
        }
        aside.limits = Some(found[1].limited_by);
        aside.note("Draws are estimates from the device's power limit, not measured.");
        Ok(aside)
    }
}
