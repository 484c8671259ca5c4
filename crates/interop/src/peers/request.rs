//! One request, as far as the rules of the tools look at it. Times are seconds unless a name says otherwise.

use fizeau_core::{Channel, Nanos, Stamp, Tape};

use super::genai_perf::is_next_response;
use super::run;

/// What is kept of a tape, which need not be held for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct PeerRequest {
    pub(super) intended: Stamp,
    pub(super) released: Stamp,
    /// When it was sent, or at least let go.
    pub(super) sent: Stamp,
    /// When it was over: the end of its reply, the usage event and the end marker included.
    pub(super) end: Stamp,
    pub(super) is_success: bool,
    /// Cancelled before its end, rather than gone wrong.
    pub(super) was_called_off: bool,
    pub(super) first_token: Option<Stamp>,
    pub(super) last_token: Option<Stamp>,
    pub(super) first_visible: Option<Stamp>,
    /// All generation events.
    pub(super) events: InstantEnds,
    /// Those that carry text, on any channel.
    pub(super) text: InstantEnds,
    /// Those that carry tokens, where there are two tokens.
    pub(super) tokened: InstantEnds,
    /// One a read.
    pub(super) responses: InstantEnds,
    /// The sum of the gaps between all events.
    pub(super) gaps: f64,
    /// The prompt's length: the server's word, else what was asked, else zero.
    pub(super) input: u64,
    /// The tokens on the tape: what stands in for a tokenizer over the text.
    pub(super) counted: u64,
    /// The server's count of output tokens, if it gave one.
    pub(super) reported: Option<u64>,
    /// How many output tokens were asked for.
    pub(super) requested: u64,
}

/// Some instants of a reply in their order, without those in between.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct InstantEnds {
    pub(super) first: Option<Stamp>,
    second: Option<Stamp>,
    pub(super) last: Option<Stamp>,
    pub(super) count: u32,
}

impl InstantEnds {
    fn push(&mut self, at: Stamp) {
        match self.count {
            0 => self.first = Some(at),
            1 => self.second = Some(at),
            _ => {}
        }
        self.last = Some(at);
        self.count += 1;
    }

    /// From the first to the second.
    pub(super) fn first_gap(&self) -> Option<f64> {
        Some(run::secs(self.second?.saturating_since(self.first?)))
    }

    /// From the first to the last, in whole nanoseconds.
    pub(super) fn span(&self) -> Option<Nanos> {
        self.last?.since(self.first?)
    }
}

/// What is taken of the arrivals of a tape, in one pass: there are as many as tokens.
#[derive(Debug, Clone, Copy, Default)]
struct ArrivalEnds {
    events: InstantEnds,
    text: InstantEnds,
    tokened: InstantEnds,
    responses: InstantEnds,
    gaps: f64,
    tokens: u64,
}

impl ArrivalEnds {
    fn of(tape: &Tape) -> Self {
        let mut ends = Self::default();
        let mut response = None;
        for event in &tape.arrivals {
            let gap = ends.events.last.map(|before| event.at.saturating_since(before));
            ends.gaps += gap.map_or(0.0, run::secs);
            ends.events.push(event.at);
            if event.channel != Channel::Silent {
                ends.text.push(event.at);
                if is_next_response(&mut response, event) {
                    ends.responses.push(event.at);
                }
            }
            if event.tokens > 0 {
                ends.tokened.push(event.at);
                ends.tokens = ends.tokens.saturating_add(event.tokens.into());
            }
        }
        // As `run::token_times` has it.
        if ends.tokens < 2 {
            ends.tokened = InstantEnds::default();
        }
        ends
    }
}

impl PeerRequest {
    pub(super) fn of(tape: &Tape) -> Self {
        let reported = tape.usage.and_then(|usage| usage.completion_tokens);
        let ArrivalEnds { events, text, tokened, responses, gaps, tokens } = ArrivalEnds::of(tape);
        Self {
            intended: tape.marks.intended,
            released: tape.marks.released,
            sent: run::sent(tape),
            end: run::end(tape),
            is_success: tape.is_success(),
            was_called_off: run::was_called_off(tape),
            first_token: tape.first_token(),
            last_token: tape.last_token(),
            first_visible: tape.first_visible(),
            events,
            text,
            tokened,
            responses,
            gaps,
            input: tape.input_tokens().map_or(0, fizeau_core::Tokens::get),
            counted: tokens,
            reported: reported.map(fizeau_core::Tokens::get),
            requested: tape.requested.output_tokens.get(),
        }
    }

    /// How long it waited for a slot after it was due.
    pub(super) fn queued(&self) -> Nanos {
        self.released.saturating_since(self.intended)
    }

    /// When the last of the output came, or else the end.
    pub(super) fn last_output(&self) -> Stamp {
        self.events.last.unwrap_or(self.end)
    }

    /// How long after the sending `at` was.
    pub(super) fn after_sending(&self, at: Stamp) -> Option<f64> {
        at.since(self.sent).map(run::secs)
    }

    /// Time to the first token on any channel.
    pub(super) fn ttft(&self) -> Option<f64> {
        self.after_sending(self.first_token?)
    }

    /// Time to the first event that carries text.
    pub(super) fn time_to_text(&self) -> Option<f64> {
        self.after_sending(self.text.first?)
    }

    /// Time to the last of the output.
    pub(super) fn time_to_last(&self) -> Option<f64> {
        self.after_sending(self.events.last?)
    }

    /// Time to the end of the reply.
    pub(super) fn time_to_end(&self) -> Option<f64> {
        self.after_sending(self.end)
    }

    /// The server's count of output tokens, if it gave one that is not zero.
    pub(super) fn reported(&self) -> Option<u64> {
        self.reported.filter(|tokens| *tokens > 0)
    }

    /// The server's count, else the tape's.
    pub(super) fn reported_or_counted(&self) -> u64 {
        self.reported().unwrap_or(self.counted)
    }

    /// The server's count, else the number of events.
    pub(super) fn reported_or_events(&self) -> u64 {
        self.reported().unwrap_or_else(|| self.events.count.into())
    }
}
