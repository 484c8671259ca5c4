//! The terminal's text. The golden files are what `cargo run -p fizeau-report --example sample_page WIDTH` prints, that of a
//! pipe with `120 ascii`.

use fizeau_metrics::LevelSummary;
use fizeau_report::{
    Charset, ChecklistRows, Engine, LevelReport, LoadPoint, SpeedOfLight, Style, SweepReport,
    Terminal,
};
use proptest::prelude::*;

use crate::sample;

fn text(report: &SweepReport, width: usize, style: Style) -> String {
    text_in(report, width, style, Charset::Ascii)
}

fn text_in(report: &SweepReport, width: usize, style: Style, charset: Charset) -> String {
    report.terminal(&Terminal {
        width,
        style,
        charset,
        checklist: ChecklistRows::Missed,
        report: Some("runs/sample/report.html"),
    })
}

#[test]
fn at_80_and_120_columns_and_in_a_pipe() {
    let report = sample::sweep();
    for (width, charset, golden) in [
        (80, Charset::Unicode, include_str!("golden/terminal-80.txt")),
        (120, Charset::Unicode, include_str!("golden/terminal-120.txt")),
        (120, Charset::Ascii, include_str!("golden/terminal-pipe.txt")),
    ] {
        assert_eq!(text_in(&report, width, Style::Plain, charset), golden, "{width}");
    }
}

#[test]
fn ascii_is_ascii() {
    assert!(text(&sample::sweep(), 120, Style::Plain).is_ascii());
}

#[test]
fn a_narrow_terminal_is_told_what_it_does_not_see() {
    let text = text(&sample::sweep(), 60, Style::Plain);
    assert!(text.contains("Not shown at this width: intervals, TPOT p99"), "{text}");
}

#[test]
fn a_real_engine_is_not_called_simulated() {
    let mut setup = sample::setup();
    setup.engine = Engine::Remote { description: None };
    let report = SweepReport::new(setup, vec![sample::level(1)], None);
    let text = text(&report, 100, Style::Plain);
    assert!(!text.contains("simulated"), "{text}");
    assert!(!text.contains("Operating point"), "{text}");
}

#[test]
fn without_a_bound_the_column_is_absent_and_the_reason_stands_below_once() {
    let mut levels = vec![sample::level(1), sample::level(2)];
    for level in &mut levels {
        level.speed_of_light =
            SpeedOfLight::Absent { reason: "no model configuration was given".to_owned() };
    }
    let report = SweepReport::new(sample::setup(), levels, None);
    let text = text(&report, 100, Style::Plain);
    assert!(!text.contains("SoL"), "{text}");
    let reason = "Speed of light: absent, no model configuration was given";
    assert_eq!(text.matches(reason).count(), 1, "{text}");
}

#[test]
fn a_sweep_with_goals_has_the_share_of_good_requests_and_what_met_each_goal() {
    let levels = [32, 64].map(|load| {
        let goals = "ttft:325.6 e2el:9000".parse().unwrap();
        let summary = LevelSummary::of(&sample::tapes(load.into()), &goals);
        LevelReport { summary, ..sample::level(load) }
    });
    let text = text(&SweepReport::new(sample::setup(), levels.into(), None), 80, Style::Plain);
    assert!(text.contains("   98\n") && text.contains("   52\n"), "{text}");
    for line in [
        "good: the share of all sent that met ttft:325.6 e2el:9000\n",
        "\n  ttft:325.6: 98 % at 32, 52 % at 64\n",
        "\n  e2el:9000: 98 % at 32, 98 % at 64\n",
        "\n    64   190  65 + 1 ",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn foreign_text_cannot_steer_the_terminal() {
    let mut setup = sample::setup();
    setup.endpoint.model = "\u{1b}[2Jmodel\u{7}".to_owned();
    let report = SweepReport::new(setup, vec![sample::level(1)], None);
    let text = text(&report, 100, Style::Plain);
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text}");
}

#[test]
fn colour_adds_codes_and_changes_no_text() {
    let report = sample::sweep();
    let coloured = text(&report, 100, Style::Ansi);
    assert!(coloured.contains("\u{1b}[1;32m>"));
    let codes = ["\u{1b}[1m", "\u{1b}[1;32m", "\u{1b}[2m", "\u{1b}[0m"];
    let stripped = codes.iter().fold(coloured, |text, code| text.replace(code, ""));
    assert_eq!(stripped, text(&report, 100, Style::Plain));
}

#[test]
fn an_asked_rate_is_not_called_concurrency() {
    let mut level = sample::level(1);
    level.load = LoadPoint::Rate(fizeau_core::PerSec::new(2.5));
    let report = SweepReport::new(sample::setup(), vec![level], None);
    let text = text(&report, 100, Style::Plain);
    assert!(text.contains("asked") && text.contains("2.5"), "{text}");
    assert!(!text.contains("conc "), "{text}");
}

proptest! {
    #![proptest_config(crate::cases(16))]
    #[test]
    fn no_line_is_wider_than_the_terminal(width in 60_usize..160) {
        let text = text(&sample::sweep(), width, Style::Plain);
        for line in text.lines() {
            prop_assert!(line.chars().count() <= width, "{}", line);
        }
    }
}
