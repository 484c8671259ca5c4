//! A comparison of requests: two runs, each as a series in order of sending.

mod column;
mod drawn;
mod test;

use fizeau_core::{FailureClass, Outcome, RequestPurpose, Stamp, Tape, Tokens};

use super::{
    ComparedFigure, ComparisonBasis, ComparisonSettings, ComparisonSide, ComparisonTable,
    LevelFigure, UntestedReason,
};
use crate::{GoodputGoals, LoadPacing, Metric, RequestMetrics, Statistic};
use column::RequestColumns;
use test::TestableFigure;

/// What a comparison keeps of a run's requests: some two hundred bytes each, and no tokens.
///
/// ```
/// use fizeau_core::{Arrival, Channel, Nanos, RequestId, Stamp, Tape};
/// use fizeau_metrics::{ComparisonAnswer, ComparedRequests, ComparisonSettings, ComparisonTable, LevelFigure, FigureChoice, GoodputGoals, LoadPacing, RequestPairing};
///
/// let run = |slower: u64| {
///     let mut requests = ComparedRequests::new(LoadPacing::OpenLoop, &GoodputGoals::default());
///     for k in 0..200 {
///         let sent = Stamp::EPOCH + Nanos::from_millis(10 * k);
///         let mut tape = Tape { request: RequestId(k), ..Tape::sent_at(sent) };
///         let ttft = Nanos::from_millis(50 + k * 37 % 20 + slower);
///         tape.arrivals.push(Arrival::tokens(sent + ttft, 1, Channel::Visible));
///         requests.add(&tape);
///     }
///     requests
/// };
/// let settings = ComparisonSettings {
///     figures: FigureChoice::only([LevelFigure::P50_TTFT]),
///     ..ComparisonSettings::default()
/// };
/// let table = ComparisonTable::of_requests(&run(0), &run(20), RequestPairing::ByNumber, &settings);
/// assert_eq!(table.answered(ComparisonAnswer::Worse).count(), 1);
/// ```
#[derive(Debug, Clone)]
pub struct ComparedRequests {
    pace: LoadPacing,
    goals: GoodputGoals,
    rows: Vec<RequestValues>,
    /// Of each round, from the first release to the last end.
    spans: Vec<Option<(Stamp, Stamp)>>,
}

/// Whether each request has a partner on the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RequestPairing {
    /// Requests of the same number belong together: both runs sent the same plan.
    ByNumber,
    /// Nothing belongs together: the runs sent different requests.
    None,
}

/// What is kept of a request.
#[derive(Debug, Clone)]
struct RequestValues {
    /// Which round, from 0, and which request of it.
    number: (usize, u64),
    intended: Stamp,
    sent: Stamp,
    end: Stamp,
    /// In milliseconds, in the order of [`Metric::series`].
    latencies: [Option<f64>; Metric::SERIES],
    is_complete: bool,
    /// By the client itself: neither failed nor complete.
    is_cancelled: bool,
    is_good: bool,
    output_tokens: u64,
}

impl ComparedRequests {
    /// Of nothing. `goals` are those of goodput.
    #[must_use]
    pub fn new(pace: LoadPacing, goals: &GoodputGoals) -> Self {
        Self { pace, goals: goals.clone(), rows: Vec::new(), spans: vec![None] }
    }

    /// Takes in the rounds of `later`, which came after these.
    pub fn append(&mut self, later: Self) {
        let before = self.spans.len();
        let row = |row: RequestValues| RequestValues {
            number: (before + row.number.0, row.number.1),
            ..row
        };
        self.rows.extend(later.rows.into_iter().map(row));
        self.spans.extend(later.spans);
    }

