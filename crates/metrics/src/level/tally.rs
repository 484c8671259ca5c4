//! A level, added up one tape at a time.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use fizeau_core::{
    Connection, Nanos, Outcome, PerSec, RequestPurpose, Seconds, Stamp, StampSource, Tape,
};

use super::arrivals::ArrivalTally;
use super::goodput::GoodTally;
use super::latencies::Latencies;
use super::lengths::LengthTally;
use super::models::ModelTally;
use super::output::OutputTally;
use super::over_time::OverTimeTally;
use super::probe::ProbeTally;
use super::tokens::TokenTally;
use super::uncertainty::RequestSeries;
use super::windowed::WindowedSummary;
use super::{Goodput, LevelSummary, RateWindow, RequestCounts, Throughput};
use crate::events::Events;
use crate::series::end_of;
use crate::{GoodputGoals, LoadPacing, RequestMetrics, TimeSpan, Timeline, WindowChoice};

/// What has been seen of a level so far, without the tapes: some two hundred bytes a request, however long the replies, and some
/// fifty megabytes at the most, however many requests.
///
/// Up to [`LevelTally::EXACT`] requests all of what there is one of for each of them is exact. Beyond, counts, means and rates are as
/// exact, percentiles of the whole level are within 0.05 %, how many were going on is known to a cell of time (1 ms up to two
/// minutes, and up to twice the 131,072nd part of a longer level), and what hangs on the order of requests is that of a part of
/// them, drawn by lot: intervals, the steady part and its latencies, whether a queue grew. What is pooled over tokens is exact up to
/// [`PooledSample::EXACT`](crate::PooledSample::EXACT) gaps, and within 0.05 % beyond. The summary says which of it is so
/// ([`PercentileResolution`](crate::PercentileResolution)).
///
/// ```
/// use fizeau_core::{Arrival, Channel, Nanos, Stamp, Tape};
/// use fizeau_metrics::{GoodputGoals, LevelSummary, LevelTally};
///
/// let goals = GoodputGoals::default();
/// let mut tape = Tape::sent_at(Stamp::EPOCH);
/// tape.arrivals.push(Arrival::tokens(Stamp::EPOCH + Nanos::from_millis(20), 1, Channel::Visible));
///
/// let mut tally = LevelTally::new(&goals);
/// tally.add(&tape);
/// assert_eq!(tally.summary(), LevelSummary::of([&tape], &goals));
/// ```
#[derive(Debug, Clone)]
pub struct LevelTally {
    requests: RequestCounts,
    tokens: TokenTally,
    latencies: Latencies,
    output: OutputTally,
    arrivals: ArrivalTally,
    lengths: LengthTally,
    timeline: Timeline,
    over_time: OverTimeTally,
    window: WindowChoice,
    pacing: LoadPacing,
    models: ModelTally,
    probe: Option<Box<ProbeTally>>,
    good: GoodTally,
    span: Option<(Stamp, Stamp)>,
    at_least: Nanos,
    stamps: Stamps,
    connections_fresh: u64,
    connections_replaced: u64,
    left_open: u64,
}

/// Who stamped anything that was read.
#[derive(Debug, Clone, Copy, Default)]
struct Stamps {
    kernel: bool,
    simulated: bool,
    user: bool,
}

impl LevelTally {
    /// How many requests are kept one by one, so that all figures are exact: 2^17, ten megabytes of them.
    pub const EXACT: usize = crate::series::EXACT;

    /// Of nothing. `goals` are those of goodput; where they are empty there is none.
    #[must_use]
    pub fn new(goals: &GoodputGoals) -> Self {
        Self {
            requests: RequestCounts::default(),
            tokens: TokenTally::default(),
            latencies: Latencies::default(),
            output: OutputTally::up_to(Self::EXACT),
            arrivals: ArrivalTally::up_to(Self::EXACT),
            lengths: LengthTally::default(),
            timeline: Timeline::default(),
            over_time: OverTimeTally::default(),
            window: WindowChoice::default(),
            pacing: LoadPacing::OpenLoop,
            models: ModelTally::default(),
            probe: None,
            good: GoodTally::new(goals),
            span: None,
            at_least: Nanos::ZERO,
            stamps: Stamps::default(),
            connections_fresh: 0,
            connections_replaced: 0,
            left_open: 0,
        }
    }

