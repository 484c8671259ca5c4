//! How fast a device was seen to read what its caches hold.

use fizeau_core::{Bytes, BytesPerSec};

use super::error::positive;
use super::{Device, DeviceError};

/// How fast arrays of one size were read over and over, where that is faster than memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CachedRead {
    /// The size of what was read, all cores together.
    pub working_set: Bytes,
    /// The best rate that was seen.
    pub bandwidth: BytesPerSec,
}

impl Device {
    /// How fast it was seen to read what its caches hold, the smallest size first; empty of every device of the table, whose bounds
    /// are those of memory.
    #[must_use]
    pub fn cached_reads(&self) -> &[CachedRead] {
        &self.cached
    }

    /// The same device with one more size that caches hold, and how fast it is read.
    ///
    /// # Errors
    /// If a figure is not a positive finite number.
    pub fn with_cached_read(mut self, read: CachedRead) -> Result<Self, DeviceError> {
        let bytes = positive(read.working_set.get(), "working set of a cached read")?;
        positive(read.bandwidth.get(), "bandwidth of a cached read")?;
        let at = self.cached.partition_point(|known| known.working_set.get() < bytes);
        self.cached.insert(at, read);
        Ok(self)
    }

    /// The most bytes a second at which so much can be read over and over, as each step of a model reads its weights: memory's
    /// bandwidth, or what was seen of arrays that are as large or larger. Between two sizes that were measured the smaller one counts,
    /// so that a bound made of it is none too tight.
    ///
    /// ```
    /// use fizeau_core::{Bytes, BytesPerSec, FlopsPerSec};
    /// use fizeau_roofline::{CachedRead, Device};
    ///
    /// let giga = |value: f64| BytesPerSec::new(value * 1e9);
    /// let memory = Bytes::new(64e9);
    /// let read = |mega: f64, rate| CachedRead { working_set: Bytes::new(mega * 1e6), bandwidth: giga(rate) };
    /// let device = Device::new("my-cpu", memory, giga(40.0), FlopsPerSec::new(1e12))?
    ///     .with_cached_read(read(1.0, 400.0))?
    ///     .with_cached_read(read(32.0, 90.0))?;
    /// let rate = |mega: f64| device.read_bandwidth(Bytes::new(mega * 1e6)).get() / 1e9;
    /// assert_eq!([rate(0.5), rate(2.0), rate(50.0)], [400.0, 400.0, 90.0]);
    /// # Ok::<(), fizeau_roofline::DeviceError>(())
    /// ```
    #[must_use]
    pub fn read_bandwidth(&self, working_set: Bytes) -> BytesPerSec {
        let larger =
            self.cached.partition_point(|read| read.working_set.get() <= working_set.get());
        let as_large = self.cached.iter().skip(larger.saturating_sub(1));
        let rates = as_large.map(|read| read.bandwidth.get());
        BytesPerSec::new(rates.fold(self.memory_bandwidth.get(), f64::max))
    }

    /// The same device for work that reads so much over and over.
    pub(crate) fn reading(self, working_set: Bytes) -> Self {
        Self { reading: Some(self.read_bandwidth(working_set)), ..self }
    }

    /// What to know where caches hold the weights.
    pub(crate) fn cache_note(&self) -> Option<String> {
        let reading = self.reading.filter(|rate| rate.get() > self.memory_bandwidth.get())?;
        let giga = |rate: BytesPerSec| fizeau_core::number::number(rate.get() / 1e9);
        Some(format!(
            "caches of {} hold part of the weights from step to step: they are read at up to {} GB/s, memory at {} GB/s",
            self.name,
            giga(reading),
            giga(self.memory_bandwidth)
        ))
    }
}
