//! The template of an event: made, proven, and filled.

use std::ops::Range;

use fizeau_core::{Channel, Tokens, Usage};

use super::scan::{self, VariableKind, VariablePart};
use crate::dialect::{Dialect, WireEvent};
use crate::event::RawEvent;
#[cfg(target_os = "linux")]
use crate::prefetch;

/// The longest event that a template is made of: one that is longer is not of the common kind.
const LONGEST: usize = 8 << 10;

/// The text, and the first number, of the made-up matched. No event counts so many tokens.
const SAMPLE_TEXT: &str = " Fizeau é ";
const SAMPLE_NUMBER: u64 = 900_000_000_000_001;

/// An event with holes.
#[derive(Debug)]
pub(crate) struct EventTemplate {
    name: Vec<u8>,
    /// The event that it was made of.
    data: Vec<u8>,
    holes: Vec<TemplateHole>,
    /// What comes after the last hole.
    tail: Range<usize>,
    /// What the event says, but for its text.
    matched: TemplateMatch<'static>,
}

#[derive(Debug)]
struct TemplateHole {
    /// The bytes between the hole before it and this one.
    before: Range<usize>,
    kind: VariableKind,
    /// The counts that are its value.
    feeds: Vec<HoleCount>,
}

impl EventTemplate {
    /// The template of `event`, which says `matched`; none if it is not certain what its holes mean.
    pub(crate) fn of(
        dialect: &dyn Dialect,
        keys: &[&str],
        event: &RawEvent<'_>,
        matched: TemplateMatch<'_>,
    ) -> Option<Self> {
        let data = event.data;
        if data.len() > LONGEST {
            return None;
        }
        let found = scan::find(data, &place(data, matched.text())?, keys)?;
        let lists = found.iter().filter(|found| found.kind == VariableKind::List).count();
        if lists > 1 {
            // A dialect may look at the longest.
            return None;
        }
        let (sample, values) = sample(data, &found)?;
        let wire = dialect.read(&RawEvent { data: &sample, ..*event }).ok()?;
        let feeds = feeds(&matched, &plain(&wire)?, &values)?;
        let mut from = 0;
        let holes = found.into_iter().zip(feeds).map(|(found, feeds)| {
            let before = from..found.at.start;
            from = found.at.end;
            TemplateHole { before, kind: found.kind, feeds }
        });
        let template = Self {
            name: event.name.to_vec(),
            data: data.to_vec(),
            holes: holes.collect(),
            tail: from..data.len(),
            matched: matched.with_text(b"", 0),
        };
        (template.match_event(event) == Some(matched)).then_some(template)
    }

    #[cfg(target_os = "linux")]
    pub(super) fn fetch_buffers(&self) {
        prefetch::fetch(self.data.as_slice());
        prefetch::fetch(self.holes.as_slice());
    }

    /// What `event` says, if it fits.
    pub(crate) fn match_event<'a>(&self, event: &RawEvent<'a>) -> Option<TemplateMatch<'a>> {
        // Nearly always both are empty. `memcmp` of nothing at the dangling address of an empty vector costs as much
        // as all the rest on processors whose masked loads are slow where there is no memory.
        let nameless = event.name.is_empty() && self.name.is_empty();
        if !nameless && event.name != self.name {
            return None;
        }
        let mut matched = self.matched;
        let mut text = (&b""[..], 0);
        let mut rest = event.data;
        for hole in &self.holes {
            rest = rest.strip_prefix(self.data.get(hole.before.clone())?)?;
            let (value, len) = match hole.kind {
                VariableKind::Text => {
                    text = scan::text(rest)?;
                    (0, text.0.len())
                }
                VariableKind::Word => (0, scan::text(rest)?.0.len()),
                VariableKind::List => scan::list(rest)?,
                VariableKind::Number if hole.feeds.is_empty() => (0, scan::number(rest)?),
                VariableKind::Number => scan::count(rest)?,
            };
            for figure in &hole.feeds {
                matched.set(*figure, value);
            }
            rest = rest.get(len..)?;
        }
        (rest == self.data.get(self.tail.clone())?).then_some(matched.with_text(text.0, text.1))
    }
}

/// Where in `data` the text lies that was borrowed from it; none if it was not.
fn place(data: &[u8], text: &str) -> Option<Range<usize>> {
    let from = text.as_ptr().addr().checked_sub(data.as_ptr().addr())?;
    let place = from..from.checked_add(text.len())?;
    (data.get(place.clone()) == Some(text.as_bytes())).then_some(place)
}

/// A matched of `data` with other values in its holes, and for each hole its value there and here. Values that are no
/// counts have none.
fn sample(data: &[u8], found: &[VariablePart]) -> Option<(Vec<u8>, Vec<Option<HoleValues>>)> {
    let mut sample = Vec::with_capacity(2 * data.len());
    let mut values = Vec::with_capacity(found.len());
    let (mut from, mut number) = (0, SAMPLE_NUMBER);
    for found in found {
        sample.extend_from_slice(data.get(from..found.at.start)?);
        from = found.at.end;
        let here = data.get(found.at.clone())?;
        values.push(match found.kind {
            VariableKind::Text | VariableKind::Word => {
                sample.extend_from_slice(SAMPLE_TEXT.as_bytes());
                None
            }
            VariableKind::List => {
                let (here, _) = scan::list(here)?;
                sample.extend_from_slice(data.get(found.at.clone())?);
                sample.extend_from_slice(b",7,7");
                Some(HoleValues { here, there: here + 2 })
            }
            VariableKind::Number => {
                number += 1;
                sample.extend_from_slice(number.to_string().as_bytes());
                // A fraction or a negative number counts nothing.
                let count = scan::count(here).filter(|(_, len)| *len == here.len());
                count.map(|(here, _)| HoleValues { here, there: number })
            }
        });
    }
    sample.extend_from_slice(data.get(from..)?);
    Some((sample, values))
}

