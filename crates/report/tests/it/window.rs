//! A level's steady part beside the whole, and levels that are saturated.

use fizeau_core::{Arrival, Channel, LevelLoad, Nanos, PerSec, Stamp, Tape, TokenSource};
use fizeau_metrics::{GoodputGoals, LevelSummary};
use fizeau_record::{ArrivalMoments, LevelReport, SweepReport};
use fizeau_report::Shown;

use crate::sample;

/// Two tokens, at `first` and `end`, of a request due and sent at `sent`, in milliseconds.
fn tape(sent: u64, first: u64, end: u64) -> Tape {
    let ms = |n| Stamp::EPOCH + Nanos::from_millis(n);
    let mut tape = Tape::sent_at(ms(sent));
    tape.arrivals = [first, end].map(|at| Arrival::tokens(ms(at), 1, Channel::Visible)).into();
    tape.token_source = TokenSource::TokenIds;
    tape.marks.end = Some(ms(end));
    tape
}

fn level(tapes: &[Tape]) -> LevelReport {
    let mut level = sample::level(1);
    level.summary = LevelSummary::of(tapes, &GoodputGoals::default());
    level
}

/// One after another, the first ten slow ones.
fn slow_start() -> Vec<Tape> {
    let first = |n| if n < 10 { 50 } else { 20 };
    (0..200).map(|n| tape(n * 100, n * 100 + first(n), n * 100 + 100)).collect()
}

/// One is due every 10 ms, and one is served every 12 ms.
fn overloaded(rate: f64) -> LevelReport {
    let tapes: Vec<Tape> = (0..200).map(|n| tape(n * 10, n * 12 + 10, n * 12 + 12)).collect();
    let arrivals = ArrivalMoments { rate: Some(PerSec::new(rate)), cv_squared: None };
    let mut level = level(&tapes);
    level.load = LevelLoad::Rate(PerSec::new(rate));
    level.requested.arrivals = Some(arrivals);
    level
}

#[test]
fn the_block_has_the_steady_part_beside_the_whole() {
    let block = Shown(&level(&slow_start())).block(fizeau_report::Verbosity::Full);
    let lines = "
In flight mean/p50/p90/peak:             1.0 / 1 / 1 / 1
Peak output tok/s:                       21.0 (over 1.00 s)
Steady part:                             189 of 200 in 18.9 s
  Excluded first/last:                   10 / 1
  TTFT p50/p99 (ms):                     20.0 / 20.0 (whole 20.0 / 50.0)
  TPOT p50/p99 (ms):                     80.0 / 80.0 (whole 80.0 / 80.0)
  E2EL p50/p99 (ms):                     100.0 / 100.0 (whole 100.0 / 100.0)
  Requests/s:                            10.0  [10.0, 10.0] (whole 10.0)
  Output tok/s:                          20.0  [20.0, 20.0] (whole 20.0)
";
    assert!(block.contains(lines), "{block}");
}

#[test]
fn a_plateau_says_that_it_is_not_known_to_be_steady() {
    let block = Shown(&level(&slow_start()[..20])).block(fizeau_report::Verbosity::Full);
    let lines = "
Plateau of the concurrency:              19 of 20 in 1.90 s
  Excluded first/last:                   0 / 1
  all slots in use, but not known to be steady: only 20 of the 100 needed
      requests have a scheduled TTFT
";
    assert!(block.contains(lines), "{block}");
    let tapes = &slow_start()[..20];
    let mut short = level(tapes);
    short.detail = Some(Box::new(sample::detail(tapes)));
    let report = SweepReport::new(sample::setup(), vec![short], None);
    let terminal = crate::terminal::plain(120, fizeau_report::Verbosity::Full);
    let text = Shown(&report).terminal(&terminal);
    for said in [
        "\nSteady state or plateau (the table above has the whole run):\n",
        "\n    1~    19 ",
        "\n~ the plateau of the concurrency: all slots in use, but not known to be steady\n",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    #[cfg(feature = "html")]
    {
        let page = Shown(&report).page();
        assert!(page.contains(">plateau of the concurrency<"), "{page}");
        assert!(page.contains("the plateau of the concurrency is from 0.00 s to 1.90 s"), "{page}");
        assert!(!page.contains("the steady part is"), "{page}");
    }
    #[cfg(feature = "pictures")]
    {
        let svg = fizeau_report::Picture::Timeline.svg(&[fizeau_report::ChartRun::of(&report, "")]);
        assert!(svg.unwrap().contains("The plateau of the concurrency is from 0.0 s to 1.9 s."));
    }
}

#[test]
fn a_level_without_a_steady_part_says_why() {
    let block = Shown(&overloaded(100.0)).block(fizeau_report::Verbosity::Full);
    let lines = "
Saturated:                               yes, the queue grew to the end
Steady part:                             none
  no steady state: the scheduled TTFT changes over half of the level or more;
      run longer
";
    assert!(block.contains(lines), "{block}");
    assert!(block.lines().all(|line| line.chars().count() <= 80), "{block}");
}

#[test]
fn a_saturated_level_is_marked_in_the_table() {
    let mut slow = level(&slow_start());
    slow.load = LevelLoad::Rate(PerSec::new(8.0));
    let levels = vec![slow, overloaded(100.0)];
    let report = SweepReport::new(sample::setup(), levels, None);
    let terminal = crate::terminal::plain(120, fizeau_report::Verbosity::Full);
    let text = Shown(&report).terminal(&terminal);
    assert!(
        text.lines().any(|line| line.starts_with("+     8  ") || line.contains(" 8   ")),
        "{text}"
    );
    assert!(text.lines().any(|line| line.contains(" 100!  ")), "{text}");
    let note = "! saturated: more was sent than served, so that latencies depend on how long the level ran";
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains(note), "{text}");
    let none = SweepReport::new(sample::setup(), vec![level(&slow_start())], None);
    assert!(!Shown(&none).terminal(&terminal).contains('!'));
    #[cfg(feature = "html")]
    {
        let page = Shown(&report).page();
        assert!(page.contains(">100!<") && page.contains(note), "{page}");
        let none = Shown(&none).page();
        assert!(!none.contains("saturated: more was sent"), "{none}");
    }
}

#[test]
fn a_closed_loop_is_never_called_saturated() {
    let mut level = overloaded(100.0);
    assert_eq!(parsed(&level)["saturation"]["verdict"], "saturated");
    level.requested.arrivals = None;
    let json = parsed(&level);
    assert!(json["saturation"].is_null());
    assert_eq!(json["saturation_reason"], "a closed loop: the endpoint sets the pace");
    assert!(!Shown(&level).block(fizeau_report::Verbosity::Full).contains("Saturated"));
}

fn parsed(level: &LevelReport) -> serde_json::Value {
    serde_json::from_str(&level.to_json().unwrap()).unwrap()
}
