//! Properties of plans: the same from every side, distinct where promised, within bounds.

use std::collections::HashSet;

use fizeau_core::{EosRule, Nanos, PerSec, Prompt, Request, RequestId, RequestSource, Tokens};
use fizeau_workload::{
    ArrivalLaw, Length, Lengths, Plan, PlanSource, PlanSpec, PromptContent, Rescale, Seed,
    TextSource,
};
use proptest::prelude::*;

use crate::{common, gamma, ids, input, output, spec, text, uniform};

fn any_arrivals() -> impl Strategy<Value = ArrivalLaw> {
    let rescale = prop_oneof![Just(Rescale::None), Just(Rescale::ToMean)];
    prop_oneof![
        Just(ArrivalLaw::AllAtOnce),
        Just(ArrivalLaw::ClosedLoop),
        (1e-3..1e6).prop_map(|rate| ArrivalLaw::Constant { rate: PerSec::new(rate) }),
        (1e-3..1e6, 1e-3..1e3, rescale).prop_map(|(rate, b, rescale)| gamma(rate, b, rescale)),
    ]
}

fn any_length() -> impl Strategy<Value = Length> {
    prop_oneof![
        (1_u64..60).prop_map(|length| Length::Fixed(Tokens::new(length))),
        (1_u64..60, 0.0..1.0).prop_map(|(nominal, ratio)| uniform(nominal, ratio)),
    ]
}

fn any_content() -> impl Strategy<Value = PromptContent> {
    prop_oneof![
        (0_u32..1_000, 2_u32..5_000)
            .prop_map(|(start, span)| PromptContent::TokenIds { range: start..start + span }),
        Just(PromptContent::Text(TextSource::Words)),
        Just(PromptContent::Chat(TextSource::Words)),
    ]
}

prop_compose! {
    fn any_spec()(
        requests in 1_u64..40,
        arrivals in any_arrivals(),
        input in any_length(),
        output in any_length(),
        prefix in 0_u64..20,
        content in any_content(),
        seed: u64,
    ) -> PlanSpec {
        let (lengths, prefix) = (Lengths::Independent { input, output }, common(prefix));
        let seed = Seed(seed);
        PlanSpec { arrivals, lengths, prefix, content, seed, ..PlanSpec::new(requests).unwrap() }
    }
}

fn length_of(request: &Request) -> u64 {
    match &request.prompt {
        Prompt::TokenIds(ids) => ids.len() as u64,
        prompt => text(prompt).split(' ').count() as u64,
    }
}

fn requests(source: PlanSource) -> Vec<Request> {
    source.map(|scheduled| scheduled.request).collect()
}

