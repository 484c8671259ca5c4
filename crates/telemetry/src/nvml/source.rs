//! The library, opened.

use std::sync::OnceLock;

use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use nvml_wrapper::enums::gpm::GpmMetricId;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::gpm::{GpmSample, gpm_metrics_get};
use nvml_wrapper::{Device, Nvml};

use super::reading::{DeviceReading, ENERGY, page_of};
use crate::exposition::{Labels, Page};
use crate::source::Source;

/// Which of the machine's devices serve.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum DeviceChoice {
    /// All that there are.
    #[default]
    All,
    /// Those with these numbers or UUIDs.
    Named(Vec<String>),
}

/// Why the library tells of no device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NvmlUnavailable {
    /// There is no such library, or no driver behind it.
    #[error("NVIDIA's management library (NVML) cannot be opened: {why}; it comes with the driver")]
    NoLibrary {
        /// As the system says it.
        why: String,
    },
    /// The library is there and tells of no device.
    #[error("NVIDIA's management library (NVML) found no device: {why}")]
    NoDevice {
        /// As the library says it.
        why: String,
    },
    /// A device was asked for that is not there.
    #[error("there is no GPU {requested:?} on this machine; it has {there}")]
    Unknown {
        /// As it was asked for.
        requested: String,
        /// The numbers and UUIDs of those that are there.
        there: String,
    },
}

/// The library, which is opened once for as long as the program runs.
fn library() -> Result<&'static Nvml, NvmlUnavailable> {
    static LIBRARY: OnceLock<Result<Nvml, NvmlUnavailable>> = OnceLock::new();
    let open = || {
        // Drivers install the name with a number; the bare one comes with development files.
        let numbered = Nvml::builder().lib_path("libnvidia-ml.so.1".as_ref()).init();
        numbered
            .or_else(|_| Nvml::init())
            .map_err(|error| match error {
                NvmlError::LibloadingError(error) => error.to_string(),
                error => error.to_string(),
            })
            .map_err(|why| NvmlUnavailable::NoLibrary { why })
    };
    LIBRARY.get_or_init(open).as_ref().map_err(Clone::clone)
}

/// NVIDIA's management library as a source of pages: power, energy, clocks and why they are lowered, memory, utilization, temperature,
/// and from Hopper on the activity of DRAM, tensor pipes and multiprocessors.
#[derive(Debug)]
pub struct NvmlSource {
    library: &'static Nvml,
    devices: Vec<WatchedDevice>,
}

impl NvmlSource {
    /// The devices of `choice`.
    ///
    /// # Errors
    /// If there is no library, no device, or not the one that is asked for, see [`NvmlUnavailable`].
    pub fn open(choice: &DeviceChoice) -> Result<Self, NvmlUnavailable> {
        let library = library()?;
        let none = |error: NvmlError| NvmlUnavailable::NoDevice { why: error.to_string() };
        let count = library.device_count().map_err(none)?;
        let all = (0..count).map(|index| WatchedDevice::at(library, index));
        let devices = chosen(answering(all)?, choice)?;
        Ok(Self { library, devices })
    }

    /// How many devices it tells of.
    #[must_use]
    pub fn device_count(&self) -> usize {
        self.devices.len()
    }
}

/// Those of `all` that answer; where none does, why the first does not.
fn answering(
    all: impl Iterator<Item = Result<WatchedDevice, NvmlError>>,
) -> Result<Vec<WatchedDevice>, NvmlUnavailable> {
    let (mut devices, mut why) = (Vec::new(), None);
    for device in all {
        match device {
            Ok(device) => devices.push(device),
            Err(error) => why = why.or_else(|| Some(error.to_string())),
        }
    }
    match devices.is_empty() {
        true => Err(NvmlUnavailable::NoDevice {
            why: why.unwrap_or_else(|| "the library counts no device".to_owned()),
        }),
        false => Ok(devices),
    }
}

/// Of `all` those that `choice` asks for.
fn chosen(
    all: Vec<WatchedDevice>,
    choice: &DeviceChoice,
) -> Result<Vec<WatchedDevice>, NvmlUnavailable> {
    let DeviceChoice::Named(names) = choice else { return Ok(all) };
    if let Some(requested) = names.iter().find(|name| !all.iter().any(|device| device.is(name))) {
        let each = all.iter().map(|device| format!("{} ({})", device.index, device.uuid));
        return Err(NvmlUnavailable::Unknown {
            requested: requested.clone(),
            there: each.collect::<Vec<_>>().join(", "),
        });
    }
    Ok(all.into_iter().filter(|device| names.iter().any(|name| device.is(name))).collect())
}

impl Source for NvmlSource {
    type Error = NvmlUnavailable;

    fn page(&mut self) -> Result<Page, NvmlUnavailable> {
        let library = self.library;
        let readings: Vec<DeviceReading> =
            self.devices.iter_mut().filter_map(|device| device.read(library)).collect();
        match readings.is_empty() {
            true => Err(NvmlUnavailable::NoDevice { why: "none of them answers".to_owned() }),
            false => Ok(page_of(readings)),
        }
    }
}

/// A device that is looked at again and again.
#[derive(Debug)]
struct WatchedDevice {
    index: u32,
    uuid: String,
    labels: Labels,
    /// The last sample of its performance monitors, since a rate takes two.
    before: Option<GpmSample<'static>>,
}

