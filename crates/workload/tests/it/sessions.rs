//! Sessions: every turn once, in order, with what was really said before it, after the thinking that was asked for.

use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fizeau_core::{
    Failure, FailureClass, Nanos, Outcome, Prompt, Request, RequestId, RequestSource, Scheduled,
    Seconds, SessionId, Stamp, Tape,
};
use fizeau_workload::{
    ContentSource, Plan, PlanSpec, PromptContent, RequestPosition, Seed, SessionNumbers, Sessions,
    Shard, TextSource, ThinkTime, Turn, Turns, Workload,
};
use proptest::prelude::*;

use crate::{spec, text};

fn turns(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap()
}

fn any_sessions() -> impl Strategy<Value = Sessions> {
    let seconds = || (0.0..100.0).prop_map(Seconds::new);
    let think = prop_oneof![
        Just(ThinkTime::None),
        seconds().prop_map(|seconds| ThinkTime::Fixed { seconds }),
        seconds().prop_map(|mean| ThinkTime::Exponential { mean }),
        (seconds(), 0.0..2.0).prop_map(|(median, sigma)| ThinkTime::LogNormal { median, sigma }),
    ];
    let turns = prop_oneof![
        (1_u32..6).prop_map(|n| Turns::Fixed(turns(n))),
        (1_u32..4, 0_u32..4)
            .prop_map(|(n, more)| Turns::Uniform { least: turns(n), most: turns(n + more) }),
    ];
    (turns, think).prop_map(|(turns, think)| Sessions { turns, think })
}

fn plan(requests: u64, seed: u64, sessions: Sessions, content: PromptContent) -> Plan {
    let sessions = Some(sessions);
    Plan::new(PlanSpec { sessions, content, ..spec(requests, seed) }).unwrap()
}

/// What the model replies to a request.
fn reply(id: RequestId) -> String {
    format!("reply {id}")
}

fn tape(request: &Request) -> Tape {
    let mut tape = Tape::sent_at(Stamp::EPOCH);
    (tape.request, tape.session, tape.turn) = (request.id, request.session, request.turn);
    tape.text = Some(reply(request.id));
    tape
}

/// Walks `source` to its end, `users` sessions at a time; each request takes a second, so that the end of one and the
/// thinking before the next can be told apart. Gives all that was scheduled, with the end of the request before it.
fn walk<S: RequestSource>(mut source: S, users: usize) -> Vec<(Option<Nanos>, Scheduled)> {
    let mut all = Vec::new();
    let mut open = VecDeque::new();
    let mut end = Nanos::ZERO;
    loop {
        while open.len() < users
            && let Some(first) = source.next_request().unwrap()
        {
            all.push((None, first.clone()));
            open.push_back(first.request);
        }
        let Some(ended) = open.pop_front() else { return all };
        end += Nanos::from_secs(1);
        if let Some(next) = source.after(&tape(&ended), end).unwrap() {
            all.push((Some(end), next.clone()));
            open.push_back(next.request);
        }
    }
}

/// How long the user of a session of five turns thinks before each of the later ones, in nanoseconds.
pub(crate) fn thought(think: ThinkTime, seed: u64) -> Vec<u64> {
    let sessions = Sessions { turns: Turns::Fixed(turns(5)), think };
    let walked = walk(plan(5, seed, sessions, PromptContent::Text(TextSource::Words)).source(), 1);
    let think = |(end, next): (Option<Nanos>, Scheduled)| Some((next.at?, end?));
    walked.into_iter().filter_map(think).map(|(at, end)| at.as_nanos() - end.as_nanos()).collect()
}

fn by_id(walks: impl IntoIterator<Item = Vec<(Option<Nanos>, Scheduled)>>) -> Vec<Request> {
    let mut requests: Vec<Request> =
        walks.into_iter().flatten().map(|(_, scheduled)| scheduled.request).collect();
    requests.sort_by_key(|request| request.id);
    requests
}

