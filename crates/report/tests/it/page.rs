//! The page: whole, escaped, the same every time.

mod several;

use fizeau_core::{Interval, LevelLoad, LoadKind, Millis, PerSec, UsdPerHour};
use fizeau_metrics::{
    LevelSummary, Quantile, SampleSupport, Verdict, VerdictConcern, VerdictReason,
};
use fizeau_record::{
    EngineRecord, LevelDetail, LevelStatus, SpeedOfLight, SweepReport, Unmeasured,
};
use fizeau_report::Shown;
use fizeau_roofline::{HourlyRate, MeasuredFigures};

use crate::decision::{rate, slots};
use crate::sample;

const EVIL: &str = "<script>alert('x')</script>\"><img src=x onerror=alert(1)>&\u{2028}";

/// The page without its scripts and its style sheet: what a reader reads.
pub(crate) fn read(page: &str) -> String {
    let (head, body) = page.split_once("<body>").unwrap();
    let (body, _) = body.split_once("<script type=\"application/json\"").unwrap();
    let (title, _) = head.split_once("<style>").unwrap();
    format!("{title}{body}")
}

/// Its words alone, as a reader has them.
pub(crate) fn words(page: &str) -> String {
    let mut words = String::new();
    for part in read(page).split('<').skip(1) {
        words.push(' ');
        words.push_str(part.split_once('>').unwrap().1);
    }
    let plain = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&#x2f;", "/"),
        ("&amp;", "&"),
    ];
    let words = plain.into_iter().fold(words, |words, (from, to)| words.replace(from, to));
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The data that scripts draw from.
fn data(page: &str) -> serde_json::Value {
    let (_, from) = page.split_once("id=\"fizeau-data\">").unwrap();
    serde_json::from_str(from.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn it_is_the_same_every_time() {
    assert_eq!(Shown(&sample::detailed()).page(), Shown(&sample::detailed()).page());
}

#[test]
fn it_loads_nothing() {
    let page = Shown(&sample::detailed()).page();
    let read = read(&page);
    for loader in
        ["<script", "<link", "<img", "<iframe", "src=", "@import", "url(", "http-equiv=\"refresh"]
    {
        assert!(!read.contains(loader), "{loader}");
    }
    let links = read.split("href=\"").skip(1);
    assert!(links.into_iter().all(|link| link.starts_with('#')), "links lead within the page");
    assert!(page.contains("default-src 'none'"));
    let style = page.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0;
    assert!(!style.contains("url(") && !style.contains("@import"));
}

#[test]
fn every_foreign_text_is_escaped() {
    let mut setup = sample::setup();
    let evil = || EVIL.to_owned();
    setup.endpoint.model = evil();
    setup.endpoint.base_url = evil();
    setup.endpoint.path = evil();
    setup.endpoint.backend = evil();
    setup.engine = EngineRecord::Simulated { description: evil() };
    setup.workload.dataset = evil();
    setup.workload.arrivals = evil();
    setup.hardware = Some(evil());
    setup.deployment = Some(evil());
    setup.precision = Some(evil());
    setup.host.cpu = Some(evil());
    setup.command_line = vec![evil()];
    setup.started = evil();
    let mut level = sample::level(64);
    level.validity.reasons =
        vec![VerdictReason::new(Verdict::Suspect, VerdictConcern::Client, evil())];
    level.validity.notes = vec![evil()];
    level.speed_of_light = SpeedOfLight::Absent { reason: evil() };
    let mut left_out = sample::level(8);
    left_out.status = LevelStatus::Partial { reason: evil() };
    let unmeasured = Unmeasured::never(LoadKind::Concurrency.at(256.0), Some(evil()));
    let report =
        SweepReport::new(setup, vec![level, left_out], None).with_unmeasured(vec![unmeasured]);
    let page = Shown(&report).page();
    let read = read(&page);
    assert!(!read.contains("<script") && !read.contains("<img"));
    assert!(
        words(&page).matches("<script>alert('x')</script>\"><img src=x onerror=alert(1)>&").count()
            >= 20
    );
    // One of data, one of the library, one of ours.
    assert_eq!(page.matches("<script").count(), 3);
    assert_eq!(page.matches("</script>").count(), 3);
    assert_eq!(
        page.matches("<img").count(),
        page.matches("<img").count().min(1),
        "of scripts alone"
    );
    let data = data(&page);
    assert!(
        data["runs"][0]["title"].as_str().unwrap().contains(EVIL),
        "{}",
        data["runs"][0]["title"]
    );
    let json = page.split_once("id=\"fizeau-data\">").unwrap().1.split_once("</script>").unwrap().0;
    assert!(!json.contains(['<', '>', '&', '\u{2028}']));
}

/// Every element that is opened is closed, and in the right order.
pub(crate) fn assert_closed(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    let read = read(page);
    for tag in read.split('<').skip(1) {
        let name = tag.split(['>', ' ', '\n']).next().unwrap();
        let (inside, _) = tag.split_once('>').unwrap();
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "at </{inside}>"),
            None if inside.ends_with('/') || matches!(name, "!doctype" | "meta") => {}
            None => open.push(name),
        }
    }
    // What was cut off behind the words.
    assert_eq!(open, ["html", "head"], "{open:?}");
}

