//! The times between events, of which a run has as many as tokens: four bytes each, sorted once for all tools.

use std::sync::{Arc, OnceLock};

use fizeau_core::{Nanos, Stamp, Tape};
use fizeau_metrics::{Percent, PercentileRule, sort_integers};

use super::PeerStatistic;
use super::request::{InstantEnds, PeerRequest};
use super::run::{events, token_times, with_text};

/// Stands for a step that is not in `steps`.
const ODD: u32 = u32::MAX;

/// The steps from each instant to the next of one reply, one reply after the other, in nanoseconds.
#[derive(Debug, Clone, Default)]
pub(super) struct StepColumn {
    steps: Vec<u32>,
    /// Steps of more than four seconds, and those back in time, in their order.
    odd: Vec<i128>,
}

impl StepColumn {
    fn add(&mut self, instants: impl Iterator<Item = Stamp>) {
        let mut before: Option<Stamp> = None;
        for at in instants {
            let Some(before) = before.replace(at) else { continue };
            let step = at.since(before).and_then(|step| u32::try_from(step.as_nanos()).ok());
            let step = step.filter(|step| *step != ODD).unwrap_or_else(|| {
                self.odd.push(i128::from(at.as_nanos()) - i128::from(before.as_nanos()));
                ODD
            });
            self.steps.push(step);
        }
    }

    /// The instants of replies that began with these, in the order in which they were added.
    pub(super) fn instants<'a>(
        &'a self,
        replies: impl Iterator<Item = InstantEnds> + 'a,
    ) -> impl Iterator<Item = Stamp> + 'a {
        let (mut steps, mut odd) = (self.steps.iter(), self.odd.iter());
        let mut next = move |at: &mut u64| {
            let step = match steps.next() {
                Some(&ODD) => odd.next().map_or(0, |step| *step as u64),
                Some(&step) => step.into(),
                None => 0,
            };
            // A step back is added as its complement.
            *at = at.wrapping_add(step);
            Stamp::from_nanos(*at)
        };
        replies.flat_map(move |reply| {
            let first = reply.first.into_iter();
            let mut at = reply.first.map_or(0, Stamp::as_nanos);
            let later: Vec<Stamp> = (1..reply.count).map(|_| next(&mut at)).collect();
            first.chain(later)
        })
    }

    fn sorted(&self) -> SortedSteps {
        let mut short: Vec<u32> = self.steps.iter().copied().filter(|step| *step != ODD).collect();
        sort_integers(&mut short);
        let mut long: Vec<u64> =
            self.odd.iter().filter_map(|step| u64::try_from(*step).ok()).collect();
        long.sort_unstable();
        let backward = (self.odd.len() - long.len()) as u64;
        SortedSteps { short, long, backward }
    }
}

/// Steps in ascending order.
#[derive(Debug, Default)]
struct SortedSteps {
    short: Vec<u32>,
    long: Vec<u64>,
    /// How many went back in time, which are in neither.
    backward: u64,
}

impl SortedSteps {
    fn iter(&self) -> impl Iterator<Item = Nanos> {
        let short = self.short.iter().map(|step| u64::from(*step));
        short.chain(self.long.iter().copied()).map(Nanos::from_nanos)
    }

    /// The one of this rank, from 0.
    fn at(&self, rank: usize) -> Option<Nanos> {
        let short = self.short.get(rank).map(|step| u64::from(*step));
        let long = || self.long.get(rank - self.short.len()).copied();
        short.or_else(long).map(Nanos::from_nanos)
    }
}

/// The steps of all replies that succeeded: between all events, between those with text, between those with tokens. The latter two are
/// kept from the first reply on in which they differ.
#[derive(Debug, Default)]
pub(super) struct ReplySteps {
    events: StepColumn,
    text: Option<StepColumn>,
    tokens: Option<StepColumn>,
    /// Tokens that came with another one before them in the same event.
    together: u64,
    sorted: OnceLock<[Arc<SortedSteps>; 3]>,
}

impl ReplySteps {
    pub(super) fn add(&mut self, tape: &Tape, request: &PeerRequest) {
        let all = request.events.count;
        let differs =
            |column: &Option<StepColumn>, of: InstantEnds| column.is_some() || of.count != all;
        if differs(&self.text, request.text) {
            self.text.get_or_insert_with(|| self.events.clone()).add(with_text(tape));
        }
        if differs(&self.tokens, request.tokened) {
            let column = self.tokens.get_or_insert_with(|| self.events.clone());
            column.add(token_times(tape).map(|(at, _)| at));
        }
        self.events.add(events(tape));
        let together = token_times(tape).map(|(_, tokens)| tokens - 1);
        self.together = together.fold(self.together, u64::saturating_add);
    }

