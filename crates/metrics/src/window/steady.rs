//! The steady state of a level, found from its latencies and its concurrency.

use std::ops::Range;

use super::choice::MovableEnds;
use super::mser::{BATCH, Mser};
use super::trend::batch_means;
use super::{CutReason, MeasuredWindow, MserPoint, NoWindow, NoWindowReason, SignalTrend};
use crate::Timeline;
use crate::series::SentRequest;

/// How many requests a signal needs: twenty batches of five.
const NEEDS: usize = 100;

/// A trend within what is left is a drift if it is less probable than this by chance (a hundredth over three signals) ...
const DRIFT_P: f64 = 0.01 / 3.0;

/// ... and if it is more than this share of the mean: with enough requests any trifle is significant.
const DRIFT_SHARE: f64 = 0.05;

/// What is looked at, request by request in order of sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum LevelSignal {
    /// Requests in flight as it was sent, itself included.
    InFlight,
    /// Time from its intended instant to its first token, in milliseconds (to the reply, where that has no tokens).
    #[serde(rename = "ttft_scheduled_ms")]
    TtftScheduled,
    /// Its time per output token, in milliseconds.
    #[serde(rename = "tpot_ms")]
    Tpot,
}

impl LevelSignal {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::InFlight, Self::TtftScheduled, Self::Tpot];
}

fizeau_core::words! {
    LevelSignal, shown {
        InFlight = "number in flight", TtftScheduled = "scheduled TTFT", Tpot = "TPOT",
    }
}

/// What a signal showed of where the level is steady.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Stationarity {
    /// Which one.
    pub signal: LevelSignal,
    /// How many requests have it.
    pub n: u64,
    /// How many of those it would cut at the front, on its own.
    pub cut_front: u64,
    /// How many of those it would cut at the back, on its own.
    pub cut_back: u64,
    /// The MSER-5 statistic by cut at the front, at up to about twenty cuts.
    pub front: Vec<MserPoint>,
    /// The same at the back.
    pub back: Vec<MserPoint>,
    /// The trend within the window that is left after the cuts of all signals; absent if it was not come to that.
    pub trend: Option<SignalTrend>,
}

impl Timeline {
    /// The part of the level in which scheduled TTFT, TPOT and the number in flight are stationary; for closed loops, open
    /// loops and sessions alike.
    ///
    /// Each signal is cut by MSER-5 at both ends, unless the part to be cut has the mean of the rest (within 1 %, or three standard errors), and the window is what all leave. TPOT is looked at if at least 100
    /// requests have one. Then no signal may drift within the window (a slope test on batch means, p under 0.01 over all three,
    /// and a change of more than 5 % of the mean).
    ///
    /// # Errors
    /// If fewer than 100 requests completed, if a signal or all together would cut half of the level, or if one drifts within
    /// what is left. The evidence comes along.
    ///
    /// ```
    /// use fizeau_core::{Arrival, Channel, Nanos, Stamp, Tape};
    /// use fizeau_metrics::{NoWindow, Timeline};
    ///
    /// // One after another; the first thirty wait 90 ms for their token, all others 10 ms.
    /// let mut at = Stamp::EPOCH;
    /// let tapes = (0..300).map(|n| {
    ///     let mut tape = Tape::sent_at(at);
    ///     at += Nanos::from_millis(if n < 30 { 90 } else { 10 });
    ///     tape.arrivals.push(Arrival::tokens(at, 1, Channel::Visible));
    ///     tape
    /// });
    /// let window = Timeline::of(&tapes.collect::<Vec<_>>()).steady()?;
    /// assert_eq!((window.cut_front, window.kept, window.cut_back), (30, 269, 1));
    /// # Ok::<(), NoWindow>(())
    /// ```
    pub fn steady(&self) -> Result<MeasuredWindow, NoWindow> {
        self.steady_within(0..self.requests().len(), MovableEnds::Both)
    }

