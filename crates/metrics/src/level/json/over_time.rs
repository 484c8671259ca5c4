//! A level over time, its window and its saturation, in JSON.

use fizeau_core::Stamp;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{interval_or_reason, known_or_reason};
use crate::level::over_time::{Occupancy, OverTime};
use crate::level::windowed::{WindowFigures, WindowMetrics, WindowThroughput, Windowed};
use crate::{
    CurvePoint, CutReason, Distribution, Growth, MeasuredWindow, Saturation, Stationarity, Trend,
};

impl Serialize for OverTime {
    /// An object of the fields' names, `peak_output_tokens_per_s`, `peak_over_s` and `token_cell_ms`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const NO_PROMPT: &str = "the length of some prompts is unknown";
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("in_flight", &self.in_flight)?;
        map.serialize_entry("prefilling", &self.prefilling)?;
        map.serialize_entry("decoding", &self.decoding)?;
        map.serialize_entry("due", &self.due)?;
        known_or_reason(&mut map, "tokens_in_flight_mean", self.tokens_in_flight, NO_PROMPT)?;
        map.serialize_entry("peak_output_tokens_per_s", &self.peak_output_tokens.rate)?;
        map.serialize_entry("peak_over_s", &self.peak_output_tokens.over.as_secs_f64())?;
        map.serialize_entry("token_cell_ms", &self.cell.as_millis_f64())?;
        map.end()
    }
}

impl Serialize for Occupancy {
    /// An object of the fields' names.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("mean", &self.mean)?;
        map.serialize_entry("p50", &self.p50)?;
        map.serialize_entry("p90", &self.p90)?;
        map.serialize_entry("peak", &self.peak)?;
        map.end()
    }
}

impl Serialize for Windowed {
    /// An object of `warmup` and `cooldown` as they were asked for, `window` and `evidence`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("warmup", &self.choice.warmup.to_string())?;
        map.serialize_entry("cooldown", &self.choice.cooldown.to_string())?;
        let reason = self.part.as_ref().err().map(|no_window| no_window.why.to_string());
        known_or_reason(&mut map, "window", self.figures(), &reason.unwrap_or_default())?;
        let evidence = match &self.part {
            Ok(figures) => &figures.window.evidence,
            Err(no_window) => &no_window.evidence,
        };
        map.serialize_entry("evidence", evidence)?;
        map.end()
    }
}

impl Serialize for WindowFigures {
    /// One object: the window's ends and cuts, `completed`, `metrics`, `throughput`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const NO_CELL: &str = "the window is shorter than a cell of tokens";
        let MeasuredWindow { span, cut_front, kept, cut_back, reason, not_steady, .. } =
            &self.window;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("found", reason.as_str())?;
        if let CutReason::Plateau { level, share } = reason {
            map.serialize_entry("plateau_in_flight", level)?;
            map.serialize_entry("plateau_share", share)?;
        }
        if let Some(why) = not_steady {
            map.serialize_entry("not_steady_reason", &why.to_string())?;
        }
        map.serialize_entry("from_ns", &span.from().as_nanos())?;
        map.serialize_entry("to_ns", &span.to().as_nanos())?;
        map.serialize_entry("duration_s", &span.length().as_secs_f64())?;
        map.serialize_entry("cut_front", cut_front)?;
        map.serialize_entry("sent", kept)?;
        map.serialize_entry("cut_back", cut_back)?;
        map.serialize_entry("completed", &self.completed)?;
        map.serialize_entry("metrics", &self.metrics)?;
        known_or_reason(&mut map, "throughput", self.throughput, NO_CELL)?;
        map.end()
    }
}