    pub(super) const fn events(&self) -> &StepColumn {
        &self.events
    }

    pub(super) fn text(&self) -> &StepColumn {
        self.text.as_ref().unwrap_or(&self.events)
    }

    fn sorted(&self) -> &[Arc<SortedSteps>; 3] {
        self.sorted.get_or_init(|| {
            let events = Arc::new(self.events.sorted());
            let other = |column: &Option<StepColumn>| {
                column
                    .as_ref()
                    .map_or_else(|| Arc::clone(&events), |steps| Arc::new(steps.sorted()))
            };
            [Arc::clone(&events), other(&self.text), other(&self.tokens)]
        })
    }

    /// The gaps between all events in milliseconds, as most tools have them; a step back is none.
    pub(super) fn event_gaps(&self) -> GapSample {
        let [events, ..] = self.sorted();
        GapSample::new(events, events.backward, |gap| gap.as_secs_f64() * 1e3)
    }

    /// The same of the events that carry text.
    pub(super) fn text_gaps(&self) -> GapSample {
        let [_, text, _] = self.sorted();
        GapSample::new(text, text.backward, |gap| gap.as_secs_f64() * 1e3)
    }

    /// The gaps between tokens in seconds: those of one event have no time between them.
    pub(super) fn token_gaps(&self) -> GapSample {
        let [.., tokens] = self.sorted();
        let zeros = tokens.backward.saturating_add(self.together);
        GapSample::new(tokens, zeros, Nanos::as_secs_f64)
    }

    /// Our own inter-chunk latencies, in milliseconds: a step back is no gap.
    pub(super) fn chunk_gaps(&self) -> GapSample {
        let [events, ..] = self.sorted();
        GapSample::new(events, 0, Nanos::as_millis_f64)
    }
}

/// Gaps in a unit, in ascending order, with so many zeros before them.
#[derive(Debug, Clone)]
pub(super) struct GapSample {
    steps: Arc<SortedSteps>,
    zeros: u64,
    unit: fn(Nanos) -> f64,
    mean: OnceLock<Option<f64>>,
    deviation: OnceLock<Option<f64>>,
}

impl GapSample {
    fn new(steps: &Arc<SortedSteps>, zeros: u64, unit: fn(Nanos) -> f64) -> Self {
        let (mean, deviation) = (OnceLock::new(), OnceLock::new());
        Self { steps: Arc::clone(steps), zeros, unit, mean, deviation }
    }

    pub(super) fn len(&self) -> u64 {
        self.zeros.saturating_add((self.steps.short.len() + self.steps.long.len()) as u64)
    }

    pub(super) fn max(&self) -> Option<f64> {
        self.at(self.len().checked_sub(1)?)
    }

    /// The value of this rank, from 0.
    fn at(&self, rank: u64) -> Option<f64> {
        let step = match rank.checked_sub(self.zeros) {
            None => Nanos::ZERO,
            Some(rank) => self.steps.at(usize::try_from(rank).ok()?)?,
        };
        Some((self.unit)(step))
    }

    /// As of a sample with each value written out; none of an empty one, but for the count.
    pub(super) fn statistic(&self, statistic: PeerStatistic, rule: PercentileRule) -> Option<f64> {
        match statistic {
            PeerStatistic::Mean => self.mean(),
            PeerStatistic::Std => *self.deviation.get_or_init(|| {
                let mean = self.mean()?;
                let square = |value: f64| (value - mean).powi(2);
                let zeros = self.zeros as f64 * square(0.0);
                let squares = self.values().fold(zeros, |sum, value| sum + square(value));
                Some((squares / self.len() as f64).sqrt())
            }),
            PeerStatistic::Min => self.at(0),
            PeerStatistic::Max => self.max(),
            PeerStatistic::Percentile(percent) => {
                let count = usize::try_from(self.len()).ok()?;
                let percent = Percent::new(percent.into()).ok()?;
                rule.of_ranks(count, percent, |rank| self.at(rank as u64))
            }
            PeerStatistic::Count => Some(self.len() as f64),
        }
    }