#[test]
fn every_element_is_closed() {
    for report in
        [sample::sweep(), sample::detailed(), SweepReport::new(sample::setup(), Vec::new(), None)]
    {
        assert_closed(&Shown(&report).page());
    }
}

#[test]
fn every_id_is_there_once_and_every_link_leads_to_one() {
    let page = read(&Shown(&sample::detailed()).page());
    let values = |of: &str| -> Vec<String> {
        page.split(of).skip(1).map(|rest| rest.split_once('"').unwrap().0.to_owned()).collect()
    };
    let mut ids = values(" id=\"");
    for link in values("href=\"#").into_iter().chain(values("aria-labelledby=\"")) {
        assert!(ids.contains(&link), "{link}");
    }
    let all = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), all);
}

#[test]
fn its_top_answers_what_a_reader_came_for() {
    let price = HourlyRate::given(UsdPerHour::new(2.1)).ok();
    let page = Shown(&sample::detailed().with_price(price)).page();
    let words = words(&page);
    let (top, _) = words.split_once("How much throughput at which latency?").unwrap();
    for text in [
        "org/model-8b",
        "h100-sxm, one device",
        "weights bf16, KV cache bf16",
        "random: 250 tokens in, 40 out; closed loop, concurrency 1 to 128",
        "2026-08-01 12:00 UTC",
        "suspect 1.6 % of requests failed, more than 1 % (at concurrency 64 and 128)",
        " checks pass, 5 fail (open_loop, tail, ",
        "The operating point itself is valid.",
        "Operating point concurrency 32",
        "p99 TTFT",
        "goal < 600 ms",
        "Margin",
        "to p99 E2EL < 600 ms",
        "A million output tokens",
        " USD",
        "the roofline model expects",
        "device-hours at 2.10 USD a device-hour, as given",
        "Speed of light",
        "output tokens/s, which nothing can beat at this load",
        "What limits it",
        "The engine was simulated, not run on hardware.",
    ] {
        assert!(top.contains(text), "{text}: {top}");
    }
}

#[test]
fn it_says_all_that_it_must() {
    let page = Shown(&sample::detailed()).page();
    let words = words(&page);
    for text in [
        "Llama-3.1-8B bf16 on one H100 SXM, 32 slots",
        "Highest concurrency within the goals: about 45",
        "Most throughput: ",
        "Knee at",
        "dominated by 32",
        "1.6 % of requests failed",
        "Example CPU at 3 GHz",
        "fizeau sweep --slo 'p99 ttft<150ms, p99 e2el<600ms'",
        "Failed requests are in no latency",
        "Failures: connect 12 (at 64 and 128).",
        "Was the client the bottleneck?",
        "kernel 0.035 / 0.050 / 0.050",
        "Checklist: ",
        "What would other tools have reported?",
        "inter_token_latency.avg",
        "Percentiles of each latency",
        "Steady state",
        "How far from the speed of light?",
        "Goals p99 ttft<150ms, p99 e2el<600ms",
        "Each level in full",
    ] {
        assert!(words.contains(text), "{text}: {words}");
    }
}

#[test]
fn every_chart_is_there_with_its_question_and_its_numbers() {
    let page = read(&Shown(&sample::detailed()).page());
    let mut from = page.as_str();
    for name in ["frontier", "interactivity", "load", "quantiles", "itl", "timeline", "lengths"] {
        let mark = format!("data-chart=\"{name}\"");
        from = from.split_once(&mark).unwrap_or_else(|| panic!("{name}, in order")).1;
        let figure = from.split_once("</figure>").unwrap().0;
        let said = figure.split_once("aria-label=\"").unwrap().1.split_once('"').unwrap().0;
        assert!(said.contains("concurrency 32: ") || said.contains("No tapes"), "{name}: {said}");
        assert!(
            figure.contains("<div class=\"controls\"></div>") && figure.contains("<figcaption>")
        );
    }
    assert_eq!(page.matches("<figure").count(), 7);
}

