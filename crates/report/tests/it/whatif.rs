//! Several configurations side by side.

use fizeau_metrics::Verdict;
use fizeau_record::{
    NotRunReason, OperatingPoint, SweepReport, VariantLevel, WhatIf, WhatIfVariant,
};
use fizeau_report::Shown;
use fizeau_roofline::{HourlyRate, UsdPerHour};
use proptest::prelude::*;

use crate::sample::{level, setup, sweep};

fn variant(
    settings: &[(&str, &str)],
    devices: u64,
    outcome: Result<SweepReport, String>,
) -> WhatIfVariant {
    let devices = outcome.is_ok().then_some(devices);
    let outcome = outcome.map_err(NotRunReason::Impossible);
    let owned = |(flag, value): &(&str, &str)| ((*flag).to_owned(), (*value).to_owned());
    WhatIfVariant { settings: settings.iter().map(owned).collect(), devices, outcome }
}

fn with(levels: impl IntoIterator<Item = u32>, slo: &str) -> SweepReport {
    SweepReport::new(setup(), levels.into_iter().map(level).collect(), slo.parse().ok())
}

const GOAL: &str = "p99 ttft<150ms, p99 e2el<600ms";

/// The same engine on one device and on two, one that misses the goals, and one that cannot run.
pub(crate) fn report() -> WhatIf {
    let variants = vec![
        variant(&[("tp", "1")], 1, Ok(sweep())),
        variant(&[("tp", "2")], 2, Ok(with([1, 4, 32], GOAL))),
        variant(&[("tp", "4")], 4, Ok(with([1, 4], "p99 ttft<1ms"))),
        variant(&[("tp", "8 <b>")], 8, Err("the model has 6 heads \u{1b}[31m".to_owned())),
    ];
    WhatIf::new(setup(), variants, GOAL.parse().ok())
}

#[test]
fn what_takes_more_devices_for_the_same_is_beaten() {
    let report = report();
    let of: Vec<usize> = report.frontier().iter().map(|spot| spot.variant).collect();
    assert!(!of.is_empty() && of.iter().all(|variant| *variant == 0), "{of:?}");
    let OperatingPoint::Met { level, .. } = sweep().operating_point().clone() else {
        unreachable!()
    };
    assert!(report.frontier().contains(&VariantLevel { variant: 0, level }));
    assert_eq!(report.verdict(), Verdict::Suspect);
}

#[test]
fn tokens_cost_what_a_device_does() {
    let priced = |price| {
        let variants = vec![variant(&[("tp", "1")], 1, Ok(sweep().with_price(price)))];
        Shown(&WhatIf::new(setup(), variants, None)).text()
    };
    let price = HourlyRate::given(UsdPerHour::new(3.6)).unwrap();
    let text = priced(Some(price));
    let table = text.split_once("USD for a million output tokens, by concurrency").unwrap().1;
    let sweep = sweep();
    let first = &sweep.levels()[0].summary.throughput;
    let cost = 1000.0 / first.output_tokens_per_s.get();
    let row = table.lines().find(|line| line.starts_with("       1")).unwrap();
    let shown: f64 =
        row.split_whitespace().nth(1).unwrap().trim_matches(['*', '!']).parse().unwrap();
    assert!((shown / cost - 1.0).abs() < 0.05, "{cost}: {table}");
    assert!(!priced(None).contains("USD"));
}

#[test]
fn every_column_has_its_unit() {
    let text = Shown(&report()).text();
    let head = "\
                                      tok/s        ms        ms        ms
        load    req/s  out tok/s   a device  TTFT p99  TPOT p99  E2EL p99   vs A
";
    assert!(text.contains(head), "{text}");
}

