//! Every fault by name.

use std::fmt;

use fizeau_core::Nanos;

use crate::http::parsed_request::{Delivery, GeneratingRoute, ParsedRequest, StreamUsage};
use crate::http::truth::TruthFinish;

/// One thing that can be done to a reply, as listed by [`Faults::all`](super::Faults::all).
#[derive(Debug, PartialEq, Eq)]
pub struct FaultKind {
    pub(super) kind: Kind,
    name: &'static str,
    groups: &'static [FaultGroup],
    pub(super) place: FaultTrigger,
    pub(super) value: FaultValue,
    about: &'static str,
}

impl FaultKind {
    /// The name that chooses it, `stall` say.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// What it does, in one line.
    #[must_use]
    pub const fn about(&self) -> &'static str {
        self.about
    }

    /// How it is written, with what may follow the name: `stall@TOKENS:TIME`. Both parts may be left out.
    #[must_use]
    pub fn form(&self) -> String {
        let place = if self.place == FaultTrigger::After { "@TOKENS" } else { "" };
        let value = match self.value {
            FaultValue::None => "",
            FaultValue::Count(_) => ":COUNT",
            FaultValue::Time(_) | FaultValue::TimeOrEver => ":TIME",
        };
        format!("{}{place}{value}", self.name)
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Whether a fault happens after so many tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FaultTrigger {
    Nowhere,
    /// Unless said otherwise after half of the reply.
    After,
}

/// What the faults of a group have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FaultGroup {
    /// Whether it is about what OpenAI's chunks say.
    Chunks,
    /// Whether nothing of the reply comes after its place, so that the engine need not go on.
    Ends,
    /// Whether something else comes instead of the reply.
    Instead,
    /// Whether it is about the server rather than about one request.
    Server,
}

/// What may follow a colon, with its default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FaultValue {
    None,
    /// At least 1.
    Count(u64),
    Time(Nanos),
    TimeOrEver,
}

/// Declares the kinds and their table together, so that none lacks its line.
macro_rules! kinds {
    ($($kind:ident $name:literal [$($group:ident)*] $place:ident, $value:expr, $about:literal;)+) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Kind { $($kind,)+ }

        /// In the order of the list that a user sees.
        pub(super) static KINDS: &[FaultKind] = &[$(FaultKind {
            kind: Kind::$kind, name: $name, groups: &[$(FaultGroup::$group),*], place: FaultTrigger::$place, value: $value,
            about: $about,
        },)+];
    };
}

const fn millis(millis: u64) -> FaultValue {
    FaultValue::Time(Nanos::from_millis(millis))
}