/// Of a row of percentiles none reads as less than the one before it.
#[test]
fn percentiles_of_a_row_rise() {
    let mut level = sample::level(32);
    let known = |middle: f64, half: f64| {
        let ends = Interval::p95(Millis::new(middle - half), Millis::new(middle + half));
        let interval = Some(SampleSupport::Known(ends));
        Quantile::Known { value: Millis::new(middle), interval }
    };
    let ttft = &mut level.summary.metrics.ttft;
    (ttft.p50, ttft.p90) = (known(1148.0, 4.0), known(1149.0, 200.0));
    let page = read(&Shown(&SweepReport::new(sample::setup(), vec![level], None)).page());
    let (_, table) = page.split_once("data-name=\"percentiles\"").unwrap();
    let row = ">TTFT</td><td data-value=\"1148\">1150</td><td data-value=\"1149\">1150</td>";
    assert!(table.contains(row), "{table}");
}

/// The greatest of few values is no upper limit of their percentile.
#[test]
fn charts_in_words_call_the_greatest_of_few_values_so() {
    let page =
        read(&Shown(&SweepReport::new(sample::setup(), vec![sample::level(1)], None)).page());
    assert!(!page.contains("at most"), "{page}");
    for said in [" at a greatest E2EL of ", " and greatest "] {
        assert!(page.contains(said), "{said}: {page}");
    }
    let page =
        read(&Shown(&SweepReport::new(sample::setup(), vec![sample::level(32)], None)).page());
    assert!(page.contains(" at a p99 E2EL of "), "{page}");
}

#[test]
fn a_table_has_the_numbers_that_a_script_sorts_and_saves() {
    let report = sample::sweep();
    let page = read(&Shown(&report).page());
    let (_, table) = page.split_once("<table class=\"sortable\" data-name=\"levels\">").unwrap();
    let (table, _) = table.split_once("</table>").unwrap();
    assert!(page.contains("<div class=\"table-tools\" data-for=\"levels\"></div>"));
    for level in report.levels() {
        let rate = level.summary.throughput.requests_per_s.get();
        assert!(table.contains(&format!("data-value=\"{rate}\"")), "{rate}: {table}");
    }
    let columns = table.split_once("</thead>").unwrap().0.matches("<th ").count();
    for row in table.split_once("<tbody>").unwrap().1.split("<tr").skip(1) {
        assert_eq!(row.matches("<td").count() + 1, columns, "{row}");
    }
}

/// A level beyond the speed of light is invalid, and no share of it was reached there.
#[test]
fn an_invalid_level_is_no_headline() {
    let mut beyond = sample::level(64);
    beyond.validity.verdict = Verdict::Invalid;
    if let SpeedOfLight::Known(light) = &mut beyond.speed_of_light {
        let measured = MeasuredFigures {
            output_tokens_per_s: Some(light.bound.output_tokens_per_s * 2.5),
            ..MeasuredFigures::default()
        };
        light.shares = measured.percent_of(&light.bound);
    }
    let page =
        Shown(&SweepReport::new(sample::setup(), vec![sample::level(1), beyond], None)).page();
    assert!(page.contains("<p class=\"headline\">83 %</p>"));
    let words = words(&page);
    assert!(words.contains("Operating point no goal given"), "{words}");
    assert!(words.contains("those at concurrency 1, which gives the most throughput"), "{words}");
}

/// A table that is too wide for a screen is cut at its end.
#[test]
fn what_to_make_of_a_level_stands_right_after_its_load() {
    let page = read(&Shown(&sample::sweep()).page());
    let (_, table) = page.split_once("data-name=\"levels\">").unwrap();
    let heads: Vec<&str> = table.split("<th scope=\"col\"").skip(1).take(3).collect();
    for (head, name) in heads.iter().zip(["concurrency", "position", "verdict"]) {
        assert!(head.contains(name), "{head}");
    }
}

#[test]
fn one_level_without_a_goal_says_what_it_came_to() {
    let page = Shown(&SweepReport::new(sample::setup(), vec![sample::level(64)], None)).page();
    let words = words(&page);
    let (_, card) = words.split_once("The only level concurrency 64").unwrap();
    let (card, _) = card.split_once("Margin").unwrap();
    for text in ["requests/s, ", "output tokens/s", "p99 TTFT ", "p99 E2EL ", "no goal given"] {
        assert!(card.contains(text), "{text}: {card}");
    }
}

