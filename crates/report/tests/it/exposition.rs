//! Metrics for Prometheus and OTLP, and the dashboard that shows them.

use std::collections::{BTreeMap, BTreeSet};

use fizeau_core::{FailureClass, Nanos};
use fizeau_record::SweepReport;
use fizeau_report::{Exposition, LevelTable, TableCell, TableRun};
use serde_json::Value;

use crate::sample;

fn exposition() -> Exposition {
    Exposition::of(&sample::sweep(), "a-run")
}

/// Series and their values, as a scraper reads them.
fn scraped(text: &str) -> BTreeMap<String, f64> {
    let mut series = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        let earlier = series.insert(name.to_owned(), value.parse().unwrap());
        assert!(earlier.is_none(), "{name} twice");
    }
    series
}

#[test]
fn figures_are_in_base_units() {
    let (sweep, series) = (sample::sweep(), scraped(&exposition().to_prometheus()));
    for (level, load) in sweep.levels().iter().zip([1, 2, 4, 8, 16, 32, 64, 128]) {
        let labels = format!(
            "run=\"a-run\",model=\"org/model-8b\",load_kind=\"concurrency\",load=\"{load}\""
        );
        let ttft = &level.summary.metrics.ttft;
        let median = ttft.p50.value().unwrap().get() / 1e3;
        assert_eq!(series[&format!("fizeau_ttft_seconds{{{labels},quantile=\"0.5\"}}")], median);
        assert_eq!(series[&format!("fizeau_ttft_seconds_count{{{labels}}}")], ttft.n as f64);
        let sum = series[&format!("fizeau_ttft_seconds_sum{{{labels}}}")];
        let mean = ttft.mean.unwrap().get() / 1e3;
        assert!((sum / ttft.n as f64 - mean).abs() < 1e-12);
        let p99 = series.get(&format!("fizeau_ttft_seconds{{{labels},quantile=\"0.99\"}}"));
        assert_eq!(p99.is_some(), ttft.p99.value().is_some(), "a percentile that is withheld");
        let tps = level.summary.throughput.output_tokens_per_s.get();
        assert_eq!(series[&format!("fizeau_output_tokens_per_second{{{labels}}}")], tps);
        let light = level.speed_of_light.output_share().unwrap().get();
        let name =
            format!("fizeau_speed_of_light_ratio{{{labels},figure=\"output_tokens_per_s\"}}");
        assert_eq!(series[&name], light);
    }
}

/// What the client itself cancelled is no failure, here as in the table of levels.
#[test]
fn cancelled_requests_have_not_failed() {
    let mut level = sample::level(4);
    let requests = &mut level.summary.requests;
    (requests.sent, requests.completed, requests.failed) = (100, 60, 40);
    requests.by_class.insert(FailureClass::Cancelled, 40);
    let report = SweepReport::new(sample::setup(), vec![level], None);
    let series = scraped(&Exposition::of(&report, "r").to_prometheus());
    let outcome = |of: &str| {
        let labels = "{run=\"r\",model=\"org/model-8b\",load_kind=\"concurrency\",load=\"4\"";
        series[&format!("fizeau_requests{labels},outcome=\"{of}\"}}")]
    };
    assert_eq!(["completed", "failed", "cancelled"].map(outcome), [60.0, 0.0, 40.0]);
    assert!(!series.keys().any(|name| name.starts_with("fizeau_failed_requests{")), "{series:?}");
    let table = LevelTable::of_all(&[TableRun::of(&report, "r")]);
    let cells = ["failed", "cancelled"].map(|name| table.cell(0, name).cloned());
    assert_eq!(cells, [0.0, 40.0].map(|count| Some(TableCell::Number(count))));
}

#[test]
fn one_verdict_and_one_operating_point() {
    let series = scraped(&exposition().to_prometheus());
    let sum = |prefix: &str| -> f64 {
        let own = series.iter().filter(|(name, _)| name.starts_with(prefix));
        own.map(|(_, value)| value).sum()
    };
    assert_eq!(sum("fizeau_run_info{"), 1.0);
    assert_eq!(sum("fizeau_run_verdict{"), 1.0);
    assert_eq!(sum("fizeau_level_verdict{"), 8.0);
    assert_eq!(sum("fizeau_operating_point{"), 1.0);
    assert_eq!(sum("fizeau_on_frontier{"), sample::sweep().frontier().len() as f64);
}

/// A metric is announced once, right before its series, with a name that Prometheus takes.
#[test]
fn the_text_is_of_the_form() {
    let text = exposition().to_prometheus();
    let (mut announced, mut current) = (BTreeSet::new(), "");
    for line in text.lines() {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        match words.as_slice() {
            ["#", "HELP", name, help] => {
                assert!(announced.insert(*name), "{name} twice");
                assert!(help.ends_with('.') && name.starts_with("fizeau_"), "{line}");
                assert!(
                    name.bytes().all(|byte| byte.is_ascii_lowercase()
                        || byte.is_ascii_digit()
                        || byte == b'_'),
                    "{name}"
                );
                current = name;
            }
            ["#", "TYPE", name, kind] => {
                assert!(*name == current && ["gauge", "summary"].contains(kind), "{line}");
            }
            _ => assert!(line.starts_with(current) && line.contains("{run=\"a-run\","), "{line}"),
        }
    }
    assert!(text.ends_with('\n'));
    let known: BTreeSet<&str> = Exposition::names().collect();
    assert!(announced.is_subset(&known));
}