    /// The same, for another window than the one that is found.
    #[must_use]
    pub fn with_window(self, window: WindowChoice) -> Self {
        Self { window, ..self }
    }

    /// The same, of a level that is known to have lasted at least so long, whatever its tapes show: another client measured it, which
    /// does not say when each request was over. What is missing is behind the last end.
    #[must_use]
    pub fn lasting_at_least(self, at_least: Nanos) -> Self {
        Self { at_least, ..self }
    }

    /// The same, with another number of requests that are kept one by one than [`LevelTally::EXACT`], and of gaps at least as many. Of
    /// tallies that are to be merged it has to be the same, and nothing may have been taken in yet.
    #[must_use]
    pub fn exact_up_to(self, requests: usize) -> Self {
        Self {
            latencies: Latencies::up_to(requests),
            output: OutputTally::up_to(requests),
            arrivals: ArrivalTally::up_to(requests),
            timeline: Timeline::up_to(requests),
            ..self
        }
    }

    /// The same, of a closed loop: the endpoint sets the pace, so that the summary says nothing of arrivals and saturation, and goodput
    /// counts from the sending. Nothing may have been taken in yet.
    #[must_use]
    pub fn of_closed_loop(self) -> Self {
        Self { pacing: LoadPacing::ClosedLoop, ..self }
    }

    /// Takes a tape in. The order of tapes does not matter. One of a probe stream counts into the probe's figures and the
    /// client's proof alone.
    pub fn add(&mut self, tape: &Tape) {
        self.note_client(tape);
        if tape.part == RequestPurpose::Probe {
            return self.probe.get_or_insert_default().add(tape);
        }
        self.requests.add(tape);
        let events = Events::of(tape);
        let metrics = RequestMetrics::with(tape, events.tokens);
        if let Outcome::Complete(finish) = tape.outcome {
            self.tokens.add(tape, finish, events.tokens);
            self.output.add(tape, &metrics, events.tokens);
        }
        let is_good = self.good.add(tape, &metrics, self.pacing);
        self.latencies.add(tape, &metrics, &events);
        if self.pacing.has_schedule() {
            self.arrivals.add(tape);
        }
        self.lengths.add(tape);
        self.timeline.add(tape, &metrics, events.gaps, is_good);
        self.over_time.add(tape, events.tokens);
        self.models.add(tape, &metrics);
        self.extend_span(tape);
    }

    /// Takes in all that `other` has, as if its tapes had been added here. It must have the same goals; window and loop stay
    /// those given here.
    pub fn merge(&mut self, other: Self) {
        self.requests.merge(other.requests);
        self.tokens.merge(&other.tokens);
        self.latencies.merge(other.latencies);
        self.output.merge(other.output);
        self.arrivals.merge(other.arrivals);
        self.lengths.merge(other.lengths);
        self.timeline.append(other.timeline);
        self.over_time.merge(&other.over_time);
        self.models.merge(other.models);
        if let Some(probe) = other.probe {
            self.probe.get_or_insert_default().merge(*probe);
        }
        self.good.merge(&other.good);
        if let Some((start, end)) = other.span {
            self.extend_to(start, end);
        }
        self.stamps.kernel |= other.stamps.kernel;
        self.stamps.simulated |= other.stamps.simulated;
        self.stamps.user |= other.stamps.user;
        self.connections_fresh += other.connections_fresh;
        self.connections_replaced += other.connections_replaced;
        self.left_open += other.left_open;
        self.at_least = self.at_least.max(other.at_least);
    }

    /// How many requests of the load have been taken in, and how they ended.
    #[must_use]
    pub const fn requests(&self) -> &RequestCounts {
        &self.requests
    }

    /// How long it has lasted by now: from the first release to the last end, or as long as it [is known](Self::lasting_at_least) to have
    /// lasted.
    #[must_use]
    pub fn duration(&self) -> Nanos {
        self.whole().map_or(Nanos::ZERO, |(start, end)| end.saturating_since(start))
    }

    fn whole(&self) -> Option<(Stamp, Stamp)> {
        self.span.map(|(start, end)| (start, end.max(start + self.at_least)))
    }

    /// Puts the requests in order of sending, as figures are computed, so that no copy of them is needed for that. Figures are
    /// the same without.
    pub fn settle(&mut self) {
        self.timeline.sort();
    }

