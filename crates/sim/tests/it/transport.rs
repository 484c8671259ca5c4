//! What of a request reaches an engine in virtual time, and what of its reply the tape.

use std::cell::RefCell;
use std::num::NonZeroU64;
use std::rc::Rc;

use fizeau_core::{
    EosRule, FailureClass, Message, Nanos, Outcome, Prompt, Request, RequestId, Role, Stamp, Tokens,
};
use fizeau_sim::{
    Emission, Engine, EngineConfig, EngineJob, FixedTiming, Gauges, JobId, JobTiming,
    PrefixCaching, Serve, SimTransport, StepLoad, SubmitError, VirtualTime,
};

use futures_util::future::join;
use proptest::prelude::*;

use crate::support::{affine, ms, request, send};

/// Gives three tokens of each job at once and then one, and keeps what it was given.
#[derive(Default)]
struct Bursts {
    jobs: Rc<RefCell<Vec<EngineJob>>>,
    next: usize,
}

impl Serve for Bursts {
    fn submit(&mut self, job: EngineJob) -> Result<(), SubmitError> {
        self.jobs.borrow_mut().push(job);
        Ok(())
    }

    fn cancel(&mut self, _: JobId) {}

    fn next_event(&self) -> Option<Stamp> {
        let jobs = self.jobs.borrow();
        jobs.get(self.next).map(|job| job.at + Nanos::from_millis(20))
    }

    fn advance(&mut self, to: Stamp, emit: &mut dyn FnMut(Emission)) {
        let Some(job) = self.jobs.borrow().get(self.next).cloned() else { return };
        let first = job.at + Nanos::from_millis(10);
        let cached_tokens = Tokens::new(4);
        let timing = JobTiming {
            submitted: job.at,
            admitted: job.at,
            first_token: first,
            cached_tokens,
            preemptions: 0,
        };
        let part = |at, index, count| Emission {
            job: job.id,
            rank: 0,
            at,
            index,
            count,
            last: index > 0,
            timing,
        };
        emit(part(first, 0, 3));
        emit(part(to, 3, 1));
        self.next += 1;
    }

    fn longest_job(&self) -> Option<Tokens> {
        None
    }

    fn prefix_block(&self) -> Option<NonZeroU64> {
        NonZeroU64::new(4)
    }

    fn gauges(&self) -> Gauges {
        Gauges::default()
    }
}

#[test]
fn tokens_that_leave_together_arrive_together() {
    let time = VirtualTime::new();
    let transport = SimTransport::new(&time, Bursts::default()).keeping_text();
    let tape = time.block_on(send(&transport, request(0, 9, 4))).unwrap();
    let arrivals: Vec<_> = tape.arrivals.iter().map(|a| (a.at, a.read, a.tokens)).collect();
    assert_eq!(arrivals, [(ms(10), 0, 3), (ms(20), 1, 1)]);
    assert_eq!(tape.output_tokens(), Tokens::new(4));
    assert_eq!(tape.usage.unwrap().cached_tokens, Some(Tokens::new(4)));
    let text = tape.text.unwrap();
    assert_eq!(text.split_whitespace().count(), 4);
    assert_eq!(tape.arrivals.iter().map(|a| u64::from(a.bytes)).sum::<u64>(), text.len() as u64);
}

#[test]
fn text_is_on_the_tape_only_where_it_is_wanted() {
    let time = VirtualTime::new();
    let transport = SimTransport::new(&time, Bursts::default());
    assert_eq!(time.block_on(send(&transport, request(0, 9, 4))).unwrap().text, None);
}

/// What the engine is told of prompts, one after another.
fn told(requests: Vec<Request>) -> Vec<EngineJob> {
    let (time, engine) = (VirtualTime::new(), Bursts::default());
    let jobs = Rc::clone(&engine.jobs);
    let transport = SimTransport::new(&time, engine);
    for request in requests {
        time.block_on(send(&transport, request)).unwrap();
    }
    jobs.take()
}

fn common(one: &EngineJob, other: &EngineJob) -> usize {
    let (one, other) = (one.content.as_ref().unwrap(), other.content.as_ref().unwrap());
    one.iter().zip(other.iter()).take_while(|(one, other)| one == other).count()
}

fn asking(prompt: Prompt) -> Request {
    Request { eos: EosRule::Ignore, ..Request::new(RequestId(0), prompt, Tokens::new(4)) }
}

