//! What of a request reaches an engine in virtual time, and what of its reply the tape.

use std::cell::RefCell;
use std::num::NonZeroU64;
use std::rc::Rc;

use fizeau_core::{
    EosRule, FailureClass, Message, Nanos, Outcome, Prompt, Request, RequestId, Role, Stamp, Tokens,
};
use fizeau_sim::{
    Emission, Engine, EngineConfig, Gauges, Job, JobId, JobTiming, PrefixCaching, Serve,
    SimTransport, StepLoad, SubmitError, VirtualTime,
};

use futures_util::future::join;

use crate::support::{affine, ms, request, send};

/// Gives three tokens of each job at once and then one, and keeps what it was given.
#[derive(Default)]
struct Bursts {
    jobs: Rc<RefCell<Vec<Job>>>,
    next: usize,
}

impl Serve for Bursts {
    fn submit(&mut self, job: Job) -> Result<(), SubmitError> {
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
        let part =
            |at, index, count| Emission { job: job.id, at, index, count, last: index > 0, timing };
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
fn told(requests: Vec<Request>) -> Vec<Job> {
    let (time, engine) = (VirtualTime::new(), Bursts::default());
    let jobs = Rc::clone(&engine.jobs);
    let transport = SimTransport::new(&time, engine);
    for request in requests {
        time.block_on(send(&transport, request)).unwrap();
    }
    jobs.take()
}

fn common(one: &Job, other: &Job) -> usize {
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
