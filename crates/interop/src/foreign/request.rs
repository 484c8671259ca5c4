//! What another tool saw of a request, as a tape.

use fizeau_core::{
    Arrival, Channel, Failure, FailureClass, Finish, Nanos, NanosError, Outcome, RequestId,
    SessionId, Stamp, Tape, TokenSource, Tokens, Usage,
};

use super::ForeignError;
use super::read::Record;

/// What another tool saw of a request. Times are seconds; instants count from an epoch of the level's own.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    /// When it ought to have left; the sending where that is not known.
    pub(super) intended: Option<f64>,
    /// When it was sent.
    pub(super) sent: f64,
    /// From the sending to the first of its output; none where nothing came.
    pub(super) ttft: Option<f64>,
    /// Between each event of output and the one before it.
    pub(super) gaps: Vec<f64>,
    /// How many tokens each event had; empty where that is not known.
    pub(super) tokens: Vec<u32>,
    /// From the sending to the end of the reply. Where that is not known, a reply ended with the last of its output, and a request that
    /// failed has no known end.
    pub(super) end: Option<f64>,
    /// The prompt's length.
    pub(super) input: Option<u64>,
    /// How many tokens the reply had.
    pub(super) output: u64,
    /// What went wrong, in the tool's words; empty if nothing did.
    pub(super) error: String,
    /// Whether it failed.
    pub(super) is_failed: bool,
    /// The status of the reply, where the tool says it of one that failed.
    pub(super) status: Option<u16>,
    /// The session and which turn of it; a session of its own where that is not known.
    pub(super) turn: Option<(u64, u32)>,
    /// Tokens of the prompt that came out of a prefix cache, by the server's count.
    pub(super) cached: Option<u64>,
    /// Tokens of the reply that were reasoning.
    pub(super) reasoning: Option<u64>,
    /// The text of the reply, where the file has it.
    pub(super) text: Option<String>,
}

impl Seen {
    /// The tapes of requests, in the order in which they ended, first those of which that is not known; `field` names what says when one began.
    pub(super) fn tapes(
        all: impl Iterator<Item = Self>,
        record: &Record<'_>,
        field: impl Fn(usize) -> String,
    ) -> Result<Vec<Tape>, ForeignError> {
        let tape = |(index, seen): (usize, Self)| {
            let wrong = |error: NanosError| {
                let found = format!("\"{error}\"");
                record.wrong(&field(index), &found, "an instant of the run")
            };
            seen.tape(index as u64).map_err(wrong)
        };
        let mut tapes: Vec<Tape> = all.enumerate().map(tape).collect::<Result<_, _>>()?;
        tapes.sort_by_key(|tape| tape.marks.end);
        Ok(tapes)
    }

    /// The tape of the `index`-th request. The tokens of the reply are spread over its events where those of each do not come to as many:
    /// which event had how many is an estimate.
    fn tape(self, index: u64) -> Result<Tape, NanosError> {
        let instant = |seconds: f64| Nanos::from_secs_f64(seconds).map(|at| Stamp::EPOCH + at);
        let mut tape = Tape::sent_at(instant(self.sent)?);
        tape.request = RequestId(index);
        let (session, turn) = self.turn.unwrap_or((index, 0));
        (tape.session, tape.turn) = (SessionId(session), turn);
        if let Some(intended) = self.intended {
            tape.marks.intended = instant(intended.min(self.sent))?;
        }
        tape.requested.input_tokens = self.input.map(Tokens::new);
        // Added up in seconds: each gap rounded by itself would drift.
        let mut at = self.sent + self.ttft.unwrap_or_default();
        if self.ttft.is_some() {
            tape.arrivals.push(Arrival::tokens(instant(at)?, 1, Channel::Visible));
            for gap in &self.gaps {
                at += gap;
                tape.arrivals.push(Arrival::tokens(instant(at)?, 1, Channel::Visible));
            }
        }
        let end = self.end.map(|end| (self.sent + end).max(at));
        let end = end.or_else(|| (!self.is_failed).then_some(at));
        tape.marks.end = end.map(instant).transpose()?;
        tape.marks.first_byte = tape.first_token();
        if self.output > 0 {
            tape.spread_tokens(Tokens::new(self.output), TokenSource::FinalUsageSpread);
            let told: u64 = self.tokens.iter().copied().map(u64::from).sum();
            if told == self.output && self.tokens.len() == tape.arrivals.len() {
                let events = tape.arrivals.iter_mut().zip(self.tokens);
                events.for_each(|(event, tokens)| event.tokens = tokens);
            }
            tape.usage = Some(Usage {
                completion_tokens: Some(Tokens::new(self.output)),
                cached_tokens: self.cached.map(Tokens::new),
                reasoning_tokens: self.reasoning.map(Tokens::new),
                ..Usage::default()
            });
        }
        tape.text = self.text.filter(|text| !text.is_empty());
        tape.outcome = match (self.is_failed, tape.arrivals.is_empty()) {
            (true, _) => Outcome::Failed(failure(&self.error, self.status)),
            (false, true) => {
                Outcome::Failed(Failure::new(FailureClass::Empty, "no token in the file"))
            }
            (false, false) => Outcome::Complete(Finish::Unstated),
        };
        Ok(tape)
    }
}

