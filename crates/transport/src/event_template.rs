//! Reading events that match a template, without parsing them.
//!
//! Successive events of a reply are the same JSON but for the text and a few numbers. After an event was parsed in
//! full, a [`EventTemplate`] is made of it: its bytes, with holes where the text was and behind the keys that the dialect
//! names. An event that fits the template is the same JSON with other values, so that its meaning is known. Anything
//! else (a finish reason, a usage of its own, an escape, another spacing) does not fit and is parsed in full.
//!
//! What a hole means is not declared but found out, as the template is made: a made-up matched is parsed in full, and what
//! changed in its meaning must be just what was put into the holes.

mod scan;
mod template;

pub(crate) use template::{EventTemplate, TemplateMatch};

use crate::dialect::{Dialect, WireEvent};
use crate::event::RawEvent;

/// What the making of a template costs in credit, what an event earns that fits, and one that does not. A stream that
/// never repeats itself has one event in sixty-four made into a template, which costs a few per cent of the parsing.
const PRICE: u32 = 64;
const FITTED: u32 = 16;
const MISSED: u32 = 1;
/// The most that can be saved, and what there is at first: enough for two kinds of event right after each other.
const FULL: u32 = 2 * PRICE;

/// The template at hand, and whether another may be made.
#[derive(Debug)]
pub(crate) struct EventTemplates {
    /// The keys whose values differ; none if the dialect wants each event parsed.
    keys: Option<&'static [&'static str]>,
    template: Option<EventTemplate>,
    credit: u32,
}

impl EventTemplates {
    pub(crate) const fn of(keys: Option<&'static [&'static str]>) -> Self {
        Self { keys, template: None, credit: FULL }
    }

    /// Has fetched what the next event is held against.
    #[cfg(target_os = "linux")]
    pub(crate) fn fetch_buffers(&self) {
        self.template.iter().for_each(EventTemplate::fetch_buffers);
    }

    /// What `event` says, if it fits the template at hand.
    pub(crate) fn match_event<'a>(&mut self, event: &RawEvent<'a>) -> Option<TemplateMatch<'a>> {
        let matched = self.template.as_ref()?.match_event(event)?;
        self.credit = (self.credit + FITTED).min(FULL);
        Some(matched)
    }

    /// Makes a template of `event`, which did not fit and says `wire`, if others may match it.
    pub(crate) fn learn(
        &mut self,
        dialect: &dyn Dialect,
        event: &RawEvent<'_>,
        wire: &WireEvent<'_>,
    ) {
        let (Some(keys), Some(plain)) = (self.keys, template::plain(wire)) else {
            return;
        };
        self.credit = (self.credit + MISSED).min(FULL);
        let Some(left) = self.credit.checked_sub(PRICE) else {
            return;
        };
        self.credit = left;
        if let Some(template) = EventTemplate::of(dialect, keys, event, plain) {
            self.template = Some(template);
        }
    }
}
