//! Speculative decoding.

use std::num::NonZeroU32;

use fizeau_roofline::{Drafter, Speculation, System};

use super::{SolExtra, SolSubject};

impl SolExtra {
    /// Drafts of `length` tokens; 0: of the length, up to [`Speculation::LONGEST`], that is expected to generate most.
    #[must_use]
    pub fn speculation(of: &SolSubject<'_>, speculation: &Speculation, length: u32) -> Self {
        let SolSubject { system, load, batch: without } = *of;
        let is_sought = length == 0;
        let answer = speculation.answer(system, load, without, NonZeroU32::new(length));
        let (batch, found, length) =
            (answer.batch, &answer.speculated, answer.speculated[1].drafted);
        let who = match &speculation.drafter {
            Drafter::Lookup => "by a search in the text",
            Drafter::Share(_) => "at a share of a step each",
            Drafter::Model(drafter) if is_own(system, drafter) => "by the model's own module",
            _ => "by a model",
        };
        let mut aside = Self::new("speculation", format!("Drafts of {length} tokens"));
        aside.word("drafter", "drafted", who);
        aside.one("draft_tokens", "tokens drafted", f64::from(length));
        let accepted = speculation.acceptance.tokens(1) - 1.0;
        aside.one("first_acceptance", "share of first tokens accepted", accepted);
        aside.one("tokens_per_cycle", "tokens per cycle", found[1].tokens_per_cycle);
        aside.both("draft_ms", "drafting, ms", |i| found[i].draft.get() * 1e3);
        aside.both("verify_ms", "verifying, ms", |i| found[i].verify.get() * 1e3);
        aside.both("tpot_ms", "TPOT, ms", |i| found[i].figures.tpot.map(|tpot| tpot.get() * 1e3));
        aside.both("output_tokens_per_s", "output tokens/s", |i| {
            found[i].figures.output_tokens_per_s.get()
        });
        aside.both("tpot_gain", "speed of a user relative to no drafts", |i| {
            found[i].figures.tpot.map(|_| answer.user_gain[i])
        });
        aside.both("gain", "output tokens/s relative to no drafts", |i| answer.gain[i]);
        if let Drafter::Model(drafter) = &speculation.drafter {
            let known = &system.model().warnings;
            let own = drafter.model().warnings.iter();
            own.filter(|warning| !known.contains(warning)).for_each(|own| aside.note(own));
        }
        if is_sought && length == Speculation::LONGEST {
            aside.note("No longer draft was tried.");
        }
        if batch < without {
            aside.note(format!("{batch} sequences run: no more fit beside the drafter"));
        }
        aside
    }
}

/// Whether what drafts is the module that came with the model.
fn is_own(system: &System, drafter: &System) -> bool {
    system.model().draft_model().is_some_and(|module| module == *drafter.model())
}