    /// Takes a tape in; tapes come in any order. Those of a probe stream are left out.
    pub fn add(&mut self, tape: &Tape) {
        if tape.part == RequestPurpose::Probe {
            return;
        }
        let metrics = RequestMetrics::of(tape);
        let mut latencies = [None; Metric::SERIES];
        for (metric, latency) in Metric::series().zip(&mut latencies) {
            *latency = metric.of_request(&metrics);
        }
        let released = tape.marks.released;
        let sent = tape.marks.send_start.unwrap_or(released);
        let end = tape.marks.end.or_else(|| tape.last_output()).unwrap_or(sent);
        let round = self.spans.len() - 1;
        if let Some(span) = self.spans.last_mut() {
            let (first, last) = span.unwrap_or((released, end));
            *span = Some((first.min(released), last.max(end)));
        }
        self.rows.push(RequestValues {
            number: (round, tape.request.0),
            intended: tape.marks.intended,
            sent,
            end,
            latencies,
            is_complete: tape.is_success(),
            is_cancelled: matches!(&tape.outcome, Outcome::Failed(why) if why.class == FailureClass::Cancelled),
            is_good: self.goals.are_met_by(tape, self.pace),
            output_tokens: metrics.output_tokens.map_or(0, Tokens::get),
        });
    }

    /// How many there are.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.rows.len() as u64
    }

    /// How many the client itself called off, as at the end of a level's time.
    #[must_use]
    pub fn cancelled(&self) -> u64 {
        self.rows.iter().filter(|row| row.is_cancelled).count() as u64
    }

    /// How many failed, and were not called off.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.rows.iter().filter(|row| !row.is_complete && !row.is_cancelled).count() as u64
    }

    /// Whether any request got tokens; embeddings have none.
    #[must_use]
    pub fn has_tokens(&self) -> bool {
        self.rows.iter().any(|row| row.output_tokens > 0)
    }

    /// In order of sending.
    fn by_sending(&self) -> Vec<&RequestValues> {
        let mut rows: Vec<&RequestValues> = self.rows.iter().collect();
        rows.sort_by_key(|row| (row.number.0, row.sent, row.number));
        rows
    }

    /// How many were in flight, as the mean over time; at least 1. Where all were sent at once that is no number of the endpoint's,
    /// and 1.
    fn in_flight(&self) -> f64 {
        if self.pace == LoadPacing::AllAtOnce {
            return 1.0;
        }
        let busy = |row: &RequestValues| row.end.saturating_since(row.sent).as_secs_f64();
        let mean = self.rows.iter().map(busy).sum::<f64>() / self.seconds();
        if mean.is_finite() { mean.max(1.0) } else { 1.0 }
    }

    /// How long all rounds took, in seconds.
    fn seconds(&self) -> f64 {
        let spans = self.spans.iter().flatten();
        spans.map(|(first, last)| last.saturating_since(*first).as_secs_f64()).sum()
    }
}