    /// The same among those of the requests that are `asked` for, by their place in the order of sending, with the ends that are
    /// `moving`.
    pub(super) fn steady_within(
        &self,
        asked: Range<usize>,
        moving: MovableEnds,
    ) -> Result<MeasuredWindow, NoWindow> {
        let requests = self.requests();
        let in_flight = self.in_flight();
        // One signal at a time, twice over: of millions of requests all three would be as large as what is kept of them.
        let values = |signal| match signal {
            LevelSignal::TtftScheduled => {
                values(requests, &asked, |r| Some(r.wait()?.as_millis_f64()))
            }
            LevelSignal::Tpot => values(requests, &asked, |r| Some(r.tpot()?.get())),
            LevelSignal::InFlight => {
                let load = in_flight.values_at(requests.iter().map(|request| request.at));
                let load = load.map(|value| value as f64).enumerate();
                load.skip(asked.start).take(asked.len()).collect()
            }
        };
        let mut signals = vec![LevelSignal::TtftScheduled, LevelSignal::InFlight];
        let with_tpot = requests.iter().skip(asked.start).take(asked.len());
        if with_tpot.filter(|request| request.tpot().is_some()).count() >= NEEDS {
            signals.insert(1, LevelSignal::Tpot);
        }

        let mut evidence = Vec::new();
        let last = requests.len().saturating_sub(1);
        let (mut first, mut end) = (asked.start, asked.end.min(last));
        for &signal in &signals {
            let values = values(signal);
            let stop = |why, evidence| Err(NoWindow { why, evidence });
            if values.len() < NEEDS {
                let (has, needs) = (values.len() as u64, NEEDS as u64);
                return stop(NoWindowReason::TooFew { signal, has, needs }, evidence);
            }
            let (found, cut) = stationarity(signal, &values, moving);
            evidence.push(found);
            (first, end) = (first.max(cut.0), end.min(cut.1));
            if end.saturating_sub(first) <= asked.len() / 2 {
                return stop(NoWindowReason::Unsettled { signal }, evidence);
            }
        }
        for (&signal, found) in signals.iter().zip(&mut evidence) {
            let inside = |(index, _): &(usize, f64)| (first..end).contains(index);
            found.trend = trend(requests, values(signal).into_iter().filter(inside));
            if found.trend.is_some_and(|t| t.p < DRIFT_P && t.share.abs() > DRIFT_SHARE) {
                let why = NoWindowReason::Drifting { signal };
                return Err(NoWindow { why, evidence });
            }
        }
        let at = |index: usize| requests.get(index).map(|request| request.at);
        let ends = at(first).zip(at(end)).ok_or(NoWindowReason::NothingLeft)?;
        self.window(ends, CutReason::Stationary, evidence)
    }
}

/// A signal's values, each with the index of its request in order of sending.
fn values(
    requests: &[SentRequest],
    asked: &Range<usize>,
    of: impl Fn(&SentRequest) -> Option<f64>,
) -> Vec<(usize, f64)> {
    let asked = requests.iter().enumerate().skip(asked.start).take(asked.len());
    asked.filter_map(|(index, r)| Some((index, of(r)?))).collect()
}

/// What `signal` shows, and which request is the first to be kept and which the first to be cut at the back (past all of them, if
/// none is).
fn stationarity(
    signal: LevelSignal,
    values: &[(usize, f64)],
    moving: MovableEnds,
) -> (Stationarity, (usize, usize)) {
    let plain: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
    let mser = Mser::of(&plain);
    let cuts = mser.cuts(moving);
    let first = cuts.front * BATCH;
    // The last few values fill no batch; they go with the batches before them.
    let end = if cuts.back == 0 { values.len() } else { (mser.batches() - cuts.back) * BATCH };
    let request = |value: usize| values.get(value).map_or(usize::MAX, |(index, _)| *index);
    let found = Stationarity {
        signal,
        n: values.len() as u64,
        cut_front: first as u64,
        cut_back: (values.len() - end) as u64,
        front: mser.front_curve(cuts),
        back: mser.back_curve(cuts),
        trend: None,
    };
    // Values before the first kept one may be missing; nothing is cut for that.
    let from = if first == 0 { 0 } else { request(first) };
    (found, (from, request(end)))
}

fn trend(
    requests: &[SentRequest],
    values: impl Iterator<Item = (usize, f64)>,
) -> Option<SignalTrend> {
    let timed = values.filter_map(|(index, value)| {
        let at = requests.get(index)?.at.as_nanos();
        Some((at as f64 / 1e9, value))
    });
    SignalTrend::of(&batch_means(&timed.collect::<Vec<_>>()))
}
