//! Golden vectors of sessions and of what else is drawn for whole plans. The values are this crate's own output: they say
//! that a seed still means what it meant.

use std::num::{NonZeroU32, NonZeroU64};

use fizeau_core::{Nanos, RequestId, Seconds, Tokens};
use fizeau_workload::{
    Length, Plan, PlanSpec, PrefixRepetition, PromptContent, PromptForm, Rescale, Salt, Sessions,
    TextSource, ThinkTime, Turns,
};

use crate::exact_text::Doubling;
use crate::{gamma, ids, input, spec, text};

#[test]
fn turns_of_sessions() {
    let [least, most] = [2, 5].map(|n| NonZeroU32::new(n).unwrap());
    let sessions = Some(Sessions { turns: Turns::Uniform { least, most }, think: ThinkTime::None });
    let content = PromptContent::Text(TextSource::Words);
    let drawn = |seed| -> Vec<usize> {
        let plan =
            Plan::new(PlanSpec { sessions, content: content.clone(), ..spec(40, seed) }).unwrap();
        let sessions: Vec<u64> = (0..40).map(|id| plan.request(RequestId(id)).session.0).collect();
        sessions.chunk_by(|a, b| a == b).map(<[u64]>::len).collect()
    };
    assert_eq!(drawn(0), [4, 5, 4, 4, 2, 3, 5, 4, 2, 3, 4]);
    assert_eq!(drawn(42), [4, 2, 4, 3, 2, 4, 3, 5, 3, 2, 2, 4, 2]);
}

#[test]
fn lengths_about_a_mean() {
    let [mean, least, most] = [200, 10, 260].map(Tokens::new);
    let drawn = |law: Length, seed| -> Vec<u64> {
        let plan = Plan::new(PlanSpec { lengths: input(law), ..spec(8, seed) }).unwrap();
        plan.source().map(|s| s.request.input_tokens.unwrap().get()).collect()
    };
    let normal = Length::Normal { mean, deviation: 60.0, least, most };
    assert_eq!(drawn(normal.clone(), 0), [248, 260, 251, 144, 147, 226, 185, 97]);
    assert_eq!(drawn(normal, 42), [209, 130, 182, 181, 179, 105, 85, 138]);
    let skewed = Length::LogNormal { median: mean, sigma: 0.8, least, most: Tokens::new(4_000) };
    assert_eq!(drawn(skewed, 42), [227, 79, 157, 156, 151, 56, 43, 87]);
}

#[test]
fn stretched_instants() {
    let plan =
        |seed| Plan::new(PlanSpec { arrivals: gamma(10.0, 0.5, Rescale::ToMean), ..spec(4, seed) });
    let drawn = |seed| -> Vec<u64> {
        plan(seed).unwrap().schedule().flatten().map(Nanos::as_nanos).collect()
    };
    assert_eq!(drawn(0), [314_864_572, 316_095_952, 316_468_542, 400_000_000]);
    assert_eq!(drawn(42), [152_518_721, 197_122_577, 199_736_610, 400_000_000]);
}

#[test]
fn salted_prompts() {
    let plan = Plan::new(PlanSpec { salt: Salt(7), ..spec(1, 42) }).unwrap();
    assert_eq!(
        ids(&plan.request(RequestId(0)).prompt),
        [588, 2661, 1931, 1973, 1393, 118, 896, 1275, 1257, 961, 3767, 1814]
    );
}

#[test]
fn the_order_of_repeated_prefixes() {
    let content = PromptContent::PrefixRepetition(PrefixRepetition {
        form: PromptForm::TokenIds,
        vocabulary: 1_000,
        prefix: Tokens::new(1),
        suffix: Tokens::new(2),
        prefixes: NonZeroU64::new(3).unwrap(),
        output: Tokens::new(3),
    });
    let plan = Plan::new(PlanSpec { content, ..spec(12, 42) }).unwrap();
    let firsts: Vec<u32> = plan.source().map(|s| ids(&s.request.prompt)[0]).collect();
    assert_eq!(firsts, [106, 106, 14, 4, 14, 4, 4, 4, 14, 106, 14, 106]);
}

#[test]
fn exact_text_and_its_padding() {
    let content = PromptContent::Text(TextSource::Exact);
    let plan = Plan::with_tokenizer(
        PlanSpec { content, ..spec(1, 42) },
        std::sync::Arc::new(Doubling::new()),
    );
    assert_eq!(text(&plan.unwrap().request(RequestId(0)).prompt), "uurssuirrlsspsqqb");
}

#[test]
fn think_times() {
    let drawn = |think| -> Vec<u64> { crate::sessions::thought(think, 42) };
    let (mean, sigma) = (Seconds::new(2.0), 0.8);
    assert_eq!(
        drawn(ThinkTime::Exponential { mean }),
        [362_720_830, 153_477_204, 375_208_572, 266_456_193]
    );
    assert_eq!(
        drawn(ThinkTime::LogNormal { median: mean, sigma }),
        [2_670_923_021, 2_659_508_470, 1_302_672_001, 2_868_906_815]
    );
}
