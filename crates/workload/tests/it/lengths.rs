//! Laws of lengths: what they draw, what they promise, how they are written and what can be wrong with them.

use std::num::NonZeroU32;

use fizeau_core::Tokens;
use fizeau_workload::{
    Length, LengthBin, LengthPair, Lengths, Plan, PlanSpec, PresetLengths, Sessions, ThinkTime,
    Turns, WeightedPair,
};
use proptest::prelude::*;
use statrs::distribution::{ContinuousCDF, LogNormal, Normal};

use crate::{input, output, spec};

fn tokens(count: u64) -> Tokens {
    Tokens::new(count)
}

fn bin(from: u64, to: u64, weight: f64) -> LengthBin {
    LengthBin { from: tokens(from), to: tokens(to), weight }
}

fn pair(input: u64, output: u64, weight: f64) -> WeightedPair {
    WeightedPair { input: tokens(input), output: tokens(output), weight }
}

fn normal(mean: u64, deviation: f64, least: u64, most: u64) -> Length {
    Length::Normal { mean: tokens(mean), deviation, least: tokens(least), most: tokens(most) }
}

fn log_normal(median: u64, sigma: f64, least: u64, most: u64) -> Length {
    Length::LogNormal { median: tokens(median), sigma, least: tokens(least), most: tokens(most) }
}

/// Any law that is right.
fn any_length() -> impl Strategy<Value = Length> {
    let ends = (1_u64..5_000, 0_u64..5_000).prop_map(|(least, more)| (least, least + more));
    let bins = prop::collection::vec((1_u64..900, 0_u64..90, 0.01..10.0), 1..6);
    prop_oneof![
        (1_u64..9_000).prop_map(|length| Length::Fixed(tokens(length))),
        (1_u64..9_000, 0.0..1.0)
            .prop_map(|(n, ratio)| Length::Uniform { nominal: tokens(n), ratio }),
        (1_u64..9_000, 0.0..=1.0)
            .prop_map(|(n, ratio)| Length::UniformUpTo { most: tokens(n), ratio }),
        ends.clone()
            .prop_map(|(low, high)| Length::Between { least: tokens(low), most: tokens(high) }),
        (0_u64..9_000, 0.0..1e4, ends.clone())
            .prop_map(|(mean, sd, ends)| normal(mean, sd, ends.0, ends.1)),
        (1_u64..9_000, 0.0..5.0, ends)
            .prop_map(|(m, sigma, ends)| log_normal(m, sigma, ends.0, ends.1)),
        bins.prop_map(|bins| Length::Histogram(
            bins.into_iter().map(|(from, more, weight)| bin(from, from + more, weight)).collect()
        )),
    ]
}

/// The output lengths of a plan.
fn drawn(law: Length, requests: u64, seed: u64) -> Vec<u64> {
    let plan = Plan::new(PlanSpec { lengths: output(law), ..spec(requests, seed) }).unwrap();
    plan.source().map(|s| s.request.max_output_tokens.get()).collect()
}

proptest! {
    #[test]
    fn what_is_drawn_is_within_bounds_and_so_are_quantiles(law in any_length(), seed: u64) {
        let bounds = law.bounds();
        prop_assert!(drawn(law.clone(), 50, seed).into_iter().all(|n| bounds.contains(&tokens(n))));
        let quantiles: Vec<Tokens> = (0..=20).map(|q| law.quantile(f64::from(q) / 20.0)).collect();
        prop_assert!(quantiles.is_sorted());
        prop_assert_eq!(quantiles.first(), Some(bounds.start()));
        prop_assert_eq!(quantiles.last(), Some(bounds.end()));
        prop_assert_eq!(law.median(), quantiles[10]);
    }

    #[test]
    fn text_is_read_back(law in any_length()) {
        let text = law.to_string();
        prop_assert_eq!(&text.parse::<Length>().unwrap(), &law);
        let joint: Lengths = format!("{text};{text}").parse().unwrap();
        prop_assert_eq!(joint, Lengths::Independent { input: law.clone(), output: law });
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "[a-z]{0,9}:?[a-z0-9=,./:-]{0,30}", raw: String) {
        for text in [text, raw] {
            if let Ok(law) = text.parse::<Length>() {
                prop_assert_eq!(law.to_string().parse::<Length>(), Ok(law));
            }
            if let Ok(lengths) = text.parse::<Lengths>() {
                prop_assert_eq!(lengths.to_string().parse::<Lengths>(), Ok(lengths));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))] // Each case draws 2000 lengths.

    #[test]
    fn the_share_below_a_quantile_is_the_one_asked_for(law in any_length(), q in 0.05..0.95) {
        let (sent, at) = (drawn(law.clone(), 2_000, 0), law.quantile(q).get());
        let share = |reached: &dyn Fn(u64) -> bool| {
            sent.iter().filter(|&&n| reached(n)).count() as f64 / sent.len() as f64
        };
        // Five standard errors of a share out of 2000.
        let slack = 5.0 * (q * (1.0 - q) / 2_000.0).sqrt();
        prop_assert!(share(&|n| n <= at) >= q - slack, "{law}: {q} at {at}");
        prop_assert!(share(&|n| n < at) <= q + slack, "{law}: {q} at {at}");
    }
}