impl Serialize for WindowMetrics {
    /// An object of the fields' names, each ending in `_ms`; `itl_ms` and `icl_ms` are null, with the reason.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const POOLED: &str =
            "pooled over the gaps of the whole run: compute it from the tapes sent in the window";
        let entries = [
            ("ttft_ms", &self.ttft),
            ("ttft_scheduled_ms", &self.ttft_scheduled),
            ("first_visible_ms", &self.first_visible),
            ("tpot_ms", &self.tpot),
            ("e2el_ms", &self.e2el),
            ("e2el_scheduled_ms", &self.e2el_scheduled),
        ];
        let mut map = serializer.serialize_map(None)?;
        for (name, distribution) in entries {
            map.serialize_entry(name, distribution)?;
        }
        known_or_reason(&mut map, "itl_ms", None::<&Distribution>, POOLED)?;
        known_or_reason(&mut map, "icl_ms", None::<&Distribution>, POOLED)?;
        map.end()
    }
}

impl Serialize for WindowThroughput {
    /// An object of `from_ns`, `to_ns`, `duration_s`, `requests_per_s`, `output_tokens_per_s`, the
    /// last two with a sibling `..._ci`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ns = Stamp::as_nanos;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("from_ns", &ns(self.span.from()))?;
        map.serialize_entry("to_ns", &ns(self.span.to()))?;
        map.serialize_entry("duration_s", &self.duration)?;
        map.serialize_entry("requests_per_s", &self.requests_per_s)?;
        interval_or_reason(&mut map, "requests_per_s", self.requests_interval)?;
        map.serialize_entry("output_tokens_per_s", &self.output_tokens_per_s)?;
        interval_or_reason(&mut map, "output_tokens_per_s", self.output_tokens_interval)?;
        map.end()
    }
}

impl Serialize for Stationarity {
    /// An object of the fields' names, the curves as `mser_front` and `mser_back`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const NOT_REACHED: &str = "no part was left whose trend could be looked at";
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("signal", self.signal.as_str())?;
        map.serialize_entry("n", &self.n)?;
        map.serialize_entry("cut_front", &self.cut_front)?;
        map.serialize_entry("cut_back", &self.cut_back)?;
        known_or_reason(&mut map, "trend", self.trend.as_ref(), NOT_REACHED)?;
        map.serialize_entry("mser_front", &Curve(&self.front))?;
        map.serialize_entry("mser_back", &Curve(&self.back))?;
        map.end()
    }
}

/// A curve as two lists: a file with a pair for each point is twice as long.
struct Curve<'a>(&'a [CurvePoint]);

impl Serialize for Curve<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let cuts: Vec<u64> = self.0.iter().map(|point| point.cut).collect();
        let statistics: Vec<f64> = self.0.iter().map(|point| point.statistic).collect();
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("cut", &cuts)?;
        map.serialize_entry("statistic", &statistics)?;
        map.end()
    }
}

impl Serialize for Trend {
    /// An object of the fields' names.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("per_s", &self.per_s)?;
        map.serialize_entry("mean", &self.mean)?;
        map.serialize_entry("share", &self.share)?;
        map.serialize_entry("batches", &self.batches)?;
        map.serialize_entry("effective", &self.effective)?;
        map.serialize_entry("p", &self.p)?;
        map.end()
    }
}

impl Serialize for Saturation {
    /// An object of `verdict` (`saturated`, `not_seen`, `unknown`), `from_ns` and `to_ns` of the part that was looked at, and the growth
    /// of `due` and of `ttft_scheduled_ms`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let (verdict, evidence) = match self {
            Self::Saturated(evidence) => ("saturated", evidence),
            Self::NotSeen(evidence) => ("not_seen", evidence),
            Self::Unknown(why) => {
                map.serialize_entry("verdict", "unknown")?;
                map.serialize_entry("verdict_reason", &why.to_string())?;
                return map.end();
            }
        };
        map.serialize_entry("verdict", verdict)?;
        map.serialize_entry("from_ns", &evidence.span.from().as_nanos())?;
        map.serialize_entry("to_ns", &evidence.span.to().as_nanos())?;
        map.serialize_entry("due", &evidence.due)?;
        map.serialize_entry("ttft_scheduled_ms", &evidence.ttft_scheduled)?;
        map.end()
    }
}

impl Serialize for Growth {
    /// An object of `trend`, `p_steps` and `p`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("trend", &self.trend)?;
        map.serialize_entry("p_steps", &self.p_steps)?;
        map.serialize_entry("p", &self.p)?;
        map.end()
    }
}
