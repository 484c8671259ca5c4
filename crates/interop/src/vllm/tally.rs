//! vLLM's result, added up one tape at a time.

use fizeau_core::{Nanos, PerSec, RequestPurpose, Seconds, Stamp, Tape, Tokens};
use fizeau_metrics::{GoodputGoals, LevelTally, PooledSample, SimpleGoals};

use super::figures::{self, Stats};
use super::lists::Lists;
use super::peaks::{Flights, PeakRate};
use super::probes::Probes;
use super::{VllmDetail, VllmMetric, VllmRequestRate, VllmResult, VllmRun, VllmSelection};
use crate::peers::run;

/// What vLLM's client would have seen of a level so far, without the tapes: sixteen bytes a request, by which the peak of requests in
/// flight is found, and at [`VllmDetail::Brief`] as many again; with [`VllmDetail::Full`] all that its file then holds, which grows with
/// every token. Beyond [`LevelTally::EXACT`] requests percentiles are within 0.05 %.
///
/// ```
/// use fizeau_core::{Stamp, Tape};
/// use fizeau_metrics::GoodputGoals;
/// use fizeau_interop::{VllmDetail, VllmSelection, VllmTally};
/// let mut tally = VllmTally::new(&VllmSelection::default(), &GoodputGoals::default(), VllmDetail::Brief);
/// tally.add(&Tape::sent_at(Stamp::EPOCH));
/// ```
#[derive(Debug, Clone)]
pub struct VllmTally {
    selection: VllmSelection,
    /// None where there are none, or none that vLLM could be asked for.
    goals: Option<SimpleGoals>,
    detail: VllmDetail,
    completed: u64,
    failed: u64,
    cancelled: u64,
    good: u64,
    input_tokens: Tokens,
    input_unknown: u64,
    output_tokens: Tokens,
    span: Option<(Stamp, Stamp)>,
    requests: Lists,
    samples: Vec<(VllmMetric, Sample)>,
    flights: Flights,
    rate: PeakRate,
    probes: Option<Probes>,
}

/// The values of one metric over the successful requests.
#[derive(Debug, Clone)]
enum Sample {
    /// One a request, in milliseconds: as many as are kept one by one.
    Each(Vec<f64>),
    /// More of them, in buckets.
    Many(PooledSample),
    /// Gaps of all requests.
    Gaps(PooledSample),
}

impl Sample {
    /// Takes in the value of one request.
    fn add(&mut self, value: f64) {
        match self {
            Self::Each(values) if values.len() < LevelTally::EXACT => values.push(value),
            Self::Each(values) => {
                let mut many = PooledSample::up_to(0);
                values.iter().chain([&value]).for_each(|&value| many.push(nanos(value)));
                *self = Self::Many(many);
            }
            Self::Many(sample) | Self::Gaps(sample) => sample.push(nanos(value)),
        }
    }
}

/// Of milliseconds, to the nearest nanosecond.
fn nanos(millis: f64) -> Nanos {
    Nanos::from_nanos((millis * 1e6).round() as u64)
}

impl VllmTally {
    /// Of nothing. `selection` says which metrics to keep, `goals` are those of goodput (none where they are empty,
    /// or go beyond what vLLM can be asked for: one group of TTFT, TPOT and E2EL),
    /// `detail` what the file shall hold of each request.
    #[must_use]
    pub fn new(selection: &VllmSelection, goals: &GoodputGoals, detail: VllmDetail) -> Self {
        let sample = |&metric: &VllmMetric| match metric {
            VllmMetric::Itl => (metric, Sample::Gaps(PooledSample::default())),
            _ => (metric, Sample::Each(Vec::new())),
        };
        Self {
            samples: selection.metrics.iter().map(sample).collect(),
            selection: selection.clone(),
            goals: goals.simple().filter(|_| !goals.is_empty()),
            detail,
            completed: 0,
            failed: 0,
            cancelled: 0,
            good: 0,
            input_tokens: Tokens::ZERO,
            input_unknown: 0,
            output_tokens: Tokens::ZERO,
            span: None,
            requests: Lists::default(),
            flights: Flights::default(),
            rate: PeakRate::default(),
            probes: None,
        }
    }

    /// Takes a tape in; one of a probe stream counts among the probes alone. The lists of the file are in the order of the
    /// tapes.
    pub fn add(&mut self, tape: &Tape) {
        if tape.part == RequestPurpose::Probe {
            self.probes.get_or_insert_default().add(tape);
            return;
        }
        let (released, end) = (tape.marks.released, run::end(tape));
        self.span = Some(
            self.span.map_or((released, end), |(first, last)| (first.min(released), last.max(end))),
        );
        self.requests.add(tape, Stamp::EPOCH, self.detail);
        self.flights.add(tape);
        self.good += u64::from(self.goals.is_some_and(|goals| figures::meets(tape, &goals)));
        if !tape.is_success() {
            self.failed += 1;
            self.cancelled += u64::from(run::was_called_off(tape));
            return;
        }
        self.completed += 1;
        match tape.input_tokens() {
            Some(input) => self.input_tokens += input,
            None => self.input_unknown += 1,
        }
        self.output_tokens += Tokens::new(run::reported_or_counted(tape));
        self.rate.add(tape);
        for (metric, sample) in &mut self.samples {
            match sample {
                Sample::Gaps(gaps) => gaps.extend(run::spans(run::events(tape))),
                each => figures::value(*metric, tape).into_iter().for_each(|value| each.add(value)),
            }
        }
    }

    /// The result of all that was taken in.
    ///
    /// The number of prompts is the number of tapes, so completed and failed always add up to it. The duration runs from
    /// the first release to the last end.
    #[must_use]
    pub fn finish(self, run: VllmRun) -> VllmResult {
        let span = self.span.and_then(|(first, last)| last.since(first));
        let duration = Seconds::new(span.unwrap_or_default().as_secs_f64());
        let mean_rate = figures::rate(self.output_tokens.get() as f64, duration);
        let available = |metric: VllmMetric| match metric {
            VllmMetric::ClientQueueTime => run.max_concurrency.is_some(),
            VllmMetric::E2elIncludingClientQueue => {
                let limited = matches!(run.request_rate, VllmRequestRate::Limited(_));
                run.max_concurrency.is_some() && limited
            }
            _ => true,
        };
        let percentiles = &self.selection.percentiles;
        let samples = self.samples.into_iter().filter(|(metric, _)| available(*metric));
        let stats = samples.map(|(metric, sample)| match sample {
            Sample::Each(values) => (metric, Stats::of(values, percentiles)),
            Sample::Many(pooled) | Sample::Gaps(pooled) => {
                (metric, Stats::of_gaps(&pooled, percentiles))
            }
        });
        let goodput = figures::rate(self.good as f64, duration);
        VllmResult {
            duration,
            completed: self.completed,
            failed: self.failed,
            cancelled: self.cancelled,
            input_tokens: self.input_tokens,
            input_unknown: self.input_unknown,
            output_tokens: self.output_tokens,
            peak_concurrency: self.flights.peak(),
            peak_tokens: PerSec::new(self.rate.peak().max(mean_rate.get())),
            stats: stats.collect(),
            requests: self.requests,
            probes: self.probes.map(Probes::figures),
            goodput: self.goals.is_some().then_some(goodput),
            detail: self.detail,
            run,
        }
    }
}
