//! An A/B run: who goes when, what is asked, and what is left of a run that was called off.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::num::NonZeroU32;

use fizeau_core::{Clock, Nanos, Prompt, Release, Request, Stamp, Tape, Timer, Transport};
use fizeau_experiment::{AbRunner, AbSpec, AbTurn, RoundCount, turn_name};
use fizeau_harness::{Cancel, SelfWatch, TaskDriver};
use fizeau_metrics::ComparisonSide;
use fizeau_record::AbPrompts;
use fizeau_record::{RunFolder, StoredRun};
use fizeau_workload::{Length, Lengths, PlanSpec, Salt, Seed};

use crate::stand::{Paused, Server, paused};

const SETTLE: Nanos = Nanos::from_millis(700);

fn spec(rounds: u32) -> AbSpec {
    let lengths = Lengths::Independent {
        input: Length::Uniform { nominal: fizeau_core::Tokens::new(20), ratio: 0.5 },
        output: Length::Fixed(fizeau_core::Tokens::new(1)),
    };
    let workload = PlanSpec { lengths, seed: Seed(7), salt: Salt(9), ..PlanSpec::new(6).unwrap() };
    let mut spec = AbSpec::new(RoundCount::new(rounds).unwrap(), workload);
    spec.load.max_in_flight = NonZeroU32::new(2);
    (spec.warmup, spec.settle) = (2, SETTLE);
    spec
}

/// A server that notes which side asked what, and when; it calls the run off at a given request.
struct Noted<'a> {
    side: ComparisonSide,
    server: Server<'a>,
    time: &'a Paused,
    requested: &'a RefCell<Vec<(ComparisonSide, Stamp, Request)>>,
    call_off: Option<(&'a Cancel, &'a Cell<u32>)>,
}

impl Transport for Noted<'_> {
    type Error = Infallible;

    async fn send(&self, request: &Request, release: Release) -> Result<Tape, Infallible> {
        self.requested.borrow_mut().push((self.side, self.time.now(), request.clone()));
        if let Some((cancel, left)) = self.call_off {
            left.set(left.get() - 1);
            if left.get() == 0 {
                cancel.cancel();
            }
        }
        self.server.send(request, release).await
    }
}

type Asked = Vec<(ComparisonSide, Stamp, Request)>;

/// Runs `spec`, called off at the request of that number; gives the turns and all that was asked.
fn measured(
    spec: &AbSpec,
    call_off: Option<u32>,
    folder: Option<&RunFolder>,
) -> (Vec<AbTurn>, Asked) {
    paused(async {
        let (time, cancel, requested) = (Paused::new(), Cancel::new(), RefCell::default());
        let left = Cell::new(call_off.unwrap_or(0));
        let side = |side| Noted {
            side,
            server: Server::new(&time, Nanos::from_millis(100)),
            time: &time,
            requested: &requested,
            call_off: call_off.map(|_| (&cancel, &left)),
        };
        let (a, b) = (side(ComparisonSide::Baseline), side(ComparisonSide::Candidate));
        let rig = |transport| TaskDriver {
            transport,
            timer: &time,
            watch: SelfWatch::Off,
            cancel: &cancel,
        };
        let mut ab = AbRunner::new(rig(&a), rig(&b), &time, spec, folder);
        let mut turns = Vec::new();
        while let Some(turn) = ab.next_turn(&mut ()).await.unwrap() {
            turns.push(turn);
        }
        (turns, requested.take())
    })
}

#[test]
fn the_sides_take_turns_and_who_is_first_alternates() {
    let (turns, requested) = measured(&spec(5), None, None);
    let order: Vec<String> = turns.iter().map(|turn| turn_name(turn.side, turn.round)).collect();
    assert_eq!(
        order.join(" "),
        "a-01 b-01 b-02 a-02 a-03 b-03 b-04 a-04 a-05 b-05",
        "each round has both, and neither is always first"
    );
    assert!(turns.iter().all(|turn| turn.run.summary.requests.sent == 6));
    assert!(turns.iter().all(|turn| turn.run.warmup.sent == 2));
    // Eight requests a turn, warm-up first, and never both sides at a time: the sides follow one another in blocks of eight.
    assert_eq!(requested.len(), 10 * 8);
    for (block, turn) in requested.chunks(8).zip(&turns) {
        assert!(block.iter().all(|(side, ..)| *side == turn.side));
    }
}

