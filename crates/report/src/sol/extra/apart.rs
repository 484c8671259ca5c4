//! Prefill and decode on devices of their own.

use fizeau_roofline::{Disaggregation, Figures};

use super::{SolExtra, SolSubject};

impl SolExtra {
    /// The load on instances that read prompts and others that decode, and the best split of as many devices.
    #[must_use]
    pub fn disaggregation(of: &SolSubject<'_>, apart: &Disaggregation<'_>) -> Self {
        let found = apart.answer(of.load);
        let ways = [found.bound, found.expected];
        let (prefill, decode) = (apart.prefill_instances, apart.decode_instances);
        let title = format!("Prefill on {prefill} and decode on {decode} instances");
        let mut aside = Self::new("disaggregation", title);
        let mut add = |key, name, part: fn(&Figures) -> Option<f64>| {
            aside.both(key, name, |i| part(&ways[i]))
        };
        add("ttft_ms", "TTFT, ms", |figures| Some(figures.ttft.get() * 1e3));
        add("tpot_ms", "TPOT, ms", |figures| figures.tpot.map(|tpot| tpot.get() * 1e3));
        add("output_tokens_per_s", "output tokens/s", |figures| {
            Some(figures.output_tokens_per_s.get())
        });
        add("requests_per_s", "requests/s", |figures| Some(figures.requests_per_s.get()));
        aside.one("running_batch", "sequences that decode", found.expected.batch);
        aside.one("transfer_ms", "sending a cache, ms", found.transfer.get() * 1e3);
        let per_device = found.output_tokens_per_s_per_device.get();
        aside.one("output_tokens_per_s_per_device", "output tokens/s of a device", per_device);
        aside.one("balanced_ratio", "prefill : decode, in balance", found.balanced_ratio);
        aside.word("limited_by", "limited by", found.limited_by.as_str());
        aside.word("transfer", "KV cache sent", apart.transfer.as_str().replace('_', " "));
        if let Some(split) = apart.best_split(of.load, apart.devices()) {
            aside.word(
                "best_split",
                "best split of the devices",
                format!(
                    "{} for prefill, {} for decode: {:.2} requests/s, {:.2} times the rate without a split",
                    split.prefill_instances,
                    split.decode_instances,
                    split.answer.expected.requests_per_s.get(),
                    split.gain
                ),
            );
        }
        aside.note(
            "The bound's TPOT is at the batch that is expected to decode; its rates take each phase at its own best batch.",
        );
        aside
    }
}
