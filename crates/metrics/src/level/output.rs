//! What the output of a level was made of.

use fizeau_core::{Arrival, Nanos, PerSec, Tape, TokenSource, Tokens};

use super::tally::per_second;
use crate::distribution::{RateDistribution, RateSample};
use crate::{ChannelTokens, RequestMetrics, RequestOutput};

/// What the output of completed requests was made of: reasoning apart from what a reader sees, its text, and how it was cut
/// into events.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct OutputSummary {
    /// Tokens by channel, as they came.
    pub by_channel: ChannelTokens,
    /// Tokens of reasoning, by the rule of [`RequestOutput::reasoning`].
    pub reasoning: Tokens,
    /// All others; the sum of both is the level's output.
    pub visible: Tokens,
    /// For how many requests the server said how many tokens were reasoning.
    pub reasoning_reported: u64,
    /// UTF-8 bytes of text that a reader would see.
    pub text_bytes: u64,
    /// Characters of it (Unicode scalar values).
    pub text_chars: u64,
    /// Visible tokens over the window of the level's throughput; absent where the window has no length.
    pub visible_tokens_per_s: Option<PerSec>,
    /// Bytes of visible text over the same window; absent where there was no text, too.
    pub text_bytes_per_s: Option<PerSec>,
    /// Characters likewise. Models whose tokenizers differ can be compared by this.
    pub text_chars_per_s: Option<PerSec>,
    /// How many tokens the events had.
    pub tokens_per_event: EventHistogram,
}

/// Rates of single requests that completed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct RequestRates {
    /// Prefill: prompt tokens that no cache supplied, over TTFT ([`RequestMetrics::prefill_tps`]).
    pub prefill_tps: RateDistribution,
    /// Decode: tokens after the first event, over the time that they took ([`RequestMetrics::user_tps`]).
    pub user_tps: RateDistribution,
    /// Bytes of visible text after the first visible event, over the time that they took.
    pub text_bytes: RateDistribution,
    /// Characters likewise.
    pub text_chars: RateDistribution,
}

/// How many events had how many tokens: each number up to 16 on its own, beyond them powers of two.
///
/// ```
/// use fizeau_metrics::EventHistogram;
/// let mut histogram = EventHistogram::default();
/// [1, 1, 20].into_iter().for_each(|tokens| histogram.add(tokens));
/// let bins: Vec<_> = histogram.bins().map(|bin| (bin.least, bin.most, bin.events)).collect();
/// assert_eq!(bins, [(1, 1, 2), (17, 32, 1)]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventHistogram {
    events: [u64; EXACT + POWERS],
}

/// Events whose number of tokens lies in one range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventBin {
    /// The least number of tokens in this range.
    pub least: u32,
    /// The greatest.
    pub most: u32,
    /// How many events.
    pub events: u64,
}

/// 0 to 16 tokens.
const EXACT: usize = 17;
/// 17 to 32 tokens, 33 to 64, and so on to the greatest number there is.
const POWERS: usize = 28;

impl Default for EventHistogram {
    fn default() -> Self {
        Self { events: [0; EXACT + POWERS] }
    }
}

impl EventHistogram {
    /// Takes in an event of `tokens` tokens.
    pub fn add(&mut self, tokens: u32) {
        self.add_n(tokens, 1);
    }

    /// Takes in so many events of `tokens` tokens each.
    pub(super) fn add_n(&mut self, tokens: u32, n: u64) {
        let bin = match tokens as usize {
            exact if exact < EXACT => exact,
            more => EXACT + (more - 1).ilog2() as usize - 4,
        };
        if let Some(events) = self.events.get_mut(bin) {
            *events += n;
        }
    }

    /// Those that `bins` tell of.
    pub(super) fn of_bins(bins: &[EventBin]) -> Self {
        let mut histogram = Self::default();
        bins.iter().for_each(|bin| histogram.add_n(bin.least, bin.events));
        histogram
    }

