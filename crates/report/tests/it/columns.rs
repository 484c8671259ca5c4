//! Levels of runs as rows of one table.

use fizeau_core::UsdPerHour;
use fizeau_metrics::Verdict;
use fizeau_record::{LevelReport, LevelStatus, RunSetup};
use fizeau_report::{AxesPreset, ExcludedLevel, LevelTable, TableCell, TableRun, csv_field};
use proptest::prelude::*;

use crate::sample::{level, setup, sweep};

/// `levels` on two devices at three dollars an hour each.
fn run_of<'a>(name: &str, setup: &'a RunSetup, levels: &'a [LevelReport]) -> TableRun<'a> {
    TableRun {
        name: name.to_owned(),
        setup,
        levels,
        system: None,
        devices: Some(2),
        price: Some(UsdPerHour::new(3.0)),
        quality: Some(0.71),
    }
}

fn table(name: &str, levels: &[LevelReport]) -> LevelTable {
    LevelTable::new(&[run_of(name, &setup(), levels)])
}

fn all(name: &str, levels: &[LevelReport]) -> LevelTable {
    LevelTable::of_all(&[run_of(name, &setup(), levels)])
}

fn number(table: &LevelTable, row: usize, column: &str) -> f64 {
    match table.cell(row, column) {
        Some(TableCell::Number(number)) => *number,
        other => panic!("{column} of row {row}: {other:?}"),
    }
}

#[test]
fn what_may_be_compared_is_a_row_and_all_else_is_named() {
    let mut levels = sweep().levels().to_vec();
    levels[1].status = LevelStatus::Partial { reason: "interrupted".to_owned() };
    levels[2].validity.verdict = Verdict::Invalid;
    let table = table("a", &levels);
    assert_eq!(table.rows().len() + 2, levels.len());
    let left_out = |load: &str, reason: &str| ExcludedLevel {
        run: "a".to_owned(),
        load: load.to_owned(),
        reason: reason.to_owned(),
    };
    let expected = [
        left_out("concurrency 2", "partial: interrupted"),
        left_out("concurrency 4", "invalid: the verdict"),
    ];
    assert_eq!(table.left_out(), expected);
    for row in table.rows() {
        assert_eq!(row.len(), table.heads().len());
    }
}

#[test]
fn every_level_has_its_row_under_the_same_heads() {
    let mut levels = sweep().levels().to_vec();
    levels[1].status = LevelStatus::Partial { reason: "interrupted".to_owned() };
    levels[2].validity.verdict = Verdict::Invalid;
    let all = all("a", &levels);
    assert_eq!(all.rows().len(), levels.len());
    let text = |row, column| match all.cell(row, column) {
        Some(TableCell::Text(text)) => text.as_ref(),
        _ => "",
    };
    let why: Vec<&str> = (0..4).map(|row| text(row, LevelTable::LEFT_OUT)).collect();
    assert_eq!(why, ["", "partial: interrupted", "invalid: the verdict", ""]);
    assert_eq!(text(2, "verdict"), "invalid");
    // Whatever is known of a level, the heads are those of no level at all.
    let nothing = LevelTable::of_all(&[]);
    for levels in [&levels[..], &levels[..1], &[level(4)]] {
        assert_eq!(table("a", levels).heads(), nothing.heads());
    }
    assert_eq!(nothing.heads().last().map(String::as_str), Some(LevelTable::LEFT_OUT));
}

#[test]
fn figures_follow_from_one_another() {
    let levels = [level(4), level(16)];
    let table = table("a", &levels);
    for (row, level) in levels.iter().enumerate() {
        let of = |column: &str| number(&table, row, column);
        let is = |column: &str, expected: f64| {
            assert!((of(column) / expected - 1.0).abs() < 1e-12, "{column}: {}", of(column));
        };
        is("output_tps", level.summary.throughput.output_tokens_per_s.get());
        is("output_tps_per_device", of("output_tps") / 2.0);
        is("user_tps", 1e3 / of("p50_tpot_ms"));
        is("context_tokens", of("prompt_tokens") + of("output_tokens"));
        // Two devices at three dollars, over the million tokens of an hour.
        is("cost_per_million_output", 6.0 / (of("output_tps") * 3600.0 / 1e6));
        is("quality", 0.71);
        is("load_value", level.load.value());
        // The system is not known, and energy is nothing that was measured.
        assert_eq!(table.cell(row, "expected_energy_j_per_token"), Some(&TableCell::Empty));
    }
}

#[test]
fn intervals_hold_their_figures() {
    let levels = [level(1), level(4), level(16), level(32)];
    let table = table("a", &levels);
    let has_interval = |head: &&String| table.heads().contains(&format!("{head}_low"));
    let heads: Vec<&String> = table.heads().iter().filter(has_interval).collect();
    assert!(heads.len() > 3, "{heads:?}");
    for head in heads {
        for row in 0..table.rows().len() {
            let cells = ["_low", "", "_high"].map(|end| table.cell(row, &format!("{head}{end}")));
            if let [
                Some(TableCell::Number(low)),
                Some(TableCell::Number(of)),
                Some(TableCell::Number(high)),
            ] = cells
            {
                assert!(low <= of && of <= high, "{head}: {cells:?}");
            }
        }
    }
}

#[test]
fn a_name_that_would_break_the_csv_is_quoted() {
    let text = table("tp 2, \"fp8\"\nnext", &[level(4)]).to_csv();
    let mut lines = text.lines();
    assert!(lines.next().unwrap().starts_with("run,level,load,"));
    assert!(lines.next().unwrap().starts_with("\"tp 2, \"\"fp8\"\""));
    assert!(lines.next().unwrap().starts_with("next\","));
    assert_eq!(lines.next(), None);
    assert_eq!(LevelTable::new(&[]).to_csv().lines().count(), 1);
}

proptest! {
    #![proptest_config(crate::cases(64))]
    /// What is quoted is taken apart into what it was.
    #[test]
    fn a_field_comes_back(text in "[a-z,\"\r\n ]{0,12}") {
        let field = csv_field(&text);
        let back = match field.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')) {
            Some(inner) => inner.replace("\"\"", "\""),
            None => {
                prop_assert!(!field.contains([',', '"', '\n', '\r']));
                field.into_owned()
            }
        };
        prop_assert_eq!(back, text);
    }
}

#[test]
fn every_axis_of_a_preset_is_a_column_and_every_name_is_its_own() {
    for (index, preset) in AxesPreset::all().iter().enumerate() {
        for axis in preset.axes() {
            assert!(LevelTable::legend().any(|(name, _)| name == axis.name()), "{}", axis.name());
        }
        let later = AxesPreset::all().iter().skip(index + 1);
        assert!(later.clone().all(|other| other.name() != preset.name()));
    }
    assert_eq!(AxesPreset::named("cost-latency:e2el"), AxesPreset::named("cost-latency"));
    assert_eq!(AxesPreset::named("interactivity:e2el"), None);
}
