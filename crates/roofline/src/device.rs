//! Accelerators, reduced to what a bound needs.

mod link;
mod table;

pub use link::{Link, Reduces, Topology};

use std::borrow::Cow;

use fizeau_core::{Bytes, BytesPerSec, FlopsPerSec};

use crate::{MathType, Model};

/// One accelerator: how much it holds, how fast it reads, how fast it computes.
///
/// Rates are those that the vendor prints for dense matrices; nothing here is what software achieves.
///
/// ```
/// use fizeau_roofline::{Device, MathType};
/// let device = Device::named("h100-sxm")?;
/// assert_eq!(device.memory_bandwidth().get(), 3.35e12);
/// assert!(device.dense_rate(MathType::Fp8).is_some());
///
/// let error = Device::named("h100").unwrap_err();
/// assert_eq!(error.nearest(), "h100-sxm");
/// # Ok::<(), fizeau_roofline::UnknownDevice>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Device {
    name: Cow<'static, str>,
    title: Cow<'static, str>,
    source: Cow<'static, str>,
    memory: Bytes,
    memory_bandwidth: BytesPerSec,
    bf16: FlopsPerSec,
    fp8: Option<FlopsPerSec>,
    tdp_watts: Option<u32>,
    link: Option<Link>,
    network: Option<Link>,
}

impl Device {
    /// The device of that name in the table. Case does not matter, and `_` or a space will do for `-`.
    ///
    /// # Errors
    /// If no device has the name; the error lists those that there are.
    pub fn named(name: &str) -> Result<&'static Self, UnknownDevice> {
        let wanted = canonical(name);
        let found = Self::all().iter().find(|device| device.name == wanted);
        found.ok_or_else(|| UnknownDevice::new(name, &wanted))
    }

    /// Every device in the table, by vendor and generation.
    #[must_use]
    pub const fn all() -> &'static [Self] {
        &table::DEVICES
    }

    /// A device that is not in the table, by its figures: what it holds, what it reads per second, and its
    /// dense 16-bit rate with 32-bit accumulation.
    ///
    /// # Errors
    /// If a figure is not a positive finite number.
    pub fn new(
        name: impl Into<String>,
        memory: Bytes,
        memory_bandwidth: BytesPerSec,
        bf16: FlopsPerSec,
    ) -> Result<Self, DeviceError> {
        let name = name.into();
        Ok(Self {
            memory: Bytes::new(positive(memory.get(), "memory")?),
            memory_bandwidth: BytesPerSec::new(positive(
                memory_bandwidth.get(),
                "memory bandwidth",
            )?),
            bf16: FlopsPerSec::new(positive(bf16.get(), "bf16 rate")?),
            fp8: None,
            tdp_watts: None,
            link: None,
            network: None,
            title: Cow::Owned(name.clone()),
            name: Cow::Owned(name),
            source: Cow::Borrowed("given by the caller"),
        })
    }

    /// The same device with arithmetic units for fp8 that reach `rate`.
    ///
    /// # Errors
    /// If the rate is not a positive finite number.
    pub fn with_fp8(self, rate: FlopsPerSec) -> Result<Self, DeviceError> {
        let rate = positive(rate.get(), "fp8 rate")?;
        Ok(Self { fp8: Some(FlopsPerSec::new(rate)), ..self })
    }

    /// The same device with this link to its neighbours.
    ///
    /// # Errors
    /// None yet.
    pub const fn with_link(mut self, link: Link) -> Result<Self, DeviceError> {
        self.link = Some(link);
        Ok(self)
    }

    /// The same device with this link to devices of other machines.
    ///
    /// # Errors
    /// None yet.
    pub const fn with_network(mut self, network: Link) -> Result<Self, DeviceError> {
        self.network = Some(network);
        Ok(self)
    }

    /// Its way to its neighbours, where known.
    #[must_use]
    pub const fn link(&self) -> Option<&Link> {
        self.link.as_ref()
    }

    /// Its way to devices of other machines, where known.
    #[must_use]
    pub const fn network(&self) -> Option<&Link> {
        self.network.as_ref()
    }

    /// The name to find it by, such as `h100-sxm`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name for a reader, such as `NVIDIA H100 SXM 80 GB`.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Where the figures are published.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What it holds, all of it: nothing is set aside for a driver or an engine.
    #[must_use]
    pub const fn memory(&self) -> Bytes {
        self.memory
    }

    /// The peak rate of reading its memory.
    #[must_use]
    pub const fn memory_bandwidth(&self) -> BytesPerSec {
        self.memory_bandwidth
    }

    /// The peak dense rate of arithmetic on operands of this type; none where the device has no units for
    /// them.
    #[must_use]
    pub const fn dense_rate(&self, math: MathType) -> Option<FlopsPerSec> {
        match math {
            MathType::Bf16 => Some(self.bf16),
            MathType::Fp8 => self.fp8,
            MathType::Fp4 | MathType::Int8 => None,
        }
    }

    /// The rate at which the device multiplies operands of `math`, or where it has no units for that, the rate of
    /// the next wider type that it has: weights are then widened as they are read.
    #[must_use]
    pub fn rate_for(&self, math: MathType) -> FlopsPerSec {
        let narrower = match math {
            MathType::Fp4 => self.dense_rate(math).or_else(|| self.dense_rate(MathType::Fp8)),
            _ => self.dense_rate(math),
        };
        narrower.unwrap_or(self.bf16)
    }

    /// The rate at which the device can at best compute `model`: that of the format of its first layer.
    #[must_use]
    pub fn compute_rate(&self, model: &Model) -> FlopsPerSec {
        self.rate_for(model.layers_format().math())
    }

    /// The board's power limit in watts, where the vendor states one.
    #[must_use]
    pub const fn tdp_watts(&self) -> Option<u32> {
        self.tdp_watts
    }
}