/// A column of p99 holds the greatest of few values with a mark alone.
#[test]
fn the_greatest_is_not_passed_off_as_a_p99() {
    let of = |levels: [u32; 2]| {
        let variants = vec![variant(&[("tp", "1")], 1, Ok(with(levels, GOAL)))];
        WhatIf::new(setup(), variants, GOAL.parse().ok())
    };
    let (few, many) = (of([1, 4]), of([16, 32]));
    let note = "^ fewer than 100 values: the greatest seen, since a p99 needs 100";
    let text = Shown(&few).text();
    let row = text.lines().find(|line| line.starts_with("  A        4")).unwrap();
    assert_eq!((row.matches('^').count(), text.matches(note).count()), (3, 1), "{text}");
    assert!(!Shown(&many).text().contains('^'), "{}", Shown(&many).text());
    #[cfg(feature = "html")]
    {
        let page = Shown(&few).page();
        assert!(page.contains("^</td>") && page.contains(note), "{page}");
        assert!(!Shown(&many).page().contains('^'));
    }
}

#[test]
fn the_answer_names_the_best_within_the_goals() {
    let report = report();
    let answer = report.answer();
    assert!(
        answer.starts_with("A (tp 1) gives the most output tokens/s a device within"),
        "{answer}"
    );
    let swapped = vec![report.variants()[1].clone(), report.variants()[0].clone()];
    let answer = WhatIf::new(setup(), swapped, GOAL.parse().ok()).answer();
    assert!(answer.starts_with("B (tp 1)") && answer.contains("times A (tp 2)"), "{answer}");
    let hopeless = vec![report.variants()[2].clone(), report.variants()[3].clone()];
    let answer = WhatIf::new(setup(), hopeless, GOAL.parse().ok()).answer();
    assert!(answer.starts_with("No configuration meets"), "{answer}");
    let answer = WhatIf::new(setup(), Vec::new(), None).answer();
    assert!(answer.starts_with("No goal was given"), "{answer}");
}

#[test]
fn the_text_fits_eighty_columns_and_says_what_cannot_run() {
    let text = Shown(&report()).text();
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
        assert!(!line.contains('\u{1b}'), "{line}");
    }
    for words in ["D: cannot run: the model has 6 heads", "C: none, since no level", "(4 devices)"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
    // On one device the throughput of a level is that of the level.
    let first = sweep().levels()[0].summary.throughput.output_tokens_per_s.get();
    assert!(
        text.contains(&format!("{first:.0}")) || text.contains(&format!("{first:.1}")),
        "{text}"
    );
}

#[test]
fn the_file_has_each_configuration_with_its_reasons() {
    let json: serde_json::Value = serde_json::from_str(&report().to_json().unwrap()).unwrap();
    assert_eq!(json["schema"], "fizeau.whatif/2");
    assert_eq!(json["variants"][1]["devices"], 2);
    assert_eq!(json["variants"][1]["sweep"]["schema"], "fizeau.sweep/2");
    assert!(json["variants"][3]["sweep"].is_null());
    assert!(json["variants"][3]["sweep_reason"].as_str().unwrap().contains("6 heads"));
    assert!(json["variants"][2]["operating_point_reason"].as_str().unwrap().starts_with("none"));
}

#[test]
#[cfg(feature = "html")]
fn the_page_is_whole_and_escapes() {
    let page = Shown(&report()).page();
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    assert!(page.contains("simulated in virtual time"));
    assert!(page.contains("tp 8 &lt;b&gt;") && !page.contains("8 <b>"));
    assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
}

#[test]
#[cfg(feature = "pictures")]
fn the_chart_is_a_file_of_its_own() {
    let chart = Shown(&report()).chart().unwrap();
    assert!(chart.starts_with("<svg ") && chart.trim_end().ends_with("</svg>"), "{chart}");
    assert!(
        chart.contains("prefers-color-scheme: dark") && chart.contains("\nA tp 1\n"),
        "{chart}"
    );
    assert!(!chart.contains(".key"), "{chart}");
    let none = vec![report().variants()[3].clone()];
    assert_eq!(Shown(&WhatIf::new(setup(), none, None)).chart(), None);
}

