//! A transport without a wire: requests go straight into an engine, in virtual time.

mod calls;

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::fmt;
use std::future::poll_fn;
use std::num::NonZeroU64;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use fizeau_core::{
    Clock, Failure, FailureClass, Nanos, Outcome, Prompt, Release, Request, RequestedTokens,
    ServerTiming, Stamp, StampSource, Tape, TokenSource, Tokens, Transport, Usage,
};

use crate::content::{TokenChain, TokenForm};
use crate::serve::{EngineJob, Gauges, JobId, Serve, SubmitError};
use crate::text;
use crate::virtual_time::{EventSource, VirtualTime};
use calls::{SimCalls, SimReply};

/// A [`Transport`] into a simulated engine.
///
/// A request is submitted at the instant of its first poll and answered at the very instants at which the engine gives
/// tokens, all that leave together in one arrival: there is no network. Headers and first bytes do not exist here,
/// so those marks stay absent; [`fizeau_core::ServerTiming`] tells queueing, prefill and decoding apart. A
/// request that the engine refuses ends as a server would end it, as a failure with status 400, or 429 where its queue is
/// full.
///
/// The length of a prompt is [`Request::input_tokens`], else the number of token ids, else one token a word. An engine that
/// keeps prefixes ([`Serve::prefix_block`]) is told what prompts are made of, token by token, and finds replies again in the
/// later turns of a conversation; a prompt of a known length without tokens shares nothing with another.
#[derive(Clone)]
pub struct SimTransport {
    shared: Rc<EngineState>,
    time: VirtualTime,
    text: ReplyTextUse,
    delay: Nanos,
}

/// What becomes of the text of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReplyTextUse {
    /// Nobody wants it.
    Unwritten,
    /// It is on the tape.
    Kept,
}

struct EngineState {
    engine: RefCell<Box<dyn Serve>>,
    calls: RefCell<SimCalls>,
    /// When the latest request reaches the engine.
    latest: Cell<Stamp>,
}

/// How far two requests of one client are apart at least when they reach the engine: about what it takes to write one.
const APART: Nanos = Nanos::from_micros(10);

impl SimTransport {
    /// A transport into `engine`, which takes part in `time` for as long as the transport or a request of it
    /// lives. Text is not kept.
    #[must_use]
    pub fn new(time: &VirtualTime, engine: impl Serve + 'static) -> Self {
        let shared = Rc::new(EngineState {
            engine: RefCell::new(Box::new(engine)),
            calls: RefCell::default(),
            latest: Cell::new(Stamp::EPOCH),
        });
        let source = Rc::downgrade(&shared);
        time.add_source(source);
        Self { shared, time: time.clone(), text: ReplyTextUse::Unwritten, delay: Nanos::ZERO }
    }

    /// The same, with the text of replies on their tapes: for files, and for the later turns of conversations.
    #[must_use]
    pub fn keeping_text(self) -> Self {
        Self { text: ReplyTextUse::Kept, ..self }
    }

    /// The same, with requests on their way to the engine for so long. In life a client that sends its next request as a reply ends
    /// comes too late for the step that begins then, be it by some microseconds; without a delay it is part of it. And it sends one
    /// request after the other: those that are due at one instant reach the engine ten microseconds apart. An idle engine begins with the
    /// first of them; all at once they would share one step, end together, and never part again.
    #[must_use]
    pub fn with_delay(self, delay: Nanos) -> Self {
        Self { delay, ..self }
    }

    /// How full the engine is, and what has happened in it so far.
    #[must_use]
    pub fn gauges(&self) -> Gauges {
        self.shared.engine.borrow().gauges()
    }

    /// When a request that is sent now reaches the engine.
    fn reaches_engine(&self, sent: Stamp) -> Stamp {
        if self.delay == Nanos::ZERO {
            return sent;
        }
        let at = (sent + self.delay).max(self.shared.latest.get() + APART);
        self.shared.latest.set(at);
        at
    }
}

impl Transport for SimTransport {
    type Error = Infallible;

    /// # Cancel safety
    /// Dropping the future cancels the job: its slot and its cache are free at once.
    async fn send(&self, request: &Request, release: Release) -> Result<Tape, Infallible> {
        let sent = self.time.now();
        let prompt_tokens = prompt_tokens(request);
        let mut tape = blank_tape(request, prompt_tokens, sent);
        (tape.marks.intended, tape.marks.released) = (release.intended, release.released);
        match self.shared.submit(request, prompt_tokens, self.reaches_engine(sent)) {
            Ok(ticket) => {
                let reply = ticket.reply().await;
                tape.text = (self.text == ReplyTextUse::Kept).then(|| reply.text());
                fill(&mut tape, reply, self.shared.keeps_prefixes());
            }
            Err(error) => {
                let failure = Failure::new(FailureClass::Status, error.to_string());
                let status = match error {
                    SubmitError::QueueFull { .. } => 429,
                    _ => 400,
                };
                tape.outcome = Outcome::Failed(Failure { status: Some(status), ..failure });
            }
        }
        tape.marks.end = Some(self.time.now());
        Ok(tape)
    }
}

impl fmt::Debug for SimTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = self.shared.calls.borrow().len();
        f.debug_struct("SimTransport")
            .field("time", &self.time)
            .field("open", &open)
            .finish_non_exhaustive()
    }
}