proptest! {
    #[test]
    fn all_turns_of_all_sessions_come_once_and_in_order(
        requests in 1_u64..60, seed: u64, sessions in any_sessions(), users in 1_usize..6,
    ) {
        let plan = plan(requests, seed, sessions, PromptContent::Text(TextSource::Words));
        let walked = walk(plan.source(), users);
        let mut turns: BTreeMap<SessionId, u32> = BTreeMap::new();
        for (_, Scheduled { request, .. }) in &walked {
            let turn = turns.entry(request.session).or_default();
            prop_assert_eq!(request.turn, *turn);
            *turn += 1;
        }
        let ids: Vec<u64> = by_id([walked]).iter().map(|request| request.id.0).collect();
        prop_assert_eq!(ids, (0..requests).collect::<Vec<_>>());
        // A session has as many turns as any, but for the last, which the end of the plan may cut.
        let (least, most) = match sessions.turns {
            Turns::Fixed(turns) => (turns.get(), turns.get()),
            Turns::Uniform { least, most } => (least.get(), most.get()),
        };
        let whole = turns.len() - 1;
        prop_assert!(turns.values().all(|&turns| turns <= most));
        prop_assert!(turns.values().take(whole).all(|&turns| turns >= least));
    }

    #[test]
    fn any_number_of_shards_and_walks_makes_up_the_plan(
        requests in 1_u64..60, seed: u64, sessions in any_sessions(),
        shards in 1_u64..65, workers in 1_usize..5, dealt: bool,
    ) {
        let plan = plan(requests, seed, sessions, PromptContent::Chat(TextSource::Words));
        let whole = by_id([walk(plan.source(), 1)]);
        let parts = (0..shards).flat_map(|index| {
            let shard = Shard::new(index, shards).unwrap();
            let drawn = Arc::new(AtomicU64::new(0));
            let plan = &plan;
            (0..workers).map(move |worker| {
                let drawn = Arc::clone(&drawn);
                // As a crew does it: dealt out beforehand, or drawn by whoever is free.
                let which: SessionNumbers = match dealt {
                    true => Box::new((worker as u64..).step_by(workers).map(move |n| shard.session(n))),
                    false => Box::new(std::iter::repeat_with(move || {
                        shard.session(drawn.fetch_add(1, Ordering::Relaxed))
                    })),
                };
                walk(Workload::walk(plan, which), 2)
            })
        });
        prop_assert_eq!(by_id(parts), whole);
    }

    #[test]
    fn the_user_thinks_as_long_as_was_asked_whoever_walks(
        requests in 1_u64..60, seed: u64, sessions in any_sessions(), users in 1_usize..6,
    ) {
        let plan = plan(requests, seed, sessions, PromptContent::Text(TextSource::Words));
        let thought = |users| -> BTreeMap<u64, Nanos> {
            let follow_ups = walk(plan.source(), users).into_iter().filter_map(|(end, next)| {
                // Without an instant the turn leaves at once.
                let think = next.at.map_or(Nanos::ZERO, |at| at.saturating_sub(end.unwrap_or_default()));
                end.map(|_| (next.request.id.0, think))
            });
            follow_ups.collect()
        };
        let thinking = thought(users);
        prop_assert_eq!(&thinking, &thought(1));
        match sessions.think {
            ThinkTime::None => prop_assert!(thinking.values().all(|&think| think == Nanos::ZERO)),
            ThinkTime::Fixed { seconds } => {
                let fixed = Nanos::from_secs_f64(seconds.get()).unwrap();
                prop_assert!(thinking.values().all(|&think| think == fixed));
            }
            _ => {}
        }
    }

    #[test]
    fn each_turn_goes_on_from_what_was_said(
        requests in 1_u64..40, seed: u64, sessions in any_sessions(),
    ) {
        let plan = plan(requests, seed, sessions, PromptContent::Text(TextSource::Words));
        let mut said: BTreeMap<SessionId, String> = BTreeMap::new();
        for (_, Scheduled { request, .. }) in walk(plan.source(), 3) {
            let own = plan.request(request.id);
            prop_assert_eq!((own.turn, own.session), (request.turn, request.session));
            let expected = match said.get(&request.session) {
                None => text(&own.prompt).to_owned(),
                Some(before) => format!("{before}\n{}", text(&own.prompt)),
            };
            prop_assert_eq!(text(&request.prompt), &expected);
            prop_assert!(request.turn == 0 || request.input_tokens.is_none());
            said.insert(request.session, format!("{expected}\n{}", reply(request.id)));
        }
    }
}

#[test]
fn a_chat_goes_on_with_the_real_reply() {
    let sessions = Sessions { turns: Turns::Fixed(turns(3)), think: ThinkTime::None };
    let plan = plan(3, 1, sessions, PromptContent::Chat(TextSource::Words));
    let last = walk(plan.source(), 1).pop().unwrap().1.request;
    let Prompt::Chat(messages) = &last.prompt else { panic!("no chat") };
    let own = |n| match plan.request(RequestId(n)).prompt {
        Prompt::Chat(messages) => messages[0].content.clone(),
        other => panic!("no chat: {other:?}"),
    };
    let said: Vec<_> = messages.iter().map(|m| (m.role.as_str(), m.content.clone())).collect();
    let expected = [
        ("user", own(0)),
        ("assistant", "reply 0".to_owned()),
        ("user", own(1)),
        ("assistant", "reply 1".to_owned()),
        ("user", own(2)),
    ];
    assert_eq!(said, expected);
}

