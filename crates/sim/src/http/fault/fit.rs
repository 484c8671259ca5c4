//! Which replies a fault can befall, beside which others, and what it makes of their end.

use super::kind::Kind;
use crate::http::ask::{Ask, Delivery, Route, StreamUsage};
use crate::http::truth::Finish;

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
            || (self.ends_reply() && other.ends_reply())
            || (self.replaces_reply() && !other.is_of_server())
            || (other.replaces_reply() && !self.is_of_server())
    }

    /// Whether something else comes instead of the reply.
    pub(super) const fn replaces_reply(self) -> bool {
        matches!(
            self,
            Self::ResetAtOnce
                | Self::CloseAtOnce
                | Self::NoReply
                | Self::Garbage
                | Self::CutHead
                | Self::TooMany
                | Self::Unavailable
                | Self::Internal
        )
    }

    /// Whether it is about what OpenAI's chunks say.
    const fn is_of_chunks(self) -> bool {
        matches!(
            self,
            Self::Bundle
                | Self::FirstBundle
                | Self::UsageWithChoices
                | Self::ZeroUsage
                | Self::FinishChunk
                | Self::Echo
                | Self::Cumulative
                | Self::Cached
                | Self::UsageOff
                | Self::PromptOff
                | Self::Choices
                | Self::Filter
                | Self::ErrorFinish
                | Self::ErrorThenUsage
        )
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
    pub(super) fn fits(self, ask: &Ask, unstreamed: bool) -> bool {
        let chunks = matches!(ask.route, Route::Chat | Route::Completions);
        match (self, ask.delivery) {
            _ if self.is_of_server() => false,
            (Self::Stop | Self::Close, _) => true,
            _ if self.replaces_reply() => true,
            (Self::Unstreamed, delivery) => delivery == Delivery::Streamed,
            (_, Delivery::Whole) => false,
            _ if unstreamed => false,
            (Self::Reasoning, _) => ask.route == Route::Chat,
            // Nothing stands before the first token of the others.
            (Self::RoleAtOnce, _) => !matches!(ask.route, Route::Completions | Route::Generate),
            // Where each event holds all the text so far, a token of its own cannot change it.
            (Self::EmptyText | Self::Utf8Cut, _) => ask.route != Route::Generate,
            // Where there is no such reason.
            (Self::Abort, _) => ask.route != Route::Messages,
            (Self::ContentFilter, _) => ask.route != Route::Generate,
            // Where an error is told from other events by more than its object.
            (Self::ErrorText, _) => chunks || ask.route == Route::Generate,
            _ if self.is_of_usage() => chunks && ask.usage != StreamUsage::Never,
            _ => chunks || !self.is_of_chunks(),
        }
    }

    /// Why the record says that a reply ended that this ends.
    pub(super) const fn finish(self) -> Finish {
        match self {
            Self::Error
            | Self::ErrorText
            | Self::ErrorFinish
            | Self::ErrorThenUsage
            | Self::ContentFilter => Finish::Error,
            _ => Finish::Abort,
        }
    }

    /// Whether nothing of the reply comes after its place, so that the engine need not go on.
    pub(super) const fn ends_reply(self) -> bool {
        matches!(
            self,
            Self::Error
                | Self::ErrorText
                | Self::ErrorFinish
                | Self::ErrorThenUsage
                | Self::ContentFilter
                | Self::Abort
                | Self::Eof
                | Self::BadChunk
                | Self::CutChunk
                | Self::Fin
                | Self::Reset
        )
    }
}