/// What is not drawn is not explained.
#[test]
fn a_caption_is_of_what_is_drawn() {
    let full = words(&Shown(&sample::detailed()).page());
    let mut bare = sample::level(64);
    bare.speed_of_light = SpeedOfLight::Absent { reason: "the device is not known".to_owned() };
    let bare = words(&Shown(&SweepReport::new(sample::setup(), vec![bare], None)).page());
    for text in
        ["are hollow", "The ring marks the level to run at", "what the hardware allows at the same"]
    {
        assert!(full.contains(text), "{text}: {full}");
        assert!(!bare.contains(text), "{text}: {bare}");
    }
}

#[test]
fn what_is_missing_is_said_and_never_a_zero() {
    let none = Shown(&SweepReport::new(sample::setup(), Vec::new(), None)).page();
    let words = words(&none);
    for text in ["No level was measured.", "Operating point none", "nothing was measured"] {
        assert!(words.contains(text), "{text}: {words}");
    }
    let mut failed = sample::level(4);
    let mut tapes = sample::tapes(4);
    for tape in &mut tapes {
        tape.arrivals.clear();
        tape.outcome = fizeau_core::Outcome::Failed(fizeau_core::Failure::new(
            fizeau_core::FailureClass::Connect,
            "refused",
        ));
    }
    failed.summary = LevelSummary::of(&tapes, &fizeau_metrics::GoodputGoals::default());
    failed.speed_of_light = SpeedOfLight::Absent { reason: "no request completed".to_owned() };
    failed.detail = Some(Box::new(LevelDetail::default()));
    let page =
        Shown(&SweepReport::new(sample::setup(), vec![failed], "p99 ttft<1s".parse().ok())).page();
    let words = self::words(&page);
    for text in [
        "left out: no request completed",
        "A million output tokens not known",
        "Speed of light not computed",
        "No request has a TTFT.",
        "No gap between tokens is known.",
        "No level has a throughput, a TTFT and an E2EL.",
    ] {
        assert!(words.contains(text), "{text}: {words}");
    }
    for untrue in ["No level was measured", "No tapes were read"] {
        assert!(!words.contains(untrue), "{untrue}: {words}");
    }
    for page in [&none, &page] {
        let read = read(page);
        for wrong in ["NaN", "inf ", ">0 ms", "could not be drawn"] {
            assert!(!read.contains(wrong), "{wrong}");
        }
    }
}

#[test]
fn levels_of_both_kinds_have_a_table_each() {
    let mut by_rate = sample::level(16);
    by_rate.load = LevelLoad::Rate(PerSec::new(8.0));
    let page =
        Shown(&SweepReport::new(sample::setup(), vec![sample::level(4), by_rate], None)).page();
    assert!(page.contains("data-name=\"levels\"") && page.contains("data-name=\"levels-2\""));
    assert!(words(&page).contains("load requests/s"));
}

#[test]
fn it_is_small_enough_to_be_sent() {
    let page = Shown(&sample::detailed()).page();
    assert!(page.len() < 1_500_000, "{}", page.len());
}

/// As in the text: over which runs, with the digits of the table, and the limit as it was given.
#[test]
fn a_goal_has_one_figure_on_the_page_too() {
    let runs = [472.0, 501.0, 487.0].map(|ttft| slots(4, 5.0, ttft, 700.0));
    let slo = "p99 ttft<500ms".parse().ok();
    let page = words(&Shown(&SweepReport::of_runs(sample::setup(), runs.into(), slo)).page());
    let tile = "p99 TTFT 487 ms (the median of 3 runs, 472 to 501), goal < 500 ms";
    assert!(page.contains(tile), "{page}");
    assert!(page.contains("goals are judged over all of its runs"), "{page}");
    let slo = "p99 ttft<2000ms".parse().ok();
    let levels = vec![rate(31.739, 1_671.0, 30.0)];
    let page = words(&Shown(&SweepReport::new(sample::setup(), levels, slo)).page());
    assert!(page.contains("p99 TTFT 1670 ms, goal < 2000 ms"), "{page}");
    let (tables, _) = page.split_once("= Fizeau, ").unwrap();
    assert!(!tables.contains("1671"), "{tables}");
}
