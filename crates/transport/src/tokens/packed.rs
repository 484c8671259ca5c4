//! The output of a reply under way. A run holds that of a thousand replies at a time, so that it is kept small.

use std::iter;
use std::mem;

use fizeau_core::{Arrival, Channel, Nanos, ReadLag, Stamp};

use super::{EventOutput, ReceivedOutput, TokenEvidence};
use crate::event::ReadMark;
#[cfg(target_os = "linux")]
use crate::prefetch;

/// The most events that room is made for before they come: a request may ask for far more than it gets.
const MOST_EXPECTED: usize = 1 << 9;

/// The output of a reply so far: fourteen bytes an event, and what it tells of tokens where that changes.
#[derive(Debug, Default)]
pub(crate) struct PackedOutput {
    events: Vec<PackedEvent>,
    /// Those that do not fit, in their order.
    odd: Vec<Arrival>,
    evidence: Vec<EvidenceRun>,
    last: Last,
}

/// Of the last event: when it came and in which read, and the running count so far.
#[derive(Debug, Clone, Copy, Default)]
struct Last {
    at: Stamp,
    read: u32,
    running: u32,
}

/// An event by its distance from the one before.
#[derive(Debug, Clone, Copy)]
#[repr(Rust, packed)]
struct PackedEvent {
    nanos: u32,
    read_lag: ReadLag,
    bytes: u16,
    chars: u16,
    /// [`ODD`] stands for an event that is kept elsewhere.
    reads: u8,
    channel: Channel,
}

const ODD: u8 = u8::MAX;

/// Events in a row that show the same of their tokens, the running count by its step.
#[derive(Debug, Clone, Copy)]
struct EvidenceRun {
    events: u32,
    each: TokenEvidence,
}

impl PackedOutput {
    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    /// Has fetched where the next event goes.
    #[cfg(target_os = "linux")]
    pub(crate) fn fetch_ends(&self) {
        self.events.last().into_iter().for_each(prefetch::fetch);
        self.evidence.last().into_iter().for_each(prefetch::fetch);
    }

    /// Makes room for `events` more.
    pub(crate) fn reserve(&mut self, events: usize) {
        self.events.reserve(events.min(MOST_EXPECTED));
    }

    /// Notes `output`, which the read `mark` brought.
    pub(crate) fn push(&mut self, output: EventOutput, mark: ReadMark) {
        let arrival = Arrival {
            at: mark.at,
            read: mark.number,
            tokens: 0,
            bytes: output.bytes,
            chars: output.chars,
            channel: output.channel.unwrap_or(Channel::Silent),
            read_lag: mark.lag,
        };
        let packed = PackedEvent::of(&arrival, self.last).unwrap_or_else(|| {
            self.odd.push(arrival);
            PackedEvent::ODD
        });
        self.events.push(packed);
        (self.last.at, self.last.read) = (mark.at, mark.number);
        self.push_evidence(output.evidence);
    }

    fn push_evidence(&mut self, evidence: TokenEvidence) {
        let running = evidence
            .running
            .map(|running| running.wrapping_sub(mem::replace(&mut self.last.running, running)));
        let each = TokenEvidence { running, ..evidence };
        match self.evidence.last_mut() {
            Some(run) if run.each == each => run.events += 1,
            _ => self.evidence.push(EvidenceRun { events: 1, each }),
        }
    }

    /// All of it, written out.
    pub(crate) fn unpack(self) -> ReceivedOutput {
        let (mut odd, mut last) = (self.odd.into_iter(), Last::default());
        let arrivals = self.events.iter().filter_map(|event| {
            let arrival = if event.reads == ODD { odd.next()? } else { event.after(last) };
            (last.at, last.read) = (arrival.at, arrival.read);
            Some(arrival)
        });
        let arrivals = arrivals.collect();
        let each =
            self.evidence.iter().flat_map(|run| iter::repeat_n(run.each, run.events as usize));
        let evidence = each.map(|each| {
            let running = each.running.map(|step| {
                last.running = last.running.wrapping_add(step);
                last.running
            });
            TokenEvidence { running, ..each }
        });
        ReceivedOutput { arrivals, evidence: evidence.collect() }
    }
}

