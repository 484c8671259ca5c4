//! Whether the queue of an open loop grew as long as it was fed.

use fizeau_core::Stamp;

use super::trend::{BATCHES, Tests, batch_means};
use super::{LevelSignal, NoWindowReason, SignalGrowth};
use crate::series::SentRequest;
use crate::{CountSeries, TimeSpan, Timeline};

/// Level of the test of each signal.
const ALPHA: f64 = 0.01;

/// How many requests with a scheduled TTFT it takes: five a batch.
const NEEDS: usize = 5 * BATCHES;

/// The parts that are looked at, each up to the last request: so many eighths of the requests, and the tests of each.
const PARTS: [(usize, Tests); 4] =
    [(6, Tests::Both), (4, Tests::Steps), (2, Tests::Steps), (1, Tests::Steps)];

/// Two tests of each part, for any of which a level may be taken for saturated.
const IN_ALL: usize = 2 * PARTS.len();

/// Whether an open-loop level's queue grew.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Saturation {
    /// Both signals grow, or waits do by a fifth of the time and more: more was sent than was served. The level's latencies are those of
    /// its duration: a longer one would have had greater ones.
    Saturated(SaturationEvidence),
    /// No growth that could be told from chance in both. Of a load that became too great in the last tenth of the requests, or
    /// for a while on the way, there may be none to see.
    NotSeen(SaturationEvidence),
    /// Too short to tell.
    Unknown(NoWindowReason),
}

/// What the two signals did.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SaturationEvidence {
    /// The last three quarters, half, quarter or eighth of the requests: the longest of them that grew, or that with most growth.
    pub span: TimeSpan,
    /// Growth of the number of requests due and not over, as means over twenty equal numbers of requests.
    pub due: SignalGrowth,
    /// Growth of the scheduled TTFT, in milliseconds, likewise.
    pub ttft_scheduled: SignalGrowth,
}

impl Timeline {
    /// Whether the queue grew while requests were due, from tests for growth ([`SignalGrowth`]) of the number due and of the scheduled
    /// TTFT, each at a level of 0.01. The first quarter of the requests is left out, since every level fills up at first; so is
    /// what came after the last one was due. For a load that became too great on the way, the last half, quarter and eighth of
    /// them are looked at as well, as far as a hundred in them have a TTFT.
    ///
    /// A level whose last request was due before half of them were over is too short to show that a queue does not grow: the
    /// server never had as many requests as that rate would keep it busy with. It is saturated where the scheduled TTFT of its last
    /// requests is greater than that of the first by a fifth of the time in which all were due.
    ///
    /// For open loops: in a closed one the number in flight is given. Failed requests count as due until they end, and have no
    /// TTFT.
    ///
    /// ```
    /// use fizeau_core::{Arrival, Channel, Nanos, Stamp, Tape};
    /// use fizeau_metrics::{Saturation, Timeline};
    ///
    /// // One is due every 10 ms, and one is served every 12 ms.
    /// let ms = |n| Stamp::EPOCH + Nanos::from_millis(n);
    /// let tapes = (0..200).map(|n| {
    ///     let mut tape = Tape::sent_at(ms(10 * n));
    ///     tape.arrivals.push(Arrival::tokens(ms(12 * n + 12), 1, Channel::Visible));
    ///     tape
    /// });
    /// let found = Timeline::of(&tapes.collect::<Vec<_>>()).saturation();
    /// assert!(matches!(found, Saturation::Saturated(_)));
    /// ```
    #[must_use]
    pub fn saturation(&self) -> Saturation {
        let mut requests: Vec<_> = self.requests().iter().collect();
        requests.sort_by_key(|request| request.intended);
        let last = |eighths: usize| requests.get(requests.len() * (8 - eighths) / 8..);
        let parts = PARTS.map(|(eighths, tests)| {
            let part = last(eighths).unwrap_or_default();
            (part, part.iter().filter(|request| request.wait().is_some()).count(), tests)
        });
        let has = parts.first().map_or(0, |&(_, waits, _)| waits);
        if has < NEEDS {
            return Saturation::Unknown(NoWindowReason::TooFew {
                signal: LevelSignal::TtftScheduled,
                has: has as u64,
                needs: NEEDS as u64,
            });
        }
        let due = self.due();
        let looked_at = parts.iter().filter(|&&(_, waits, _)| waits >= NEEDS);
        let evidence = looked_at.filter_map(|&(part, _, tests)| {
            Some(SaturationEvidence {
                span: TimeSpan::new(part.first()?.intended, part.last()?.intended),
                due: SignalGrowth::of(&due_batches(&due, part), tests, IN_ALL)?,
                ttft_scheduled: SignalGrowth::of(&batch_means(&waits(part)), tests, IN_ALL)?,
            })
        });
        let evidence: Vec<SaturationEvidence> = evidence.collect();
        if let Some(&grown) = evidence.iter().find(|evidence| evidence.p() < ALPHA) {
            return Saturation::Saturated(grown);
        }
        let Some(most) = evidence.iter().min_by(|a, b| a.p().total_cmp(&b.p())) else {
            return Saturation::Unknown(NoWindowReason::AtOnce);
        };
        match unfinished_burst(&requests) {
            None => Saturation::NotSeen(*most),
            Some(_) if waits_pile_up(&requests) => Saturation::Saturated(*most),
            Some(burst) => Saturation::Unknown(burst),
        }
    }
}

