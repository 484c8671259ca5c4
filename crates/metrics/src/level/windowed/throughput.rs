//! Rates in the measured part of a level.

use fizeau_core::{Interval, Nanos, PerSec, Seconds, Stamp};

use crate::level::slots::TimeSlots;
use crate::level::uncertainty::per_second;
use crate::series::SentRequest;
use crate::{BatchMeans, SampleSupport, TimeSpan, Timeline, TokenCells};

/// Rates in a window: of what came in it, whenever it was sent.
///
/// A completed request counts with the share of its output that came in the window, which is taken to have come evenly from the first
/// to the last. Requests then are counted like tokens. Were each one counted whole at its end, a window of few rounds of a closed
/// loop, whose requests end together, would have a round too many or too few.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct WindowThroughput {
    /// The window, made smaller until it begins and ends with a cell of tokens (1 ms as a rule), so that the count of
    /// tokens is exact.
    pub span: TimeSpan,
    /// How long that is.
    pub duration: Seconds,
    /// Requests completed per second, each counted as far as its output came in the window.
    pub requests_per_s: PerSec,
    /// Tokens received in it per second, of completed requests.
    pub output_tokens_per_s: PerSec,
    /// Where the true rate of requests lies; as [`RateIntervals`](crate::RateIntervals) for the whole run.
    pub requests_interval: Option<SampleSupport<Interval<PerSec>>>,
    /// Where the true rate of tokens lies.
    pub output_tokens_interval: Option<SampleSupport<Interval<PerSec>>>,
}

impl WindowThroughput {
    /// None if no whole cell is in `span`. Where only a part of the requests is kept, all are taken to be to their tokens, which
    /// are known, as those of the part are to theirs.
    pub(super) fn of(timeline: &Timeline, cells: &TokenCells, span: TimeSpan) -> Option<Self> {
        let span = cells.snapped(span);
        let duration = span.length();
        let seconds = duration.as_secs_f64();
        if seconds <= 0.0 {
            return None;
        }
        let completed = timeline.requests().iter().filter(|request| request.output().is_some());
        let inside = completed.filter_map(|request| Some((request, Part::of(request, span)?)));
        let inside: Vec<(&SentRequest, Part)> = inside.collect();
        let has = inside.len() as u64;
        let (mut by_request, mut by_token) =
            (TimeSlots::new(has, duration), TimeSlots::new(has, duration));
        let (mut count, mut output) = (0.0, 0.0);
        for (request, Part { from, to, share }) in inside {
            count += share;
            by_request.spread(from, to, share);
            let tokens = request.output().unwrap_or_default().get() as f64;
            by_token.spread(from, to, share * tokens);
            output += share * tokens;
        }
        let tokens = cells.within(span).get() as f64;
        let each = match timeline.folded() {
            Some(_) if output > 0.0 => tokens / output,
            _ => timeline.each_stands_for(),
        };
        let (requests_rate, tokens_rate) = (count * each / seconds, tokens / seconds);
        let interval = |slots: &TimeSlots, rate| {
            per_second(slots.mean(has).map(|found| found.map(|found| around(found, each, rate))))
        };
        Some(Self {
            span,
            duration: Seconds::new(seconds),
            requests_per_s: PerSec::new(requests_rate),
            output_tokens_per_s: PerSec::new(tokens_rate),
            requests_interval: interval(&by_request, requests_rate),
            output_tokens_interval: interval(&by_token, tokens_rate),
        })
    }
}

/// What of a request's output came in a window: from when to when since the window began, and which share.
struct Part {
    from: Nanos,
    to: Nanos,
    share: f64,
}

impl Part {
    /// A window holds what came after its beginning, up to its end.
    fn of(request: &SentRequest, span: TimeSpan) -> Option<Self> {
        let (first, last) = (request.first, request.last().max(request.first));
        let (from, to) = (first.max(span.from()), last.min(span.to()));
        let share = if first < last {
            to.since(from)?.as_secs_f64() / last.saturating_since(first).as_secs_f64()
        } else {
            f64::from(first > span.from() && first <= span.to())
        };
        let since = |at: Stamp| at.saturating_since(span.from());
        (share > 0.0).then(|| Self { from: since(from), to: since(to), share })
    }
}

/// The interval of what each stands for, moved to `rate`: tokens do not come quite evenly, so that the slots' mean differs a little.
fn around(found: BatchMeans, each: f64, rate: f64) -> BatchMeans {
    let moved = rate - found.mean * each;
    BatchMeans { mean: rate, interval: found.interval.map(|end| end * each + moved), ..found }
}