/// Why figures do not describe a device.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("the device's {figure} is {value}; it must be a positive finite number")]
pub struct DeviceError {
    figure: &'static str,
    value: f64,
}

fn positive(value: f64, figure: &'static str) -> Result<f64, DeviceError> {
    if value.is_finite() && value > 0.0 { Ok(value) } else { Err(DeviceError { figure, value }) }
}

/// No device in the table has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no device is named \"{name}\"; did you mean \"{nearest}\"? known are {}", known())]
pub struct UnknownDevice {
    name: String,
    nearest: &'static str,
}

impl UnknownDevice {
    /// The name that was asked for.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The known name most like it.
    #[must_use]
    pub const fn nearest(&self) -> &'static str {
        self.nearest
    }

    fn new(name: &str, wanted: &str) -> Self {
        // Part of a name is the likeliest slip ("h100", "4090"); after that, the fewest edits.
        let cost = |device: &&Device| {
            let known = device.name();
            (!known.contains(wanted), edits(wanted, known))
        };
        let nearest = Device::all().iter().min_by_key(cost);
        Self {
            name: name.chars().take(64).collect(),
            nearest: nearest.map_or("", |device| device.name()),
        }
    }
}

fn known() -> String {
    let names: Vec<&str> = Device::all().iter().map(Device::name).collect();
    names.join(", ")
}

fn canonical(name: &str) -> String {
    name.trim().to_lowercase().replace(['_', ' '], "-")
}

/// How many letters must be put in, taken out or changed to make `from` into `to` (Levenshtein's distance).
fn edits(from: &str, to: &str) -> usize {
    let mut above: Vec<usize> = (0..=to.chars().count()).collect();
    for (i, a) in from.chars().take(64).enumerate() {
        let mut row = vec![i + 1];
        let mut left = i + 1;
        for ((b, change), put_in) in to.chars().zip(&above).zip(above.iter().skip(1)) {
            left = (change + usize::from(a != b)).min(left + 1).min(put_in + 1);
            row.push(left);
        }
        above = row;
    }
    above.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::edits;

    #[test]
    fn edits_count_what_a_typist_does() {
        assert_eq!(edits("", "l4"), 2);
        assert_eq!(edits("l40s", "l40s"), 0);
        assert_eq!(edits("h10-sxm", "h100-sxm"), 1);
        assert_eq!(edits("kitten", "sitting"), 3);
    }
}
