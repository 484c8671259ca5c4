//! All that was seen of one request. Figures are computed from tapes and from nothing else.

mod arrivals;
mod outcome;

pub use arrivals::{Arrival, Channel};
pub use outcome::{Failure, FailureClass, Finish, Outcome};

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{EosRule, Nanos, Release, RequestId, RequestPurpose, SessionId, Stamp, Tokens};

/// All that was seen of one request: what was asked, its marks, every arrival of generated output, and how it ended.
///
/// In files a tape is one line of JSON; stamps are nanoseconds since the run's epoch (`_ns`), arrivals are stored by
/// column with delta-encoded stamps.
///
/// ```
/// use fizeau_core::{Arrival, Channel, Nanos, Stamp, Tape};
/// let mut tape = Tape::sent_at(Stamp::from_nanos(0));
/// tape.arrivals.push(Arrival::tokens(Stamp::EPOCH + Nanos::from_millis(20), 1, Channel::Visible));
/// assert_eq!(tape.first_token(), Some(Stamp::EPOCH + Nanos::from_millis(20)));
/// assert_eq!(tape.output_tokens().get(), 1);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tape {
    /// The request's number within its plan.
    pub request: RequestId,
    /// The session that it belonged to.
    pub session: SessionId,
    /// Its place within the session, from 0.
    pub turn: u32,
    /// Which of the run's endpoints it went to, from 0; a run with one base URL has no other.
    #[serde(default, skip_serializing_if = "is_first")]
    pub endpoint: u32,
    /// What the request was sent for.
    #[serde(default, skip_serializing_if = "is_load")]
    pub part: RequestPurpose,
    /// The model that was asked, where it is not the endpoint's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Arc<str>>,
    /// The lengths that were requested, to be compared with what came. The key was `asked` up to `fizeau.tapes/1`.
    #[serde(alias = "asked")]
    pub requested: RequestedTokens,
    /// When what happened.
    pub marks: RequestMarks,
    /// The clock that stamped the arrivals.
    pub stamps: StampSource,
    /// Every generation event, in order of arrival. Role-only chunks, usage chunks, comments and end markers are not
    /// arrivals.
    #[serde(with = "arrivals::columns")]
    #[cfg_attr(feature = "schema", schemars(with = "arrivals::columns::Columns"))]
    pub arrivals: Vec<Arrival>,
    /// Where the token counts in `arrivals` come from.
    pub token_source: TokenSource,
    /// What the server said it used; absent where it said nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What the server said of its own timing; kept beside our stamps, never mixed with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_timing: Option<ServerTiming>,
    /// How the connection was come by.
    pub connection: Connection,
    /// The shortest round trip that the kernel had seen on the connection (to a proxy where one stands between) when the reply
    /// ended; absent where it does not say.
    #[serde(rename = "round_trip_ns", default, skip_serializing_if = "Option::is_none")]
    pub round_trip: Option<Nanos>,
    /// Whether the reply was over before its body: the server said all and left the body open, so that the connection was not free
    /// for another request.
    #[serde(default, skip_serializing_if = "is_no")]
    pub left_open: bool,
    /// How it ended.
    pub outcome: Outcome,
    /// The generated text, kept only when asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl Tape {
    /// A tape on which nothing has been seen yet but the sending: intended, released and sent at `at`. The start of
    /// every tape made by hand, for tests and simulations.
    #[must_use]
    pub fn sent_at(at: Stamp) -> Self {
        Self {
            request: RequestId::default(),
            session: SessionId::default(),
            turn: 0,
            endpoint: 0,
            part: RequestPurpose::Load,
            model: None,
            requested: RequestedTokens::default(),
            marks: RequestMarks {
                send_start: Some(at),
                send_end: Some(at),
                ..RequestMarks::released(Release::at(at))
            },
            stamps: StampSource::User,
            arrivals: Vec::new(),
            token_source: TokenSource::Events,
            usage: None,
            server_timing: None,
            connection: Connection::Reused,
            round_trip: None,
            left_open: false,
            outcome: Outcome::Complete(Finish::Length),
            text: None,
        }
    }

    /// When the first token came, on any channel: the first arrival, but for what has no tokens (an embedding).
    #[must_use]
    pub fn first_token(&self) -> Option<Stamp> {
        let mut made_of_tokens = self.arrivals.iter().filter(|a| a.channel.has_tokens());
        made_of_tokens.next().map(|arrival| arrival.at)
    }

    /// When the first token came that a reader would see (text, a tool call or a refusal, not reasoning).
    #[must_use]
    pub fn first_visible(&self) -> Option<Stamp> {
        let mut visible = self.arrivals.iter().filter(|arrival| arrival.channel.is_visible());
        visible.next().map(|arrival| arrival.at)
    }

    /// When the last of the output came, a token or an embedding; the usage chunk and the end marker do not move it.
    #[must_use]
    pub fn last_output(&self) -> Option<Stamp> {
        self.arrivals.last().map(|arrival| arrival.at)
    }

    /// When the last token came; the usage chunk and the end marker do not move it.
    #[must_use]
    pub fn last_token(&self) -> Option<Stamp> {
        let mut made_of_tokens = self.arrivals.iter().rev().filter(|a| a.channel.has_tokens());
        made_of_tokens.next().map(|arrival| arrival.at)
    }

    /// How many tokens were received; [`Tape::token_source`] says how that is known.
    #[must_use]
    pub fn output_tokens(&self) -> Tokens {
        self.arrivals.iter().map(|arrival| Tokens::new(arrival.tokens.into())).sum()
    }

    /// Shares `total` tokens over the arrivals, as evenly as whole numbers allow and the larger shares first, for counts
    /// that are known for the whole reply only. The sum is `total`; which event has how many is an estimate, as
    /// `source` ought to say. Without arrivals nothing changes.
    pub fn spread_tokens(&mut self, total: Tokens, source: TokenSource) {
        let shares = total.spread_over(self.arrivals.len());
        for (arrival, share) in self.arrivals.iter_mut().zip(shares) {
            arrival.tokens = share;
        }
        if !self.arrivals.is_empty() {
            self.token_source = source;
        }
    }

    /// How long the prompt was: the server's word where there is one, else what was asked.
    #[must_use]
    pub fn input_tokens(&self) -> Option<Tokens> {
        let reported = self.usage.and_then(|usage| usage.prompt_tokens);
        reported.or(self.requested.input_tokens)
    }

    /// Puts everything that was seen `later`, so that tapes of several clocks can share an epoch: stamps count from `later`
    /// before the one that they counted from. Lengths of time stay as they are.
    ///
    /// ```
    /// use fizeau_core::{Nanos, Stamp, Tape};
    /// let mut tape = Tape::sent_at(Stamp::EPOCH);
    /// tape.put_later(Nanos::from_millis(5));
    /// assert_eq!(tape, Tape::sent_at(Stamp::EPOCH + Nanos::from_millis(5)));
    /// ```
    pub fn put_later(&mut self, later: Nanos) {
        self.map_stamps(|stamp| stamp + later);
    }

    /// Puts every instant that was seen where `onto` says, as onto another clock.
    ///
    /// ```
    /// use fizeau_core::{Stamp, Tape};
    /// let mut tape = Tape::sent_at(Stamp::from_nanos(7));
    /// tape.map_stamps(|at| Stamp::from_nanos(at.as_nanos().saturating_sub(5)));
    /// assert_eq!(tape, Tape::sent_at(Stamp::from_nanos(2)));
    /// ```
    pub fn map_stamps(&mut self, onto: impl Fn(Stamp) -> Stamp) {
        let mut each = |stamp: &mut Stamp| *stamp = onto(*stamp);
        self.marks.move_stamps(&mut each);
        self.arrivals.iter_mut().for_each(|arrival| each(&mut arrival.at));
    }

    /// Stamps that are less far apart belong together: the kernel had merged the packets before they were read one by one, and no
    /// engine makes tokens so fast.
    pub const TOGETHER: Nanos = Nanos::from_micros(10);

    /// Whether the reply was held back and let go at once, so that it was not streamed: once it had begun, all of its output came
    /// within a hundredth of the time since the sending (or [`Tape::TOGETHER`]), and most events together with the one before. Never
    /// of a single event.
    ///
    /// ```
    /// use fizeau_core::{Arrival, Channel, Nanos, Stamp, Tape};
    /// // After 2 s, 30 events in three packets within 200 us.
    /// let mut tape = Tape::sent_at(Stamp::EPOCH);
    /// for k in 0..30 {
    ///     let at = Stamp::EPOCH + Nanos::from_secs(2) + Nanos::from_micros(k / 10 * 100);
    ///     tape.arrivals.push(Arrival::tokens(at, 1, Channel::Visible));
    /// }
    /// assert!(tape.came_at_once());
    /// ```
    #[must_use]
    pub fn came_at_once(&self) -> bool {
        let ends = self.arrivals.first().map(|first| first.at).zip(self.last_output());
        let (Some((first, last)), Some(sent)) = (ends, self.marks.send_start) else {
            return false;
        };
        let took = last.saturating_since(sent);
        let share = Nanos::from_nanos(took.as_nanos() / 100);
        if last.saturating_since(first) > share.max(Self::TOGETHER) {
            return false;
        }
        let pairs = self.arrivals.iter().zip(self.arrivals.iter().skip(1));
        let together =
            pairs.filter(|(one, next)| next.at.saturating_since(one.at) < Self::TOGETHER);
        2 * together.count() > self.arrivals.len().saturating_sub(1)
    }

    /// Whether the request succeeded by the strict rule: a status of 200, no error object at any time, at least one
    /// token, and the protocol's own end.
    #[must_use]
    pub const fn is_success(&self) -> bool {
        matches!(self.outcome, Outcome::Complete(_))
    }
}

