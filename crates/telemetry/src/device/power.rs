//! What devices draw over time, for pictures.

use std::collections::BTreeMap;

use super::identity::DeviceIdentity;
use crate::samples::{History, SeriesPoint};
use crate::server::TimelinePoint;
use crate::vocabulary::{MetricMeaning, meaning_of};
use crate::window::Window;

/// The power of each device in watts over `window`, as the first of `histories` that tells of it does, a point where a page says
/// something. A device that is divided, or on two pages, is there once.
#[must_use]
pub fn power_timelines<'a>(
    histories: impl IntoIterator<Item = &'a History>,
    window: Window,
) -> Vec<Vec<TimelinePoint>> {
    let mut each: BTreeMap<(Option<String>, String), Vec<TimelinePoint>> = BTreeMap::new();
    for history in histories {
        for name in history.series() {
            let entry =
                meaning_of(&name.metric).filter(|entry| entry.meaning == MetricMeaning::Power);
            let Some((entry, device)) = entry.zip(DeviceIdentity::of_labels(&name.labels)) else {
                continue;
            };
            let (host, own) = device.whole();
            each.entry((host.map(str::to_owned), own.to_owned())).or_insert_with(|| {
                let watts = |point: SeriesPoint| SeriesPoint {
                    value: point.value.map(|of| of * entry.scale),
                    ..point
                };
                let points: Vec<SeriesPoint> = history.points(name).map(watts).collect();
                TimelinePoint::within(&points, window)
            });
        }
    }
    each.into_values().collect()
}