impl PackedEvent {
    const ODD: Self = Self {
        nanos: 0,
        read_lag: ReadLag::ZERO,
        bytes: 0,
        chars: 0,
        reads: ODD,
        channel: Channel::Silent,
    };

    /// `arrival` as it follows `last`; none where it does not fit.
    fn of(arrival: &Arrival, last: Last) -> Option<Self> {
        let reads = u8::try_from(arrival.read.checked_sub(last.read)?).ok()?;
        (reads != ODD).then_some(Self {
            nanos: arrival.at.since(last.at)?.as_nanos().try_into().ok()?,
            read_lag: arrival.read_lag,
            bytes: arrival.bytes.try_into().ok()?,
            chars: arrival.chars.try_into().ok()?,
            reads,
            channel: arrival.channel,
        })
    }

    fn after(self, last: Last) -> Arrival {
        Arrival {
            at: last.at + Nanos::from_nanos(self.nanos.into()),
            read: last.read + u32::from(self.reads),
            tokens: 0,
            bytes: self.bytes.into(),
            chars: self.chars.into(),
            channel: self.channel,
            read_lag: self.read_lag,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Small numbers mostly, and any.
    fn number() -> impl Strategy<Value = u32> {
        prop_oneof![4 => 0..3_u32, 2 => 0..100_000_u32, 1 => any::<u32>()]
    }

    fn event() -> impl Strategy<Value = (EventOutput, ReadMark)> {
        let channel =
            prop_oneof![Just(None), Just(Some(Channel::Visible)), Just(Some(Channel::Reasoning))];
        let output = (number(), number(), channel, number(), number(), prop::option::of(number()));
        let output =
            output.prop_map(|(bytes, chars, channel, ids, logprobs, running)| EventOutput {
                bytes,
                chars,
                channel,
                evidence: TokenEvidence { ids, logprobs, running },
            });
        let at = prop_oneof![any::<u64>(), (0..50_000_000_u64)].prop_map(Stamp::from_nanos);
        let lag = number().prop_map(|nanos| ReadLag::of(Nanos::from_nanos(nanos.into())));
        (output, at, number(), lag)
            .prop_map(|(output, at, number, lag)| (output, ReadMark { at, number, lag }))
    }

    proptest! {
        #[test]
        fn what_is_packed_comes_out_again(events in prop::collection::vec(event(), 0..50)) {
            let mut packed = PackedOutput::default();
            events.iter().for_each(|&(output, mark)| packed.push(output, mark));
            prop_assert_eq!(packed.len(), events.len());
            let ReceivedOutput { arrivals, evidence } = packed.unpack();
            let arrival = |&(output, mark): &(EventOutput, ReadMark)| Arrival {
                at: mark.at,
                read: mark.number,
                tokens: 0,
                bytes: output.bytes,
                chars: output.chars,
                channel: output.channel.unwrap_or(Channel::Silent),
                read_lag: mark.lag,
            };
            prop_assert_eq!(arrivals, events.iter().map(arrival).collect::<Vec<_>>());
            prop_assert_eq!(evidence, events.iter().map(|(output, _)| output.evidence).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_event_of_a_steady_stream_takes_fourteen_bytes() {
        assert_eq!(size_of::<PackedEvent>(), 14);
        let mut packed = PackedOutput::default();
        for number in 0..250 {
            let at = Stamp::EPOCH + Nanos::from_millis(60_000 + 10 * u64::from(number));
            let evidence = TokenEvidence { ids: 1, logprobs: 0, running: Some(number + 1) };
            let output =
                EventOutput { bytes: 5, chars: 4, channel: Some(Channel::Visible), evidence };
            packed.push(output, ReadMark::user(at, number));
        }
        assert_eq!(
            (packed.odd.len(), packed.evidence.len()),
            (1, 1),
            "the first is far from the epoch"
        );
    }
}
