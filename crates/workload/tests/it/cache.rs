//! What a prefix cache ought to find, of plans that share more or less than a prefix.

use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;

use fizeau_core::{RequestId, SessionId, Tokens};
use fizeau_workload::{
    CacheShare, ModelShare, Plan, PlanSpec, Popularity, PromptContent, PromptForm, Seed, Sessions,
    SharedPrefix, SpecError, TextSource, ThinkTime, Turns, VllmRandom,
};
use proptest::prelude::*;

use crate::prefix::found;
use crate::{common, ids, spec};

fn figures(share: Option<CacheShare>) -> (u64, u64) {
    let CacheShare { cached, prompt } = share.unwrap();
    (cached.get(), prompt.get())
}

fn prompts<'a>(plan: &'a Plan, model: Option<&'a str>) -> Vec<Vec<u32>> {
    let asked = plan.source().filter(move |s| s.request.model.as_deref() == model);
    asked.map(|s| ids(&s.request.prompt).to_vec()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn rows_of_vllm_s_ids_that_start_alike_are_found(
        vocabulary in 60_u32..2_000, prefix in 0_u64..9, ratio in 0.0..0.9, seed: u64,
    ) {
        let content = PromptContent::VllmRandom(VllmRandom {
            form: PromptForm::TokenIds,
            vocabulary,
            // No row is long enough to come round to where it began.
            input: Tokens::new(20),
            prefix: Tokens::new(prefix),
            input_ratio: ratio,
            ..VllmRandom::default()
        });
        let plan = Plan::new(PlanSpec { content, ..spec(120, seed) }).unwrap();
        prop_assert_eq!(figures(plan.expected_cache()), found(&prompts(&plan, None)));
    }

    #[test]
    fn each_model_of_a_mix_has_a_cache_of_its_own(groups in 1_u64..8, seed: u64) {
        let groups = NonZeroU64::new(groups).unwrap();
        let (tokens, popularity) = (Tokens::new(7), Popularity::Uniform);
        let prefix = SharedPrefix::Groups { groups, tokens, share: 0.8, popularity };
        let model = |name| ModelShare { model: Arc::from(name), weight: 1.0 };
        let models = vec![model("a"), model("b")];
        let content = PromptContent::TokenIds { range: 0..u32::MAX };
        let plan = Plan::new(PlanSpec { prefix, models, content, ..spec(50, seed) }).unwrap();
        let [a, b] = ["a", "b"].map(|model| found(&prompts(&plan, Some(model))));
        prop_assert_eq!(figures(plan.expected_cache()), (a.0 + b.0, a.1 + b.1));
    }

    #[test]
    fn a_run_that_ended_early_is_a_shorter_plan(requests in 1_u64..40, seed: u64) {
        let whole = Plan::new(PlanSpec { prefix: common(7), ..spec(40, seed) }).unwrap();
        let part = Plan::new(PlanSpec { prefix: common(7), ..spec(requests, seed) }).unwrap();
        prop_assert_eq!(whole.expected_cache_of(requests), part.expected_cache());
    }
}

fn talk(turns: Turns) -> PlanSpec {
    let sessions = Some(Sessions { turns, think: ThinkTime::None });
    PlanSpec {
        sessions,
        content: PromptContent::Text(TextSource::Words),
        ..spec(10_000_000_000, 1)
    }
}

fn turns(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap()
}

#[test]
fn a_plan_of_any_size_is_had_at_once() {
    let plain = Plan::new(spec(10_000_000_000, 1)).unwrap();
    assert_eq!(plain.expected_cache(), Some(CacheShare::default()));
    let shared = Plan::new(PlanSpec { prefix: common(12), ..spec(10_000_000_000, 1) }).unwrap();
    let share = shared.expected_cache().unwrap().share();
    assert!((share - 0.5).abs() < 1e-6, "{share}");
    assert_eq!(shared.expected_cache().unwrap().share().to_bits(), share.to_bits());
    let even = Plan::new(talk(Turns::Fixed(turns(3)))).unwrap();
    assert_eq!(even.expected_cache(), None);
    let last = even.request(RequestId(9_999_999_999));
    assert_eq!((last.session, last.turn), (SessionId(3_333_333_333), 0));
    // Past its end it goes on as a longer plan would.
    let past = even.request(RequestId(10_000_000_001));
    assert_eq!((past.session, past.turn), (SessionId(3_333_333_333), 2));
}

#[test]
fn a_table_of_sessions_has_an_end() {
    let uneven = talk(Turns::Uniform { least: turns(1), most: turns(3) });
    let error = Plan::new(uneven.clone()).unwrap_err();
    assert!(matches!(error, SpecError::TooMany { most: 16_777_216, .. }), "{error}");
    assert_eq!(
        error.to_string(),
        "10000000000 requests are too many for sessions of unequal numbers of turns, which is drawn before the run: \
         ask for at most 16777216"
    );
    let plan = Plan::new(PlanSpec {
        seed: Seed(3),
        ..PlanSpec { requests: NonZeroU64::new(20).unwrap(), ..uneven }
    });
    let plan = plan.unwrap();
    let last = plan.request(RequestId(19)).session.0;
    // Past the end each request is a session of its own.
    let past = [20, 21, 25].map(|number| plan.request(RequestId(number)));
    assert_eq!(
        past.map(|request| (request.session.0 - last, request.turn)),
        [(1, 0), (2, 0), (6, 0)]
    );
}
