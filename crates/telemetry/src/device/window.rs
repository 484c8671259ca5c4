//! The figures of one device.

use std::collections::BTreeMap;

use fizeau_core::{Joules, Nanos, document};

use super::identity::DeviceIdentity;
use super::readings;
use super::throttle::ThrottleReason;
use crate::exposition::SeriesName;
use crate::figure::Reported;
use crate::samples::{History, SeriesPoint};
use crate::vocabulary::{MetricMeaning, VocabularyEntry, meaning_of};
use crate::window::{CounterOver, GaugeOver, Window};

document! {
    /// What one device said over a window. What its exporter does not say is absent.
    #[derive(Default)]
    #[non_exhaustive]
    pub struct DeviceWindow,
    fn with(identity: DeviceIdentity, of: &Device<'_>) {} {
        /// Which device.
        pub device: DeviceIdentity = identity,
        /// Power.
        pub power as "power_w"?: Reported<GaugeOver> = of.gauge(MetricMeaning::Power),
        /// Energy by the device's own counter, never by averaged power: absent where the exporter reads it too seldom for the window. What
        /// lies between an edge and the reading next to it counts at the mean power between readings; at least nothing of it, and at most
        /// the highest power that is told. How far it may be off leaves out how old a value is on the page that first shows it.
        pub energy as "energy_j"?: Reported<CounterOver> = of.energy(),
        /// The clock of the multiprocessors.
        pub compute_clock as "compute_clock_per_s"?: Reported<GaugeOver> = of.gauge(MetricMeaning::ComputeClock),
        /// The clock of the memory.
        pub memory_clock as "memory_clock_per_s"?: Reported<GaugeOver> = of.gauge(MetricMeaning::MemoryClock),
        /// The share of the window in which clocks were lowered, by reason, 0 to 1; absent where the exporter does not tell reasons.
        pub lowered_clocks?: BTreeMap<ThrottleReason, f64> = of.lowered_clocks(),
        /// Time held down by power, in a unit that differs by version: above zero means that it was.
        pub power_throttled?: Reported<CounterOver> = of.counter(MetricMeaning::PowerThrottled),
        /// Time held down by heat, likewise.
        pub thermal_throttled?: Reported<CounterOver> = of.counter(MetricMeaning::ThermalThrottled),
        /// The share of time with any kernel resident, 0 to 1.
        pub utilization?: Reported<GaugeOver> = of.gauge(MetricMeaning::Utilization),
        /// The share of cycles in which memory moved data, 0 to 1.
        pub dram_active?: Reported<GaugeOver> = of.gauge(MetricMeaning::DramActive),
        /// The share of cycles in which the tensor pipe worked, 0 to 1.
        pub tensor_active?: Reported<GaugeOver> = of.gauge(MetricMeaning::TensorActive),
        /// The share of cycles in which a multiprocessor had work, 0 to 1.
        pub sm_active?: Reported<GaugeOver> = of.gauge(MetricMeaning::SmActive),
        /// Memory in use.
        pub memory_used as "memory_used_bytes"?: Reported<GaugeOver> = of.gauge(MetricMeaning::MemoryUsed),
        /// Temperature, in degrees Celsius.
        pub temperature as "temperature_c"?: Reported<GaugeOver> = of.gauge(MetricMeaning::Temperature),
    }
}

impl DeviceWindow {
    /// Every device that the pages of one exporter tell of, over `window`, in order of host and number. A value stands for at most
    /// `hold` on either side of its page.
    ///
    /// A device draws power before and after a level, so that the window counts as cut out of what goes on, whatever its edges.
    #[must_use]
    pub fn all(history: &History, window: Window, hold: Nanos) -> Vec<Self> {
        let all = Device::all(history, window, hold);
        all.map(|(identity, device)| Self::with(identity, &device)).collect()
    }

    /// What pages show of a device's counter of energy that was read too seldom for `window`, among those of one exporter; none where each
    /// is known, or none is there.
    #[must_use]
    pub fn unknown_energy(history: &History, window: Window) -> Option<Reported<GaugeOver>> {
        let unknown =
            |of: &Device<'_>| of.gauge(MetricMeaning::Energy).filter(|_| of.energy().is_none());
        Device::all(history, window, Nanos::ZERO).find_map(|(_, device)| unknown(&device))
    }

    /// The energy that its counter counted.
    #[must_use]
    pub fn counted_energy(&self) -> Option<Joules> {
        self.energy.as_ref().map(|told| Joules::new(told.figure.delta))
    }