proptest! {
    #[test]
    fn the_source_gives_each_request_and_instant_in_order(spec in any_spec()) {
        let plan = Plan::new(spec).unwrap();
        let (mut source, mut schedule) = (plan.source(), plan.schedule());
        for number in 0..plan.len().get() {
            let scheduled = source.next_request().unwrap().unwrap();
            prop_assert_eq!(&scheduled.request, &plan.request(RequestId(number)));
            prop_assert_eq!(scheduled.request.id, RequestId(number));
            prop_assert_eq!(Some(scheduled.at), schedule.next());
        }
        prop_assert_eq!(source.next_request().unwrap(), None);
        prop_assert_eq!(schedule.next(), None);
    }

    #[test]
    fn the_same_specification_gives_the_same_plan(spec in any_spec()) {
        let json = serde_json::to_string(&spec).unwrap();
        let read: PlanSpec = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(&read, &spec);
        let (one, two) = (Plan::new(spec.clone()).unwrap(), Plan::new(spec).unwrap());
        prop_assert!(one.source().eq(two.source()));
    }

    #[test]
    fn a_longer_plan_starts_with_the_shorter(spec in any_spec(), more in 1_u64..40) {
        // Stretching to the mean looks at the last instant, so the instants are left out.
        let longer = PlanSpec { requests: spec.requests.saturating_add(more), ..spec.clone() };
        let short = requests(Plan::new(spec).unwrap().source());
        let long = requests(Plan::new(longer).unwrap().source());
        prop_assert_eq!(short.as_slice(), &long[..short.len()]);
    }

    #[test]
    fn lengths_are_within_their_bounds_and_known_where_certain(spec in any_spec()) {
        let plan = Plan::new(spec.clone()).unwrap();
        for request in requests(plan.source()) {
            let own = length_of(&request) - spec.prefix.tokens().get();
            let Lengths::Independent { input, output } = &spec.lengths else { unreachable!() };
            prop_assert!(input.bounds().contains(&Tokens::new(own)));
            prop_assert!(output.bounds().contains(&request.max_output_tokens));
            prop_assert!(request.max_output_tokens.get() >= 1);
            let certain = matches!(request.prompt, Prompt::TokenIds(_));
            let known = certain.then_some(Tokens::new(length_of(&request)));
            prop_assert_eq!(request.input_tokens, known);
            prop_assert_eq!(request.eos, EosRule::Ignore);
        }
    }

    #[test]
    fn ids_are_of_the_range_asked_for(start in 0_u32..1_000, span in 2_u32..50, seed: u64) {
        let range = start..start + span;
        let content = PromptContent::TokenIds { range: range.clone() };
        let request = Plan::new(PlanSpec { content, ..spec(1, seed) }).unwrap().request(RequestId(0));
        prop_assert!(ids(&request.prompt).iter().all(|id| range.contains(id)));
    }

    #[test]
    fn instants_never_decrease(spec in any_spec()) {
        let schedule = Plan::new(spec).unwrap().schedule();
        prop_assert!(schedule.is_sorted());
    }

    #[test]
    fn stretched_schedules_end_at_the_mean(
        requests in 1_u64..300, rate in 0.1..1e4, burstiness in 1e-3..1e3, seed: u64,
    ) {
        let arrivals = gamma(rate, burstiness, Rescale::ToMean);
        let plan = Plan::new(PlanSpec { arrivals, ..spec(requests, seed) }).unwrap();
        let mean = Nanos::from_secs_f64(requests as f64 / rate).unwrap();
        // Of gaps that are all too short for a number there is nothing to stretch, and vLLM does not.
        let at_once = plan.schedule().all(|at| at == Some(Nanos::ZERO));
        prop_assert!(at_once || plan.schedule().last() == Some(Some(mean)));
        prop_assert!(!at_once || burstiness < 0.01);
    }

    #[test]
    fn another_seed_gives_other_prompts_lengths_and_instants(seed: u64) {
        let arrivals = ArrivalLaw::poisson(PerSec::new(10.0));
        let vary = |seed| {
            let (arrivals, lengths) = (arrivals.clone(), input(uniform(1_000, 0.9)));
            Plan::new(PlanSpec { arrivals, lengths, ..spec(1, seed) }).unwrap()
        };
        let (one, two) = (vary(seed), vary(seed.wrapping_add(1)));
        let first = |plan: &Plan| plan.request(RequestId(0));
        prop_assert_ne!(first(&one).prompt, first(&two).prompt);
        prop_assert_ne!(one.schedule().next(), two.schedule().next());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))] // Each case makes 600 prompts.

    #[test]
    fn prompts_differ_from_each_other_and_from_warm_up(
        // So many are promised to be enough.
        (content, own) in prop_oneof![Just((PromptContent::default(), 6)), Just((PromptContent::Text(TextSource::Words), 8))],
        prefix in 0_u64..20,
        seed: u64,
    ) {
        let (lengths, prefix) = (input(Length::Fixed(Tokens::new(own))), common(prefix));
        let plan = Plan::new(PlanSpec { content, lengths, prefix, ..spec(300, seed) }).unwrap();
        let all = requests(plan.source()).into_iter().chain(requests(plan.warmup(300)));
        let distinct: HashSet<String> = all.map(|request| format!("{:?}", request.prompt)).collect();
        prop_assert_eq!(distinct.len(), 600);
    }
}

#[test]
fn words_are_256_and_plain() {
    let content = PromptContent::Text(TextSource::Words);
    let plan = Plan::new(PlanSpec { content, ..spec(1_000, 0) }).unwrap();
    let all: Vec<String> = plan.source().map(|s| text(&s.request.prompt).to_owned()).collect();
    let words: HashSet<&str> = all.iter().flat_map(|prompt| prompt.split(' ')).collect();
    assert_eq!(words.len(), 256);
    assert!(words.iter().all(|word| word.bytes().all(|b| b.is_ascii_lowercase())));
}

#[test]
fn prompts_part_early() {
    // What a prefix cache could reuse: neighbours should not even share their first token, save by chance.
    let plan = Plan::new(spec(2_000, 0)).unwrap();
    let firsts: Vec<u32> = plan.source().map(|s| ids(&s.request.prompt)[0]).collect();
    let distinct: HashSet<&u32> = firsts.iter().collect();
    // 2000 draws from 3900 hit 3900 (1 - (1 - 1/3900)^2000) = 1565 different ids in the mean.
    assert!((1_480..1_650).contains(&distinct.len()), "{}", distinct.len());
}

#[test]
fn a_prefix_is_shared_by_the_plan_and_another_one_by_the_warm_up() {
    let prefix = common(16);
    let plan = Plan::new(PlanSpec { prefix, ..spec(20, 3) }).unwrap();
    let prefixes = |source: PlanSource| -> HashSet<Vec<u32>> {
        source.map(|s| ids(&s.request.prompt)[..16].to_vec()).collect()
    };
    let (measured, warm) = (prefixes(plan.source()), prefixes(plan.warmup(20)));
    assert_eq!((measured.len(), warm.len()), (1, 1));
    assert_ne!(measured, warm);
}