impl WatchedDevice {
    /// The one with this number, if it answers.
    fn at(library: &'static Nvml, index: u32) -> Result<Self, NvmlError> {
        let device = library.device_by_index(index)?;
        let uuid = device.uuid()?;
        let name = device.name().unwrap_or_default();
        let labels = [("gpu", index.to_string()), ("UUID", uuid.clone()), ("modelName", name)];
        Ok(Self { index, uuid, labels: Labels::new(labels), before: None })
    }

    fn is(&self, name: &str) -> bool {
        self.uuid.eq_ignore_ascii_case(name) || name.parse() == Ok(self.index)
    }

    /// None where it does not answer any more.
    fn read(&mut self, library: &'static Nvml) -> Option<DeviceReading> {
        let device = library.device_by_index(self.index).ok()?;
        let mut values = plain_values(&device);
        values.extend(self.activity(library, &device));
        (!values.is_empty()).then(|| DeviceReading { labels: self.labels.clone(), values })
    }

    /// The shares of cycles since the last look; none on devices before Hopper.
    fn activity(
        &mut self,
        library: &'static Nvml,
        device: &Device<'static>,
    ) -> Vec<(&'static str, f64)> {
        const MONITORS: [(GpmMetricId, &str); 3] = [
            (GpmMetricId::DramBwUtil, "nvml_gpm_dram_bw_util"),
            (GpmMetricId::AnyTensorUtil, "nvml_gpm_any_tensor_util"),
            (GpmMetricId::SmUtil, "nvml_gpm_sm_util"),
        ];
        let Ok(now) = device.gpm_sample() else { return Vec::new() };
        let metrics = MONITORS.map(|(metric, _)| metric);
        let since =
            self.before.as_ref().map(|before| gpm_metrics_get(library, before, &now, &metrics));
        let told = since.and_then(Result::ok).unwrap_or_default();
        self.before = Some(now);
        let named = MONITORS.into_iter().zip(told);
        named.filter_map(|((_, name), told)| Some((name, told.ok()?.value))).collect()
    }
}

/// What a device says at once; what it does not support is left out.
fn plain_values(device: &Device<'_>) -> Vec<(&'static str, f64)> {
    let memory = device.memory_info().ok();
    let told = [
        ("nvml_power_usage", device.power_usage().ok().map(f64::from)),
        (ENERGY, device.total_energy_consumption().ok().map(|millijoules| millijoules as f64)),
        ("nvml_clock_sm", device.clock_info(Clock::SM).ok().map(f64::from)),
        ("nvml_clock_mem", device.clock_info(Clock::Memory).ok().map(f64::from)),
        (
            "nvml_clocks_event_reasons",
            device.current_throttle_reasons().ok().map(|reasons| reasons.bits() as f64),
        ),
        ("nvml_utilization_gpu", device.utilization_rates().ok().map(|share| f64::from(share.gpu))),
        (
            "nvml_utilization_memory",
            device.utilization_rates().ok().map(|share| f64::from(share.memory)),
        ),
        ("nvml_memory_used", memory.as_ref().map(|memory| memory.used as f64)),
        ("nvml_memory_free", memory.as_ref().map(|memory| memory.free as f64)),
        ("nvml_temperature", device.temperature(TemperatureSensor::Gpu).ok().map(f64::from)),
    ];
    told.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(index: u32) -> WatchedDevice {
        let uuid = format!("GPU-{index}f");
        WatchedDevice { index, uuid, labels: Labels::default(), before: None }
    }

    fn choice(names: &[&str]) -> DeviceChoice {
        DeviceChoice::Named(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn devices_are_chosen_by_number_or_uuid_and_one_that_is_not_there_is_named() {
        let all = || vec![device(0), device(1), device(10)];
        let indices = |names: &[&str]| -> Vec<u32> {
            chosen(all(), &choice(names)).unwrap().iter().map(|device| device.index).collect()
        };
        assert_eq!(indices(&["1", "gpu-10F"]), [1, 10]);
        assert_eq!(chosen(all(), &DeviceChoice::All).unwrap().len(), 3);
        let refused = chosen(all(), &choice(&["0", "7"])).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "there is no GPU \"7\" on this machine; it has 0 (GPU-0f), 1 (GPU-1f), 10 (GPU-10f)"
        );
    }

    #[test]
    fn who_may_not_look_is_told_why() {
        let refused = || Err(NvmlError::NoPermission);
        let none = answering([refused(), refused()].into_iter()).unwrap_err();
        let said = none.to_string();
        assert!(said.starts_with("NVIDIA's management library (NVML) found no device: "), "{said}");
        assert!(said.contains("permission") && said.lines().count() == 1, "{said}");
        // One of several may be another container's.
        let some = answering([refused(), Ok(device(1))].into_iter()).unwrap();
        assert_eq!(some.len(), 1);
        let counted = answering(std::iter::empty()).unwrap_err().to_string();
        assert!(counted.ends_with(": the library counts no device"), "{counted}");
    }

    /// Where there is no driver it says so; where there is one, pages come.
    #[test]
    fn a_machine_without_the_library_is_told_in_a_sentence() {
        match NvmlSource::open(&DeviceChoice::All) {
            Ok(mut source) => assert!(source.page().is_ok_and(|page| !page.samples.is_empty())),
            Err(error) => {
                assert!(error.to_string().contains("NVIDIA's management library"), "{error}")
            }
        }
    }
}
