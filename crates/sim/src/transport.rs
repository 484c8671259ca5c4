//! A transport without a wire: requests go straight into an engine, in virtual time.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use fizeau_core::{
    Arrival, Asked, Channel, Clock, Failure, FailureClass, Outcome, Prompt, Request, ServerTiming,
    Stamp, StampSource, Tape, TokenSource, Tokens, Transport, Usage,
};

use crate::job::{Emission, Job, JobId, SubmitError};
use crate::serve::Serve;
use crate::text;
use crate::virtual_time::{Source, VirtualTime};

/// A [`Transport`] into a simulated engine.
///
/// A request is submitted at the instant of its first poll and answered one token an arrival, at the very
/// instants at which the engine gives them: there is no network. Headers and first bytes do not exist here,
/// so those marks stay absent; [`fizeau_core::ServerTiming`] tells queueing, prefill and decoding apart. A
/// request that the engine refuses ends as a server would end it, as a failure with status 400.
///
/// The length of a prompt is [`Request::input_tokens`], else the number of token ids, else one token a word.
#[derive(Clone)]
pub struct SimTransport {
    shared: Rc<Shared>,
    time: VirtualTime,
}

struct Shared {
    engine: RefCell<Box<dyn Serve>>,
    calls: RefCell<Calls>,
}

#[derive(Default)]
struct Calls {
    open: BTreeMap<JobId, Call>,
    next_id: u64,
}

/// A request under way.
#[derive(Default)]
struct Call {
    emissions: Vec<Emission>,
    waker: Option<Waker>,
}

impl SimTransport {
    /// A transport into `engine`, which takes part in `time` for as long as the transport or a request of it
    /// lives.
    #[must_use]
    pub fn new(time: &VirtualTime, engine: impl Serve + 'static) -> Self {
        let shared =
            Rc::new(Shared { engine: RefCell::new(Box::new(engine)), calls: RefCell::default() });
        let source = Rc::downgrade(&shared);
        time.add_source(source);
        Self { shared, time: time.clone() }
    }
}

impl Transport for SimTransport {
    type Error = Infallible;

    /// # Cancel safety
    /// Dropping the future cancels the job: its slot and its cache are free at once.
    async fn send(
        &self,
        request: &Request,
        intended: Stamp,
        released: Stamp,
    ) -> Result<Tape, Infallible> {
        let sent = self.time.now();
        let prompt_tokens = prompt_tokens(request);
        let mut tape = blank_tape(request, prompt_tokens, sent);
        tape.marks.intended = intended;
        tape.marks.released = released;
        match self.shared.submit(prompt_tokens, request.max_output_tokens, sent) {
            Ok(ticket) => fill(&mut tape, ticket.id, &ticket.emissions().await),
            Err(error) => {
                let failure = Failure::new(FailureClass::Status, error.to_string());
                tape.outcome = Outcome::Failed(Failure { status: Some(400), ..failure });
            }
        }
        tape.marks.end = Some(self.time.now());
        Ok(tape)
    }
}

impl fmt::Debug for SimTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = self.shared.calls.borrow().open.len();
        f.debug_struct("SimTransport")
            .field("time", &self.time)
            .field("open", &open)
            .finish_non_exhaustive()
    }
}

fn prompt_tokens(request: &Request) -> Tokens {
    let counted = || match &request.prompt {
        Prompt::Body(body) => text::count(body),
        Prompt::Chat(messages) => messages.iter().map(|m| text::count(&m.content)).sum(),
        Prompt::Text(words) => text::count(words),
        Prompt::TokenIds(ids) => u64::try_from(ids.len()).unwrap_or(u64::MAX),
    };
    request.input_tokens.unwrap_or_else(|| Tokens::new(counted()))
}

/// The tape of a request of which nothing has been seen yet.
fn blank_tape(request: &Request, prompt_tokens: Tokens, sent: Stamp) -> Tape {
    Tape {
        request: request.id,
        session: request.session,
        turn: request.turn,
        part: request.part,
        model: request.model.clone(),
        asked: Asked {
            input_tokens: Some(prompt_tokens),
            output_tokens: request.max_output_tokens,
            eos: request.eos,
        },
        stamps: StampSource::Simulated,
        token_source: TokenSource::TokenIds,
        ..Tape::sent_at(sent)
    }
}

/// Writes what the engine gave for job `id` into the tape.
fn fill(tape: &mut Tape, id: JobId, emissions: &[Emission]) {
    let arrival = |emission: &Emission| {
        let word = text::word(id, emission.index);
        let size = u32::try_from(word.len()).unwrap_or(u32::MAX);
        Arrival {
            read: u32::try_from(emission.index).unwrap_or(u32::MAX),
            bytes: size,
            // The words are ASCII.
            chars: size,
            ..Arrival::tokens(emission.at, 1, Channel::Visible)
        }
    };
    tape.arrivals = emissions.iter().map(arrival).collect();
    tape.usage = Some(Usage {
        prompt_tokens: tape.asked.input_tokens,
        completion_tokens: Some(tape.output_tokens()),
        ..Usage::default()
    });
    tape.server_timing = emissions.last().map(|last| ServerTiming {
        queue: Some(last.timing.queue()),
        prefill: Some(last.timing.prefill()),
        decode: Some(last.at.saturating_since(last.timing.first_token)),
    });
}

impl Shared {
    fn submit(
        self: &Rc<Self>,
        prompt_tokens: Tokens,
        output_tokens: Tokens,
        at: Stamp,
    ) -> Result<Ticket, SubmitError> {
        let mut calls = self.calls.borrow_mut();
        let id = JobId(calls.next_id);
        let job = Job::new(id, prompt_tokens, output_tokens, at);
        self.engine.borrow_mut().submit(job)?;
        calls.next_id += 1;
        calls.open.insert(id, Call::default());
        Ok(Ticket { id, shared: Rc::clone(self) })
    }
}

impl Source for Shared {
    fn next_event(&self) -> Option<Stamp> {
        self.engine.borrow().next_event()
    }

    fn advance(&self, to: Stamp, ready: &mut Vec<Waker>) {
        let mut calls = self.calls.borrow_mut();
        self.engine.borrow_mut().advance(to, &mut |emission| {
            let Some(call) = calls.open.get_mut(&emission.job) else {
                return;
            };
            call.emissions.push(emission);
            if emission.last {
                ready.extend(call.waker.take());
            }
        });
    }
}

/// The right to the tokens of a job; given up, the job is cancelled.
struct Ticket {
    id: JobId,
    shared: Rc<Shared>,
}

impl Ticket {
    /// All tokens, once the last has left.
    async fn emissions(&self) -> Vec<Emission> {
        poll_fn(|context| self.poll(context)).await
    }

    fn poll(&self, context: &Context<'_>) -> Poll<Vec<Emission>> {
        let mut calls = self.shared.calls.borrow_mut();
        let Some(call) = calls.open.get_mut(&self.id) else {
            return Poll::Ready(Vec::new());
        };
        if call.emissions.last().is_some_and(|emission| emission.last) {
            return Poll::Ready(std::mem::take(&mut call.emissions));
        }
        let previous = call.waker.replace(context.waker().clone());
        // Wakers are dropped after the borrow has ended: one may own futures of this very transport.
        drop(calls);
        drop(previous);
        Poll::Pending
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        // Harmless after the last token: the engine knows the number no longer.
        self.shared.engine.borrow_mut().cancel(self.id);
        let call = self.shared.calls.borrow_mut().open.remove(&self.id);
        drop(call);
    }
}
