//! The terminal's text. The golden files are what `cargo run -p fizeau-report --example sample_page WIDTH` prints, that of a
//! pipe with `80 ascii`.

use fizeau_core::{LevelLoad, PerSec, UsdPerHour};
use fizeau_metrics::LevelTally;
use fizeau_record::{EngineRecord, SpeedOfLight, SweepReport};
use fizeau_report::{Charset, ChartRun, ChecklistRows, Shown, Terminal, TextStyle};
use fizeau_roofline::HourlyRate;
use proptest::prelude::*;

use crate::sample;

/// A terminal of that width without colours, in ASCII, with the rows of the checklist that are missed.
pub(crate) fn plain(width: usize, verbosity: fizeau_report::Verbosity) -> Terminal<'static> {
    let (style, charset) = (TextStyle::Plain, Charset::Ascii);
    Terminal { width, style, charset, verbosity, checklist: ChecklistRows::Missed, report: None }
}

fn text(report: &SweepReport, width: usize, style: TextStyle) -> String {
    text_in(report, width, style, Charset::Ascii)
}

fn text_in(report: &SweepReport, width: usize, style: TextStyle, charset: Charset) -> String {
    Shown(report).terminal(&Terminal {
        width,
        style,
        charset,
        verbosity: fizeau_report::Verbosity::Full,
        checklist: ChecklistRows::Missed,
        report: Some("runs/sample/report.html"),
    })
}

#[test]
fn at_80_and_120_columns_and_in_a_pipe() {
    let report = sample::sweep();
    for (width, charset, golden) in [
        (80, Charset::Unicode, "terminal-80.txt"),
        (120, Charset::Unicode, "terminal-120.txt"),
        (80, Charset::Ascii, "terminal-pipe.txt"),
    ] {
        crate::is_as_golden(golden, &text_in(&report, width, TextStyle::Plain, charset));
    }
}

#[test]
fn ascii_is_ascii() {
    assert!(text(&sample::sweep(), 120, TextStyle::Plain).is_ascii());
}

/// What limits a level is what one comes for: a lesser column leaves first, and is named.
#[test]
fn at_80_columns_what_limits_it_is_there_and_what_is_not_is_named() {
    let levels = [31.739, 44.67].map(|rate| sample::long_prompts(PerSec::new(rate)));
    let report = SweepReport::new(sample::setup(), levels.into(), None);
    let light = |width| {
        let text = text(&report, width, TextStyle::Plain);
        let from = text.find("Speed of light of").unwrap();
        text[from..].split("\n\n").next().unwrap_or_default().to_owned()
    };
    let narrow = "Speed of light of h100-sxm (one device), reached by phase:
                                    tok/s     tok/s  tok/s
  load  prefill  decode  output  measured  expected  bound  limits
31.739     25 %    72 %    67 %      3500      3620   5190  compute/weights
 44.67     25 %    72 %    67 %      3500      3620   5190  compute/weights
Prefill: TTFT. Decode: TPOT of a step with the sequences that were decoding.
    Output: tokens/s of the whole. Expected: the roofline model, without an
    engine's overheads. Bound: nothing can be faster. Limits: of prefill/decode,
    or of both
Not shown at this width: cache full; a wider terminal and the report below have
    all";
    assert_eq!(light(80), narrow);
    assert!(!light(90).contains("Not shown"), "{}", light(90));
    let note = "Not shown at this width: cache full, expected; a wider terminal";
    assert!(light(66).contains(note) && light(66).contains("compute/weights"), "{}", light(66));
    assert!(!light(66).contains("Expected:"), "of what is not shown no legend: {}", light(66));
}

#[test]
fn a_sign_that_is_shown_is_explained() {
    let report = sample::sweep();
    for (width, named) in
        [(60, ": intervals,"), (80, ": intervals;"), (110, ": intervals of medians;")]
    {
        let text = text(&report, width, TextStyle::Plain);
        assert!(text.contains(&format!("Not shown at this width{named}")), "{text}");
        assert_eq!(text.contains("+-: half of the 95 % interval"), width > 100, "{text}");
    }
}

/// The words of the page.
#[test]
fn a_price_says_what_a_million_tokens_cost() {
    let price = HourlyRate::given(UsdPerHour::new(2.5)).ok();
    let report = sample::sweep().with_price(price);
    let (tokens, million) = (3_460.0, 1e6);
    let usd = 2.5 / 3600.0 * million / tokens;
    let cost =
        format!("A million output tokens there: {usd:.2} USD, at 2.50 USD a device-hour, as given");
    let flat = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = flat(text(&report, 80, TextStyle::Plain));
    assert!(text.contains(&cost), "{cost}: {text}");
    assert!(!text.contains("A million output tokens at"), "{text}");
}

#[test]
fn a_narrow_terminal_is_told_what_it_does_not_see() {
    let text = text(&sample::sweep(), 60, TextStyle::Plain);
    assert!(text.contains("Not shown at this width: intervals, TPOT p99"), "{text}");
}

#[test]
fn a_real_engine_is_not_called_simulated() {
    let mut setup = sample::setup();
    setup.engine = EngineRecord::Remote { description: None };
    let report = SweepReport::new(setup, vec![sample::level(1)], None);
    let text = text(&report, 100, TextStyle::Plain);
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
    let text = text(&report, 100, TextStyle::Plain);
    assert!(!text.contains("SoL"), "{text}");
    let reason = "Speed of light: not computed; no model configuration was given";
    assert_eq!(text.matches(reason).count(), 1, "{text}");
}

