//! Reading the twins of an event without parsing them.
//!
//! Successive events of a reply are the same JSON but for the text and a few numbers. After an event was parsed in
//! full, a [`Mould`] is made of it: its bytes, with holes where the text was and behind the keys that the dialect
//! names. An event that fits the mould is the same JSON with other values, so that its meaning is known. Anything
//! else (a finish reason, a usage of its own, an escape, another spacing) does not fit and is parsed in full.
//!
//! What a hole means is not declared but found out, as the mould is made: a made-up twin is parsed in full, and what
//! changed in its meaning must be just what was put into the holes.

mod holes;
mod make;
mod scan;
mod twin;

pub(crate) use make::Mould;
pub(crate) use twin::Twin;

use crate::dialect::{Dialect, WireEvent};
use crate::event::RawEvent;

/// What the making of a mould costs in credit, what an event earns that fits, and one that does not. A stream that
/// never repeats itself has one event in thirty-two made into a mould, which costs a few per cent of the parsing.
const PRICE: u32 = 32;
const FITTED: u32 = 8;
const MISSED: u32 = 1;
/// The most that can be saved, and what there is at first: enough for two kinds of event right after each other.
const FULL: u32 = 2 * PRICE;

/// The mould at hand, and whether another may be made.
#[derive(Debug)]
pub(crate) struct Moulds {
    /// The keys whose values differ; none if the dialect wants each event parsed.
    keys: Option<&'static [&'static str]>,
    mould: Option<Mould>,
    credit: u32,
}

impl Moulds {
    pub(crate) const fn of(keys: Option<&'static [&'static str]>) -> Self {
        Self { keys, mould: None, credit: FULL }
    }

    /// What `event` says, if it fits the mould at hand.
    pub(crate) fn cast<'a>(&mut self, event: &RawEvent<'a>) -> Option<Twin<'a>> {
        let twin = self.mould.as_ref()?.cast(event)?;
        self.credit = (self.credit + FITTED).min(FULL);
        Some(twin)
    }

    /// Makes a mould of `event`, which did not fit and says `wire`, if it is one that may have twins.
    pub(crate) fn learn(
        &mut self,
        dialect: &dyn Dialect,
        event: &RawEvent<'_>,
        wire: &WireEvent<'_>,
    ) {
        let (Some(keys), Some(plain)) = (self.keys, twin::plain(wire)) else {
            return;
        };
        self.credit = (self.credit + MISSED).min(FULL);
        let Some(left) = self.credit.checked_sub(PRICE) else {
            return;
        };
        self.credit = left;
        if let Some(mould) = Mould::of(dialect, keys, event, plain) {
            self.mould = Some(mould);
        }
    }
}