#[test]
fn changing_one_aspect_leaves_the_others() {
    let base = Plan::new(PlanSpec { lengths: output(uniform(50, 0.5)), ..spec(30, 9) }).unwrap();
    let both = Lengths::Independent { input: uniform(40, 0.5), output: uniform(50, 0.5) };
    let longer = PlanSpec { lengths: both, ..base.spec().clone() };
    let paced = PlanSpec { arrivals: ArrivalLaw::poisson(PerSec::new(2.0)), ..base.spec().clone() };
    let outputs = |plan: &Plan| -> Vec<Tokens> {
        plan.source().map(|s| s.request.max_output_tokens).collect()
    };
    assert_eq!(outputs(&base), outputs(&Plan::new(longer).unwrap()));
    assert_eq!(requests(base.source()), requests(Plan::new(paced).unwrap().source()));
}

#[test]
fn warm_up_has_the_shape_of_the_plan_and_no_schedule() {
    let arrivals = ArrivalLaw::Constant { rate: PerSec::new(1.0) };
    let plan =
        Plan::new(PlanSpec { arrivals, lengths: input(uniform(40, 0.2)), ..spec(3, 0) }).unwrap();
    let warm: Vec<_> = plan.warmup(50).collect();
    assert_eq!(warm.len(), 50);
    for scheduled in warm {
        assert_eq!(scheduled.at, None);
        let length = Tokens::new(length_of(&scheduled.request));
        assert!((Tokens::new(32)..=Tokens::new(48)).contains(&length));
    }
    assert_eq!(plan.warmup(0).count(), 0);
}

#[test]
fn constant_gaps_are_equal_and_come_first() {
    let arrivals = ArrivalLaw::Constant { rate: PerSec::new(4.0) };
    let plan = Plan::new(PlanSpec { arrivals, ..spec(3, 0) }).unwrap();
    let expected = [250, 500, 750].map(|ms| Some(Nanos::from_millis(ms)));
    assert!(plan.schedule().eq(expected));
}

#[test]
fn chat_is_one_message_of_the_user() {
    let content = PromptContent::Chat(TextSource::Words);
    let request = Plan::new(PlanSpec { content, ..spec(1, 0) }).unwrap().request(RequestId(0));
    let Prompt::Chat(messages) = &request.prompt else { panic!("not a chat") };
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0].role.as_str(), "user");
    assert_eq!(messages[0].content.split(' ').count(), 12);
}

#[test]
fn a_specification_in_a_file_is_readable() {
    let arrivals = gamma(2.5, 0.5, Rescale::ToMean);
    let json = serde_json::to_string(&PlanSpec { arrivals, ..spec(10, 1) }).unwrap();
    let expected = concat!(
        r#"{"requests":10,"arrivals":{"gamma":{"rate_per_s":2.5,"burstiness":0.5,"rescale":"to_mean"}},"#,
        r#""lengths":{"independent":{"input":{"fixed":12},"output":{"fixed":5}}},"prefix":"none","#,
        r#""content":{"token_ids":{"range":{"start":100,"end":4000}}},"sessions":null,"models":[],"#,
        r#""eos":"ignore","seed":1,"salt":0}"#,
    );
    assert_eq!(json, expected);
}

#[test]
fn plans_cross_threads() {
    fn crosses<T: Send + 'static>() {}
    crosses::<&'static Plan>();
    crosses::<PlanSource>();
}

proptest! {
    /// Whoever reads no prompts gets the same requests at the same instants, and of prompts their lengths.
    #[test]
    fn unread_prompts_are_as_long_as_written_ones(spec in any_spec()) {
        let written = PlanSpec { content: PromptContent::default(), ..spec.clone() };
        let unread = PlanSpec { content: PromptContent::Unread, ..spec };
        let [written, unread] = [written, unread].map(|spec| Plan::new(spec).unwrap());
        let both = written.source().zip(unread.source());
        for (written, unread) in both {
            prop_assert_eq!(written.at, unread.at);
            let (written, unread) = (written.request, unread.request);
            prop_assert_eq!(written.input_tokens, unread.input_tokens);
            prop_assert_eq!(written.max_output_tokens, unread.max_output_tokens);
            prop_assert_eq!(unread.prompt, Prompt::TokenIds(Vec::new()));
        }
    }
}

#[test]
fn what_is_due_before_an_instant_is_left_out_without_being_made() {
    let rate = PerSec::new(100.0);
    let due = |arrivals| {
        let plan = Plan::new(PlanSpec { arrivals, ..PlanSpec::new(1_000).unwrap() }).unwrap();
        let mut source = plan.source();
        let _ = source.next_request().unwrap();
        source.skip_due(Nanos::from_secs(3)).unwrap()
    };
    assert_eq!(due(ArrivalLaw::Constant { rate }), 298, "of 299, one had been taken");
    assert_eq!(due(ArrivalLaw::ClosedLoop), 0);
    assert_eq!(due(ArrivalLaw::AllAtOnce), 999);
}