impl SaturationEvidence {
    /// The greater one of both: a queue that grows shows in both signals.
    const fn p(&self) -> f64 {
        self.due.p.max(self.ttft_scheduled.p)
    }
}

/// That fewer than half of `requests`, in the order in which they were due, were over when the last was due.
fn unfinished_burst(requests: &[&SentRequest]) -> Option<NoWindowReason> {
    let last = requests.last()?.intended;
    let over = requests.iter().filter(|request| request.end <= last).count();
    let share = over as f64 / requests.len() as f64;
    (share < 0.5).then_some(NoWindowReason::Burst { share })
}

/// By how much more than what is served is sent, at the least, where waits tell it by themselves; and how much of the time lies between the
/// middles of the first and the last eighth.
const OVERLOAD: f64 = 0.2;
const BETWEEN_EIGHTHS: f64 = 7.0 / 8.0;

/// Whether the scheduled TTFT grew from the first eighth of `requests` to the last, by their medians, by [`OVERLOAD`] of the time in which
/// they were due: of a load that many times what is served it grows by that share. So it needs no test for noise, which waves of equal
/// replies fail however much they grow.
fn waits_pile_up(requests: &[&SentRequest]) -> bool {
    let (Some(first), Some(last)) = (requests.first(), requests.last()) else { return false };
    let eighth = requests.len() / 8;
    let typical = |part: &[&SentRequest]| {
        let mut all: Vec<f64> = part.iter().filter_map(|r| Some(r.wait()?.as_secs_f64())).collect();
        all.sort_unstable_by(f64::total_cmp);
        all.get(all.len() / 2).copied()
    };
    let ends = (requests.get(..eighth), requests.get(requests.len() - eighth..));
    let (Some(before), Some(after)) = (ends.0.and_then(typical), ends.1.and_then(typical)) else {
        return false;
    };
    let time = last.intended.saturating_since(first.intended).as_secs_f64();
    after - before > OVERLOAD * BETWEEN_EIGHTHS * time
}

/// The scheduled TTFT of each of `part` that has one, with the instant at which it was due.
fn waits(part: &[&SentRequest]) -> Vec<(f64, f64)> {
    part.iter().filter_map(|r| Some((secs(r.intended), r.wait()?.as_millis_f64()))).collect()
}

/// The mean number due over the time of each of [`BATCHES`] equal numbers of requests, with its middle. Equal times would make
/// little of a load that grows fast at last: most of its requests would be in the last of them.
fn due_batches(due: &CountSeries, part: &[&SentRequest]) -> Vec<(f64, f64)> {
    let edge = |batch: usize| {
        let index = batch * part.len() / BATCHES;
        part.get(index).or_else(|| part.last()).map(|request| request.intended)
    };
    let batch = |index: usize| {
        let span = TimeSpan::new(edge(index)?, edge(index + 1)?);
        Some((secs(span.from() + span.length() / 2), due.over(span).mean()?))
    };
    (0..BATCHES).filter_map(batch).collect()
}

fn secs(at: Stamp) -> f64 {
    at.as_nanos() as f64 / 1e9
}