#[test]
fn bounds_are_those_of_vllm_and_of_sglang() {
    let ends = |length: Length| length.bounds().into_inner();
    // Python 3: (math.floor(L * (1 - r)), math.ceil(L * (1 + r))), the lower one at least 1.
    for (nominal, ratio, least, most) in [
        (1024, 0.0, 1024, 1024),
        (100, 0.1, 90, 111),
        (1024, 0.3, 716, 1332),
        (7, 0.5, 3, 11),
        (1, 0.99, 1, 2),
    ] {
        let length = Length::Uniform { nominal: tokens(nominal), ratio };
        assert_eq!(ends(length), (tokens(least), tokens(most)));
    }
    // SGLang's compute_random_lens: numpy.random.randint(max(int(L * r), 1), L + 1).
    for (most, ratio, least) in [(1024, 0.0, 1), (1024, 1.0, 1024), (7, 0.5, 3)] {
        let length = Length::UniformUpTo { most: tokens(most), ratio };
        assert_eq!(ends(length), (tokens(least), tokens(most)));
    }
}

proptest! {
    #[test]
    fn quantiles_of_the_normal_law_are_statrs(q in 1e-9..1.0) {
        // So wide that a token is a step of 1e-10.
        let (mean, deviation) = (1_000_000_000_000_u64, 1e10);
        let length = Length::Normal { mean: tokens(mean), deviation, least: tokens(0), most: tokens(u64::MAX) };
        let expected = Normal::standard().inverse_cdf(q);
        let found = (length.quantile(q).get() as f64 - mean as f64) / deviation;
        // The tables behind statrs have about eleven digits.
        prop_assert!((found - expected).abs() < 1e-8 * (1.0 + expected.abs()));
    }
}

#[test]
fn quantiles_of_a_histogram_go_over_gaps_and_overlaps() {
    let bins = [bin(1, 10, 1.0), bin(101, 110, 1.0), bin(106, 115, 2.0), bin(900, 999, 0.0)];
    let length = Length::Histogram(bins.into());
    let at = |q| length.quantile(q).get();
    assert_eq!([0.0, 0.25, 0.26, 0.375, 1.0].map(at), [1, 10, 101, 105, 115]);
}

/// The largest distance between the distribution of `sample` and `law`'s, over whole numbers that were rounded.
fn distance(mut sample: Vec<u64>, law: &impl ContinuousCDF<f64, f64>) -> f64 {
    sample.sort_unstable();
    let n = sample.len() as f64;
    let far = |&value: &u64| {
        let below = sample.partition_point(|&other| other <= value) as f64 / n;
        (below - law.cdf(value as f64 + 0.5)).abs()
    };
    sample.iter().map(far).fold(0.0, f64::max)
}

/// The 99.9 % point of Kolmogorov's distribution for `n` values: 1.949 / sqrt(n).
const N: u64 = 20_000;

fn critical() -> f64 {
    1.949 / (N as f64).sqrt()
}