#[test]
fn a_name_of_a_stranger_ends_no_label() {
    let mut setup = sample::setup();
    setup.endpoint.model = "a\"} 1\nevil 2 \\".to_owned();
    let report = SweepReport::new(setup, vec![sample::level(1)], None);
    let text = Exposition::of(&report, "r").to_prometheus();
    assert!(text.contains("model=\"a\\\"} 1\\nevil 2 \\\\\""), "{text}");
    assert!(text.lines().all(|line| line.starts_with('#') || line.starts_with("fizeau_")));
}

/// Two levels of one load would be two series with the same labels, and every system would refuse them all.
#[test]
fn no_series_is_there_twice() {
    let levels = vec![sample::level(4), sample::level(8), sample::level(4)];
    let report = SweepReport::new(sample::setup(), levels, None);
    scraped(&Exposition::of(&report, "r").to_prometheus());
}

#[test]
fn otlp_has_the_same_series() {
    let exposition = exposition();
    let request: Value = serde_json::from_str(&exposition.to_otlp(Nanos::from_nanos(7))).unwrap();
    let resource = &request["resourceMetrics"][0];
    let service = &resource["resource"]["attributes"][0];
    assert_eq!(
        (&service["key"], &service["value"]["stringValue"]),
        (&"service.name".into(), &"fizeau".into())
    );
    let metrics = resource["scopeMetrics"][0]["metrics"].as_array().unwrap();
    let text = exposition.to_prometheus();
    let announced: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("# HELP ")).collect();
    assert_eq!(metrics.len(), announced.len());
    for (metric, help) in metrics.iter().zip(announced) {
        let name = help.split(' ').next().unwrap();
        assert_eq!(metric["name"], name);
        let (gauge, summary) = (&metric["gauge"]["dataPoints"], &metric["summary"]["dataPoints"]);
        let points = gauge.as_array().or(summary.as_array()).unwrap();
        // Of a sample Prometheus has a count beside each; of a number nothing but it.
        let is_one = |line: &&str| {
            line.starts_with(&format!("{name}_count{{")) || line.starts_with(&format!("{name}{{"))
        };
        let is_summary = summary.is_array();
        let lines = text.lines().filter(is_one);
        let lines = lines.filter(|line| !is_summary || line.starts_with(&format!("{name}_count")));
        assert_eq!(points.len(), lines.count(), "{name}");
        for point in points {
            // 64-bit numbers are text in the JSON of protocol buffers.
            assert_eq!(point["timeUnixNano"], "7");
            assert!(point["asDouble"].is_number() || point["count"].is_string(), "{point}");
        }
    }
}

fn dashboard() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/grafana/fizeau.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn the_dashboard_shows_metrics_that_there_are() {
    let known: BTreeSet<&str> = Exposition::names().collect();
    let mut shown = BTreeSet::new();
    let text = dashboard().to_string();
    for at in text.match_indices("fizeau_").map(|(at, _)| at) {
        let rest = &text[at..];
        let is_of_name =
            |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '_';
        let end = rest.find(|char| !is_of_name(char)).unwrap();
        let name = &rest[..end];
        let name = name.trim_end_matches("_sum").trim_end_matches("_count");
        assert!(known.contains(name), "the dashboard asks for {name}");
        shown.insert(name.to_owned());
    }
    for wanted in [
        "fizeau_output_tokens_per_second",
        "fizeau_ttft_seconds",
        "fizeau_tpot_seconds",
        "fizeau_e2el_seconds",
        "fizeau_speed_of_light_ratio",
        "fizeau_run_verdict",
        "fizeau_usd_per_million_output_tokens",
    ] {
        assert!(shown.contains(wanted), "the dashboard lacks {wanted}");
    }
}

/// A push is one sample, and an instant query sees none that is older than five minutes.
#[test]
fn the_dashboard_shows_what_was_pushed_long_ago() {
    let dashboard = dashboard();
    let targets = dashboard["panels"].as_array().unwrap().iter();
    let targets = targets.flat_map(|panel| panel["targets"].as_array().unwrap());
    for target in targets.filter(|target| target["instant"] == true) {
        let of = target["expr"].as_str().unwrap();
        let (metrics, looking_back) =
            (of.matches("fizeau_").count(), of.matches("last_over_time(fizeau_").count());
        assert!(metrics > 0 && metrics == looking_back, "{of}");
        assert_eq!(of.matches("[$__range])").count(), metrics, "{of}");
    }
}

#[test]
fn the_dashboard_is_one_that_grafana_imports() {
    let dashboard = dashboard();
    for field in ["title", "uid"] {
        assert!(dashboard[field].as_str().is_some_and(|text| !text.is_empty()), "{field}");
    }
    assert!(dashboard["schemaVersion"].as_u64().is_some_and(|version| version >= 36));
    let panels = dashboard["panels"].as_array().unwrap();
    let mut ids = BTreeSet::new();
    for panel in panels {
        assert!(ids.insert(panel["id"].as_u64().unwrap()), "an id twice: {panel}");
        assert!(panel["title"].is_string() && panel["type"].is_string(), "{panel}");
        for side in ["h", "w", "x", "y"] {
            assert!(panel["gridPos"][side].is_u64(), "{panel}");
        }
        let right =
            panel["gridPos"]["x"].as_u64().unwrap() + panel["gridPos"]["w"].as_u64().unwrap();
        assert!(right <= 24, "wider than Grafana's grid: {panel}");
        let targets = panel["targets"].as_array().unwrap();
        assert!(
            targets.iter().all(|target| target["expr"].is_string() && target["refId"].is_string())
        );
    }
    assert!(panels.len() >= 8);
}