#[test]
fn a_pause_comes_before_each_turn() {
    let (_, requested) = measured(&spec(5), None, None);
    let starts: Vec<Stamp> = requested.chunks(8).map(|block| block[0].1).collect();
    assert_eq!(starts[0], Stamp::EPOCH + SETTLE);
    for (before, start) in requested.chunks(8).zip(&starts[1..]) {
        // Requests take 100 ms: the last one of a turn ends so long after it was sent.
        let ended = before[7].1 + Nanos::from_millis(100);
        assert_eq!(start.saturating_since(ended), SETTLE);
    }
}

/// The prompts of a side, round by round, warm-up included.
fn prompts(requested: &Asked, of: ComparisonSide) -> Vec<Vec<&Prompt>> {
    let blocks = requested.chunks(8).filter(|block| block[0].0 == of);
    blocks.map(|block| block.iter().map(|(_, _, request)| &request.prompt).collect()).collect()
}

#[test]
fn both_sides_are_asked_the_same_and_no_prompt_comes_in_two_rounds() {
    let (_, requested) = measured(&spec(6), None, None);
    let (a, b) = (
        prompts(&requested, ComparisonSide::Baseline),
        prompts(&requested, ComparisonSide::Candidate),
    );
    assert_eq!(a, b);
    let mut all: Vec<String> = a.iter().flatten().map(|prompt| format!("{prompt:?}")).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 6 * 8);
}

#[test]
fn own_prompts_have_the_same_lengths_and_other_words() {
    let mut spec = spec(5);
    spec.prompts = AbPrompts::OwnBySide;
    let (_, requested) = measured(&spec, None, None);
    let (a, b) = (
        prompts(&requested, ComparisonSide::Baseline),
        prompts(&requested, ComparisonSide::Candidate),
    );
    let length = |prompt: &Prompt| match prompt {
        Prompt::TokenIds(ids) => ids.len(),
        other => unreachable!("{other:?}"),
    };
    for (one, other) in a.iter().flatten().zip(b.iter().flatten()) {
        assert_ne!(one, other);
        assert_eq!(length(one), length(other));
    }
}

#[test]
fn a_run_that_is_called_off_keeps_its_turns_and_marks_the_broken_one() {
    // In the second turn, at its fourth request that counts.
    let (turns, _) = measured(&spec(5), Some(8 + 6), None);
    assert_eq!(turns.len(), 2);
    assert!(!turns[0].run.is_partial());
    assert!(turns[1].run.is_partial());
}

#[test]
fn a_run_that_is_called_off_in_a_pause_ends_there() {
    paused(async {
        let (time, cancel) = (Paused::new(), Cancel::new());
        let server = Server::new(&time, Nanos::from_millis(100));
        let rig = || TaskDriver {
            transport: &server,
            timer: &time,
            watch: SelfWatch::Off,
            cancel: &cancel,
        };
        let mut spec = spec(5);
        spec.settle = Nanos::from_secs(3_600);
        let mut ab = AbRunner::new(rig(), rig(), &time, &spec, None);
        let mut turns = 0;
        while let Some(upcoming) = ab.upcoming() {
            let off = async {
                if upcoming.round == 2 {
                    time.sleep_until(time.now() + Nanos::from_secs(60)).await;
                    cancel.cancel();
                }
            };
            let mut nobody = ();
            let (turn, ()) = tokio::join!(ab.next_turn(&mut nobody), off);
            if turn.unwrap().is_none() {
                break;
            }
            turns += 1;
        }
        assert_eq!(turns, 2);
        assert!(time.now() < Stamp::EPOCH + Nanos::from_secs(2 * 3_600 + 120));
    });
}

#[test]
fn each_turn_is_a_level_of_the_folder() {
    let path = std::env::temp_dir().join(format!("fizeau-ab-{}", std::process::id()));
    let folder = RunFolder::create(&path).unwrap();
    folder.write_text("run.json", "{\"schema\": \"fizeau.run/1\"}").unwrap();
    measured(&spec(5), None, Some(&folder));
    let stored = StoredRun::open(&path).unwrap();
    let names: Vec<&str> = stored.levels().iter().map(fizeau_record::StoredLevel::name).collect();
    assert_eq!(names[..6], ["a-01", "a-02", "a-03", "a-04", "a-05", "b-01"]);
    assert_eq!(stored.levels()[9].tapes().unwrap().count(), 6);
    std::fs::remove_dir_all(&path).unwrap();
}

#[test]
fn fewer_than_five_rounds_are_refused() {
    assert!(RoundCount::new(5).is_ok());
    let error = RoundCount::new(4).unwrap_err().to_string();
    assert!(error.starts_with("4 are too few: give at least 5"), "{error}");
}
