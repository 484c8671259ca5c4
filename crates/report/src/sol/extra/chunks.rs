//! Chunked prefill.

use fizeau_core::Tokens;

use super::{SolExtra, SolSubject, by_each};

impl SolExtra {
    /// Prompts read in chunks within `budget` tokens a pass; none where the budget leaves no room for a chunk beside the
    /// sequences that decode.
    #[must_use]
    pub fn chunked_prefill(of: &SolSubject<'_>, budget: Tokens) -> Option<Self> {
        let [bound, expected] = by_each(|by| of.system.chunked(by, of.load, of.batch, budget));
        let found = [bound?, expected?];
        let title = format!("Prompts in chunks, {} tokens a pass", budget.get());
        let mut aside = Self::new("chunked_prefill", title);
        aside.both("chunk_tokens", "tokens of a chunk", |i| found[i].chunk);
        aside.both("passes", "passes of a prompt", |i| found[i].passes);
        aside.both("plain_ms", "a pass without a chunk, ms", |i| found[i].plain.get() * 1e3);
        aside.both("mixed_ms", "a pass with a chunk, ms", |i| found[i].mixed.get() * 1e3);
        aside.both("longest_ms", "the longest pass, ms", |i| found[i].longest.get() * 1e3);
        aside.both("ttft_ms", "TTFT, ms", |i| found[i].figures.ttft.get() * 1e3);
        aside.both("tpot_ms", "TPOT, ms", |i| found[i].figures.tpot.map(|tpot| tpot.get() * 1e3));
        aside.both("requests_per_s", "requests/s", |i| found[i].figures.requests_per_s.get());
        aside.both("gain", "requests/s relative to alternating passes", |i| found[i].gain);
        match of.system.balanced_budget(of.load, of.batch) {
            Some(balanced) => aside.note(format!(
                "Arithmetic and traffic of a pass balance at {} tokens.",
                balanced.get()
            )),
            None => aside.note("No budget balances arithmetic and traffic of a pass."),
        }
        Some(aside)
    }
}
