//! A level over time, its window and its saturation, in JSON.

use fizeau_core::{Nanos, PerSec, Stamp};
use serde::{Deserialize, Serialize};

use crate::json::{scan, strange};
use crate::level::over_time::OccupancyOverTime;
use crate::level::windowed::{WindowFigures, WindowMetrics, WindowThroughput, WindowedSummary};
use crate::{
    CutReason, Distribution, LevelSignal, MeasuredWindow, MserPoint, NoWindow, NoWindowReason,
    PeakRate, Saturation, SaturationEvidence, SignalGrowth, Stationarity, TimeSpan, WindowChoice,
    WindowEnd,
};

json_object!(OccupancyOverTime, "How many requests were in which state, weighted by time.", |over| {
    "in_flight": is(in_flight),
    "prefilling": is(prefilling),
    "decoding": is(decoding),
    "due": is(due),
    "tokens_in_flight_mean": or(tokens_in_flight, "the length of some prompts is unknown"),
    "peak_output_tokens_per_s": via(rate: PerSec = over.peak_output_tokens.rate),
    "peak_over_s": via(length: f64 = over.peak_output_tokens.over.as_secs_f64()),
    "token_cell_ms": via(cell: f64 = over.cell.as_millis_f64()),
} => Ok(OccupancyOverTime {
    in_flight,
    prefilling,
    decoding,
    due,
    tokens_in_flight,
    peak_output_tokens: PeakRate { rate, over: seconds(length)? },
    cell: seconds(cell / 1e3)?,
}));

fn seconds(seconds: f64) -> Result<Nanos, String> {
    Nanos::from_secs_f64(seconds).map_err(|error| error.to_string())
}

json_object!(WindowedSummary, "The steady part of the level, beside the whole run.", |windowed| {
    "warmup": via(warmup: String = windowed.choice.warmup.to_string()),
    "cooldown": via(cooldown: String = windowed.choice.cooldown.to_string()),
    "window": via_or(window: WindowFigures = windowed.figures(), &windowed.why_none()),
    "evidence": via(evidence: Vec<Stationarity> = windowed.evidence()),
} => {
    let end = |text: String| text.parse::<WindowEnd>().map_err(|error| error.to_string());
    let choice = WindowChoice { warmup: end(warmup)?, cooldown: end(cooldown)? };
    let part = match window {
        (Some(mut figures), _) => {
            figures.window.evidence = evidence;
            Ok(figures)
        }
        (None, why) => Err(NoWindow { why: NoWindowReason::of_text(&why)?, evidence }),
    };
    Ok(WindowedSummary { choice, part })
});

impl WindowedSummary {
    fn why_none(&self) -> String {
        self.part.as_ref().err().map(|none| none.why.to_string()).unwrap_or_default()
    }

    fn evidence(&self) -> &Vec<Stationarity> {
        match &self.part {
            Ok(figures) => &figures.window.evidence,
            Err(no_window) => &no_window.evidence,
        }
    }
}

impl NoWindowReason {
    /// What a summary says, in the words of `Display`, or in those of summaries from before these changed.
    fn of_text(text: &str) -> Result<Self, String> {
        let count = |text: &str| text.parse::<u64>().ok();
        let signal =
            |text: &str| LevelSignal::ALL.into_iter().find(|signal| signal.to_string() == text);
        let too_few = || {
            let now = "only {} of the {} needed requests have a {}";
            let [has, needs, of] = scan(text, now)
                .or_else(|| scan(text, "only {} of the {} requests that it takes have a {}"))?;
            Some(Self::TooFew { signal: signal(of)?, has: count(has)?, needs: count(needs)? })
        };
        let unsettled = || {
            let former = "the {} does not settle: half of the level or more would have to be cut";
            let [of] = scan(text, "the {} changes over half of the level or more; run longer")
                .or_else(|| scan(text, former))?;
            Some(Self::Unsettled { signal: signal(of)? })
        };
        let drifting = || {
            let [of] = scan(text, "the {} still drifts after the cuts")
                .or_else(|| scan(text, "the {} still drifts within what is left"))?;
            Some(Self::Drifting { signal: signal(of)? })
        };
        let no_plateau = || {
            let now = "only {} of the time from the first to the last instant with {} in flight was spent there";
            let former =
                "only {} of the time between first and last reaching {} in flight was spent there";
            let [share, level] = scan(text, now).or_else(|| scan(text, former))?;
            Some(Self::NoPlateau { level: count(level)?, share: share.parse().ok()? })
        };
        let short = || {
            let [kept, all, level] =
                scan(text, "only {} of {} requests were sent while {} were in flight")?;
            Some(Self::ShortPlateau { level: count(level)?, kept: count(kept)?, all: count(all)? })
        };
        let burst = || {
            let [share] =
                scan(text, "only {} of the requests were over when the last was due; run longer")?;
            Some(Self::Burst { share: share.parse().ok()? })
        };
        let plain =
            || [Self::AtOnce, Self::NothingLeft].into_iter().find(|why| why.to_string() == text);
        let found = too_few().or_else(unsettled).or_else(drifting).or_else(no_plateau);
        found.or_else(short).or_else(burst).or_else(plain).ok_or_else(|| strange(text))
    }
}