impl ComparisonTable {
    /// The requests of one run against those of another.
    ///
    /// Requests that are in flight together share batches and queues, so that their latencies are correlated. Each run is
    /// therefore drawn again in blocks of successive requests (a stationary bootstrap; with [`RequestPairing::ByNumber`] a block is
    /// drawn of both runs at once, so that what a prompt has in common with itself cancels), and the difference of the figures
    /// is compared with the standard error of those draws by Student's t. A block is as long as ten autocorrelation times or as
    /// Politis and White would have it, whichever is more, but no longer than a tenth of the run; and never shorter than the
    /// number of requests in flight, which are one observation of the endpoint: of equal lengths they march in waves, and what
    /// happens to one happens to all. The degrees of freedom are one less than as many blocks as make up the run, and the
    /// variance is set right for the mean that each draw takes off. A run of fewer than five blocks is not tested.
    ///
    /// A rate is what came over the time that it took. In a closed loop that is the time that each request held its slot, over
    /// the number of slots: the rate while all of them are busy, since for how long they idle at the end, until the last
    /// request is done, is chance. In an open loop it is the gaps between ends, most of which the schedule makes. Where all is
    /// sent at once the last request makes the rate, of which a run has one: it is not tested.
    ///
    /// With [`RequestPairing::None`], Mann and Whitney's test of all latencies stands beside.
    ///
    /// What differs from run to run (the time of day, the state of a machine) no request of either shows: two runs, however long,
    /// are one measurement of it. The standard error is widened by [`ComparisonSettings::run_to_run`], and where that is the one
    /// assumed, by as much as the quarters of both runs differ, if that is more. Repeats
    /// ([`ComparisonTable::of_runs`]) and rounds that alternate ([`ComparisonTable::of_rounds`]) show it.
    ///
    /// Of the [usual](super::FigureChoice::usual) figures a p99 that takes more requests than there are is stood in for by the p95,
    /// or else the p90.
    #[must_use]
    pub fn of_requests(
        baseline: &ComparedRequests,
        candidate: &ComparedRequests,
        pairing: RequestPairing,
        settings: &ComparisonSettings,
    ) -> Self {
        let (a, b) = (baseline.by_sending(), candidate.by_sending());
        let (basis, a, b) = match pairing {
            RequestPairing::None => {
                let (baseline, candidate) = (a.len() as u64, b.len() as u64);
                (ComparisonBasis::Requests { baseline, candidate }, a, b)
            }
            RequestPairing::ByNumber => {
                let (a, b) = partners(&a, b);
                (ComparisonBasis::PairedRequests(a.len() as u64), a, b)
            }
        };
        let columns = RequestColumns { pairing, paired: (&a, &b), whole: (baseline, candidate) };
        let compare = |figure: LevelFigure| columns.of(figure).and_then(TestableFigure::new);
        let rows = settings.figures.all().map(|(wanted, is_decided)| {
            let mut found = (wanted, compare(wanted));
            if let (Err(UntestedFigure { why: UntestedReason::TooFew { .. }, .. }), true) =
                (&found.1, settings.figures.takes_lower_tails)
            {
                let mut lower = lower_tails(wanted).map(|lower| (lower, compare(lower)));
                found = lower.find(|(_, lower)| lower.is_ok()).unwrap_or(found);
            }
            let (figure, compared) = found;
            let (values, tested) = match compared {
                Ok(compared) => (compared.values(), Ok(compared.tested(figure, settings))),
                Err(UntestedFigure { values, why }) => (values, Err(why)),
            };
            let (baseline, candidate) = values;
            let stands_for = (figure != wanted).then_some(wanted);
            ComparedFigure { figure, stands_for, is_decided, baseline, candidate, tested }
        });
        Self::with_decisions(basis, settings, rows.collect())
    }
}

/// The percentiles that may stand for a p99, the highest first; none for another figure.
fn lower_tails(figure: LevelFigure) -> impl Iterator<Item = LevelFigure> {
    let lower = match figure.statistic {
        Statistic::P99 => &[Statistic::P95, Statistic::P90][..],
        _ => &[],
    };
    lower.iter().map(move |&statistic| LevelFigure { statistic, ..figure })
}

/// Why a figure is not tested, and what is known of it anyway.
#[derive(Debug)]
struct UntestedFigure {
    values: (Option<f64>, Option<f64>),
    why: UntestedReason,
}

impl UntestedFigure {
    const fn side(side: ComparisonSide) -> Self {
        Self { values: (None, None), why: UntestedReason::Absent(side) }
    }
}

/// The rows whose numbers are on both sides, each at its partner's place, in the order of `a`.
fn partners<'a>(
    a: &[&'a RequestValues],
    b: Vec<&'a RequestValues>,
) -> (Vec<&'a RequestValues>, Vec<&'a RequestValues>) {
    let mut by_number = b;
    by_number.sort_by_key(|row| row.number);
    by_number.dedup_by_key(|row| row.number);
    let partner = |row: &&'a RequestValues| {
        let at = by_number.binary_search_by_key(&row.number, |other| other.number).ok()?;
        Some((*row, *by_number.get(at)?))
    };
    a.iter().filter_map(partner).unzip()
}
