//! Shared prefixes: who has which, and what a cache finds.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU64;

use fizeau_core::{RequestId, Tokens};
use fizeau_workload::{
    Length, Plan, PlanSource, PlanSpec, Popularity, PrefixRepetition, PromptContent, Salt,
    SharedPrefix,
};
use proptest::prelude::*;

use crate::{common, ids, input, spec, text, uniform};

fn groups(groups: u64, tokens: u64, share: f64, popularity: Popularity) -> SharedPrefix {
    let groups = NonZeroU64::new(groups).unwrap();
    SharedPrefix::Groups { groups, tokens: Tokens::new(tokens), share, popularity }
}

/// Ids of so wide a range that none comes twice by chance.
fn wide() -> PromptContent {
    PromptContent::TokenIds { range: 0..u32::MAX }
}

/// How often each prefix of `tokens` ids comes.
fn prefixes(source: PlanSource, tokens: usize) -> HashMap<Vec<u32>, usize> {
    let mut counts = HashMap::new();
    for scheduled in source {
        *counts.entry(ids(&scheduled.request.prompt)[..tokens].to_vec()).or_default() += 1;
    }
    counts
}

/// What a cache that keeps every prompt finds, by looking for the longest start of each among those before it.
pub(crate) fn found(prompts: &[Vec<u32>]) -> (u64, u64) {
    let mut seen: HashSet<&[u32]> = HashSet::new();
    let (mut cached, mut all) = (0, 0);
    for prompt in prompts {
        let starts = || (1..=prompt.len()).map(|end| &prompt[..end]);
        cached += starts().take_while(|start| seen.contains(start)).count() as u64;
        all += prompt.len() as u64;
        seen.extend(starts());
    }
    (cached, all)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_expected_share_is_what_a_cache_finds(
        count in 1_u64..12, tokens in 0_u64..20, share in 0.0..=1.0, exponent in 0.0..2.0, seed: u64,
    ) {
        let zipf = groups(count, tokens, share, Popularity::Zipf { exponent });
        for prefix in [zipf, common(tokens), SharedPrefix::None] {
            let lengths = input(uniform(10, 0.5));
            let plan = Plan::new(PlanSpec { prefix, lengths, content: wide(), ..spec(60, seed) }).unwrap();
            let prompts: Vec<Vec<u32>> =
                plan.source().map(|s| ids(&s.request.prompt).to_vec()).collect();
            let expected = plan.expected_cache().unwrap();
            // Where nothing is shared nothing is summed.
            let found = if prefix.tokens() == Tokens::ZERO { (0, 0) } else { found(&prompts) };
            prop_assert_eq!((expected.cached.get(), expected.prompt.get()), found);
        }
    }

    #[test]
    fn warm_up_touches_no_measured_prefix(count in 1_u64..6, share in 0.0..=1.0, seed: u64) {
        let prefix = groups(count, 5, share, Popularity::Uniform);
        let plan = Plan::new(PlanSpec { prefix, content: wide(), ..spec(40, seed) }).unwrap();
        let (measured, warm) = (prefixes(plan.source(), 5), prefixes(plan.warmup(40), 5));
        prop_assert!(measured.keys().all(|prefix| !warm.contains_key(prefix)));
    }

    #[test]
    fn all_prompts_are_equally_long_and_different(share in 0.0..=1.0, seed: u64) {
        let prefix = groups(3, 9, share, Popularity::Uniform);
        let plan = Plan::new(PlanSpec { prefix, ..spec(100, seed) }).unwrap();
        let prompts: HashSet<Vec<u32>> =
            plan.source().map(|s| ids(&s.request.prompt).to_vec()).collect();
        prop_assert_eq!(prompts.len(), 100);
        prop_assert!(prompts.iter().all(|prompt| prompt.len() == 21));
    }
}

#[test]
fn the_set_share_of_requests_has_a_group_s_prefix() {
    let prefix = groups(8, 5, 0.6, Popularity::Uniform);
    let plan = Plan::new(PlanSpec { prefix, content: wide(), ..spec(8_000, 1) }).unwrap();
    let counts = prefixes(plan.source(), 5);
    let shared: Vec<usize> = counts.values().copied().filter(|&count| count > 1).collect();
    assert_eq!(shared.len(), 8);
    // 4800 expected with a standard deviation of 44; 600 each with one of 24.
    assert!((4_600..5_000).contains(&shared.iter().sum::<usize>()), "{shared:?}");
    assert!(shared.iter().all(|count| (500..700).contains(count)), "{shared:?}");
}

#[test]
fn popularity_follows_zipf() {
    let prefix = groups(5, 5, 1.0, Popularity::Zipf { exponent: 1.0 });
    let plan = Plan::new(PlanSpec { prefix, content: wide(), ..spec(13_700, 0) }).unwrap();
    let mut counts: Vec<usize> = prefixes(plan.source(), 5).into_values().collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    // 1 + 1/2 + 1/3 + 1/4 + 1/5 is 137/60, so that the k-th comes 6000/k times.
    let chi2: f64 = (1..)
        .zip(&counts)
        .map(|(k, &n)| {
            let expected = 6_000.0 / f64::from(k);
            (n as f64 - expected).powi(2) / expected
        })
        .sum();
    assert!(counts.len() == 5 && chi2 < 18.47, "{counts:?}, chi-square {chi2}"); // 99.9 %, 4 degrees.
}