const NO_CELL: &str = "the window is shorter than a cell of tokens";

/// What a window is called, and what a plateau has besides.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
enum WindowVariant {
    #[serde(alias = "asked")]
    Requested,
    Steady,
    Plateau,
}

impl CutReason {
    const fn window_variant(self) -> WindowVariant {
        match self {
            Self::Requested => WindowVariant::Requested,
            Self::Stationary => WindowVariant::Steady,
            Self::Plateau { .. } => WindowVariant::Plateau,
        }
    }

    const fn plateau(self) -> Option<(u64, f64)> {
        match self {
            Self::Plateau { level, share } => Some((level, share)),
            Self::Requested | Self::Stationary => None,
        }
    }
}

json_object!(WindowFigures, "Where the window is, what was cut for it, and the figures in it.", |part| {
    "kind": via(kind: WindowVariant = part.window.reason.window_variant()),
    "plateau_in_flight": via_if(level: u64 = part.window.reason.plateau().map(|plateau| plateau.0)),
    "plateau_share": via_if(share: f64 = part.window.reason.plateau().map(|plateau| plateau.1)),
    "not_steady_reason": via_if(not_steady: String = part.window.not_steady.map(|why| why.to_string())),
    "from_ns": via(from: u64 = part.window.span.from().as_nanos()),
    "to_ns": via(to: u64 = part.window.span.to().as_nanos()),
    "duration_s": told(f64, part.window.span.length().as_secs_f64()),
    "cut_front": via(cut_front: u64 = part.window.cut_front),
    "sent": via(kept: u64 = part.window.kept),
    "cut_back": via(cut_back: u64 = part.window.cut_back),
    "completed": is(completed),
    "metrics": is(metrics),
    "throughput": or(throughput, NO_CELL),
} => {
    let reason = match kind {
        WindowVariant::Requested => CutReason::Requested,
        WindowVariant::Steady => CutReason::Stationary,
        WindowVariant::Plateau => CutReason::Plateau {
            level: level.ok_or("a plateau without `plateau_in_flight`")?,
            share: share.ok_or("a plateau without `plateau_share`")?,
        },
    };
    let window = MeasuredWindow {
        span: TimeSpan::new(Stamp::from_nanos(from), Stamp::from_nanos(to)),
        cut_front,
        kept,
        cut_back,
        reason,
        not_steady: not_steady.map(|why| NoWindowReason::of_text(&why)).transpose()?,
        evidence: Vec::new(),
    };
    Ok(WindowFigures { window, completed, metrics, throughput })
});

const POOLED: &str =
    "it is pooled over the gaps of the whole run; compute it from the tapes of the window";

json_object!(WindowMetrics, "Latencies of requests sent in the window.", |metrics| {
    "ttft_ms": is(ttft),
    "ttft_scheduled_ms": is(ttft_scheduled),
    "first_visible_ms": is(first_visible),
    "tpot_ms": is(tpot),
    "e2el_ms": is(e2el),
    "e2el_scheduled_ms": is(e2el_scheduled),
    "itl_ms": told_or(Distribution, None::<&Distribution>, POOLED),
    "icl_ms": told_or(Distribution, None::<&Distribution>, POOLED),
} => Ok(WindowMetrics { ttft, ttft_scheduled, first_visible, tpot, e2el, e2el_scheduled }));

json_object!(WindowThroughput, "Rates in the window, in whole cells of tokens.", |rates| {
    "from_ns": via(from: u64 = rates.span.from().as_nanos()),
    "to_ns": via(to: u64 = rates.span.to().as_nanos()),
    "duration_s": is(duration),
    "requests_per_s": is(requests_per_s),
    "requests_per_s": ci(requests_interval),
    "output_tokens_per_s": is(output_tokens_per_s),
    "output_tokens_per_s": ci(output_tokens_interval),
} => Ok(WindowThroughput {
    span: TimeSpan::new(Stamp::from_nanos(from), Stamp::from_nanos(to)),
    duration,
    requests_per_s,
    output_tokens_per_s,
    requests_interval,
    output_tokens_interval,
}));

