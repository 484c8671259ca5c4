//! Sessions under the driver, in virtual time.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::num::NonZeroU32;

use fizeau_core::{
    Nanos, PerSec, Prompt, Release, Request, RequestPurpose, Seconds, SessionId, Stamp, Tape,
    TapeSink, Transport,
};
use fizeau_harness::{
    Cancel, DriveEnding, DriveError, DriveLimits, DriveOutcome, LevelRun, Measure, PlannedLevel,
    SelfWatch, TaskDriver, TextAfter, drive,
};
use fizeau_workload::{
    ArrivalLaw, Lengths, Plan, PlanSpec, PromptContent, Seed, Sessions, Shard, TextSource,
    ThinkTime, Turns,
};
use proptest::prelude::*;

use crate::stand::{Paused, Server, paused};

fn ms(millis: u64) -> Nanos {
    Nanos::from_millis(millis)
}

fn at(millis: u64) -> Stamp {
    Stamp::EPOCH + ms(millis)
}

fn cap(n: u32) -> DriveLimits {
    DriveLimits { max_in_flight: NonZeroU32::new(n), stop_after: None }
}

fn every(gap: u64) -> ArrivalLaw {
    ArrivalLaw::Constant { rate: PerSec::new(1_000.0 / gap as f64) }
}

/// Thinking of so many milliseconds.
fn think(millis: u64) -> ThinkTime {
    ThinkTime::Fixed { seconds: Seconds::new(millis as f64 / 1_000.0) }
}

fn plan(requests: u64, arrivals: ArrivalLaw, turns: u32, think: ThinkTime) -> Plan {
    let turns = Turns::Fixed(NonZeroU32::new(turns).unwrap());
    Plan::new(PlanSpec {
        arrivals,
        lengths: Lengths::fixed(4, 4),
        content: PromptContent::Text(TextSource::Words),
        sessions: Some(Sessions { turns, think }),
        ..PlanSpec::new(requests).unwrap()
    })
    .unwrap()
}

struct Run {
    tapes: Vec<Tape>,
    driven: DriveOutcome,
    most_in_flight: usize,
    /// When the drive was over.
    over: Stamp,
}

/// Drives `plan` against a server that takes 100 ms a request; every `fail_every`-th fails.
async fn driven(plan: &Plan, load: DriveLimits, fail_every: Option<u64>) -> Run {
    let time = Paused::new();
    let server = Server { fail_every, ..Server::new(&time, ms(100)) };
    let (mut tapes, cancel) = (Vec::new(), Cancel::new());
    let mut source = plan.source();
    let driven = drive(&mut source, &server, &time, load, &mut tapes, &cancel).await.unwrap();
    let over = fizeau_core::Clock::now(&time);
    Run { tapes, driven, most_in_flight: server.most_in_flight.get(), over }
}

/// Number, intended and released instant in milliseconds, in the order in which requests ended.
fn times(tapes: &[Tape]) -> Vec<(u64, u64, u64)> {
    let millis = |at: Stamp| at.as_nanos() / 1_000_000;
    tapes
        .iter()
        .map(|t| (t.request.0, millis(t.marks.intended), millis(t.marks.released)))
        .collect()
}

#[test]
fn in_a_closed_loop_a_slot_is_a_user_who_thinks_between_turns() {
    let plan = plan(8, ArrivalLaw::ClosedLoop, 2, think(1_000));
    let run = paused(driven(&plan, cap(2), None));
    let expected = [
        (0, 0, 0),
        (2, 0, 0),
        (1, 1_100, 1_100),
        (3, 1_100, 1_100),
        // Both users are done; two others take their places.
        (4, 1_200, 1_200),
        (6, 1_200, 1_200),
        (5, 2_300, 2_300),
        (7, 2_300, 2_300),
    ];
    assert_eq!(times(&run.tapes), expected);
    assert_eq!(run.driven.ended, DriveEnding::Exhausted);
    assert_eq!((run.driven.held_back, run.driven.abandoned), (0, 0));
}

#[test]
fn without_thinking_a_turn_is_intended_and_sent_as_the_one_before_ends() {
    for (arrivals, load) in [(ArrivalLaw::ClosedLoop, cap(1)), (every(10), DriveLimits::default())]
    {
        let plan = plan(3, arrivals, 3, ThinkTime::None);
        let run = paused(driven(&plan, load, None));
        for pair in run.tapes.windows(2) {
            assert_eq!(Some(pair[1].marks.intended), pair[0].marks.end);
            assert_eq!(Some(pair[1].marks.released), pair[0].marks.end);
        }
        assert_eq!(run.tapes.len(), 3);
    }
}

#[test]
fn in_an_open_loop_a_turn_waits_for_a_slot_like_any_other_and_its_waiting_shows() {
    // Sessions begin at 60 and 120 ms; the second turn of the first is due at 60 + 100 + 30 = 190 ms.
    let plan = plan(4, every(60), 2, think(30));
    let run = paused(driven(&plan, cap(1), None));
    let expected = [(0, 60, 60), (2, 120, 160), (1, 190, 260), (3, 290, 360)];
    assert_eq!(times(&run.tapes), expected);
    assert_eq!(run.driven.held_back, 3);
}

