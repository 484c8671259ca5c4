//! The bound under balanced routing beside the bound.

use fizeau_roofline::{Bound, LoadAnalysis, RequestLengths};

use super::{SolExtra, SolSubject};

impl SolExtra {
    /// The most output under balanced routing ([`Bound::evenly_routed`]), beside what is expected in `answer` of the same load; none
    /// where the bound of `answer` says as much.
    #[must_use]
    pub fn even_routing(of: &SolSubject<'_>, answer: &LoadAnalysis) -> Option<Self> {
        let SolSubject { system, load, .. } = of;
        let mut lengths = RequestLengths::for_model(system.model());
        lengths.add_cached(load.input_tokens, load.cached_tokens, load.output_tokens);
        let most = Bound::evenly_routed(system, &lengths, load.concurrency).ok().flatten()?;
        let bound = answer.bound.output_tokens_per_s;
        if most >= bound {
            return None;
        }
        let mut aside = Self::new("even_routing", "At even routing of experts".to_owned());
        let expected = answer.expected.output_tokens_per_s.get();
        aside.both("output_tokens_per_s", "output tokens/s", |way| [most.get(), expected][way]);
        aside.both("bound_share", "  of the bound above, %", |way| {
            100.0 * [most.get(), expected][way] / bound.get()
        });
        aside.note(
            "The bound lets all tokens of a step agree on their experts; here each chooses for itself, all equally often.",
        );
        Some(aside)
    }
}