/// The value of one hole in the event and in its made-up matched.
#[derive(Debug, Clone, Copy)]
struct HoleValues {
    here: u64,
    there: u64,
}

/// For each hole the counts that are its value; none if there is a difference between the events `here` and `there` of one template
/// that no hole explains.
fn feeds(
    here: &TemplateMatch<'_>,
    there: &TemplateMatch<'_>,
    values: &[Option<HoleValues>],
) -> Option<Vec<Vec<HoleCount>>> {
    let same = here.channel == there.channel && here.logprobs == there.logprobs;
    if !same || there.text() != SAMPLE_TEXT {
        return None;
    }
    let mut feeds = vec![Vec::new(); values.len()];
    for figure in HoleCount::ALL {
        let (here, there) = (here.get(figure), there.get(figure));
        if here == there {
            continue;
        }
        let explains = |values: &Option<HoleValues>| {
            values.is_some_and(|v| (Some(v.here), Some(v.there)) == (here, there))
        };
        let hole = values.iter().position(explains)?;
        feeds.get_mut(hole)?.push(figure);
    }
    Some(feeds)
}

// What an event says that is nothing but output.

/// An event with text on one channel, perhaps with counts, and with nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TemplateMatch<'a> {
    /// Valid UTF-8, yet not a `str`: to be sure of that takes longer than to count its characters.
    text: &'a [u8],
    pub(crate) chars: usize,
    pub(crate) channel: Channel,
    pub(crate) token_ids: u32,
    pub(crate) logprobs: u32,
    pub(crate) running: Option<u64>,
    pub(crate) usage: Option<Usage>,
}

/// A count that a matched may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HoleCount {
    Cached,
    Completion,
    Ids,
    Prompt,
    Reasoning,
    Running,
}

impl HoleCount {
    pub(super) const ALL: [Self; 6] =
        [Self::Cached, Self::Completion, Self::Ids, Self::Prompt, Self::Reasoning, Self::Running];
}

impl<'a> TemplateMatch<'a> {
    /// The same with another text, of `chars` characters.
    pub(super) const fn with_text<'t>(self, text: &'t [u8], chars: usize) -> TemplateMatch<'t> {
        TemplateMatch { text, chars, ..self }
    }

    /// The size of the text, in bytes.
    pub(crate) const fn len(&self) -> usize {
        self.text.len()
    }

    pub(crate) const fn bytes(&self) -> &'a [u8] {
        self.text
    }

    pub(crate) fn text(&self) -> &'a str {
        std::str::from_utf8(self.text).unwrap_or_default()
    }

    pub(super) fn get(&self, figure: HoleCount) -> Option<u64> {
        let of_usage = |field: fn(&Usage) -> Option<Tokens>| {
            self.usage.as_ref().and_then(field).map(Tokens::get)
        };
        match figure {
            HoleCount::Cached => of_usage(|usage| usage.cached_tokens),
            HoleCount::Completion => of_usage(|usage| usage.completion_tokens),
            HoleCount::Ids => Some(self.token_ids.into()),
            HoleCount::Prompt => of_usage(|usage| usage.prompt_tokens),
            HoleCount::Reasoning => of_usage(|usage| usage.reasoning_tokens),
            HoleCount::Running => self.running,
        }
    }

    pub(super) fn set(&mut self, figure: HoleCount, value: u64) {
        let tokens = Some(Tokens::new(value));
        match (figure, &mut self.usage) {
            (HoleCount::Ids, _) => self.token_ids = u32::try_from(value).unwrap_or(u32::MAX),
            (HoleCount::Running, _) => self.running = Some(value),
            (HoleCount::Cached, Some(usage)) => usage.cached_tokens = tokens,
            (HoleCount::Completion, Some(usage)) => usage.completion_tokens = tokens,
            (HoleCount::Prompt, Some(usage)) => usage.prompt_tokens = tokens,
            (HoleCount::Reasoning, Some(usage)) => usage.reasoning_tokens = tokens,
            // No hole feeds a usage that is not there.
            (_, None) => {}
        }
    }
}

/// `wire` as a matched, if it can have any: text on just one channel, and nothing beside it but counts.
pub(super) fn plain<'w>(wire: &'w WireEvent<'_>) -> Option<TemplateMatch<'w>> {
    let mut texts = wire.texts().into_iter().filter(|(_, text)| !text.is_empty());
    let (channel, text) = texts.next()?;
    let says_more = wire.finish.is_some()
        || wire.error.is_some()
        || wire.timing.is_some()
        || wire.done
        || wire.embedded.is_some()
        || texts.next().is_some();
    (!says_more).then_some(TemplateMatch {
        text: text.as_bytes(),
        chars: text.chars().count(),
        channel,
        token_ids: wire.token_ids,
        logprobs: wire.logprobs,
        running: wire.running,
        usage: wire.usage,
    })
}