kinds! {
    // What the events say.
    RoleAtOnce "role-at-once" [] Nowhere, FaultValue::None, "the role chunk comes at once, long before the first token";
    Reasoning "reasoning" [] Nowhere, FaultValue::Count(4), "the first tokens of a chat are reasoning and not content";
    Bundle "bundle" [Chunks] Nowhere, FaultValue::Count(4), "an event carries several tokens";
    FirstBundle "first-bundle" [Chunks] Nowhere, FaultValue::Count(4), "the first event carries several tokens, the others one";
    EmptyText "empty-text" [] Nowhere, FaultValue::None, "every other token has an empty text";
    Stop "stop" [] After, FaultValue::None, "the model stops by itself, short of the length asked for";
    UsageWithChoices "usage-with-choices" [Chunks] Nowhere, FaultValue::None, "the usage rides on the last token's chunk";
    ZeroUsage "zero-usage" [Chunks] Nowhere, FaultValue::None, "chunks carry a usage of zeros or null, before and after the true one";
    LateUsage "late-usage" [] Nowhere, millis(50), "usage and [DONE] come long after the last token";
    FinishChunk "finish-chunk" [Chunks] Nowhere, FaultValue::None, "the finish reason comes on a chunk of its own";
    Echo "echo" [Chunks] Nowhere, FaultValue::None, "the first chunk holds the prompt too, as text and as ids";
    Cumulative "cumulative" [Chunks] Nowhere, FaultValue::None, "each chunk holds all the text so far";
    Cached "cached" [Chunks] Nowhere, FaultValue::Count(64), "the usage reports this many prompt tokens as cached";
    UsageOff "usage-off" [Chunks] Nowhere, FaultValue::Count(3), "the usage counts this many output tokens more than were sent";
    PromptOff "prompt-off" [Chunks] Nowhere, FaultValue::Count(5), "the usage counts this many prompt tokens more than were sent";
    Choices "choices" [Chunks] Nowhere, FaultValue::Count(2), "the stream carries several choices, event by event";
    // How the stream ends.
    Error "error" [Ends] After, FaultValue::None, "an error object, then [DONE], under status 200";
    ErrorText "error-text" [Ends] After, FaultValue::None, "an error object that is a mere text, and then nothing";
    ErrorFinish "error-finish" [Chunks Ends] After, FaultValue::None, "an error beside a choice that ends for the reason `error`";
    ErrorThenUsage "error-then-usage" [Chunks Ends] After, FaultValue::None, "an error object, then usage and [DONE] as if all were well";
    ContentFilter "content-filter" [Ends] After, FaultValue::None, "the reply ends for the reason `content_filter`";
    Abort "abort" [Ends] After, FaultValue::None, "the reply ends for the reason `abort`";
    Eof "eof" [Ends] After, FaultValue::None, "the body ends in good order without [DONE]";
    // How the events are encoded.
    Comments "comments" [] Nowhere, FaultValue::None, "comment frames between events";
    GluedComments "glued-comments" [] Nowhere, FaultValue::None, "a comment line glued to the front of each event";
    Crlf "crlf" [] Nowhere, FaultValue::None, "lines end with CR LF";
    Cr "cr" [] Nowhere, FaultValue::None, "lines end with CR";
    NoSpace "no-space" [] Nowhere, FaultValue::None, "no space after `data:`, and one behind the JSON";
    Bom "bom" [] Nowhere, FaultValue::None, "the stream begins with a byte order mark";
    MultiData "multi-data" [] Nowhere, FaultValue::None, "an event has many `data:` lines";
    ExtraFields "extra-fields" [] Nowhere, FaultValue::None, "`id:`, `retry:` and unknown fields, with and without data";
    Huge "huge" [] Nowhere, FaultValue::Count(256 << 10), "events are larger by this many bytes";
    // When the bytes come, and in which pieces.
    KeepAlive "keep-alive" [] Nowhere, millis(5), "comments come until the first token does";
    Coalesce "coalesce" [] Nowhere, FaultValue::Count(4), "the events of several tokens come in one write";
    Burst "burst" [] Nowhere, FaultValue::Count(4 << 10), "a proxy on the way sends on only full buffers";
    Filter "filter" [Chunks] Nowhere, FaultValue::Count(4), "a content filter releases text in blocks, with its annotations";
    Split "split" [] Nowhere, millis(1), "writes are cut before, within and after separators and spaces";
    Utf8Cut "utf8-cut" [] Nowhere, millis(1), "texts have characters of several bytes, and writes are cut within them";
    Drip "drip" [] Nowhere, millis(1), "byte after byte, with this time between them";
    Stall "stall" [] After, FaultValue::TimeOrEver, "silence, for this time or for ever";
    ChunkBytes "chunk-bytes" [] Nowhere, FaultValue::None, "each byte is an HTTP chunk of its own";
    // How the connection behaves.
    Close "close" [] Nowhere, FaultValue::None, "the connection is closed after the reply";
    Gzip "gzip" [] Nowhere, FaultValue::None, "the body is gzip though identity was asked for";
    Unstreamed "unstreamed" [] Nowhere, FaultValue::None, "one JSON body though a stream was asked for";
    BadChunk "bad-chunk" [Ends] After, FaultValue::None, "the size of an HTTP chunk is no number";
    CutChunk "cut-chunk" [Ends] After, FaultValue::None, "the connection ends in the middle of an HTTP chunk";
    Fin "fin" [Ends] After, FaultValue::None, "the server ends its half of the connection and keeps the other";
    Reset "reset" [Ends] After, FaultValue::None, "the connection is reset (RST)";
    ResetAtOnce "reset-at-once" [Instead] Nowhere, FaultValue::None, "the connection is reset instead of a reply";
    CloseAtOnce "close-at-once" [Instead] Nowhere, FaultValue::None, "the connection is closed instead of a reply";
    NoReply "no-reply" [Instead] Nowhere, FaultValue::None, "no reply, ever";
    Garbage "garbage" [Instead] Nowhere, FaultValue::None, "the reply begins with something that is not HTTP";
    CutHead "cut-head" [Instead] Nowhere, FaultValue::None, "the connection ends in the middle of the head";
    TooMany "429" [Instead] Nowhere, millis(1_000), "status 429 with this time in Retry-After";
    Unavailable "503" [Instead] Nowhere, millis(1_000), "status 503 with this time in Retry-After";
    Internal "500" [Instead] Nowhere, FaultValue::None, "status 500 with an error object";
    // The server as a whole; not by request.
    Connections "connections" [Server] Nowhere, FaultValue::Count(100), "whole server: at most this many connections are accepted at a time";
    SlowAccept "slow-accept" [Server] Nowhere, millis(20), "whole server: connections are accepted one by one, this long apart";
    Deaf "deaf" [Server] Nowhere, FaultValue::None, "whole server: connections are accepted and never read";
}