    /// The share of the window in which power or heat lowered its clocks, at least: that of the reason that held longest; none
    /// where the exporter does not tell reasons.
    #[must_use]
    pub fn throttled_share(&self) -> Option<f64> {
        let reasons = self.lowered_clocks.as_ref()?.iter();
        let shares = reasons.filter(|(reason, _)| reason.is_throttling()).map(|(_, share)| *share);
        Some(shares.fold(0.0, f64::max))
    }
}

/// The series of one device.
struct Device<'a> {
    history: &'a History,
    window: Window,
    hold: Nanos,
    series: Vec<(&'a SeriesName, &'static VocabularyEntry)>,
}

impl<'a> Device<'a> {
    /// Every device of `history`, in order.
    fn all(
        history: &'a History,
        window: Window,
        hold: Nanos,
    ) -> impl Iterator<Item = (DeviceIdentity, Self)> {
        let mut devices: BTreeMap<DeviceIdentity, Vec<_>> = BTreeMap::new();
        for name in history.series() {
            let known = meaning_of(&name.metric).zip(DeviceIdentity::of_labels(&name.labels));
            if let Some((entry, device)) = known {
                devices.entry(device).or_default().push((name, entry));
            }
        }
        let window = Window::within(window.from, window.to);
        let with = move |series| Self { history, window, hold, series };
        devices.into_iter().map(move |(identity, series)| (identity, with(series)))
    }

    fn all_points(
        &self,
        meaning: MetricMeaning,
    ) -> impl Iterator<Item = (&SeriesName, f64, Vec<SeriesPoint>)> {
        let is_it = move |(name, entry): &&(&SeriesName, &VocabularyEntry)| {
            entry.meaning == meaning && is_of_the_whole(name)
        };
        let all = self.series.iter().filter(is_it);
        all.map(|(name, entry)| (*name, entry.scale, self.history.points(name).collect()))
    }

    fn points(&self, meaning: MetricMeaning) -> Option<(&SeriesName, f64, Vec<SeriesPoint>)> {
        self.all_points(meaning).next()
    }

    fn gauge(&self, meaning: MetricMeaning) -> Option<Reported<GaugeOver>> {
        let (name, scale, points) = self.points(meaning)?;
        let over = GaugeOver::of(&points, self.window, self.hold)?;
        Some(Reported::new(&*name.metric, over.scaled(scale)))
    }

    /// From values as they were read, not as they were shown: an exporter shows the same one until it looks again. Of several counters of
    /// one meaning, such as AMD's of heat in the socket and in the memory, the one that grew most.
    fn counter(&self, meaning: MetricMeaning) -> Option<Reported<CounterOver>> {
        self.grown_most(meaning, 0.0)
    }

    fn energy(&self) -> Option<Reported<CounterOver>> {
        let power = self.gauge(MetricMeaning::Power).and_then(|told| told.figure.peak);
        self.grown_most(MetricMeaning::Energy, power.unwrap_or_default())
    }

    /// The same, of a counter that may have grown by `most` a second in the unit of its meaning.
    fn grown_most(&self, meaning: MetricMeaning, most: f64) -> Option<Reported<CounterOver>> {
        let over = |(name, scale, points): (&SeriesName, f64, Vec<SeriesPoint>)| {
            let over = readings::grown(&points, self.window, most / scale)?;
            Some(Reported::new(&*name.metric, over.scaled(scale)))
        };
        let all = self.all_points(meaning).filter_map(over);
        all.max_by(|one, other| one.figure.delta.total_cmp(&other.figure.delta))
    }

    fn lowered_clocks(&self) -> Option<BTreeMap<ThrottleReason, f64>> {
        let (_, _, points) = self.points(MetricMeaning::ThrottleReasons)?;
        let share = |reason: ThrottleReason| {
            let has = |value: f64| if value as u64 & reason.bit() == 0 { 0.0 } else { 1.0 };
            let points: Vec<SeriesPoint> = points
                .iter()
                .map(|point| SeriesPoint { value: point.value.map(has), ..*point })
                .collect();
            let mean = GaugeOver::of(&points, self.window, self.hold)?.mean;
            Some((reason, mean)).filter(|(_, mean)| *mean > 0.0)
        };
        Some(ThrottleReason::ALL.into_iter().filter_map(share).collect())
    }
}

/// AMD's exporter tells the clocks of a device's parts under one name.
fn is_of_the_whole(name: &SeriesName) -> bool {
    name.labels.get("clock_type").is_none_or(|part| part == "GPU_CLOCK_TYPE_SYSTEM")
}
