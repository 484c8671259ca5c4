//! Figures of each model of a mix.

use std::sync::Arc;

use fizeau_core::{FailureClass, Tape, Tokens};
use fizeau_metrics::{GoodputGoals, LevelSummary, LevelTally, ModelName, ModelSummary};
use proptest::prelude::*;

use crate::tapes::{failed, tape};

fn asking(model: &str, first_token: u64) -> Tape {
    let model = (!model.is_empty()).then(|| Arc::from(model));
    Tape { model, ..tape(0, &[(first_token, 2)]) }
}

fn models(tapes: &[Tape]) -> Option<Vec<ModelSummary>> {
    LevelSummary::of(tapes, &GoodputGoals::default()).models
}

#[test]
fn each_model_has_its_own_figures() {
    let lost = failed(asking("lora-b", 90), FailureClass::Status);
    let tapes = [asking("lora-b", 30), asking("", 20), asking("lora-b", 50), lost];
    let found = models(&tapes).unwrap();
    let [own, lora] = &found[..] else { panic!("{found:?}") };
    assert_eq!((&own.model, own.sent, own.failed), (&ModelName::Own, 1, 0));
    assert_eq!(lora.model, ModelName::Named("lora-b".into()));
    assert_eq!((lora.sent, lora.completed, lora.failed), (3, 2, 1));
    assert_eq!((lora.output, lora.ttft.n), (Tokens::new(4), 2));
    assert_eq!(lora.ttft.p50.value().unwrap().get(), 40.0);
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json[0]["model_reason"], "the endpoint's own");
    assert_eq!((&json[1]["model"], &json[1]["ttft_ms"]["p50"]), (&"lora-b".into(), &40.0.into()));
}

#[test]
fn one_model_is_no_mix() {
    assert_eq!(models(&[asking("a", 20), asking("a", 30)]), None);
    let level = LevelSummary::of(&[asking("a", 20)], &GoodputGoals::default());
    let json = serde_json::to_value(level).unwrap();
    assert_eq!(json["models_reason"], "no more than one model was asked");
}

proptest! {
    #![proptest_config(crate::cases(32))]

    /// However many names there are, a hundred are told apart, the same ones in whatever order they come.
    #[test]
    fn names_are_bounded(names in prop::collection::vec(0u32..160, 101..400), cut in 0usize..400) {
        let tapes: Vec<Tape> =
            names.iter().map(|name| asking(&format!("m{name:03}"), 20)).collect();
        let found = models(&tapes).unwrap();
        prop_assert_eq!(found.iter().map(|model| model.sent).sum::<u64>(), names.len() as u64);
        let mut distinct = names.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let (kept, rest) = distinct.split_at(distinct.len().min(100));
        let named = |name: &u32| ModelName::Named(format!("m{name:03}").into());
        let mut expected: Vec<ModelName> = kept.iter().map(named).collect();
        expected.extend((!rest.is_empty()).then_some(ModelName::Others));
        let told: Vec<ModelName> = found.iter().map(|model| model.model.clone()).collect();
        prop_assert_eq!(told, expected);

        let reversed: Vec<Tape> = tapes.iter().rev().cloned().collect();
        prop_assert_eq!(&models(&reversed).unwrap(), &found);
        let (head, tail) = tapes.split_at(cut.min(tapes.len()));
        let tally = |tapes: &[Tape]| {
            let mut tally = LevelTally::new(&GoodputGoals::default());
            tapes.iter().for_each(|tape| tally.add(tape));
            tally
        };
        let mut merged = tally(tail);
        merged.merge(tally(head));
        prop_assert_eq!(merged.summary().models, Some(found));
    }
}