/// For serde, which wants a reference.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_first(endpoint: &u32) -> bool {
    *endpoint == 0
}

/// For serde, which wants a reference.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_no(answer: &bool) -> bool {
    !*answer
}

/// For serde, which wants a reference.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_load(part: &RequestPurpose) -> bool {
    matches!(part, RequestPurpose::Load)
}

/// The lengths that a request asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RequestedTokens {
    /// Prompt length, where whoever made the prompt knew it.
    pub input_tokens: Option<Tokens>,
    /// The most tokens to generate.
    pub output_tokens: Tokens,
    /// Whether the server was to generate past the model's own end.
    pub eos: EosRule,
}

/// The instants of one request, in the order in which they normally happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RequestMarks {
    /// When it ought to have left, by the schedule; in a closed loop, when its slot became free.
    #[serde(rename = "intended_ns")]
    pub intended: Stamp,
    /// When the pacer let it go; later than intended if the pacer was late or a cap on requests in flight held it.
    #[serde(rename = "released_ns")]
    pub released: Stamp,
    /// The making of the connection; absent when one was at hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect: Option<ConnectMarks>,
    /// When the first byte of the request was handed to the kernel; of a request that was sent again, for the first time.
    #[serde(rename = "send_start_ns", default, skip_serializing_if = "Option::is_none")]
    pub send_start: Option<Stamp>,
    /// When its last byte was.
    #[serde(rename = "send_end_ns", default, skip_serializing_if = "Option::is_none")]
    pub send_end: Option<Stamp>,
    /// When the first byte of the reply came.
    #[serde(rename = "first_byte_ns", default, skip_serializing_if = "Option::is_none")]
    pub first_byte: Option<Stamp>,
    /// When the reply's headers were complete.
    #[serde(rename = "headers_ns", default, skip_serializing_if = "Option::is_none")]
    pub headers: Option<Stamp>,
    /// When the reply was over, however it ended: with its body, or as its end marker came where the server left the body open.
    #[serde(rename = "end_ns", default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Stamp>,
}