#[test]
fn normal_lengths_are_normal() {
    let sample = drawn(normal(5_000, 800.0, 1, 1 << 24), N, 3);
    let off = distance(sample.clone(), &Normal::new(5_000.0, 800.0).unwrap());
    assert!(off < critical(), "distance {off}");
    let other = distance(sample, &Normal::new(5_050.0, 800.0).unwrap());
    assert!(other > critical(), "the test cannot tell a mean of 5050: {other}");
}

#[test]
fn log_normal_lengths_are_log_normal() {
    let sample = drawn(log_normal(5_000, 0.8, 1, 1 << 24), N, 3);
    let law = |median: f64| LogNormal::new(median.ln(), 0.8).unwrap();
    let off = distance(sample.clone(), &law(5_000.0));
    assert!(off < critical(), "distance {off}");
    let other = distance(sample, &law(5_300.0));
    assert!(other > critical(), "the test cannot tell a median of 5300: {other}");
}

/// Pearson's statistic of `counts` against `expected`.
fn chi_square(counts: &[(f64, f64)]) -> f64 {
    counts.iter().map(|(count, expected)| (count - expected).powi(2) / expected).sum()
}

#[test]
fn histograms_are_as_the_weights_say_and_even_within_a_bin() {
    let law = Length::Histogram(vec![bin(1, 4, 1.0), bin(9, 9, 0.0), bin(11, 12, 3.0)]);
    let sample = drawn(law, 16_000, 0);
    let count = |n| sample.iter().filter(|&&drawn| drawn == n).count() as f64;
    let expected =
        [(1, 1_000.0), (2, 1_000.0), (3, 1_000.0), (4, 1_000.0), (11, 6_000.0), (12, 6_000.0)];
    let chi2 = chi_square(&expected.map(|(n, expected)| (count(n), expected)));
    // The 99.9 % point of chi-square with 5 degrees of freedom is 20.52 (any table).
    assert!(chi2 < 20.52, "chi-square {chi2}");
    assert_eq!(count(9), 0.0);
}

#[test]
fn pairs_stay_together() {
    let pairs = vec![pair(250, 100, 3.0), pair(1_000, 20, 1.0), pair(7, 7, 0.0)];
    let lengths = Lengths::Pairs(pairs);
    let plan = Plan::new(PlanSpec { lengths, ..spec(8_000, 0) }).unwrap();
    let mut counts = [0.0; 2];
    for scheduled in plan.source() {
        let input = scheduled.request.input_tokens.unwrap().get();
        match (input, scheduled.request.max_output_tokens.get()) {
            (250, 100) => counts[0] += 1.0,
            (1_000, 20) => counts[1] += 1.0,
            other => panic!("no such pair: {other:?}"),
        }
    }
    let chi2 = chi_square(&[(counts[0], 6_000.0), (counts[1], 2_000.0)]);
    assert!(chi2 < 10.83, "chi-square {chi2}"); // 99.9 %, one degree of freedom.
}

#[test]
fn sglang_s_range_is_even_from_end_to_end() {
    let sample = drawn(Length::UniformUpTo { most: tokens(10), ratio: 0.35 }, 16_000, 0);
    let counts: Vec<_> = (3..=10)
        .map(|n| (sample.iter().filter(|&&drawn| drawn == n).count() as f64, 2_000.0))
        .collect();
    let chi2 = chi_square(&counts);
    assert!(chi2 < 24.32, "chi-square {chi2}"); // 99.9 %, seven degrees of freedom.
}

#[test]
fn a_seed_keeps_its_lengths() {
    // This crate's own: they say that a seed still means what it meant.
    let four = |text: &str| drawn(text.parse().unwrap(), 4, 42);
    let all = [
        four("uniform:200-300"),
        four("sglang:most=1000,ratio=0.1"),
        four("normal:mean=500,sd=100,min=50,max=2000"),
        four("lognormal:median=500,sigma=0.8,min=50,max=4000"),
        four("histogram:1-100=5,101-1000=3"),
    ];
    let expected = [
        [258, 297, 259, 266],
        [619, 966, 628, 694],
        [442, 502, 464, 527],
        [315, 509, 374, 619],
        [35, 315, 31, 818],
    ];
    assert_eq!(all, expected);
    let lengths = "250/100=3,1000/20=1,30/40=4".parse().unwrap();
    let plan = Plan::new(PlanSpec { lengths, ..spec(6, 42) }).unwrap();
    let inputs: Vec<u64> = plan.source().map(|s| s.request.input_tokens.unwrap().get()).collect();
    assert_eq!(inputs, [30, 250, 30, 30, 30, 250]);
}