    /// The summary of all that was taken in.
    #[must_use]
    pub fn summary(&self) -> LevelSummary {
        let tokens = self.tokens.counts();
        let timeline = self.timeline();
        let rows = self.rows(&timeline);
        let (metrics, jitter) =
            self.latencies.summary(&rows, self.requests.failed - self.requests.cancelled());
        let goodput = self.good.summary();
        let window = self.duration();
        let per_s = |count: u64| per_second(count, window);
        let throughput = Throughput {
            window: RateWindow::WholeRun,
            duration: Seconds::new(window.as_secs_f64()),
            requests_per_s: per_s(self.requests.completed),
            output_tokens_per_s: per_s(tokens.output.get()),
            total_tokens_per_s: tokens.input.map(|input| per_s((input + tokens.output).get())),
            goodput: goodput
                .as_ref()
                .map(|all| Goodput { rate: per_s(all.good), share: all.share(all.good) }),
            intervals: match &goodput {
                Some(all) => rows.rates_with_goals(all.sent),
                None => rows.rates(),
            },
        };
        let whole = self.whole().map(|(start, end)| TimeSpan::new(start, end));
        LevelSummary {
            requests: self.requests.clone(),
            tokens,
            metrics,
            jitter,
            rates: self.output.rates(),
            output: self.output.summary(window),
            throughput,
            goodput,
            arrivals: self.pacing.has_schedule().then(|| self.arrivals.summary()),
            over_time: whole.and_then(|whole| self.over_time.summary(&timeline, whole)),
            saturation: self.pacing.has_schedule().then(|| timeline.saturation()),
            windowed: Box::new(WindowedSummary::of(&timeline, &self.over_time.cells, self.window)),
            lengths: self.lengths.summary(),
            models: self.models.summary(),
            probe: self.probe.as_ref().map(|probe| Box::new(probe.summary())),
        }
    }

    /// The requests in the order in which they were sent.
    pub(crate) fn timeline(&self) -> Cow<'_, Timeline> {
        self.timeline.sorted()
    }

    /// What intervals are made from; of [`LevelTally::timeline`].
    pub(crate) fn rows<'a>(&'a self, timeline: &'a Timeline) -> RequestSeries<'a> {
        RequestSeries::of(timeline, &self.over_time.cells, self.whole())
    }

    /// The least trustworthy source of any stamp, if there is one; and how many connections were made, how many in place of dead ones, and how many
    /// replies were over before their bodies.
    pub(crate) const fn client(&self) -> (Option<StampSource>, [u64; 3]) {
        let counts = [self.connections_fresh, self.connections_replaced, self.left_open];
        (self.stamps.least_trustworthy(), counts)
    }

    /// From the first release to the last end.
    fn extend_span(&mut self, tape: &Tape) {
        let start = tape.marks.released;
        let end = end_of(tape);
        self.extend_to(start, end.unwrap_or(start));
    }

    fn extend_to(&mut self, start: Stamp, end: Stamp) {
        self.span = Some(match self.span {
            Some((first, last)) => (first.min(start), last.max(end)),
            None => (start, end),
        });
    }

    fn note_client(&mut self, tape: &Tape) {
        match tape.stamps {
            StampSource::Kernel => self.stamps.kernel = true,
            StampSource::Simulated => self.stamps.simulated = true,
            // Where nothing was read, as of a request that was called off before its reply, nobody stamped anything.
            StampSource::User => {
                self.stamps.user |= tape.marks.first_byte.is_some() || !tape.arrivals.is_empty();
            }
        }
        match tape.connection {
            Connection::Fresh => self.connections_fresh += 1,
            Connection::ReplacedStale => self.connections_replaced += 1,
            Connection::Reused => {}
        }
        self.left_open += u64::from(tape.left_open);
    }
}

impl Stamps {
    /// The least trustworthy source that was seen: one late stamp spoils a percentile. None where nothing was stamped.
    const fn least_trustworthy(self) -> Option<StampSource> {
        match self {
            Self { user: true, .. } => Some(StampSource::User),
            Self { kernel: true, .. } => Some(StampSource::Kernel),
            Self { simulated: true, .. } => Some(StampSource::Simulated),
            Self { .. } => None,
        }
    }
}

/// A rate over a window of no length is zero here: nothing can have been completed in it.
pub(super) fn per_second(count: u64, window: Nanos) -> PerSec {
    if window == Nanos::ZERO {
        return PerSec::default();
    }
    PerSec::new(count as f64 / window.as_secs_f64())
}
