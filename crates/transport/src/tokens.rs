//! How many tokens each event carried, from the best evidence that covers the whole reply.

use fizeau_core::{Arrival, Channel, TokenSource, Tokens};

use crate::dialect::WireEvent;
use crate::event::ReadMark;

/// One event that may have carried tokens, and the evidence that it did.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    mark: ReadMark,
    bytes: u32,
    chars: u32,
    /// None if it had no text.
    channel: Option<Channel>,
    ids: u32,
    logprobs: u32,
    /// The running count of generated tokens after it.
    running: Option<u64>,
}

impl Seen {
    /// What `event` may have carried; none if it shows neither text nor any trace of a token. `before` is the
    /// running count so far; `mark` is the read that completed it.
    pub(crate) fn of(event: &WireEvent<'_>, before: u64, mark: ReadMark) -> Option<Self> {
        let channel = event.channel();
        let step = event.running.is_some_and(|running| running > before);
        if channel.is_none() && event.token_ids == 0 && event.logprobs == 0 && !step {
            return None;
        }
        let texts = event.texts();
        let sum = |count: fn(&str) -> usize| texts.iter().map(|(_, text)| count(text)).sum();
        Some(Self {
            mark,
            bytes: clamp(sum(str::len)),
            chars: clamp(sum(|text| text.chars().count())),
            channel,
            ids: event.token_ids,
            logprobs: event.logprobs,
            running: event.running,
        })
    }

    const fn has_text(&self) -> bool {
        self.channel.is_some()
    }

    fn arrival(&self, tokens: u32) -> Arrival {
        Arrival {
            at: self.mark.at,
            read: self.mark.number,
            tokens,
            bytes: self.bytes,
            chars: self.chars,
            channel: self.channel.unwrap_or(Channel::Silent),
            read_lag: self.mark.lag,
        }
    }
}

/// Takes off each of `seen` what it repeats of those before it.
pub(crate) fn take_off_repeats(seen: &mut [Seen]) {
    let mut before = (0, 0, 0);
    for seen in seen {
        let whole = (seen.bytes, seen.chars, seen.ids);
        seen.bytes = whole.0.saturating_sub(before.0);
        seen.chars = whole.1.saturating_sub(before.1);
        seen.ids = whole.2.saturating_sub(before.2);
        if (seen.bytes, seen.chars) == (0, 0) {
            seen.channel = None;
        }
        before = (before.0.max(whole.0), before.1.max(whole.1), before.2.max(whole.2));
    }
}

/// The arrivals of a reply with their token counts, and where the counts come from. `total` is the server's
/// own final count, if it gave one, and `thought` how many of those it calls reasoning. What was asked for plays no part.
pub(crate) fn count(
    seen: &[Seen],
    total: Option<u64>,
    thought: u64,
) -> (Vec<Arrival>, TokenSource) {
    let exact = [
        (TokenSource::TokenIds, listed(seen, total, |seen| seen.ids)),
        (TokenSource::ContinuousUsage, steps(seen, total)),
        (TokenSource::Logprobs, listed(seen, total, |seen| seen.logprobs)),
    ];
    for (source, counts) in exact {
        if let Some(counts) = counts {
            let pairs = seen.iter().zip(counts);
            let carried = pairs.filter(|(seen, tokens)| seen.has_text() || *tokens > 0);
            let arrivals = carried.map(|(seen, tokens)| seen.arrival(tokens));
            return (arrivals.collect(), source);
        }
    }
    let carried = |seen: &&Seen| seen.has_text() || seen.ids > 0 || seen.logprobs > 0;
    let events: Vec<&Seen> = seen.iter().filter(carried).collect();
    let (counts, source) = match total {
        Some(total) => (estimate(total, thought, &events), TokenSource::FinalUsageSpread),
        None => (vec![1; events.len()], TokenSource::Events),
    };
    let arrivals = events.into_iter().zip(counts);
    let arrivals = arrivals.map(|(seen, tokens)| seen.arrival(tokens));
    (arrivals.collect(), source)
}

/// Counts that every event lists for itself. They cover the reply if they add up to the server's total or,
/// without one, if no text came without them.
fn listed(seen: &[Seen], total: Option<u64>, list: fn(&Seen) -> u32) -> Option<Vec<u32>> {
    let counts: Vec<u32> = seen.iter().map(list).collect();
    let sum: u64 = counts.iter().map(|count| u64::from(*count)).sum();
    let covers = match total {
        Some(total) => sum == total,
        None => seen.iter().all(|seen| !seen.has_text() || list(seen) > 0),
    };
    (sum > 0 && covers).then_some(counts)
}

/// Differences of the running count. They cover the reply if all text came with a count that never fell, and
/// the last count is the server's total. A count that is given only once, at the end, is no running count.
fn steps(seen: &[Seen], total: Option<u64>) -> Option<Vec<u32>> {
    let mut before = 0;
    let mut counts = Vec::with_capacity(seen.len());
    for seen in seen {
        let running = match seen.running {
            Some(running) => running,
            None if seen.has_text() => return None,
            None => before,
        };
        counts.push(clamp_u64(running.checked_sub(before)?));
        before = running;
    }
    let with_text = seen.iter().any(Seen::has_text);
    let steps = counts.iter().filter(|count| **count > 0).count();
    let is_running = steps > 0 && (with_text || steps > 1);
    (is_running && total.is_none_or(|total| total == before)).then_some(counts)
}

fn spread(total: u64, events: usize) -> Vec<u32> {
    Tokens::new(total).spread_over(events).collect()
}

/// `total` spread over `events`. Thoughts that were never streamed were all before the first event, so they are counted
/// to it: spread over the others, they would make the visible pace look many times faster than it was. That they were not
/// streamed is known if no event is on their channel and the rest still gives each event a token.
fn estimate(total: u64, thought: u64, events: &[&Seen]) -> Vec<u32> {
    let streamed = events.iter().any(|seen| seen.channel == Some(Channel::Reasoning));
    let visible = total.saturating_sub(thought);
    if streamed || visible < events.len() as u64 {
        return spread(total, events.len());
    }
    let mut counts = spread(visible, events.len());
    if let Some(first) = counts.first_mut() {
        *first = first.saturating_add(clamp_u64(thought.min(total)));
    }
    counts
}

fn clamp(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn clamp_u64(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::spread;

    proptest! {
        #[test]
        fn a_spread_is_even_and_its_sum_exact(total in 0u64..100_000, events in 1usize..2_000) {
            let shares = spread(total, events);
            prop_assert_eq!(shares.len(), events);
            prop_assert_eq!(shares.iter().map(|share| u64::from(*share)).sum::<u64>(), total);
            let (least, most) = (shares.iter().min(), shares.iter().max());
            prop_assert!(most.zip(least).is_some_and(|(most, least)| most - least <= 1));
            prop_assert_eq!(shares.first(), most);
        }
    }

    #[test]
    fn nothing_to_spread_over_is_nothing() {
        assert!(spread(5, 0).is_empty());
    }
}