#[test]
fn later_turns_and_new_sessions_leave_in_the_order_of_their_instants() {
    // First turns at 50, 100, and so on; second ones 170 ms after them.
    let plan = plan(8, every(50), 2, think(70));
    let run = paused(driven(&plan, DriveLimits::default(), None));
    let mut times = times(&run.tapes);
    assert!(times.iter().all(|(_, intended, released)| intended == released));
    times.sort_by_key(|(_, _, released)| *released);
    let ids: Vec<u64> = times.iter().map(|(id, ..)| *id).collect();
    assert_eq!(ids, [0, 2, 4, 6, 1, 3, 5, 7]);
}

#[test]
fn a_time_limit_stops_later_turns_too_and_who_thinks_beyond_it_keeps_his_slot() {
    let load = DriveLimits { stop_after: Some(ms(1_000)), ..cap(2) };
    let hour = think(3_600_000);
    let run = paused(driven(&plan(20, ArrivalLaw::ClosedLoop, 2, hour), load, None));
    assert_eq!(times(&run.tapes), [(0, 0, 0), (2, 0, 0)], "nobody else came in their places");
    assert_eq!(run.over, at(1_000));
    assert_eq!((run.driven.ended, run.driven.abandoned), (DriveEnding::TimeUp, 0));
    // In the open loop what is due beyond the limit is not waited for.
    let load = DriveLimits { stop_after: Some(ms(1_000)), max_in_flight: None };
    let run = paused(driven(&plan(4, every(10), 2, hour), load, None));
    assert_eq!(times(&run.tapes), [(0, 10, 10), (2, 20, 20)]);
    assert_eq!((run.driven.ended, run.over), (DriveEnding::TimeUp, at(120)));
}

#[test]
fn calling_off_works_while_all_users_think() {
    struct CallOff(Cancel, Vec<Tape>);
    impl TapeSink for CallOff {
        type Error = Infallible;
        fn record(&mut self, tape: &Tape) -> Result<(), Infallible> {
            self.1.push(tape.clone());
            self.0.cancel();
            Ok(())
        }
    }
    paused(async {
        let time = Paused::new();
        let server = Server::new(&time, ms(100));
        let cancel = Cancel::new();
        let mut sink = CallOff(cancel.clone(), Vec::new());
        let mut source = plan(2, ArrivalLaw::ClosedLoop, 2, think(3_600_000)).source();
        let driven = drive(&mut source, &server, &time, cap(1), &mut sink, &cancel).await.unwrap();
        assert_eq!(driven.ended, DriveEnding::Cancelled);
        assert_eq!(sink.1.len(), 1);
        assert_eq!(fizeau_core::Clock::now(&time), at(100), "nobody waited for the thinking");
    });
}

#[test]
fn a_turn_that_fails_frees_its_slot_and_what_will_not_come_is_counted() {
    // Every fourth request fails: 0 with two turns to come, 4 with one, 8 with none.
    let plan = plan(12, ArrivalLaw::ClosedLoop, 3, think(10));
    let run = paused(driven(&plan, cap(1), Some(4)));
    let ids: Vec<u64> = run.tapes.iter().map(|tape| tape.request.0).collect();
    assert_eq!(ids, [0, 3, 4, 6, 7, 8, 9, 10, 11]);
    assert_eq!(run.driven.abandoned, 3);
    assert_eq!(run.driven.ended, DriveEnding::Exhausted);
}

/// Notes what it was given to read.
struct Reading<'a> {
    server: Server<'a>,
    prompts: RefCell<BTreeMap<u64, String>>,
}

impl Transport for Reading<'_> {
    type Error = Infallible;

    async fn send(&self, request: &Request, release: Release) -> Result<Tape, Infallible> {
        if let Prompt::Text(text) = &request.prompt {
            self.prompts.borrow_mut().insert(request.id.0, text.clone());
        }
        self.server.send(request, release).await
    }
}

async fn level(level: PlannedLevel<'_>) -> (LevelRun, Vec<Tape>, BTreeMap<u64, String>) {
    let time = Paused::new();
    let server = Reading { server: Server::new(&time, ms(100)), prompts: RefCell::default() };
    let cancel = Cancel::new();
    let mut rig =
        TaskDriver { transport: &server, timer: &time, watch: SelfWatch::Off, cancel: &cancel };
    let mut tapes = Vec::new();
    let run = rig.measure(level, &mut tapes, &mut ()).await.unwrap();
    (run, tapes, server.prompts.take())
}

#[test]
fn the_text_of_a_reply_is_kept_until_the_next_turn_has_it_and_no_longer() {
    let plan = plan(4, ArrivalLaw::ClosedLoop, 2, ThinkTime::None);
    let (_, tapes, prompts) = paused(level(PlannedLevel::new(&plan, cap(2))));
    assert!(tapes.iter().all(|tape| tape.text.is_none()));
    for (first, second) in [(0, 1), (2, 3)] {
        let expected = format!("{}\nreply {first}\n", prompts[&first]);
        assert!(prompts[&second].starts_with(&expected), "{}", prompts[&second]);
    }
    let keep = PlannedLevel { text: TextAfter::Keep, ..PlannedLevel::new(&plan, cap(2)) };
    let (_, tapes, _) = paused(level(keep));
    assert!(tapes.iter().all(|tape| tape.text.is_some()));
}