#[test]
fn a_shared_prefix_stands_in_the_first_turn_alone() {
    let sessions = Sessions { turns: Turns::Fixed(turns(2)), think: ThinkTime::None };
    let content = PromptContent::Text(TextSource::Words);
    let prefix = crate::common(16);
    let plan =
        Plan::new(PlanSpec { sessions: Some(sessions), content, prefix, ..spec(4, 1) }).unwrap();
    let words = |n| text(&plan.request(RequestId(n)).prompt).split(' ').count();
    assert_eq!([words(0), words(1), words(2), words(3)], [28, 12, 28, 12]);
}

#[test]
fn a_turn_that_fails_ends_its_session_and_the_rest_is_counted() {
    let sessions = Sessions { turns: Turns::Fixed(turns(5)), think: ThinkTime::None };
    let plan = plan(13, 1, sessions, PromptContent::Chat(TextSource::Words));
    let mut source = plan.source();
    let mut first = || source.next_request().unwrap().unwrap().request;
    let (zero, one, two) = (first(), first(), first());
    let failed = |request: &Request| {
        let outcome = Outcome::Failed(Failure::new(FailureClass::Truncated, "by design"));
        Tape { outcome, ..tape(request) }
    };
    let second = source.after(&tape(&zero), Nanos::ZERO).unwrap().unwrap().request;
    assert_eq!(source.after(&failed(&second), Nanos::ZERO), Ok(None));
    assert_eq!(source.abandoned(), 3, "turns 2, 3 and 4");
    assert_eq!(source.after(&failed(&one), Nanos::ZERO), Ok(None));
    assert_eq!(source.abandoned(), 7);
    assert_eq!(source.after(&failed(&two), Nanos::ZERO), Ok(None));
    assert_eq!(source.abandoned(), 9, "the last session is cut to three turns");
}

#[test]
fn without_the_text_of_replies_no_session_goes_on() {
    let sessions = Sessions { turns: Turns::Fixed(turns(2)), think: ThinkTime::None };
    let plan = plan(4, 1, sessions, PromptContent::Chat(TextSource::Words));
    let mut source = plan.source();
    let first = source.next_request().unwrap().unwrap().request;
    let mute = Tape { text: None, ..tape(&first) };
    let error = source.after(&mute, Nanos::ZERO).unwrap_err().to_string();
    assert!(error.starts_with("turn 1 of session 0 cannot be made"), "{error}");
}

#[test]
fn warm_up_requests_stand_alone() {
    let sessions = Sessions { turns: Turns::Fixed(turns(2)), think: ThinkTime::None };
    let plan = plan(4, 1, sessions, PromptContent::Chat(TextSource::Words));
    assert_eq!(walk(plan.warmup(3), 1).len(), 3);
}

/// Conversations of one, two, three turns, and so on.
#[derive(Debug)]
struct Growing;

impl ContentSource for Growing {
    fn content(&self, place: &RequestPosition) -> Turn {
        let think = Some(Nanos::from_secs(u64::from(place.turn)));
        let prompt = Prompt::Text(format!("{}.{}", place.session.0, place.turn));
        Turn { think, ..Turn::new(prompt) }
    }

    fn turns(&self, number: SessionId) -> Option<u32> {
        Some(number.0 as u32 + 1)
    }
}

/// Two turns of whole bodies.
#[derive(Debug)]
struct Bodies;

impl ContentSource for Bodies {
    fn content(&self, _: &RequestPosition) -> Turn {
        Turn::new(Prompt::Body("{}".into()))
    }

    fn turns(&self, _: SessionId) -> Option<u32> {
        Some(2)
    }
}

#[test]
fn bodies_cannot_be_gone_on_from() {
    let error = Plan::builder(spec(2, 0)).content(Bodies).build().unwrap_err().to_string();
    assert!(error.ends_with("whole bodies cannot be continued"), "{error}");
}

#[test]
fn content_of_ones_own_may_decide_turns_and_thinking() {
    let plan =
        Plan::builder(PlanSpec { seed: Seed(3), ..spec(8, 0) }).content(Growing).build().unwrap();
    let walked = walk(plan.source(), 1);
    let seen: Vec<_> = walked
        .iter()
        .map(|(end, next)| {
            let think = next.at.map(|at| at.saturating_sub(end.unwrap_or_default()).as_secs_f64());
            (next.request.session.0, next.request.turn, think)
        })
        .collect();
    let expected = [
        (0, 0, None),
        (1, 0, None),
        (1, 1, Some(1.0)),
        (2, 0, None),
        (2, 1, Some(1.0)),
        (2, 2, Some(2.0)),
        (3, 0, None),
        (3, 1, Some(1.0)),
    ];
    assert_eq!(seen, expected);
    assert_eq!(text(&walked[2].1.request.prompt), "1.0\nreply 1\n1.1");
}