impl Kind {
    pub(super) fn is(self, group: FaultGroup) -> bool {
        KINDS.get(self as usize).is_some_and(|kind| kind.groups.contains(&group))
    }

    /// The most that may be asked of it.
    pub(super) const fn most(self) -> u64 {
        match self {
            Self::Choices => 128,
            Self::Huge => MOST_PADDING,
            _ => u64::MAX,
        }
    }

    /// The least, of counts and of nanoseconds.
    pub(super) const fn least(self) -> u64 {
        match self {
            // Comments without a pause would leave no time for anything else.
            Self::KeepAlive => 1_000,
            _ => 0,
        }
    }
}

/// How much larger events may be made.
const MOST_PADDING: u64 = 16 << 20;

/// The kind of that name.
pub(super) fn named(name: &str) -> Option<&'static FaultKind> {
    KINDS.iter().find(|kind| kind.name == name)
}

// Which replies a fault can befall, beside which others, and what it makes of their end.

impl Kind {
    /// Whether it does nothing, or keeps `other` from doing anything, where both befall one reply.
    pub(super) fn excludes(self, other: Self) -> bool {
        let two =
            |one: Self, two: Self| (self == one && other == two) || (self == two && other == one);
        self == other
            || two(Self::Crlf, Self::Cr)
            || two(Self::Drip, Self::Split)
            || two(Self::Split, Self::Utf8Cut)
            || two(Self::UsageWithChoices, Self::LateUsage)
            || (self.is(FaultGroup::Ends) && other.is(FaultGroup::Ends))
            || (self.is(FaultGroup::Instead) && !other.is(FaultGroup::Server))
            || (other.is(FaultGroup::Instead) && !self.is(FaultGroup::Server))
    }

    /// Whether the end that it makes has a reason of its own.
    pub(super) const fn says_why(self) -> bool {
        matches!(self, Self::ErrorFinish | Self::ContentFilter | Self::Abort)
    }

    /// Whether it is about the usage that a request asks for.
    const fn is_of_usage(self) -> bool {
        matches!(self, Self::UsageWithChoices | Self::Cached | Self::UsageOff | Self::PromptOff)
    }

    /// Whether it can befall the reply to `ask`, which `unstreamed` says to come in one piece after all.
    pub(super) fn fits(self, ask: &ParsedRequest, unstreamed: bool) -> bool {
        let chunks = matches!(ask.route, GeneratingRoute::Chat | GeneratingRoute::Completions);
        match (self, ask.delivery) {
            _ if self.is(FaultGroup::Server) => false,
            (Self::Stop | Self::Close, _) => true,
            _ if self.is(FaultGroup::Instead) => true,
            (Self::Unstreamed, delivery) => delivery == Delivery::Streamed,
            (_, Delivery::Whole) => false,
            _ if unstreamed => false,
            (Self::Reasoning, _) => ask.route == GeneratingRoute::Chat,
            // Nothing stands before the first token of the others.
            (Self::RoleAtOnce, _) => {
                !matches!(ask.route, GeneratingRoute::Completions | GeneratingRoute::Generate)
            }
            // Where each event holds all the text so far, a token of its own cannot change it.
            (Self::EmptyText | Self::Utf8Cut, _) => ask.route != GeneratingRoute::Generate,
            // Where there is no such reason.
            (Self::Abort, _) => ask.route != GeneratingRoute::Messages,
            (Self::ContentFilter, _) => ask.route != GeneratingRoute::Generate,
            // Where an error is told from other events by more than its object.
            (Self::ErrorText, _) => chunks || ask.route == GeneratingRoute::Generate,
            _ if self.is_of_usage() => chunks && ask.usage != StreamUsage::Never,
            _ => chunks || !self.is(FaultGroup::Chunks),
        }
    }

    /// Why the record says that a reply ended that this ends.
    pub(super) const fn finish(self) -> TruthFinish {
        match self {
            Self::Error
            | Self::ErrorText
            | Self::ErrorFinish
            | Self::ErrorThenUsage
            | Self::ContentFilter => TruthFinish::Error,
            _ => TruthFinish::Abort,
        }
    }
}
