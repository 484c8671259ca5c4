//! What the output of one request is made of: its channels, its text, and how it was cut into events.

use fizeau_core::{Arrival, Channel, PerSec, Stamp, Tape, Tokens};

/// What one successful reply was made of. Of a request that failed all is zero or absent.
///
/// ```
/// use fizeau_core::{Arrival, Channel, Nanos, Stamp, Tape};
/// use fizeau_metrics::RequestOutput;
///
/// let at = |ms, channel, chars| Arrival {
///     bytes: chars,
///     chars,
///     ..Arrival::tokens(Stamp::EPOCH + Nanos::from_millis(ms), 1, channel)
/// };
/// let mut tape = Tape::sent_at(Stamp::EPOCH);
/// tape.arrivals.push(at(20, Channel::Reasoning, 9));
/// tape.arrivals.push(at(30, Channel::Visible, 5));
/// tape.arrivals.push(at(80, Channel::Visible, 4));
///
/// let output = RequestOutput::of(&tape);
/// assert_eq!((output.reasoning.get(), output.visible.get()), (1, 2));
/// assert_eq!(output.text_chars_per_s.map(|rate| rate.get()), Some(80.0)); // four in 50 ms
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct RequestOutput {
    /// Tokens by channel, as they came.
    pub by_channel: ChannelTokens,
    /// How many tokens the server said were reasoning; absent where it said nothing.
    pub reasoning_reported: Option<Tokens>,
    /// Tokens of reasoning: the server's count where it gives one that is not zero, else those of the channel. Some servers
    /// count what they never show, and others have the field and leave it at zero.
    pub reasoning: Tokens,
    /// All other tokens. Where the server never shows its reasoning and its count was spread over what it does show, this is
    /// less than what the channels have.
    pub visible: Tokens,
    /// UTF-8 bytes of text that a reader would see: answer, tool calls, refusal.
    pub text_bytes: u64,
    /// Characters of it (Unicode scalar values).
    pub text_chars: u64,
    /// Bytes that came after the first visible event and what one read brought with it, over the time from that to the last one; absent
    /// unless text came later than those.
    pub text_bytes_per_s: Option<PerSec>,
    /// Characters likewise.
    pub text_chars_per_s: Option<PerSec>,
}

/// Tokens by the channel that they came on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChannelTokens {
    /// Thoughts, kept apart from the answer.
    pub reasoning: Tokens,
    /// The answer's text.
    pub visible: Tokens,
    /// Names and arguments of tool calls.
    pub tool_call: Tokens,
    /// The model declines.
    pub refusal: Tokens,
    /// Tokens without text: bytes not yet printable, or special tokens.
    pub silent: Tokens,
}

impl ChannelTokens {
    pub(crate) fn merge(&mut self, other: &Self) {
        self.reasoning += other.reasoning;
        self.visible += other.visible;
        self.tool_call += other.tool_call;
        self.refusal += other.refusal;
        self.silent += other.silent;
    }

    /// Takes in events of one channel; one that is not made of tokens has no place here.
    fn note(&mut self, run: &[Arrival], sums: Sums) {
        let count = match run.first().map(|event| event.channel) {
            Some(Channel::Reasoning) => &mut self.reasoning,
            Some(Channel::Visible) => &mut self.visible,
            Some(Channel::ToolCall) => &mut self.tool_call,
            Some(Channel::Refusal) => &mut self.refusal,
            Some(Channel::Silent) => &mut self.silent,
            _ => return,
        };
        *count += Tokens::new(sums.tokens);
    }
}

impl RequestOutput {
    /// What `tape` holds.
    #[must_use]
    pub fn of(tape: &Tape) -> Self {
        Self::with(tape, tape.output_tokens())
    }

    /// What `tape` holds, whose tokens have been added up.
    pub(crate) fn with(tape: &Tape, output: Tokens) -> Self {
        if !tape.is_success() {
            return Self::default();
        }
        let mut by_channel = ChannelTokens::default();
        let mut text = Text::default();
        // A reply changes its channel once or twice, so sums over runs cost less than one addition an event.
        for run in tape.arrivals.chunk_by(|event, next| event.channel == next.channel) {
            let sums = Sums::of(run);
            by_channel.note(run, sums);
            text.note(run, sums);
        }
        let reported = tape.usage.and_then(|usage| usage.reasoning_tokens);
        let said = reported.filter(|&tokens| tokens > Tokens::ZERO);
        let reasoning = said.unwrap_or(by_channel.reasoning).min(output);
        Self {
            by_channel,
            reasoning_reported: reported,
            reasoning,
            visible: Tokens::new(output.get() - reasoning.get()),
            text_bytes: text.bytes,
            text_chars: text.chars,
            text_bytes_per_s: text.rate(text.bytes - text.first.0),
            text_chars_per_s: text.rate(text.chars - text.first.1),
        }
    }
}

/// What events hold together.
#[derive(Clone, Copy)]
struct Sums {
    tokens: u64,
    bytes: u64,
    chars: u64,
}

impl Sums {
    fn of(run: &[Arrival]) -> Self {
        run.iter().fold(Self { tokens: 0, bytes: 0, chars: 0 }, |sums, event| Self {
            tokens: sums.tokens + u64::from(event.tokens),
            bytes: sums.bytes + u64::from(event.bytes),
            chars: sums.chars + u64::from(event.chars),
        })
    }
}

/// Visible text so far.
#[derive(Default)]
struct Text {
    bytes: u64,
    chars: u64,
    /// Bytes and characters of the first event, and of what came in one read with it: that took no time to us.
    first: (u64, u64),
    span: Option<(Stamp, Stamp)>,
}

impl Text {
    /// Takes in events of one channel, if it is one that a reader sees.
    fn note(&mut self, run: &[Arrival], sums: Sums) {
        let Some((first, last)) = run.first().zip(run.last()) else { return };
        if !first.channel.is_visible() {
            return;
        }
        self.bytes += sums.bytes;
        self.chars += sums.chars;
        let (from, _) = self.span.unwrap_or((first.at, last.at));
        self.span = Some((from, last.at));
        let at_once = |event: &&Arrival| event.at.saturating_since(from) < Tape::TOGETHER;
        for event in run.iter().take_while(at_once) {
            self.first.0 += u64::from(event.bytes);
            self.first.1 += u64::from(event.chars);
        }
    }

    /// Of what came after the first event; none where nothing did, or no time passed.
    fn rate(&self, later: u64) -> Option<PerSec> {
        let (first, last) = self.span?;
        let seconds = last.since(first)?.as_secs_f64();
        (later > 0 && seconds > 0.0).then(|| PerSec::new(later as f64 / seconds))
    }
}