    fn mean(&self) -> Option<f64> {
        *self.mean.get_or_init(|| {
            let sum = self.values().fold(0.0, |sum, value| sum + value);
            (self.len() > 0).then(|| sum / self.len() as f64)
        })
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        self.steps.iter().map(self.unit)
    }
}

#[cfg(test)]
mod tests {
    use fizeau_core::{Arrival, Channel};
    use fizeau_metrics::inter_chunk;
    use proptest::prelude::*;

    use super::super::run::spans;
    use super::super::sample::Sample;
    use super::*;

    /// Of events at these nanoseconds, with so many tokens, with text or without.
    fn tape(events: &[(u64, u32, bool)]) -> Tape {
        let mut tape = Tape::sent_at(Stamp::EPOCH);
        let channel = |has_text| if has_text { Channel::Visible } else { Channel::Silent };
        let arrival = |&(at, tokens, has_text): &(u64, u32, bool)| {
            Arrival::tokens(Stamp::from_nanos(at), tokens, channel(has_text))
        };
        tape.arrivals = events.iter().map(arrival).collect();
        tape
    }

    /// The instant of each token.
    fn written_out(tape: &Tape) -> Vec<Stamp> {
        let each = |(at, tokens)| std::iter::repeat_n(at, tokens as usize);
        token_times(tape).flat_map(each).collect()
    }

    proptest! {
        #[test]
        fn gaps_are_those_of_the_tapes_written_out(
            replies in prop::collection::vec(
                prop::collection::vec((0_u64..20_000_000_000, 0_u32..4, any::<bool>()), 0..8), 0..6,
            ),
            percent in 0_u8..=100,
        ) {
            let tapes: Vec<Tape> = replies.iter().map(|events| tape(events)).collect();
            let requests: Vec<PeerRequest> = tapes.iter().map(PeerRequest::of).collect();
            let mut steps = ReplySteps::default();
            tapes.iter().zip(&requests).for_each(|(tape, request)| steps.add(tape, request));

            let all: Vec<Stamp> = tapes.iter().flat_map(events).collect();
            prop_assert_eq!(steps.events().instants(requests.iter().map(|r| r.events)).collect::<Vec<_>>(), all);
            let text: Vec<Stamp> = tapes.iter().flat_map(with_text).collect();
            prop_assert_eq!(steps.text().instants(requests.iter().map(|r| r.text)).collect::<Vec<_>>(), text);

            let millis = |gap: Nanos| gap.as_secs_f64() * 1e3;
            let event_gaps: Sample = tapes.iter().flat_map(|t| spans(events(t))).map(millis).collect();
            let text_gaps: Sample = tapes.iter().flat_map(|t| spans(with_text(t))).map(millis).collect();
            let tokens = tapes.iter().flat_map(|t| spans(written_out(t).into_iter()));
            let token_gaps: Sample = tokens.map(Nanos::as_secs_f64).collect();
            let chunks = tapes.iter().filter(|tape| tape.is_success()).flat_map(inter_chunk);
            let chunk_gaps: Sample = chunks.map(Nanos::as_millis_f64).collect();
            use PeerStatistic::{Count, Max, Mean, Min, Percentile, Std};
            for (found, wanted) in [
                (steps.event_gaps(), event_gaps),
                (steps.text_gaps(), text_gaps),
                (steps.token_gaps(), token_gaps),
            ] {
                for statistic in [Mean, Min, Max, Count, Percentile(percent)] {
                    for rule in [PercentileRule::Linear, PercentileRule::FloorIndex] {
                        let (found, wanted) =
                            (found.statistic(statistic, rule), wanted.statistic(statistic, rule));
                        prop_assert_eq!(found, wanted, "{:?} {:?}", statistic, rule);
                    }
                }
                let [found, wanted] = [
                    found.statistic(Std, PercentileRule::Linear),
                    wanted.statistic(Std, PercentileRule::Linear),
                ]
                .map(Option::unwrap_or_default);
                prop_assert!((found - wanted).abs() <= 1e-9 * wanted.max(1.0));
            }
            // Those that failed are not told apart here.
            if tapes.iter().all(Tape::is_success) {
                let rule = PercentileRule::Linear;
                prop_assert_eq!(steps.chunk_gaps().statistic(Mean, rule), chunk_gaps.statistic(Mean, rule));
            }
        }
    }
}