json_object!(Stationarity, "What one signal showed of the level's ends.", |shown| {
    "signal": is(signal),
    "n": is(n),
    "cut_front": is(cut_front),
    "cut_back": is(cut_back),
    "trend": or(trend, "no part was left to fit a trend to"),
    "mser_front": via(front: MserCurve = MserCurve::of(&shown.front)),
    "mser_back": via(back: MserCurve = MserCurve::of(&shown.back)),
} => Ok(Stationarity {
    signal, n, cut_front, cut_back, front: front.points(), back: back.points(), trend,
}));

/// The MSER-5 statistic by cut: two lists, since a file with a pair for each point is twice as long.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct MserCurve {
    cut: Vec<u64>,
    statistic: Vec<f64>,
}

impl MserCurve {
    fn of(points: &[MserPoint]) -> Self {
        let (cut, statistic) = points.iter().map(|point| (point.cut, point.statistic)).unzip();
        Self { cut, statistic }
    }

    fn points(self) -> Vec<MserPoint> {
        let both = self.cut.into_iter().zip(self.statistic);
        both.map(|(cut, statistic)| MserPoint { cut, statistic }).collect()
    }
}

/// What became of an open loop's queue.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
enum QueueVerdict {
    Saturated,
    NotSeen,
    Unknown,
}

impl Saturation {
    const fn verdict(&self) -> QueueVerdict {
        match self {
            Self::Saturated(_) => QueueVerdict::Saturated,
            Self::NotSeen(_) => QueueVerdict::NotSeen,
            Self::Unknown(_) => QueueVerdict::Unknown,
        }
    }

    const fn evidence(&self) -> Option<&SaturationEvidence> {
        match self {
            Self::Saturated(evidence) | Self::NotSeen(evidence) => Some(evidence),
            Self::Unknown(_) => None,
        }
    }

    fn why_unknown(&self) -> Option<String> {
        match self {
            Self::Unknown(why) => Some(why.to_string()),
            Self::Saturated(_) | Self::NotSeen(_) => None,
        }
    }
}

json_object!(Saturation, "Whether the queue of an open loop grew to the end.", |queue| {
    "verdict": via(verdict: QueueVerdict = queue.verdict()),
    "verdict_reason": via_if(why: String = queue.why_unknown()),
    "from_ns": via_if(from: u64 = queue.evidence().map(|seen| seen.span.from().as_nanos())),
    "to_ns": via_if(to: u64 = queue.evidence().map(|seen| seen.span.to().as_nanos())),
    "due": via_if(due: SignalGrowth = queue.evidence().map(|seen| seen.due)),
    "ttft_scheduled_ms": via_if(ttft: SignalGrowth = queue.evidence().map(|seen| seen.ttft_scheduled)),
} => {
    let evidence = (|| {
        let span = TimeSpan::new(Stamp::from_nanos(from?), Stamp::from_nanos(to?));
        Some(SaturationEvidence { span, due: due?, ttft_scheduled: ttft? })
    })();
    match (verdict, evidence) {
        (QueueVerdict::Saturated, Some(evidence)) => Ok(Saturation::Saturated(evidence)),
        (QueueVerdict::NotSeen, Some(evidence)) => Ok(Saturation::NotSeen(evidence)),
        (QueueVerdict::Unknown, _) => NoWindowReason::of_text(&why.unwrap_or_default()).map(Saturation::Unknown),
        (QueueVerdict::Saturated | QueueVerdict::NotSeen, None) => {
            Err("the verdict on the queue is without the growth that it rests on".to_owned())
        }
    }
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_earlier_summaries_are_still_read() {
        let (signal, [has, needs]) = (LevelSignal::ALL[0], [40, 100]);
        let former = [
            format!("only {has} of the {needs} requests that it takes have a {signal}"),
            format!("the {signal} does not settle: half of the level or more would have to be cut"),
            format!("the {signal} still drifts within what is left"),
            "only 0.50 of the time between first and last reaching 8 in flight was spent there"
                .to_owned(),
        ];
        let now = [
            NoWindowReason::TooFew { signal, has, needs },
            NoWindowReason::Unsettled { signal },
            NoWindowReason::Drifting { signal },
            NoWindowReason::NoPlateau { level: 8, share: 0.5 },
        ];
        for (former, now) in former.iter().zip(now) {
            assert_eq!(NoWindowReason::of_text(former), Ok(now));
            assert_eq!(NoWindowReason::of_text(&now.to_string()), Ok(now));
        }
        let burst = NoWindowReason::Burst { share: 0.25 };
        assert_eq!(NoWindowReason::of_text(&burst.to_string()), Ok(burst));
    }
}
