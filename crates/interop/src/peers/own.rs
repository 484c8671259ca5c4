//! Our own figures of the same tapes, to stand beside a tool's.

use fizeau_core::{Millis, Nanos, PerSec, RequestPurpose, Tape};

use super::gaps::{GapSample, ReplySteps};
use super::run::Run;
use super::sample::{Column, Sample};
use super::{PeerFigure, PeerSettings, PeerStatistic, PeerUnit, PeerValue};
use fizeau_metrics::{
    Distribution, LevelSummary, LevelTally, LoadPacing, RequestMetrics, Throughput,
};

/// Our own figures of the same tapes, by the names of [`PeerFigure::ours`]: each has our definition, and any statistic that
/// a tool may have of it. A percentile that the sample does not support is absent, which other tools do not say.
///
/// ```
/// use fizeau_core::{Arrival, Channel, Nanos, Stamp, Tape};
/// use fizeau_interop::{OwnFigures, Peer, PeerSettings, PeerStatistic};
///
/// let ms = |n| Stamp::EPOCH + Nanos::from_millis(n);
/// let mut tape = Tape::sent_at(ms(0));
/// tape.arrivals.push(Arrival::tokens(ms(20), 8, Channel::Visible));
/// tape.arrivals.push(Arrival::tokens(ms(40), 2, Channel::Visible));
///
/// let settings = PeerSettings::default();
/// let own = OwnFigures::of([&tape], &settings);
/// assert_eq!(own.get("tpot", Some(PeerStatistic::Mean)).and_then(|v| v.get()), Some(10.0));
/// // vLLM subtracts one token, whatever the first event carried.
/// let report = Peer::VllmPython.figures([&tape], &settings);
/// let theirs = report.get("mean_tpot_ms").ok_or("vLLM has a TPOT")?;
/// assert_eq!(theirs.value.get(), Some(20.0 / 9.0));
/// assert_eq!(own.comparable(theirs).and_then(|v| v.get()), Some(10.0));
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone)]
pub struct OwnFigures {
    summary: LevelSummary,
    /// Milliseconds, in the order of [`NAMES`].
    samples: [Sample; NAMES.len()],
    /// Inter-chunk latencies.
    chunk_gaps: GapSample,
}

/// Names of what each request has one of.
const NAMES: [&str; 7] = [
    "ttft",
    "ttft_scheduled",
    "first_visible",
    "tpot",
    "e2el",
    "e2el_scheduled",
    "release_lateness",
];

/// The same, taken in one by one.
#[derive(Debug, Default)]
pub(super) struct OwnTally([Vec<f64>; NAMES.len()]);

impl OwnTally {
    /// Takes in the tape of a request; a probe is none of the load's.
    pub(super) fn add(&mut self, tape: &Tape) {
        if tape.part != RequestPurpose::Load {
            return;
        }
        let request = RequestMetrics::of(tape);
        let millis = |span: Option<Nanos>| span.map(Nanos::as_millis_f64);
        let figures = [
            millis(request.ttft),
            millis(request.ttft_scheduled),
            millis(request.first_visible),
            request.tpot.map(Millis::get),
            millis(request.e2el),
            millis(request.e2el_scheduled),
            millis(request.release_lateness),
        ];
        for (values, figure) in self.0.iter_mut().zip(figures) {
            values.extend(figure);
        }
    }

    /// With the `steps` and the `summary` of the same tapes.
    pub(super) fn finish(self, steps: &ReplySteps, summary: LevelSummary) -> OwnFigures {
        let samples = self.0.map(|values| values.into_iter().collect());
        OwnFigures { summary, samples, chunk_gaps: steps.chunk_gaps() }
    }
}

const TOO_FEW: &str = "too few values for this percentile";