#[test]
fn of_equals_the_first_is_best() {
    let twice = [("a", "1"), ("a", "2")].map(|setting| variant(&[setting], 1, Ok(sweep())));
    let answer = WhatIf::new(setup(), twice.to_vec(), GOAL.parse().ok()).answer();
    assert!(answer.starts_with("A (a 1)") && !answer.contains("times"), "{answer}");
}

#[test]
fn what_was_asked_is_said_as_far_as_all_were_asked_it() {
    let mut other = setup();
    other.workload.input_tokens = "77".to_owned();
    let other = SweepReport::new(other, vec![level(1)], None);
    let same = setup().workload;
    let variants = vec![variant(&[], 1, Ok(sweep())), variant(&[("isl", "77")], 1, Ok(other))];
    let text = Shown(&WhatIf::new(setup(), variants, None)).text();
    let (head, _) = text.split_once("  A ").unwrap();
    assert!(!head.contains("tokens in"), "{head}");
    assert!(head.contains(&format!("{} tokens out", same.output_tokens)), "{head}");
    let mut data = setup();
    data.workload.input_tokens = "as the data set".to_owned();
    let variants = vec![variant(&[], 1, Ok(SweepReport::new(data, vec![level(1)], None)))];
    let text = Shown(&WhatIf::new(setup(), variants, None)).text();
    assert!(text.contains("input lengths as the data set, "), "{text}");
}

#[test]
fn what_was_interrupted_gives_no_answer() {
    let mut variants = report().variants().to_vec();
    variants[1].outcome = Err(NotRunReason::Interrupted);
    let report = WhatIf::new(setup(), variants, GOAL.parse().ok());
    assert!(!report.is_whole());
    assert!(report.answer().starts_with("No answer: "), "{}", report.answer());
    assert!(Shown(&report).text().contains("B: not run: interrupted"), "{}", Shown(&report).text());
    assert!(self::report().is_whole());
}

#[test]
fn the_file_says_what_differs() {
    let mut other = setup();
    other.workload.input_tokens = "77".to_owned();
    other.workload.seed = Some(1);
    let other = SweepReport::new(other, vec![level(1)], None);
    let variants = vec![variant(&[], 1, Ok(sweep())), variant(&[("isl", "77")], 1, Ok(other))];
    let report = WhatIf::new(setup(), variants, None);
    let json: serde_json::Value = serde_json::from_str(&report.to_json().unwrap()).unwrap();
    let workload = &json["setup"]["workload"];
    assert!(workload["input_tokens"].is_null() && workload["input_tokens_reason"].is_string());
    assert!(workload["dataset"].is_string());
    assert!(!Shown(&report).text().contains("seed"), "{}", Shown(&report).text());
}

proptest! {
    #![proptest_config(crate::cases(24))]

    /// No level on the frontier of all is beaten, and every other one is.
    #[test]
    fn the_frontier_is_what_none_beats(picks in prop::collection::vec((1u64..5, 1u32..90), 1..5)) {
        let variants: Vec<WhatIfVariant> = picks.iter().map(|(devices, top)| {
            variant(&[], *devices, Ok(with([1, *top + 1], GOAL)))
        }).collect();
        let report = WhatIf::new(setup(), variants, None);
        let point = |spot: VariantLevel| {
            let variant = &report.variants()[spot.variant];
            let level = &variant.sweep().unwrap().levels()[spot.level];
            let tail = &level.summary.metrics.e2el;
            let tail = tail.p99.value().or(tail.max).unwrap().get();
            [level.summary.throughput.output_tokens_per_s.get() / variant.devices.unwrap() as f64, -tail]
        };
        let all = (0..report.variants().len())
            .flat_map(|variant| (0..2).map(move |level| VariantLevel { variant, level }));
        for spot in all.clone() {
            let mine = point(spot);
            let beaten = all.clone().map(point).any(|other| {
                other[0] >= mine[0] && other[1] >= mine[1] && other != mine
            });
            prop_assert_eq!(!beaten, report.frontier().contains(&spot), "{:?}", spot);
        }
    }
}