#[test]
fn a_transport_that_keeps_no_text_cannot_go_on_and_says_so() {
    struct Mute<'a>(Server<'a>);
    impl Transport for Mute<'_> {
        type Error = Infallible;
        async fn send(&self, request: &Request, release: Release) -> Result<Tape, Infallible> {
            let tape = self.0.send(request, release).await?;
            Ok(Tape { text: None, ..tape })
        }
    }
    paused(async {
        let time = Paused::new();
        let server = Mute(Server::new(&time, ms(1)));
        let mut source = plan(4, ArrivalLaw::ClosedLoop, 2, ThinkTime::None).source();
        let (mut tapes, cancel) = (Vec::new(), Cancel::new());
        let error = drive(&mut source, &server, &time, cap(2), &mut tapes, &cancel).await;
        let Err(DriveError::Source(error)) = error else { panic!("{error:?}") };
        assert!(error.to_string().contains("the text of replies is not kept"), "{error}");
        // The request whose reply cannot be followed left its tape nonetheless, and the other too, which was as good as over.
        let outcomes = tapes.iter().map(|tape| (tape.request.0, tape.is_success()));
        assert_eq!(outcomes.collect::<Vec<_>>(), [(0, true), (2, true)]);
    });
}

#[test]
fn shards_make_up_the_plan() {
    for arrivals in [ArrivalLaw::ClosedLoop, every(20)] {
        let plan = plan(31, arrivals, 3, think(50));
        let mut all = Vec::new();
        for index in 0..3 {
            let shard = Shard::new(index, 3).unwrap();
            let part = PlannedLevel { shard, ..PlannedLevel::new(&plan, cap(2)) };
            let (_, tapes, _) = paused(level(part));
            assert!(tapes.iter().all(|tape| tape.session.0 % 3 == index));
            all.extend(tapes.iter().map(|tape| tape.request.0));
        }
        all.sort_unstable();
        assert_eq!(all, (0..31).collect::<Vec<_>>());
    }
}

fn any_plan() -> impl Strategy<Value = Plan> {
    let think = prop_oneof![
        Just(ThinkTime::None),
        (0_u64..300).prop_map(think),
        (0.0..0.3).prop_map(|mean| ThinkTime::Exponential { mean: Seconds::new(mean) }),
    ];
    let arrivals = prop_oneof![
        Just(ArrivalLaw::ClosedLoop),
        Just(ArrivalLaw::AllAtOnce),
        (1_u64..80).prop_map(every)
    ];
    let turns = (1_u32..4, 0_u32..4);
    (1_u64..40, arrivals, turns, think, any::<u64>()).prop_map(
        |(requests, arrivals, (least, more), think, seed)| {
            let turns = |n| NonZeroU32::new(n).unwrap();
            let turns = Turns::Uniform { least: turns(least), most: turns(least + more) };
            let sessions = Some(Sessions { turns, think });
            let plan = plan(requests, arrivals, 1, think);
            Plan::new(PlanSpec { sessions, seed: Seed(seed), ..plan.spec().clone() }).unwrap()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn every_turn_leaves_once_after_the_one_before_it_never_early_and_never_over_the_cap(
        plan in any_plan(), limit in 1_u32..6,
    ) {
        let run = paused(driven(&plan, cap(limit), None));
        prop_assert!(run.most_in_flight <= limit as usize);
        let mut ids: Vec<u64> = run.tapes.iter().map(|tape| tape.request.0).collect();
        ids.sort_unstable();
        prop_assert_eq!(ids, (0..plan.len().get()).collect::<Vec<_>>());
        prop_assert_eq!((run.driven.ended, run.driven.abandoned), (DriveEnding::Exhausted, 0));
        let mut sessions: BTreeMap<SessionId, Vec<&Tape>> = BTreeMap::new();
        for tape in &run.tapes {
            prop_assert!(tape.marks.released >= tape.marks.intended);
            prop_assert_eq!(tape.part, RequestPurpose::Load);
            sessions.entry(tape.session).or_default().push(tape);
        }
        for turns in sessions.values() {
            for (number, tape) in turns.iter().enumerate() {
                prop_assert_eq!(tape.turn as usize, number);
            }
            for pair in turns.windows(2) {
                prop_assert!(Some(pair[1].marks.intended) >= pair[0].marks.end);
            }
        }
        // In a closed loop no more sessions are under way than there are slots, thinking included.
        if plan.spec().arrivals == ArrivalLaw::ClosedLoop {
            let spans: Vec<_> = sessions
                .values()
                .map(|turns| (turns[0].marks.released, turns[turns.len() - 1].marks.end.unwrap()))
                .collect();
            for (begin, _) in &spans {
                let under_way = spans.iter().filter(|(b, e)| b <= begin && begin < e).count();
                prop_assert!(under_way <= limit as usize);
            }
        }
    }
}
