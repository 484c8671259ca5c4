//! The host of a server, by its exporter.

use fizeau_core::{Bytes, Nanos};

use super::view::View;
use crate::host::HostWindow;
use crate::samples::History;
use crate::vocabulary::MetricMeaning;
use crate::window::Window;

/// Modes of a processor in which nobody uses it: `node_cpu_seconds_total` of Prometheus' node_exporter has those of `/proc/stat`.
const IDLE: [&str; 2] = ["idle", "iowait"];
const STEAL: [&str; 1] = ["steal"];

impl HostWindow {
    /// What node_exporter says of a server's host over `window`; none of pages of something else.
    #[must_use]
    pub fn of(history: &History, window: Window) -> Option<Self> {
        // A host works before and after a level, too.
        let window = Window::within(window.from, window.to);
        let view = View::new(history, window, Nanos::ZERO);
        let grown = |meaning| Some(view.counter(meaning)?.figure.delta);
        let by_mode = view.counters_by::<String>(MetricMeaning::HostCpu, "mode");
        let time = |modes: &[&str]| -> f64 {
            let of = by_mode.iter().filter(|(mode, _)| modes.contains(&mode.as_str()));
            of.map(|(_, told)| told.figure.delta).sum()
        };
        let total = by_mode.values().map(|told| told.figure.delta).sum();
        let share = |part: f64, whole: f64| Some(part / whole).filter(|share| share.is_finite());
        let last = |meaning| {
            let (_, points) = view.sum_points(meaning)?;
            let mut known = points.iter().filter(|point| point.value.is_some());
            let at_end = known.clone().find(|point| point.at() >= window.to);
            at_end.or_else(|| known.next_back())?.value.map(Bytes::new)
        };
        let retransmits = grown(MetricMeaning::TcpRetransmits);
        let found = Self {
            cpu_busy: share(time(&IDLE), total).map(|idle| (1.0 - idle).clamp(0.0, 1.0)),
            cpu_steal: share(time(&STEAL), total).map(|steal| steal.clamp(0.0, 1.0)),
            memory_available: last(MetricMeaning::HostMemoryAvailable),
            memory: last(MetricMeaning::HostMemory),
            retransmits: retransmits.map(|count| count.round() as u64),
            retransmit_share: retransmits
                .zip(grown(MetricMeaning::TcpSegments))
                .and_then(|(again, sent)| share(again, sent)),
            clock_error: None,
        };
        (found != Self::default()).then_some(found)
    }
}