#[test]
fn the_engine_learns_what_prompts_have_in_common() {
    let ids = |own: u32| asking(Prompt::TokenIds([vec![7; 8], vec![own; 9]].concat()));
    let jobs = told(vec![ids(1), ids(2), ids(1)]);
    assert_eq!(jobs[0].content.as_ref().unwrap().len(), (17 + 4) / 4);
    assert_eq!((common(&jobs[0], &jobs[1]), common(&jobs[0], &jobs[2])), (2, 4));
    let of_model = |model: &str| Request { model: Some(model.into()), ..ids(1) };
    let jobs = told(vec![ids(1), of_model("a"), of_model("b")]);
    assert_eq!((common(&jobs[0], &jobs[1]), common(&jobs[1], &jobs[2])), (0, 0));
}

fn told_of(prompt: Prompt, output: u64) -> Request {
    Request { max_output_tokens: Tokens::new(output), ..asking(prompt) }
}

proptest! {
    /// Two chains of blocks, of four tokens each, have as many in common as begin both.
    #[test]
    fn blocks_are_equal_as_long_as_all_before_them_is(
        one in prop::collection::vec(0u32..3, 1..40),
        other in prop::collection::vec(0u32..3, 1..40),
    ) {
        let shared = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
        let jobs = told([one, other].map(|ids| told_of(Prompt::TokenIds(ids), 1)).into());
        let equal = common(&jobs[0], &jobs[1]);
        // The one token of the reply may make it one more.
        prop_assert!(equal == shared / 4 || equal == (shared + 1) / 4, "{equal} of {shared} tokens");
    }

    #[test]
    fn full_blocks_of_prompt_and_reply_count(prompt in 1usize..100, output in 1u64..100) {
        let jobs = told(vec![told_of(Prompt::TokenIds(vec![7; prompt]), output)]);
        let blocks = jobs[0].content.as_ref().unwrap().len() as u64;
        prop_assert_eq!(blocks, (prompt as u64 + output) / 4);
    }

    /// What the model said is known again where it comes back in a text.
    #[test]
    fn a_reply_is_found_in_the_next_prompt(words in 1u64..80, before in 0usize..9) {
        let (time, engine) = (VirtualTime::new(), Bursts::default());
        let jobs = Rc::clone(&engine.jobs);
        let transport = SimTransport::new(&time, engine).keeping_text();
        let ask = |text: &str| {
            let prompt = Prompt::Text(text.to_owned());
            time.block_on(send(&transport, asking(prompt))).unwrap().text.unwrap()
        };
        // So that it is the reply of another number.
        (0..before).for_each(|_| drop(ask("x")));
        let text = "word ".repeat(words as usize);
        let said = ask(&text);
        ask(&format!("{text}{said} and more"));
        let jobs = jobs.take();
        let blocks = (words as usize + 4) / 4;
        prop_assert_eq!(common(&jobs[before], &jobs[before + 1]), blocks);
    }
}

#[test]
fn forms_and_roles_share_nothing() {
    let chat = |role| {
        let content = "a b c d e".to_owned();
        asking(Prompt::Chat(vec![Message { role, content }]))
    };
    let text = asking(Prompt::Text("a b c d e".to_owned()));
    let jobs = told(vec![chat(Role::User), chat(Role::System), text, chat(Role::User)]);
    assert_eq!([1, 2].map(|other| common(&jobs[0], &jobs[other])), [0, 0]);
    assert_eq!((common(&jobs[1], &jobs[2]), common(&jobs[0], &jobs[3])), (0, 1));
}

#[test]
fn a_text_counts_its_words() {
    for (text, words) in [("the speed  of\nlight", 4), ("", 1)] {
        let jobs = told(vec![asking(Prompt::Text(text.to_owned()))]);
        assert_eq!(jobs[0].prompt_tokens, Tokens::new(words), "{text}");
    }
}

#[test]
fn replies_vary_repeat_exactly_and_need_no_escaping() {
    let replies = || {
        let (time, engine) = (VirtualTime::new(), FixedTiming::new(Nanos::ZERO, Nanos::ZERO));
        let transport = SimTransport::new(&time, engine).keeping_text();
        let reply = || time.block_on(send(&transport, request(0, 9, 5_000))).unwrap().text;
        [reply().unwrap(), reply().unwrap()]
    };
    let [first, second] = replies();
    assert_eq!([first.clone(), second.clone()], replies());
    assert_ne!(first, second);
    for text in [first, second] {
        let words: std::collections::BTreeSet<&str> = text.split(' ').skip(1).collect();
        assert!(words.len() > 50, "{} words", words.len());
        let plain = |word: &&str| word.bytes().all(|byte| byte.is_ascii_lowercase());
        assert!(words.iter().all(plain), "{words:?}");
    }
}

#[test]
fn a_prompt_of_known_length_without_tokens_shares_nothing() {
    let unread =
        Request { input_tokens: Some(Tokens::new(100)), ..asking(Prompt::TokenIds(vec![])) };
    let jobs = told(vec![unread]);
    assert_eq!(jobs[0].prompt_tokens, Tokens::new(100));
    assert!(jobs[0].content.is_none());
}

