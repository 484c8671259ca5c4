//! A server over time, for pictures.

use fizeau_core::{Millis, Nanos, Stamp};
use serde::{Deserialize, Serialize};

use super::view::View;
use crate::samples::{History, SeriesPoint};
use crate::vocabulary::MetricMeaning;
use crate::window::Window;

/// A value and when it was told.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimelinePoint {
    /// Since the window began.
    pub at_ms: Millis,
    /// The value.
    pub value: f64,
}

impl TimelinePoint {
    /// What `points` tell within `window`, a point where a page says something.
    #[must_use]
    pub fn within(points: &[SeriesPoint], window: Window) -> Vec<Self> {
        let told = |point: &SeriesPoint| {
            let at = since(point.at(), window)?;
            Some(Self { at_ms: at.to_millis(), value: point.value? })
        };
        points.iter().filter_map(told).collect()
    }
}

fn since(at: Stamp, window: Window) -> Option<Nanos> {
    at.since(window.from).filter(|since| *since <= window.length())
}

/// What a server says over time, page by page, all of its engines together.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ServerTimeline {
    /// Requests in the running batch.
    pub running: Vec<TimelinePoint>,
    /// Requests that wait.
    pub waiting: Vec<TimelinePoint>,
    /// The share of the KV cache in use, 0 to 1.
    pub kv_use: Vec<TimelinePoint>,
}

impl ServerTimeline {
    /// What the pages of one server say within `window`.
    #[must_use]
    pub fn of(history: &History, window: Window) -> Self {
        let view = View::new(history, window, Nanos::ZERO);
        let told = |points: Option<(&str, Vec<SeriesPoint>)>| {
            points.map_or_else(Vec::new, |(_, points)| TimelinePoint::within(&points, window))
        };
        Self {
            running: told(view.running_points()),
            waiting: told(view.sum_points(MetricMeaning::Waiting)),
            kv_use: told(view.kv_points()),
        }
    }
}