fn prompt_tokens(request: &Request) -> Tokens {
    let counted = || match &request.prompt {
        Prompt::Body(body) => text::count(body),
        Prompt::Chat(messages) => text::count_words(
            messages.iter().flat_map(|message| message.content.split_whitespace()),
        ),
        Prompt::Text(words) => text::count(words),
        Prompt::TokenIds(ids) => u64::try_from(ids.len()).unwrap_or(u64::MAX),
    };
    request.input_tokens.unwrap_or_else(|| Tokens::new(counted()))
}

/// What the prompt of `request` is made of, in blocks of `block` tokens; none if it has no tokens.
fn chain(request: &Request, block: NonZeroU64) -> Option<TokenChain> {
    let model = request.model.as_deref().unwrap_or_default();
    let chain = |form| TokenChain::new(model, form, block);
    let text = |words: &str| {
        let mut chain = chain(TokenForm::Text);
        chain.words(words);
        chain
    };
    Some(match &request.prompt {
        Prompt::TokenIds(ids) if ids.is_empty() => return None,
        Prompt::TokenIds(ids) => {
            let mut chain = chain(TokenForm::Ids);
            chain.ids(ids);
            chain
        }
        Prompt::Body(body) => text(body),
        Prompt::Text(words) => text(words),
        Prompt::Chat(messages) => {
            let mut chain = chain(TokenForm::Chat);
            for message in messages {
                chain.role(message.role.as_str());
                chain.words(&message.content);
            }
            chain
        }
    })
}

/// The tape of a request of which nothing has been seen yet.
fn blank_tape(request: &Request, prompt_tokens: Tokens, sent: Stamp) -> Tape {
    Tape {
        request: request.id,
        session: request.session,
        turn: request.turn,
        part: request.part,
        model: request.model.clone(),
        requested: RequestedTokens {
            input_tokens: Some(prompt_tokens),
            output_tokens: request.max_output_tokens,
            eos: request.eos,
        },
        stamps: StampSource::Simulated,
        token_source: TokenSource::TokenIds,
        ..Tape::sent_at(sent)
    }
}

/// Writes what the engine gave into the tape; what it had kept of the prompt only if it keeps prefixes.
fn fill(tape: &mut Tape, reply: SimReply, keeps_prefixes: bool) {
    let last = reply.last;
    tape.arrivals = reply.arrivals;
    tape.usage = Some(Usage {
        prompt_tokens: tape.requested.input_tokens,
        completion_tokens: Some(tape.output_tokens()),
        cached_tokens: last.filter(|_| keeps_prefixes).map(|last| last.timing.cached_tokens),
        ..Usage::default()
    });
    tape.server_timing = last.map(|last| ServerTiming {
        queue: Some(last.timing.queue()),
        prefill: Some(last.timing.prefill()),
        decode: Some(last.at.saturating_since(last.timing.first_token)),
    });
}

impl EngineState {
    fn keeps_prefixes(&self) -> bool {
        self.engine.borrow().prefix_block().is_some()
    }

    fn submit(
        self: &Rc<Self>,
        request: &Request,
        prompt_tokens: Tokens,
        at: Stamp,
    ) -> Result<JobTicket, SubmitError> {
        let (mut calls, mut engine) = (self.calls.borrow_mut(), self.engine.borrow_mut());
        let (id, output) = (calls.next_id(), request.max_output_tokens);
        let chain = engine.prefix_block().and_then(|block| chain(request, block));
        let content = chain.map(|chain| chain.content(id, output));
        engine.submit(EngineJob { content, ..EngineJob::new(id, prompt_tokens, output, at) })?;
        calls.open(output);
        Ok(JobTicket { id, shared: Rc::clone(self) })
    }
}

impl EventSource for EngineState {
    fn next_event(&self) -> Option<Stamp> {
        self.engine.borrow().next_event()
    }

    fn advance(&self, to: Stamp, ready: &mut Vec<Waker>) {
        let mut calls = self.calls.borrow_mut();
        self.engine.borrow_mut().advance(to, &mut |emission| {
            let Some(call) = calls.get_mut(emission.job) else {
                return;
            };
            call.reply.add(emission);
            if emission.last {
                ready.extend(call.waker.take());
            }
        });
    }
}

/// The right to the tokens of a job; given up, the job is cancelled.
struct JobTicket {
    id: JobId,
    shared: Rc<EngineState>,
}

impl JobTicket {
    /// All tokens, once the last has left.
    async fn reply(self) -> SimReply {
        poll_fn(|context| self.poll(context)).await;
        let call = self.shared.calls.borrow_mut().close(self.id);
        call.map_or_else(SimReply::default, |call| call.reply)
    }

    fn poll(&self, context: &Context<'_>) -> Poll<()> {
        let mut calls = self.shared.calls.borrow_mut();
        let Some(call) = calls.get_mut(self.id).filter(|call| !call.reply.is_whole()) else {
            return Poll::Ready(());
        };
        let previous = call.waker.replace(context.waker().clone());
        // Wakers are dropped after the borrow has ended: one may own futures of this very transport.
        drop(calls);
        drop(previous);
        Poll::Pending
    }
}

impl Drop for JobTicket {
    fn drop(&mut self) {
        let call = self.shared.calls.borrow_mut().close(self.id);
        if call.is_some_and(|call| !call.reply.is_whole()) {
            self.shared.engine.borrow_mut().cancel(self.id);
        }
    }
}