impl RequestMarks {
    /// Marks of a request that has been released and not yet sent.
    #[must_use]
    pub const fn released(release: Release) -> Self {
        Self {
            intended: release.intended,
            released: release.released,
            connect: None,
            send_start: None,
            send_end: None,
            first_byte: None,
            headers: None,
            end: None,
        }
    }
}

impl RequestMarks {
    fn move_stamps(&mut self, each: &mut impl FnMut(&mut Stamp)) {
        // Each by its name, so that none that is added is forgotten.
        let Self { intended, released, connect, send_start, send_end, first_byte, headers, end } =
            self;
        each(intended);
        each(released);
        let connect = connect.as_mut().map(|ConnectMarks { start, dns, tcp, tls }| {
            [Some(start), dns.as_mut(), Some(tcp), tls.as_mut()]
        });
        let reply = [send_start, send_end, first_byte, headers, end].map(Option::as_mut);
        for stamp in connect.into_iter().flatten().chain(reply).flatten() {
            each(stamp);
        }
    }
}

/// The making of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConnectMarks {
    /// When it began.
    #[serde(rename = "start_ns")]
    pub start: Stamp,
    /// When the name was resolved; absent for a literal address.
    #[serde(rename = "dns_ns", default, skip_serializing_if = "Option::is_none")]
    pub dns: Option<Stamp>,
    /// When the TCP handshake was done.
    #[serde(rename = "tcp_ns")]
    pub tcp: Stamp,
    /// When the TLS handshake was done; absent without TLS.
    #[serde(rename = "tls_ns", default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Stamp>,
}

