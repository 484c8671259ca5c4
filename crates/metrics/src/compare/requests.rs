//! A comparison of requests: two runs, each as a series in order of sending.

mod column;
mod drawn;
mod test;

use fizeau_core::{Part, Stamp, Tape, Tokens};

use super::table::strictest;
use super::{Basis, ComparedFigure, ComparisonSettings, ComparisonTable, Figure, Side, Untested};
use crate::{GoodputGoals, Metric, RequestMetrics};
use column::Columns;
use test::Compared;

/// What a comparison keeps of a run's requests: some two hundred bytes each, and no tokens.
///
/// ```
/// use fizeau_core::{Arrival, Channel, Nanos, RequestId, Stamp, Tape};
/// use fizeau_metrics::{Answer, ComparedRequests, ComparisonSettings, ComparisonTable, Figure, FigureChoice, GoodputGoals, Pace, Pairing};
///
/// let run = |slower: u64| {
///     let mut requests = ComparedRequests::new(Pace::OpenLoop, &GoodputGoals::default());
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
///     figures: FigureChoice::only([Figure::P50_TTFT]),
///     ..ComparisonSettings::default()
/// };
/// let table = ComparisonTable::of_requests(&run(0), &run(5), Pairing::ByNumber, &settings);
/// assert_eq!(table.answered(Answer::Worse).count(), 1);
/// ```
#[derive(Debug, Clone)]
pub struct ComparedRequests {
    pace: Pace,
    goals: GoodputGoals,
    rows: Vec<Row>,
    /// Of each round, from the first release to the last end.
    spans: Vec<Option<(Stamp, Stamp)>>,
}

/// What sets the pace of a run, and so what makes its rates uncertain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pace {
    /// A slot sends when it is free: the time that requests take makes the rate.
    ClosedLoop,
    /// A schedule: the gaps between ends make the rate.
    OpenLoop,
    /// Nothing: all are sent at once, and the one that ends last makes the rate.
    AllAtOnce,
}

/// Whether each request has a partner on the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pairing {
    /// Requests of the same number belong together: both runs sent the same plan.
    ByNumber,
    /// Nothing belongs together: the runs sent different requests.
    None,
}

/// What is kept of a request.
#[derive(Debug, Clone)]
struct Row {
    /// Which round, from 0, and which request of it.
    number: (usize, u64),
    intended: Stamp,
    sent: Stamp,
    end: Stamp,
    /// In milliseconds, in the order of [`Metric::series`].
    latencies: [Option<f64>; Metric::SERIES],
    is_complete: bool,
    is_good: bool,
    output_tokens: u64,
}

impl ComparedRequests {
    /// Of nothing. `goals` are those of goodput.
    #[must_use]
    pub fn new(pace: Pace, goals: &GoodputGoals) -> Self {
        Self { pace, goals: goals.clone(), rows: Vec::new(), spans: vec![None] }
    }

    /// Takes in the rounds of `later`, which came after these.
    pub fn append(&mut self, later: Self) {
        let before = self.spans.len();
        let row = |row: Row| Row { number: (before + row.number.0, row.number.1), ..row };
        self.rows.extend(later.rows.into_iter().map(row));
        self.spans.extend(later.spans);
    }

    /// Takes a tape in; tapes come in any order. Those of a probe stream are left out.
    pub fn add(&mut self, tape: &Tape) {
        if tape.part == Part::Probe {
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
        self.rows.push(Row {
            number: (round, tape.request.0),
            intended: tape.marks.intended,
            sent,
            end,
            latencies,
            is_complete: tape.is_success(),
            is_good: self.goals.are_met_by(tape),
            output_tokens: metrics.output_tokens.map_or(0, Tokens::get),
        });
    }

    /// How many there are.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.rows.len() as u64
    }

    /// How many of them succeeded.
    #[must_use]
    pub fn completed(&self) -> u64 {
        self.rows.iter().filter(|row| row.is_complete).count() as u64
    }

    /// Whether any request got tokens; embeddings have none.
    #[must_use]
    pub fn has_tokens(&self) -> bool {
        self.rows.iter().any(|row| row.output_tokens > 0)
    }