#[test]
fn presets_are_those_of_the_table() {
    let law = |preset| match Lengths::from(preset) {
        Lengths::Independent { input, output } => (input, output),
        Lengths::Pairs(_) => panic!("not laws of their own"),
    };
    let around = |median, least, most| log_normal(median, 0.8, least, most);
    assert_eq!(law(PresetLengths::Chat), (around(500, 50, 4_000), around(200, 10, 2_000)));
    assert_eq!(
        law(PresetLengths::CodeGeneration),
        (around(1_500, 200, 8_000), around(500, 50, 4_000))
    );
    assert_eq!(
        law(PresetLengths::LongContextQa),
        (around(16_000, 2_000, 128_000), around(300, 20, 2_000))
    );
    assert_eq!(
        law(PresetLengths::Summarization),
        (around(4_000, 500, 32_000), around(150, 50, 500))
    );
    for preset in PresetLengths::ALL {
        assert_eq!(preset.to_string().parse::<PresetLengths>(), Ok(preset));
        assert_eq!(preset.to_string().parse::<Lengths>(), Ok(preset.lengths()));
        let median = preset.lengths().quantile(0.5);
        let (input, output) = law(preset);
        assert_eq!((median.input, median.output), (input.median(), output.median()));
        assert!(Plan::new(PlanSpec { lengths: preset.lengths(), ..spec(1, 0) }).is_ok());
    }
}

#[test]
fn pairs_are_read_with_and_without_weights() {
    let lengths: Lengths = "250/100=3,1000/20".parse().unwrap();
    assert_eq!(lengths, Lengths::Pairs(vec![pair(250, 100, 3.0), pair(1_000, 20, 1.0)]));
    assert_eq!(lengths.to_string(), "250/100=3,1000/20=1");
    let half = lengths.quantile(0.5);
    assert_eq!((half.input.get(), half.output.get()), (250, 100));
    assert_eq!(lengths.quantile(0.9).input.get(), 1_000);
}

#[test]
fn a_text_that_is_no_law_is_told_what_would_be() {
    let line = |text: &str| text.parse::<Length>().unwrap_err().to_string();
    assert_eq!(
        line("uniform:200"),
        "`uniform:200` is not how a uniform law is written: write it like uniform:200-300"
    );
    assert_eq!(
        line("normal:mean=500,sd=x,min=1,max=2"),
        "`normal:mean=500,sd=x,min=1,max=2` is not how a normal law is written: write it like \
         normal:mean=500,sd=100,min=50,max=2000"
    );
    for twice_or_less in
        ["vllm:nominal=5", "vllm:nominal=5,ratio=0,ratio=0", "sglang:most=-1,ratio=0"]
    {
        assert!(line(twice_or_less).contains("is not how a"), "{twice_or_less}");
    }
    assert!(line("gauss:500").starts_with(
        "`gauss` cannot be read as a distribution of lengths: it must be one of uniform, "
    ));
    assert!(line("long").starts_with(
        "`long` cannot be read as a length: write a whole number of tokens, such as 250"
    ));
    let pairs = "250-100".parse::<Lengths>().unwrap_err().to_string();
    assert!(
        pairs.contains("such as 250/100=3,1000/20=1, or one of chat, code-generation, "),
        "{pairs}"
    );
    assert!("Chat".parse::<PresetLengths>().unwrap_err().to_string().contains("one of chat, "));
}