/// How a request got its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Connection {
    /// Made for this request; the time it took is in the marks and in no latency.
    Fresh,
    /// An idle one was at hand.
    #[default]
    Reused,
    /// An idle one was at hand and broke as the request was sent, which the server cannot have taken: it was sent again, once, on
    /// another. The send start is that of the first try.
    ReplacedStale,
}

/// The clock that stamped the arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum StampSource {
    /// The kernel, as the bytes came in.
    Kernel,
    /// A simulated engine, in virtual time.
    Simulated,
    /// This process, as the read call returned.
    User,
}

/// Where token counts come from, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TokenSource {
    /// None are generated (an embedding): zero is exact.
    Tokenless,
    /// Token ids on each event: exact.
    TokenIds,
    /// A running usage count on each event: exact.
    ContinuousUsage,
    /// One log-probability entry a token: exact.
    Logprobs,
    /// The final usage, spread over the events: the sum is exact, the spread an estimate.
    FinalUsageSpread,
    /// A tokenizer of ours over the whole text: an estimate.
    Tokenizer,
    /// One token an event: a chunk count, which is a token count only by luck.
    Events,
}

impl TokenSource {
    /// Whether the count of each event is exact, so that inter-token latency is too.
    #[must_use]
    pub const fn is_exact(self) -> bool {
        matches!(self, Self::Tokenless | Self::TokenIds | Self::ContinuousUsage | Self::Logprobs)
    }
}

crate::words! {
    /// The name used in files and reports.
    pub TokenSource::as_str {
        Tokenless = "tokenless", TokenIds = "token_ids", ContinuousUsage = "continuous_usage",
        Logprobs = "logprobs", FinalUsageSpread = "final_usage_spread", Tokenizer = "tokenizer",
        Events = "events",
    }
}

/// The token counts that a server reported. A field that it did not report is absent, not zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Usage {
    /// Tokens of the prompt, template included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<Tokens>,
    /// Tokens generated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_tokens: Option<Tokens>,
    /// Tokens of the prompt that a prefix cache supplied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<Tokens>,
    /// Generated tokens that were reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<Tokens>,
}

/// The times that a server reported for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServerTiming {
    /// Time spent waiting for a place.
    #[serde(rename = "queue_ns", default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Nanos>,
    /// Time spent on the prompt.
    #[serde(rename = "prefill_ns", default, skip_serializing_if = "Option::is_none")]
    pub prefill: Option<Nanos>,
    /// Time spent generating.
    #[serde(rename = "decode_ns", default, skip_serializing_if = "Option::is_none")]
    pub decode: Option<Nanos>,
}
