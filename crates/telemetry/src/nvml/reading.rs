//! What one look at a device gives, as series of a page.

use crate::exposition::{Labels, MetricKind, Page, Sample, SeriesName};

/// What the library said of one device at one instant, in its own units; what it does not say of this device is absent.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct DeviceReading {
    /// Labels of all its series: `gpu`, `UUID` and `modelName`, as dcgm-exporter has them.
    pub(super) labels: Labels,
    /// The series by name, each with its value.
    pub(super) values: Vec<(&'static str, f64)>,
}

/// The counter of energy; all other series are gauges.
pub(super) const ENERGY: &str = "nvml_total_energy_consumption";

/// All devices as a page.
pub(super) fn page_of(readings: impl IntoIterator<Item = DeviceReading>) -> Page {
    let mut page = Page::default();
    for reading in readings {
        for (metric, value) in reading.values {
            let name = SeriesName::new(metric, reading.labels.clone());
            let kind = if metric == ENERGY { MetricKind::Counter } else { MetricKind::Gauge };
            page.kinds.insert(name.metric.clone(), kind);
            page.samples.insert(name, Sample { value, told_at_unix_ms: None });
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use fizeau_core::{Joules, Nanos, Stamp, Watts};

    use super::*;
    use crate::device::{DeviceWindow, ThrottleReason, total_energy, total_power};
    use crate::samples::{Fetch, History};
    use crate::vocabulary::{Exporter, meaning_of};
    use crate::window::Window;

    fn device(index: &str, values: &[(&'static str, f64)]) -> DeviceReading {
        let labels = Labels::new([("gpu", index), ("UUID", &format!("GPU-{index}"))]);
        DeviceReading { labels, values: values.to_vec() }
    }

    /// Two devices, looked at once a second.
    fn history() -> History {
        let mut history = History::new();
        for second in 0..5_u32 {
            let at = Stamp::EPOCH + Nanos::from_secs(second.into());
            let energy = f64::from(second) * 300_000.0;
            let values = [
                ("nvml_power_usage", 300_000.0),
                (ENERGY, 7_000_000.0 + energy),
                ("nvml_clock_sm", 1_755.0),
                ("nvml_clocks_event_reasons", 4.0),
                ("nvml_gpm_dram_bw_util", 75.0),
            ];
            let page = page_of([device("0", &values), device("1", &values)]);
            history.record(Fetch { requested: at, answered: at }, &page);
        }
        history
    }

    #[test]
    fn what_the_library_says_comes_to_the_figures_of_each_device() {
        let history = history();
        let window = Window::alone(Stamp::EPOCH, Stamp::EPOCH + Nanos::from_secs(4));
        let devices = DeviceWindow::all(&history, window, Nanos::from_secs(2));
        let [first, second] = &devices[..] else { panic!("{devices:?}") };
        assert_eq!(second.device.uuid.as_deref(), Some("GPU-1"));
        assert_eq!(total_power(&devices), Some(Watts::new(600.0)));
        assert_eq!(total_energy(&devices), Some(Joules::new(2_400.0)));
        assert_eq!(first.compute_clock.as_ref().map(|told| told.figure.mean), Some(1.755e9));
        assert_eq!(first.dram_active.as_ref().map(|told| told.figure.mean), Some(0.75));
        let lowered = first.lowered_clocks.clone().unwrap_or_default();
        assert_eq!(lowered.get(&ThrottleReason::PowerCap), Some(&1.0));
        assert_eq!(Exporter::of_history(&history), Some(Exporter::Nvml));
    }

    #[test]
    fn energy_counts_and_the_name_says_so() {
        let page = page_of([device("0", &[(ENERGY, 1.0), ("nvml_power_usage", 2.0)])]);
        assert_eq!(page.kinds.get(ENERGY), Some(&MetricKind::Counter));
        assert_eq!(page.kinds.get("nvml_power_usage"), Some(&MetricKind::Gauge));
        assert!(page.kinds.keys().all(|metric| meaning_of(metric).is_some()));
    }
}