    /// In order of sending.
    fn by_sending(&self) -> Vec<&Row> {
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        rows.sort_by_key(|row| (row.number.0, row.sent, row.number));
        rows
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
    /// Requests that are in flight together share batches and queues, so that their latencies hang together. Each run is
    /// therefore drawn again in blocks of successive requests (a stationary bootstrap; with [`Pairing::ByNumber`] a block is
    /// drawn of both runs at once, so that what a prompt has in common with itself cancels), and the difference of the figures
    /// is held against the standard error of those draws by Student's t. A block is as long as ten autocorrelation times or as
    /// Politis and White would have it, whichever is more, but no longer than a tenth of the run; the degrees of freedom are
    /// one less than as many blocks as make up the run, and the variance is set right for the mean that each draw takes off.
    ///
    /// A rate is what came over the time that it took. In a closed loop that is the time that each request held its slot, over
    /// the number of slots: the rate while all of them are busy, since for how long they idle at the end, until the last
    /// request is done, is chance. In an open loop it is the gaps between ends, most of which the schedule makes. Where all is
    /// sent at once the last request makes the rate, of which a run has one: it is not tested.
    ///
    /// With [`Pairing::None`], Mann and Whitney's test of all latencies stands beside.
    ///
    /// What differs from run to run (the time of day, the state of a machine) is in the difference and not in its standard
    /// error: two runs, however long, are one measurement of it. Rounds that alternate ([`ComparisonTable::of_rounds`]) tell it
    /// apart.
    #[must_use]
    pub fn of_requests(
        baseline: &ComparedRequests,
        candidate: &ComparedRequests,
        pairing: Pairing,
        settings: &ComparisonSettings,
    ) -> Self {
        let (a, b) = (baseline.by_sending(), candidate.by_sending());
        let (basis, a, b) = match pairing {
            Pairing::None => {
                let (baseline, candidate) = (a.len() as u64, b.len() as u64);
                (Basis::Requests { baseline, candidate }, a, b)
            }
            Pairing::ByNumber => {
                let (a, b) = partners(&a, b);
                (Basis::PairedRequests(a.len() as u64), a, b)
            }
        };
        let columns = Columns { pairing, paired: (&a, &b), whole: (baseline, candidate) };
        let compare = |&figure: &Figure| (figure, columns.of(figure).and_then(Compared::new));
        let decided: Vec<_> = settings.figures.decided.iter().map(compare).collect();
        let family = decided.iter().filter(|(_, compared)| compared.is_ok()).count();
        let within = strictest(settings.alpha, family);
        let beside = settings.figures.beside.iter().map(compare);
        let all = decided.into_iter().map(|both| (both, true, within));
        let all = all.chain(beside.map(|both| (both, false, settings.alpha)));
        let rows = all.map(|((figure, compared), is_decided, within)| {
            let (values, tested) = match compared {
                Ok(compared) => (compared.values(), Ok(compared.tested(settings, within))),
                Err(Missing { values, why }) => (values, Err(why)),
            };
            let (baseline, candidate) = values;
            ComparedFigure { figure, is_decided, baseline, candidate, tested }
        });
        Self::decided(basis, settings, rows.collect())
    }
}

/// Why a figure is not tested, and what is known of it all the same.
#[derive(Debug)]
struct Missing {
    values: (Option<f64>, Option<f64>),
    why: Untested,
}

impl Missing {
    const fn side(side: Side) -> Self {
        Self { values: (None, None), why: Untested::Absent(side) }
    }
}

/// The rows whose numbers are on both sides, each at its partner's place, in the order of `a`.
fn partners<'a>(a: &[&'a Row], b: Vec<&'a Row>) -> (Vec<&'a Row>, Vec<&'a Row>) {
    let mut by_number = b;
    by_number.sort_by_key(|row| row.number);
    by_number.dedup_by_key(|row| row.number);
    let partner = |row: &&'a Row| {
        let at = by_number.binary_search_by_key(&row.number, |other| other.number).ok()?;
        Some((*row, *by_number.get(at)?))
    };
    a.iter().filter_map(partner).unzip()
}