#[test]
fn a_later_turn_begins_with_the_reply_before_it() {
    let (time, engine) = (VirtualTime::new(), Bursts::default());
    let jobs = Rc::clone(&engine.jobs);
    let transport = SimTransport::new(&time, engine).keeping_text();
    let user = |text: &str| Message { role: Role::User, content: text.to_owned() };
    let first = vec![user("what is the speed of light")];
    let reply = time.block_on(send(&transport, asking(Prompt::Chat(first.clone())))).unwrap();
    let content = reply.text.unwrap();
    let said = Message { role: Role::Assistant, content };
    let second = [first, vec![said, user("and of sound")]].concat();
    time.block_on(send(&transport, asking(Prompt::Chat(second)))).unwrap();
    let jobs = jobs.take();
    assert_eq!((jobs[0].prompt_tokens, jobs[1].prompt_tokens), (Tokens::new(6), Tokens::new(13)));
    assert_eq!(common(&jobs[0], &jobs[1]), (6 + 4) / 4, "prompt and reply, in blocks of four");
}

#[test]
fn an_engine_without_a_cache_says_nothing_of_one() {
    let cached = |prefix_caching| {
        let time = VirtualTime::new();
        let config = EngineConfig { prefix_caching, ..EngineConfig::new(1, Tokens::new(1_000)) };
        let transport = SimTransport::new(&time, Engine::new(config, affine).unwrap());
        let usage =
            |id| time.block_on(send(&transport, request(id, 100, 2))).unwrap().usage.unwrap();
        [usage(0), usage(1)].map(|usage| usage.cached_tokens.map(Tokens::get))
    };
    assert_eq!(cached(PrefixCaching::Off), [None, None]);
    assert_eq!(cached(PrefixCaching::On), [Some(0), Some(96)]);
}

#[test]
fn a_full_queue_is_told_as_a_server_tells_it() {
    let time = VirtualTime::new();
    let config = EngineConfig { max_waiting: Some(1), ..EngineConfig::new(1, Tokens::new(1_000)) };
    let step = |_: &StepLoad| Nanos::from_millis(1);
    let transport = SimTransport::new(&time, Engine::new(config, step).unwrap());
    let both = join(send(&transport, request(0, 10, 2)), send(&transport, request(1, 10, 2)));
    let (first, second) = time.block_on(both).unwrap();
    assert!(first.is_success());
    let Outcome::Failed(failure) = second.outcome else { panic!("{:?}", second.outcome) };
    assert_eq!((failure.class, failure.status), (FailureClass::Status, Some(429)));
}

/// The next request of a closed loop is part of the step that begins as the reply before it ends, unless it takes a while to come.
#[test]
fn what_is_on_its_way_misses_the_next_step() {
    let second = |delay| {
        let time = VirtualTime::new();
        let step = |_: &StepLoad| Nanos::from_millis(10);
        let engine = Engine::new(EngineConfig::new(4, Tokens::new(1_000)), step).unwrap();
        let transport = SimTransport::new(&time, engine).with_delay(delay);
        let long = send(&transport, request(0, 10, 9));
        let short = async {
            send(&transport, request(1, 10, 2)).await;
            send(&transport, request(2, 10, 2)).await
        };
        let (_, tape) = time.block_on(join(long, short)).unwrap();
        tape.arrivals[0].at.since(tape.marks.send_start.unwrap()).unwrap()
    };
    assert_eq!(second(Nanos::ZERO), Nanos::from_millis(10));
    assert_eq!(second(Nanos::from_micros(200)), Nanos::from_millis(20));
}

/// One client writes one request after the other: an idle engine begins with the first of those that are due together, and what
/// follows has the next step. A whole cohort in one step would end together, and never part.
#[test]
fn requests_of_one_instant_do_not_share_the_first_step() {
    let first_tokens = |delay| {
        let time = VirtualTime::new();
        let step = |_: &StepLoad| Nanos::from_millis(10);
        let engine = Engine::new(EngineConfig::new(8, Tokens::new(1_000)), step).unwrap();
        let transport = SimTransport::new(&time, engine).with_delay(delay);
        let (one, two) = (send(&transport, request(0, 10, 2)), send(&transport, request(1, 10, 2)));
        let tapes = time.block_on(join(one, join(two, send(&transport, request(2, 10, 2)))));
        let (one, (two, three)) = tapes.unwrap();
        [one, two, three].map(|tape| tape.arrivals[0].at)
    };
    let at = |micros| Stamp::EPOCH + Nanos::from_micros(micros);
    assert_eq!(first_tokens(Nanos::ZERO), [at(10_000); 3]);
    assert_eq!(first_tokens(Nanos::from_micros(50)), [at(10_050), at(20_050), at(20_050)]);
}
