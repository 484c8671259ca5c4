//! A figure of the catalogue is found wherever its entry says: in JSON, columns, monitoring, goals, and on the pages that define them.

use std::collections::BTreeSet;

use fizeau_metrics::{BetterDirection, LevelFigure, Metric, Slo, Statistic};
use fizeau_record::LevelReport;
use fizeau_report::{
    Charset, ChecklistRows, Exposition, LevelTable, RequestRow, Shown, TableRun, Terminal,
    TextStyle,
};

use crate::sample;

const DEFINITIONS: &str = include_str!("../../../../docs/metrics.md");
const EXPORTS: &str = include_str!("../../../../docs/exports.md");

#[test]
fn names_are_told_apart_and_definitions_are_sentences() {
    let all = Metric::ALL.iter();
    let names: BTreeSet<_> =
        all.clone().map(|metric| (metric.entry().key, metric.entry().json)).collect();
    assert_eq!(
        names.len(),
        all.clone().map(|metric| metric.entry().key).collect::<BTreeSet<_>>().len()
    );
    assert_eq!(names.len(), Metric::ALL.len());
    for metric in all {
        let definition = metric.entry().definition;
        assert!(definition.ends_with('.') && !definition.contains("  "), "{definition}");
        assert!(!metric.entry().label.is_empty() && !metric.statistics().is_empty(), "{metric:?}");
    }
}

#[test]
fn each_is_in_the_json_of_a_level_and_on_the_page_that_defines_it() {
    let sweep = sample::sweep();
    let json = |level: &LevelReport| serde_json::to_value(&level.summary).unwrap();
    // Requests fail at the highest load.
    let all = [&sweep.levels()[0], &sweep.levels()[6]].map(json);
    for metric in Metric::ALL {
        let [object, key] = metric.entry().json;
        assert!(all.iter().any(|json| json[object].get(key).is_some()), "{object}.{key}");
        assert!(DEFINITIONS.contains(&format!("`{key}`")), "docs/metrics.md does not define {key}");
    }
}

#[test]
fn each_has_the_columns_that_its_entry_names() {
    let sweep = sample::sweep();
    let table = LevelTable::new(&[TableRun::of(&sweep, "a run")]);
    let requests = RequestRow::csv_head();
    let requests: BTreeSet<&str> = requests.split(',').collect();
    for &metric in Metric::ALL {
        let is_there = |name: &str| table.heads().iter().any(|head| head == name);
        match metric.entry().column {
            Some(name) if metric.is_latency() => assert!(is_there(&format!("p50_{name}"))),
            Some(name) => {
                let has_ends = is_there(&format!("{name}_low"));
                assert!(is_there(name), "{name}");
                assert_eq!(has_ends, metric.has_interval(Statistic::Value), "{name}");
            }
            None => assert!(!is_there(metric.entry().json[1]), "{metric:?}"),
        }
        assert_eq!(
            requests.contains(metric.entry().json[1]),
            metric.is_of_requests(),
            "{metric:?}"
        );
    }
}

#[test]
fn each_is_exposed_by_the_name_of_its_entry() {
    let sweep = sample::sweep();
    let text = Exposition::of(&sweep, "a run").to_prometheus();
    for metric in Metric::ALL {
        let Some(name) = metric.entry().exposition else { continue };
        assert!(Exposition::names().any(|known| known == name), "{name}");
        assert!(EXPORTS.contains(&format!("`{name}`")), "docs/exports.md does not name {name}");
        let has = |statistic| metric.measured(statistic, &sweep.levels()[0].summary).is_some();
        let is_known = metric.statistics().iter().any(|&statistic| has(statistic));
        let help = format!("# HELP {name} {}\n", metric.entry().definition);
        assert_eq!(text.contains(&help), is_known, "{name}");
    }
}

#[test]
fn goals_and_comparisons_are_about_those_whose_entries_say_so() {
    let goals: BTreeSet<&str> = Metric::goals().map(|metric| metric.entry().key).collect();
    let is_small = |metric: Metric| metric.direction() == BetterDirection::LowerIsBetter;
    for metric in Metric::ALL {
        let name = metric.entry().key;
        assert_eq!(
            format!("{name}{}0.5", if is_small(*metric) { "<" } else { ">" })
                .parse::<Slo>()
                .is_ok(),
            goals.contains(name),
            "{name}"
        );
        let figure = if metric.is_latency() { format!("p99 {name}") } else { name.to_owned() };
        let figure = figure.parse::<LevelFigure>().ok();
        assert_eq!(
            figure.map(|figure| figure.metric),
            goals.contains(name).then_some(*metric),
            "{name}"
        );
        assert!(figure.is_none_or(|figure| figure.direction() == metric.direction()));
    }
}

#[test]
fn each_stands_in_the_tables_and_charts_that_its_entry_names() {
    let sweep = sample::sweep();
    let (style, charset, checklist) = (TextStyle::Plain, Charset::Unicode, ChecklistRows::Missed);
    let verbosity = fizeau_report::Verbosity::Full;
    let wide = Terminal { width: 400, style, charset, checklist, report: None, verbosity };
    let (text, page) = (Shown(&sweep).terminal(&wide), Shown(&sweep).page());
    let markdown = Shown(&sweep).markdown();
    for metric in Metric::ALL {
        let (entry, level) = (metric.entry(), &sweep.levels()[0]);
        let Some(table) = entry.table else { continue };
        if metric.measured(metric.statistics()[0], &level.summary).is_none() {
            continue;
        }
        assert!(text.contains(table.group) && text.contains(table.head), "{metric:?}: {text}");
        let name = entry.label.split(' ').next().unwrap_or_default();
        assert!(
            !metric.is_latency() || markdown.contains(&format!("{name} p99, ms")),
            "{metric:?}"
        );
        assert!(page.contains(entry.name[0]), "{metric:?}");
    }
    for metric in Metric::headline() {
        let axis = format!("{{\"key\":\"{}\",\"title\":", metric.entry().key);
        assert!(page.contains(&axis), "the charts of a page have no {metric:?}");
        assert!(page.contains(&format!("p99 {}", metric.entry().label)), "{metric:?}");
    }
}