impl OwnFigures {
    /// Those of `tapes`; probes are left out. They are looked at more than once.
    #[must_use]
    pub fn of<'a>(tapes: impl IntoIterator<Item = &'a Tape>, settings: &PeerSettings) -> Self {
        let load = tapes.into_iter().filter(|tape| tape.part == RequestPurpose::Load);
        let load: Vec<&Tape> = load.collect();
        let (run, mut own) = (Run::of(load.iter().copied(), settings), OwnTally::default());
        load.iter().for_each(|tape| own.add(tape));
        let mut level = LevelTally::new(&settings.goals).lasting_at_least(settings.lasted);
        if settings.pacing == LoadPacing::ClosedLoop {
            level = level.of_closed_loop();
        }
        load.into_iter().for_each(|tape| level.add(tape));
        own.finish(&run.steps, level.summary())
    }

    /// Our figure beside `figure`, in the unit of that; none where we have no name for it.
    #[must_use]
    pub fn comparable(&self, figure: &PeerFigure) -> Option<PeerValue> {
        let value = self.get(figure.ours?, figure.statistic)?;
        let scale = match (figure.unit, figure.statistic) {
            (_, None | Some(PeerStatistic::Count)) => 1.0,
            (PeerUnit::Seconds, _) => 1e-3,
            (PeerUnit::Nanos, _) => 1e6,
            _ => 1.0,
        };
        Some(match value {
            PeerValue::Known(value) => PeerValue::Known(value * scale),
            absent @ PeerValue::Absent(_) => absent,
        })
    }

    /// The figure of this name: latencies in milliseconds, of which one statistic is wanted, counts, and rates a second. None
    /// where there is no such figure.
    #[must_use]
    pub fn get(&self, name: &str, statistic: Option<PeerStatistic>) -> Option<PeerValue> {
        let Some(statistic) = statistic else {
            return self.of_run(name);
        };
        if name == "itl" {
            return of_distribution(&self.summary.metrics.itl, statistic);
        }
        let named = || NAMES.iter().zip(&self.samples).find(|(known, _)| **known == name);
        let column = match name {
            "icl" => Column::millis(&self.chunk_gaps, None),
            _ => Column::millis(named()?.1, None),
        };
        let count = column.statistic(PeerStatistic::Count);
        Some(match statistic {
            PeerStatistic::Percentile(percent) if count < Some(needed(percent) as f64) => {
                PeerValue::Absent(TOO_FEW)
            }
            _ => column.statistic(statistic).into(),
        })
    }

    fn of_run(&self, name: &str) -> Option<PeerValue> {
        let (requests, tokens) = (&self.summary.requests, &self.summary.tokens);
        let (throughput, over_time) = (&self.summary.throughput, self.summary.over_time.as_ref());
        let no_goals = PeerValue::Absent("no goals were given");
        let good = throughput.goodput.as_ref();
        Some(match name {
            "sent" => requests.sent.into(),
            "completed" => requests.completed.into(),
            "failed" => requests.failed.into(),
            "input_tokens" => known(tokens.input.map(|input| input.get() as f64)),
            "output_tokens" => tokens.output.get().into(),
            "duration_s" => throughput.duration.get().into(),
            "peak_in_flight" => of_time(over_time.map(|level| level.in_flight.peak as f64)),
            "mean_in_flight" => of_time(over_time.map(|level| level.in_flight.mean)),
            "peak_output_tps" => {
                of_time(over_time.map(|level| level.peak_output_tokens.rate.get()))
            }
            "rps" => rate(throughput, throughput.requests_per_s.get()),
            "output_tps" => rate(throughput, throughput.output_tokens_per_s.get()),
            "total_tps" => known(throughput.total_tokens_per_s.map(PerSec::get)),
            "goodput_per_s" => good.map_or(no_goals, |good| rate(throughput, good.rate.get())),
            "good_share" => good.map_or(no_goals, |good| good.share.into()),
            _ => return None,
        })
    }
}

fn known(value: Option<f64>) -> PeerValue {
    value.map_or(PeerValue::Absent("a prompt's length is not known"), PeerValue::from)
}

fn rate(throughput: &Throughput, rate: f64) -> PeerValue {
    match throughput.duration.get() > 0.0 {
        true => rate.into(),
        false => of_time(None),
    }
}

fn of_time(value: Option<f64>) -> PeerValue {
    value.map_or(PeerValue::Absent("no time passed"), PeerValue::from)
}

/// How many values a percentile needs so that one is expected beyond it; the median needs one.
fn needed(percent: u8) -> usize {
    let beyond = percent.min(100_u8.saturating_sub(percent));
    match (percent, beyond) {
        (50, _) | (_, 0) => 1,
        (_, beyond) => 100_usize.div_ceil(beyond.into()),
    }
}

/// Of a sample that is pooled and weighted, as far as its summary has it.
fn of_distribution(sample: &Distribution, statistic: PeerStatistic) -> Option<PeerValue> {
    let quantile = match statistic {
        PeerStatistic::Percentile(50) => sample.p50,
        PeerStatistic::Percentile(90) => sample.p90,
        PeerStatistic::Percentile(95) => sample.p95,
        PeerStatistic::Percentile(99) => sample.p99,
        PeerStatistic::Mean => return Some(sample.mean.map(Millis::get).into()),
        PeerStatistic::Std => return Some(sample.std.map(Millis::get).into()),
        PeerStatistic::Min => return Some(sample.min.map(Millis::get).into()),
        PeerStatistic::Max => return Some(sample.max.map(Millis::get).into()),
        PeerStatistic::Count => return Some(sample.n.into()),
        _ => return None,
    };
    Some(match (quantile.value(), sample.n) {
        (Some(value), _) => value.get().into(),
        (None, 0) => PeerValue::from(None::<f64>),
        (None, _) => PeerValue::Absent(TOO_FEW),
    })
}
