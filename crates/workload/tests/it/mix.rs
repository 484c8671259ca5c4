//! Mixes of models, and what the salt leaves alone.

use std::collections::HashSet;
use std::num::NonZeroU32;
use std::sync::Arc;

use fizeau_core::{Nanos, PerSec, Request, Tokens};
use fizeau_workload::{
    ArrivalLaw, Lengths, ModelShare, Plan, PlanSpec, PromptContent, Salt, Sessions, TextSource,
    ThinkTime, Turns,
};
use proptest::prelude::*;

use crate::{common, spec, uniform};

fn share(model: &str, weight: f64) -> ModelShare {
    ModelShare { model: Arc::from(model), weight }
}

fn requests(plan: &Plan) -> Vec<Request> {
    (0..plan.len().get()).map(|id| plan.request(fizeau_core::RequestId(id))).collect()
}

#[test]
fn models_come_by_weight() {
    let models = vec![share("a", 5.0), share("b", 3.0), share("c", 2.0)];
    let plan = Plan::new(PlanSpec { models, ..spec(10_000, 0) }).unwrap();
    let mut chi2 = 0.0;
    let all = requests(&plan);
    for (name, expected) in [("a", 5_000.0), ("b", 3_000.0), ("c", 2_000.0)] {
        let count = all.iter().filter(|request| request.model.as_deref() == Some(name)).count();
        chi2 += (count as f64 - expected).powi(2) / expected;
    }
    assert!(chi2 < 13.82, "chi-square {chi2}"); // 99.9 %, two degrees of freedom.
    let first: String =
        all.iter().take(20).filter_map(|request| request.model.as_deref()).collect();
    assert_eq!(first, "abaacbbaccbbacccaaab", "a seed keeps its models");
    assert!(plan.warmup(5).all(|scheduled| scheduled.request.model.is_some()));
}

#[test]
fn a_session_stays_with_its_model() {
    let turns = Turns::Fixed(NonZeroU32::new(4).unwrap());
    let sessions = Some(Sessions { turns, think: ThinkTime::None });
    let models = vec![share("a", 1.0), share("b", 1.0)];
    let content = PromptContent::Text(TextSource::Words);
    let plan = Plan::new(PlanSpec { models, sessions, content, ..spec(400, 0) }).unwrap();
    let all = requests(&plan);
    assert!(all.chunks(4).all(|turns| turns.iter().all(|turn| turn.model == turns[0].model)));
    assert!(all.iter().any(|request| request.model != all[0].model));
}

#[test]
fn weights_whose_sum_is_no_number() {
    let models = vec![share("a", f64::MAX), share("b", f64::MAX)];
    let line = Plan::new(PlanSpec { models, ..spec(1, 0) }).unwrap_err().to_string();
    assert!(line.contains("`b`") && line.contains("the sum of weights"), "{line}");
}

#[test]
fn a_mix_that_is_none() {
    for (model, weight) in
        [("a", 0.0), ("a", -1.0), ("a", f64::NAN), ("a", f64::INFINITY), ("", 1.0)]
    {
        let line = Plan::new(PlanSpec { models: vec![share(model, weight)], ..spec(1, 0) });
        let line = line.unwrap_err().to_string();
        assert!(
            line.starts_with(&format!("the model `{model}` of weight {weight} cannot be")),
            "{line}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_salt_changes_prompts_and_nothing_else(seed: u64, salt in 1_u64.., kind in 0_usize..3) {
        let content = [
            PromptContent::default(),
            PromptContent::Text(TextSource::Words),
            PromptContent::Chat(TextSource::Words),
        ][kind].clone();
        let lengths = Lengths::Independent { input: uniform(30, 0.5), output: uniform(20, 0.5) };
        let models = vec![share("a", 1.0), share("b", 1.0)];
        let arrivals = ArrivalLaw::poisson(PerSec::new(5.0));
        let plain = PlanSpec { content, lengths, models, arrivals, prefix: common(9), ..spec(30, seed) };
        let salted = PlanSpec { salt: Salt(salt), ..plain.clone() };
        let (plain, salted) = (Plan::new(plain).unwrap(), Plan::new(salted).unwrap());
        let instants = |plan: &Plan| plan.schedule().flatten().collect::<Vec<Nanos>>();
        prop_assert_eq!(instants(&plain), instants(&salted));
        for (one, other) in requests(&plain).into_iter().zip(requests(&salted)) {
            prop_assert_ne!(&one.prompt, &other.prompt);
            prop_assert_eq!(&one, &Request { prompt: one.prompt.clone(), ..other });
        }
        // A cache keeps what each model makes of the prefix: each has a first use.
        let used = requests(&plain).into_iter().map(|request| request.model).collect::<HashSet<_>>();
        let cached = (30 - used.len() as u64) * 9;
        prop_assert_eq!(plain.expected_cache().map(|cache| cache.cached), Some(Tokens::new(cached)));
    }
}