#[test]
fn a_sweep_with_goals_has_the_share_of_good_requests_and_what_met_each_goal() {
    let levels = [32, 64].map(|load| {
        let goals = "ttft:325.6 e2el:9000".parse().unwrap();
        let mut level = sample::level(load);
        let mut tally = LevelTally::new(&goals).of_closed_loop();
        sample::tapes(load.into()).iter().for_each(|tape| tally.add(tape));
        level.summary = tally.summary();
        level
    });
    let text = text(&SweepReport::new(sample::setup(), levels.into(), None), 80, TextStyle::Plain);
    assert!(text.contains("  100\n") && text.contains("   52\n"), "{text}");
    for line in [
        "good: the share of all sent that met ttft:325.6 e2el:9000\n",
        "\n  ttft:325.6: 100 % at 32, 52 % at 64\n",
        "\n  e2el:9000: 100 % at 32, 98 % at 64\n",
        "\n    64   190        65/1 ",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

/// What was due and never sent met no goal either.
#[test]
fn good_requests_are_counted_of_all_that_were_due() {
    let goals = "ttft:325.6".parse().unwrap();
    let mut level = sample::level(32);
    let mut tally = LevelTally::new(&goals).of_closed_loop();
    sample::tapes(32).iter().for_each(|tape| tally.add(tape));
    level.summary = tally.summary();
    level.summary.requests.unsent = 100;
    let text = text(&SweepReport::new(sample::setup(), vec![level], None), 80, TextStyle::Plain);
    assert!(text.contains("\ngood: the share of all due that met ttft:325.6\n"), "{text}");
}

/// The greatest lateness of few requests is no p99.
#[test]
fn the_client_has_a_p99_of_many_values_alone() {
    let said = |load| {
        let report = SweepReport::new(sample::setup(), vec![sample::level(load)], None);
        text(&report, 120, TextStyle::Plain)
    };
    let (few, many) = (said(1), said(32));
    // Of eight requests, which have 320 tokens.
    assert!(few.contains("send lateness p50 0.034, max 0.050 ms, read lag p99 "), "{few}");
    assert!(many.contains(", p99 0.050, max 0.050 ms, read lag p99 "), "{many}");
}

#[test]
fn foreign_text_cannot_steer_the_terminal() {
    let mut setup = sample::setup();
    setup.endpoint.model = "\u{1b}[2Jmodel\u{7}".to_owned();
    let report = SweepReport::new(setup, vec![sample::level(1)], None);
    let text = text(&report, 100, TextStyle::Plain);
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text}");
}

#[test]
fn colour_adds_codes_and_changes_no_text() {
    let report = sample::sweep();
    let coloured = text(&report, 100, TextStyle::Ansi);
    assert!(coloured.contains("\u{1b}[1;32m>"));
    let codes = ["\u{1b}[1m", "\u{1b}[1;32m", "\u{1b}[2m", "\u{1b}[0m"];
    let stripped = codes.iter().fold(coloured, |text, code| text.replace(code, ""));
    assert_eq!(stripped, text(&report, 100, TextStyle::Plain));
}

#[test]
fn an_offered_rate_is_not_called_concurrency() {
    let mut level = sample::level(1);
    level.load = LevelLoad::Rate(PerSec::new(2.5));
    let report = SweepReport::new(sample::setup(), vec![level], None);
    let text = text(&report, 100, TextStyle::Plain);
    assert!(text.contains("load") && text.contains("2.5"), "{text}");
    assert!(!text.contains("conc "), "{text}");
}

proptest! {
    #![proptest_config(crate::cases(16))]
    #[test]
    fn no_line_is_wider_than_the_terminal(width in 60_usize..160) {
        let text = text(&sample::sweep(), width, TextStyle::Plain);
        for line in text.lines() {
            prop_assert!(line.chars().count() <= width, "{}", line);
        }
    }
}

#[test]
fn in_brief_a_sweep_fits_on_a_screen() {
    let brief = |width| {
        Shown(&sample::sweep()).terminal(&Terminal {
            width,
            style: TextStyle::Plain,
            charset: Charset::Unicode,
            verbosity: fizeau_report::Verbosity::Brief,
            checklist: ChecklistRows::Headline(""),
            report: Some("runs/sample/report.html"),
        })
    };
    for width in [80, 120] {
        let text = brief(width);
        assert!(text.lines().count() <= 40, "{}: {text}", text.lines().count());
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        for words in ["Operating point: ", " right? Verdict: ", " publish? Checklist: ", "Report: "]
        {
            assert!(text.contains(words), "{words}: {text}");
        }
        for rest in ["reached by phase", "Steady state only", "Dominated: ", "Client: "] {
            assert!(!text.contains(rest), "{rest}: {text}");
        }
    }
}

#[test]
fn names_of_runs_take_what_a_table_leaves_them() {
    let name = "a-folder-whose-name-is-longer-than-forty-characters";
    let runs = vec![ChartRun::of(&sample::sweep(), name)];
    let narrow = Shown(&runs).side_by_side(80);
    assert!(narrow.contains(" ...") && !narrow.contains(name), "{narrow}");
    assert!(Shown(&runs).side_by_side(200).contains(name));
}