    /// Takes in all that `other` has.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.events.iter_mut().zip(&other.events).for_each(|(our, their)| *our += their);
    }

    /// The ranges that have events, ascending.
    pub fn bins(&self) -> impl Iterator<Item = EventBin> {
        let all = self.events.iter().enumerate().filter(|(_, events)| **events > 0);
        all.map(|(bin, &events)| {
            let exact = bin as u32;
            let (least, most) = match bin.checked_sub(EXACT) {
                None => (exact, exact),
                Some(power) => {
                    let half = 16_u32 << power;
                    (half + 1, half.saturating_mul(2))
                }
            };
            EventBin { least, most, events }
        })
    }
}

/// The counts behind an [`OutputSummary`] and [`RequestRates`], filled one tape at a time.
#[derive(Debug, Clone)]
pub(super) struct OutputTally {
    totals: OutputSummary,
    prefill: RateSample,
    user: RateSample,
    bytes: RateSample,
    chars: RateSample,
}

impl OutputTally {
    /// Empty, to keep the rates of so many requests one by one.
    pub(super) fn up_to(requests: usize) -> Self {
        let sample = || RateSample::up_to(requests);
        let totals = OutputSummary::default();
        Self { totals, prefill: sample(), user: sample(), bytes: sample(), chars: sample() }
    }

    /// Takes in a tape that completed, with so many tokens.
    pub(super) fn add(&mut self, tape: &Tape, metrics: &RequestMetrics, tokens: Tokens) {
        let output = RequestOutput::with(tape, tokens);
        let totals = &mut self.totals;
        let tokenless = tape.token_source == TokenSource::Tokenless;
        totals.by_channel.merge(&output.by_channel);
        totals.reasoning += output.reasoning;
        totals.visible += output.visible;
        totals.reasoning_reported += u64::from(output.reasoning_reported.is_some());
        totals.text_bytes += output.text_bytes;
        totals.text_chars += output.text_chars;
        let alike = |event: &Arrival, next: &Arrival| event.tokens == next.tokens;
        for run in tape.arrivals.chunk_by(alike).filter(|_| !tokenless) {
            let tokens = run.first().map_or(0, |event| event.tokens);
            totals.tokens_per_event.add_n(tokens, run.len() as u64);
        }
        self.prefill.note(metrics.prefill_tps);
        self.user.note(metrics.user_tps);
        self.bytes.note(output.text_bytes_per_s);
        self.chars.note(output.text_chars_per_s);
    }

    /// Takes in all that `other` has.
    pub(super) fn merge(&mut self, other: Self) {
        let (ours, theirs) = (&mut self.totals, &other.totals);
        ours.by_channel.merge(&theirs.by_channel);
        ours.reasoning += theirs.reasoning;
        ours.visible += theirs.visible;
        ours.reasoning_reported += theirs.reasoning_reported;
        ours.text_bytes += theirs.text_bytes;
        ours.text_chars += theirs.text_chars;
        ours.tokens_per_event.merge(&theirs.tokens_per_event);
        self.prefill.append(other.prefill);
        self.user.append(other.user);
        self.bytes.append(other.bytes);
        self.chars.append(other.chars);
    }

    /// How many bytes it holds.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        [&self.prefill, &self.user, &self.bytes, &self.chars].map(RateSample::bytes).iter().sum()
    }

    /// Rates of the level are over `window`.
    pub(super) fn summary(&self, window: Nanos) -> OutputSummary {
        let rate = |count: u64| (window > Nanos::ZERO).then(|| per_second(count, window));
        let text = |count: u64| rate(count).filter(|_| count > 0);
        OutputSummary {
            visible_tokens_per_s: rate(self.totals.visible.get()),
            text_bytes_per_s: text(self.totals.text_bytes),
            text_chars_per_s: text(self.totals.text_chars),
            ..self.totals.clone()
        }
    }

    pub(super) fn rates(&self) -> RequestRates {
        RequestRates {
            prefill_tps: self.prefill.summary(),
            user_tps: self.user.summary(),
            text_bytes: self.bytes.summary(),
            text_chars: self.chars.summary(),
        }
    }
}