const CLASSES: [FailureClass; 12] = [
    FailureClass::Cancelled,
    FailureClass::Connect,
    FailureClass::Empty,
    FailureClass::InStreamError,
    FailureClass::Malformed,
    FailureClass::Status,
    FailureClass::TimeoutConnect,
    FailureClass::TimeoutFirstToken,
    FailureClass::TimeoutIdle,
    FailureClass::TimeoutTotal,
    FailureClass::Tls,
    FailureClass::Truncated,
];

/// What an HTTP status of failure is called, as aiohttp's `reason` has it, which vLLM's and SGLang's clients keep as the error.
const REASONS: [&str; 9] = [
    "Bad Request",
    "Unauthorized",
    "Forbidden",
    "Not Found",
    "Too Many Requests",
    "Internal Server Error",
    "Bad Gateway",
    "Service Unavailable",
    "Gateway Timeout",
];

/// What went wrong, as the file of a tool has it: the same is read of it again. In front of the detail stands the name of the class where
/// the detail alone does not tell that.
pub(super) fn error_text(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Complete(_) => String::new(),
        Outcome::Failed(own) => match failure(&own.detail, None).class == own.class {
            true => own.detail.clone(),
            false => own.to_string(),
        },
    }
}

/// A failure by its text and its status. Ours begin with the name of their class; of others the class is a guess.
fn failure(text: &str, status: Option<u16>) -> Failure {
    let own = text.split_once(": ").and_then(|(name, detail)| {
        let class = CLASSES.into_iter().find(|class| class.as_str() == name)?;
        Some(Failure::new(class, detail))
    });
    let failure = own.unwrap_or_else(|| {
        let is_status = status.is_some() || REASONS.iter().any(|reason| text.contains(reason));
        let class = if is_status {
            FailureClass::Status
        } else if text.contains("imeout") {
            FailureClass::TimeoutTotal
        } else if text.contains("onnect") {
            FailureClass::Connect
        } else if text.is_empty() {
            FailureClass::Empty
        } else {
            FailureClass::InStreamError
        };
        // A traceback has its cause in its last line.
        let last = text.lines().rev().find(|line| !line.trim().is_empty());
        Failure::new(class, last.unwrap_or("no error in the file").trim())
    });
    Failure { status, ..failure }
}

#[cfg(test)]
mod tests {
    use fizeau_core::FailureClass;

    use super::failure;

    #[test]
    fn an_error_is_classed_by_its_text() {
        let cases = [
            ("truncated: the reply broke off", FailureClass::Truncated),
            ("Service Unavailable", FailureClass::Status),
            ("Traceback ...\nasyncio.exceptions.TimeoutError\n", FailureClass::TimeoutTotal),
            ("ClientConnectorError: Cannot connect to host", FailureClass::Connect),
            ("", FailureClass::Empty),
            ("something else", FailureClass::InStreamError),
        ];
        for (text, class) in cases {
            assert_eq!(failure(text, None).class, class, "{text}");
        }
        assert_eq!(failure("Traceback ...\nTimeoutError\n", None).detail, "TimeoutError");
        let busy = failure("busy", Some(503));
        assert_eq!((busy.class, busy.status), (FailureClass::Status, Some(503)));
    }
}