#[test]
fn a_seed_keeps_its_groups() {
    // This crate's own: they say that a seed still means what it meant.
    let prefix = groups(1_000, 1, 0.8, Popularity::Zipf { exponent: 1.2 });
    let plan = Plan::new(PlanSpec { prefix, ..spec(8, 42) }).unwrap();
    let firsts: Vec<u32> = plan.source().map(|s| ids(&s.request.prompt)[0]).collect();
    assert_eq!(firsts, [116, 406, 1100, 157, 138, 116, 327, 514]);
}

#[test]
fn the_salt_changes_what_prefixes_say_and_not_who_shares_them() {
    let prefix = groups(4, 5, 0.7, Popularity::Uniform);
    let plain = Plan::new(PlanSpec { prefix, content: wide(), ..spec(200, 1) }).unwrap();
    let salted = Plan::new(PlanSpec { salt: Salt(9), ..plain.spec().clone() }).unwrap();
    assert_eq!(plain.expected_cache(), salted.expected_cache());
    let (one, other) = (prefixes(plain.source(), 5), prefixes(salted.source(), 5));
    assert!(one.keys().all(|prefix| !other.contains_key(prefix)));
}

#[test]
fn words_share_their_first_words() {
    let content = PromptContent::Text(fizeau_workload::TextSource::Words);
    let prefix = groups(2, 6, 1.0, Popularity::Uniform);
    let plan = Plan::new(PlanSpec { prefix, content, ..spec(40, 1) }).unwrap();
    let first = |id| -> Vec<String> {
        let prompt = plan.request(RequestId(id)).prompt;
        text(&prompt).split(' ').take(6).map(str::to_owned).collect()
    };
    let starts: HashSet<Vec<String>> = (0..40).map(first).collect();
    assert_eq!(starts.len(), 2);
}

#[test]
fn groups_out_of_range() {
    let uniform = Popularity::Uniform;
    let zipf = |exponent| Popularity::Zipf { exponent };
    for (prefix, what) in [
        (groups(1 << 21, 1, 1.0, uniform), "a number of 2097152: it must be from 0 to 1048576"),
        (groups(2, 1, 1.1, uniform), "a share of 1.1: it must be from 0 to 1"),
        (groups(2, 1, f64::NAN, uniform), "a share of NaN: it must be from 0 to 1"),
        (groups(2, 1, 1.0, zipf(-1.0)), "a Zipf exponent of -1: it must be from 0 to 100"),
    ] {
        let line = Plan::new(PlanSpec { prefix, ..spec(1, 0) }).unwrap_err().to_string();
        assert_eq!(line, format!("prefix groups cannot have {what}"));
    }
}

fn repetition(prefixes: u64) -> PrefixRepetition {
    PrefixRepetition {
        form: fizeau_workload::PromptForm::TokenIds,
        vocabulary: 1 << 30,
        prefix: Tokens::new(8),
        suffix: Tokens::new(4),
        prefixes: NonZeroU64::new(prefixes).unwrap(),
        output: Tokens::new(3),
    }
}

#[test]
fn prefix_repetition_has_each_prefix_equally_often_in_random_order() {
    let content = PromptContent::PrefixRepetition(repetition(7));
    // Other lengths and a prefix, which must not matter.
    let lengths = input(Length::Fixed(Tokens::new(99)));
    let plan = Plan::new(PlanSpec { content, lengths, prefix: common(5), ..spec(70, 1) }).unwrap();
    let counts = prefixes(plan.source(), 8);
    assert_eq!(counts.len(), 7);
    assert!(counts.values().all(|&count| count == 10));
    let request = plan.request(RequestId(0));
    assert_eq!(request.input_tokens, Some(Tokens::new(12)));
    assert_eq!(request.max_output_tokens, Tokens::new(3));
    let expected = plan.expected_cache().unwrap();
    assert_eq!((expected.cached.get(), expected.prompt.get()), (63 * 8, 70 * 12));
    let in_turn: Vec<Vec<u32>> =
        plan.source().take(7).map(|s| ids(&s.request.prompt)[..8].to_vec()).collect();
    assert!(in_turn.iter().collect::<HashSet<_>>().len() < 7, "not shuffled");
    assert!(prefixes(plan.warmup(20), 8).keys().all(|prefix| !counts.contains_key(prefix)));
}

#[test]
fn prefix_repetition_needs_a_request_for_each_prefix() {
    let content = PromptContent::PrefixRepetition(repetition(7));
    let line = Plan::new(PlanSpec { content, ..spec(6, 1) }).unwrap_err().to_string();
    assert_eq!(
        line,
        "6 requests are too few for 7 prefixes: each prefix needs one request at least"
    );
}