#[test]
fn each_mistake_in_a_law_has_a_line() {
    let ends = |least, most| Length::Between { least: tokens(least), most: tokens(most) };
    let choice = "has nothing to choose from: at least one choice must have a weight above 0";
    let weight = "has a choice of weight -1: weights must be finite numbers of 0 or above";
    let begin = "it must begin at 1 or above and not end below that";
    for (law, what) in [
        (ends(5, 4), format!("goes from 5 to 4 tokens: {begin}")),
        (ends(0, 4), format!("goes from 0 to 4 tokens: {begin}")),
        (normal(5, 1.0, 9, 8), format!("goes from 9 to 8 tokens: {begin}")),
        (
            normal(5, -1.0, 1, 8),
            "has a standard deviation of -1: it must be a number from 0".to_owned(),
        ),
        (
            log_normal(5, f64::NAN, 1, 8),
            "has a sigma of NaN: it must be a number from 0".to_owned(),
        ),
        (log_normal(0, 1.0, 1, 8), "is 0 tokens: it must be at least 1".to_owned()),
        (normal(5, 1.0, 1, 1 << 25), "reaches 33554432 tokens: it must be at most".to_owned()),
        (Length::Histogram(vec![]), choice.to_owned()),
        (Length::Histogram(vec![bin(1, 2, 0.0)]), choice.to_owned()),
        (Length::Histogram(vec![bin(1, 2, -1.0)]), weight.to_owned()),
        (Length::Histogram(vec![bin(3, 2, 1.0)]), format!("goes from 3 to 2 tokens: {begin}")),
        (
            Length::UniformUpTo { most: tokens(5), ratio: 1.5 },
            "begins at 1.5 times the longest length: that factor must be from 0 to 1".to_owned(),
        ),
    ] {
        for (lengths, which) in [(input(law.clone()), "input"), (output(law), "output")] {
            let line = Plan::new(PlanSpec { lengths, ..spec(1, 0) }).unwrap_err().to_string();
            assert!(line.starts_with(&format!("the {which} length {what}")), "{line}");
        }
    }
    for (pairs, what) in [
        (vec![], format!("the joint length {choice}")),
        (vec![pair(1, 1, -1.0)], format!("the joint length {weight}")),
        (vec![pair(0, 1, 1.0)], "the input length is 0 tokens".to_owned()),
    ] {
        let lengths = Lengths::Pairs(pairs);
        let line = Plan::new(PlanSpec { lengths, ..spec(1, 0) }).unwrap_err().to_string();
        assert!(line.starts_with(&what), "{line}");
    }
}

#[test]
fn lengths_beyond_the_context_are_refused() {
    let lengths = PresetLengths::Chat.lengths();
    let spec = PlanSpec { lengths, prefix: crate::common(100), ..spec(1, 0) };
    assert_eq!(spec.check_context(tokens(6_100)), Ok(()));
    assert_eq!(
        spec.check_context(tokens(6_099)).unwrap_err().to_string(),
        "the longest request has 6100 tokens, 4100 of prompt and 2000 of output, and the model's context holds 6099: \
         ask for shorter requests"
    );
    // Three turns: the prefix once, twice a prompt and its reply, then the last turn's.
    let turns = Turns::Fixed(NonZeroU32::new(3).unwrap());
    let sessions = Some(Sessions { turns, think: ThinkTime::None });
    let spec = PlanSpec { sessions, ..spec };
    assert_eq!(spec.check_context(tokens(100 + 3 * 6_000)), Ok(()));
    assert!(spec.check_context(tokens(99 + 3 * 6_000)).is_err());
}

#[test]
fn the_longest_request_is_one_pair_that_comes() {
    let pair = |input, output, weight| WeightedPair {
        input: tokens(input),
        output: tokens(output),
        weight,
    };
    let lengths =
        Lengths::Pairs(vec![pair(900, 10, 1.0), pair(10, 800, 2.0), pair(5_000, 5_000, 0.0)]);
    assert_eq!(lengths.longest(), LengthPair { input: tokens(900), output: tokens(800) });
    assert_eq!(lengths.longest_request(), LengthPair { input: tokens(900), output: tokens(10) });
    let spec = PlanSpec { lengths, ..spec(1, 0) };
    assert_eq!(spec.check_context(tokens(910)), Ok(()));
    assert!(spec.check_context(tokens(909)).is_err());
}

#[test]
fn without_a_spread_all_quantiles_are_the_middle() {
    let [mean, least, most] = [200, 10, 900].map(tokens);
    let normal = Length::Normal { mean, deviation: 0.0, least, most };
    let skewed = Length::LogNormal { median: mean, sigma: 0.0, least, most };
    for q in [0.0, 0.5, 1.0] {
        assert_eq!((normal.quantile(q), skewed.quantile(q)), (mean, mean), "{q}");
    }
}
