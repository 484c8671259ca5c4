//! Accelerators, reduced to what a bound needs.

mod cached;
mod cell;
mod doubts;
mod error;
mod file;
mod given;
mod json;
mod link;
mod math;
mod measured;
mod names;
mod price;
mod quantity;
mod table;

use fizeau_core::{Bytes, BytesPerSec, FlopsPerSec, Watts};

pub use cached::CachedRead;
pub use cell::PublishedFigure;
pub use error::DeviceError;
pub use link::{Link, ReductionSite, Topology};
pub use math::MathType;
pub(crate) use measured::MeasuredLines;
pub use measured::{Collective, MeasuredCollective};
pub use names::UnknownDevice;
pub use price::Price;

/// One accelerator: how much it holds, how fast it reads, how fast it computes, what it is linked by.
///
/// Rates are those that the vendor prints for dense matrices; nothing here is what software achieves. Where
/// published figures disagree, the one that keeps a bound sound is used, and [`Device::cells`] has the others.
///
/// ```
/// use fizeau_roofline::{Device, MathType};
/// let device = Device::named("h100-sxm")?;
/// assert_eq!(device.memory_bandwidth().get(), 3.35e12);
/// assert_eq!(device.dense_rate(MathType::Fp8).map(|rate| rate.get()), Some(1.979e15));
/// assert_eq!(device.dense_rate(MathType::Fp4), None);
///
/// let error = Device::named("h100-smx").unwrap_err();
/// assert_eq!(error.nearest, "h100-sxm");
/// # Ok::<(), fizeau_roofline::UnknownDevice>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Device {
    /// The name to find it by, such as `h100-sxm`.
    pub name: String,
    /// The name for a reader, such as `NVIDIA H100 SXM 80 GB`.
    pub title: String,
    /// Who makes it, where that is stated.
    pub vendor: Option<String>,
    /// The kind of silicon, such as `hopper`, where that is stated: what [`Device::doubts`] holds figures against.
    pub generation: Option<String>,
    /// Other names that [`Device::named`] finds it by.
    pub aliases: Vec<String>,
    /// What must be known of it whatever is asked, such as that a card holds two of it.
    pub note: Option<String>,
    /// Where its figures were measured: the name, in the table, of the device whose data sheet is that of the same part.
    pub data_sheet: Option<String>,
    memory: Bytes,
    usable_memory: Bytes,
    memory_bandwidth: BytesPerSec,
    cached: Vec<CachedRead>,
    /// How fast the work at hand reads, where caches make that faster than memory.
    reading: Option<BytesPerSec>,
    bf16: FlopsPerSec,
    fp8: Option<FlopsPerSec>,
    fp4: Option<FlopsPerSec>,
    int8: Option<FlopsPerSec>,
    link: Option<Link>,
    network: Option<Link>,
    collectives: Vec<MeasuredCollective>,
    tdp: Option<Watts>,
    /// What an hour of one device costs, by whom it is asked; none where nobody's price is known.
    pub prices: Vec<Price>,
    cells: Vec<PublishedFigure>,
}

/// The cell of how fast memory is read.
const BANDWIDTH: &str = "memory.bandwidth";

/// Where devices come from.
impl Device {
    /// The device of that name in the table. Case does not matter, and `_` or a space will do for `-`; other
    /// names that are in use (`b200`, `gb10`) are known too; `h100`, `h200` and `a100` are the SXM parts, the last with
    /// 80 GB.
    ///
    /// # Errors
    /// If no device has the name; the error lists those that there are.
    pub fn named(name: &str) -> Result<&'static Self, UnknownDevice> {
        names::find(name)
    }

    /// The file that describes the device of that name in the table: a pattern for [`Device::from_toml`].
    ///
    /// # Errors
    /// If no device has the name.
    pub fn file(name: &str) -> Result<&'static str, UnknownDevice> {
        names::file(name)
    }

    /// Every device in the table, by vendor and generation.
    #[must_use]
    pub fn all() -> &'static [Self] {
        table::devices()
    }

    /// A device of your own, by the text of a TOML file in the form of those in the table.
    ///
    /// A figure is text with its unit, or a number in bytes, bytes/s, FLOP/s, W or s; or a table with that as its
    /// `value` and, as the table's own have them, `printed`, `source`, `date`, `unverified`, `range` and `note`.
    /// Only the name and the first three figures below must be there; `docs/devices.md` has all the fields.
    ///
    /// ```
    /// use fizeau_roofline::{Device, MathType};
    ///
    /// let device = Device::from_toml(
    ///     r#"
    ///     name = "my-card"
    ///     [memory]
    ///     capacity = "24 GiB"
    ///     bandwidth = "1008 GB/s"
    ///     [rates]
    ///     bf16 = "165 TFLOP/s"
    ///     fp8 = "330 TFLOP/s"
    ///     "#,
    /// )?;
    /// assert_eq!(device.memory().get(), 24.0 * 1024.0 * 1024.0 * 1024.0);
    /// assert_eq!(device.dense_rate(MathType::Fp8).map(|rate| rate.get()), Some(3.3e14));
    /// assert!(device.doubts().is_empty());
    /// # Ok::<(), fizeau_roofline::DeviceError>(())
    /// ```
    ///
    /// # Errors
    /// If the text is not TOML, a figure is missing, unknown or not what it must be. The message names the field
    /// and its line. A figure that is only odd is no error; [`Device::doubts`] tells.
    pub fn from_toml(text: &str) -> Result<Self, DeviceError> {
        file::device(text)
    }
}

/// What is known of them.
impl Device {
    /// Of a device whose figures were measured, the one of the table whose data sheet is that of the same part.
    #[must_use]
    pub fn specification(&self) -> Option<&'static Self> {
        Self::named(self.data_sheet.as_ref()?).ok()
    }

    /// Whether a probe measured its memory, so that bounds are of what this silicon was seen to allow: its file is one that `fizeau probe`
    /// wrote.
    #[must_use]
    pub fn is_probed(&self) -> bool {
        self.cell(BANDWIDTH).is_some_and(PublishedFigure::is_probed)
    }

    /// Where most of the figures are published: the source of the memory bandwidth.
    #[must_use]
    pub fn source(&self) -> &str {
        self.cell(BANDWIDTH).map_or("", |cell| &cell.source)
    }

    /// What it holds, all of it: nothing is set aside for error correction, a driver or an engine, so that no
    /// capacity computed from it can be beaten.
    #[must_use]
    pub const fn memory(&self) -> Bytes {
        self.memory
    }

    /// What software sees of the memory, at most [`Device::memory`]: what to expect room from. The same where
    /// nobody has published what is seen.
    #[must_use]
    pub const fn usable_memory(&self) -> Bytes {
        self.usable_memory
    }

    /// The peak rate of reading its memory; of the device of a system, that of reading this model's weights over and over, which
    /// caches can make faster ([`Device::read_bandwidth`]).
    #[must_use]
    pub const fn memory_bandwidth(&self) -> BytesPerSec {
        match self.reading {
            Some(reading) => reading,
            None => self.memory_bandwidth,
        }
    }

    /// The rate to expect of reading its memory: of a device that a probe measured, what it typically does, which is the low end of its
    /// range, and as large a share of what caches give; of all others [`Device::memory_bandwidth`], since those who print two figures
    /// differ in how they count.
    #[must_use]
    pub fn usual_bandwidth(&self) -> BytesPerSec {
        let measured = self.cell(BANDWIDTH).filter(|cell| cell.is_probed());
        self.memory_bandwidth() * measured.and_then(PublishedFigure::low_over_value).unwrap_or(1.0)
    }

    /// The peak dense rate of arithmetic on operands of that type; none where the device has no units for them,
    /// or where no rate is published.
    #[must_use]
    pub const fn dense_rate(&self, math: MathType) -> Option<FlopsPerSec> {
        match math {
            MathType::Bf16 => Some(self.bf16),
            MathType::Fp8 => self.fp8,
            MathType::Fp4 => self.fp4,
            MathType::Int8 => self.int8,
        }
    }

    /// The rate to expect of operands of that type: the least that sources give where they disagree, of which
    /// [`Device::dense_rate`] is the most. On GeForce cards it is that with 32-bit accumulation.
    ///
    /// ```
    /// use fizeau_roofline::{Device, MathType};
    /// let device = Device::named("rtx-4090")?;
    /// assert_eq!(device.dense_rate(MathType::Bf16).map(|rate| rate.get()), Some(3.303e14));
    /// assert_eq!(device.usual_rate(MathType::Bf16).map(|rate| rate.get()), Some(1.652e14));
    /// # Ok::<(), fizeau_roofline::UnknownDevice>(())
    /// ```
    #[must_use]
    pub fn usual_rate(&self, math: MathType) -> Option<FlopsPerSec> {
        let least = |cell: &PublishedFigure| {
            cell.range.as_ref().map(|span| FlopsPerSec::new(span.numbers.0))
        };
        let rate = self.dense_rate(math)?;
        Some(self.cell(math.field()).and_then(least).unwrap_or(rate))
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

    /// How it reaches the devices beside it (scale-up), where that is published.
    #[must_use]
    pub const fn link(&self) -> Option<&Link> {
        self.link.as_ref()
    }

    /// How it reaches devices in other machines (scale-out), as servers with it are commonly built; none where
    /// there is no such custom.
    #[must_use]
    pub const fn network(&self) -> Option<&Link> {
        self.network.as_ref()
    }

    /// What its collectives were measured to take; empty of every device of the table. Expectations use these where they are of as
    /// many ranks, and links else.
    #[must_use]
    pub fn collectives(&self) -> &[MeasuredCollective] {
        &self.collectives
    }

    pub(crate) fn measured(&self, collective: Collective, ranks: u32) -> Option<MeasuredLines> {
        MeasuredLines::of(&self.collectives, collective, ranks)
    }

    /// The board's power limit, where the vendor states one.
    #[must_use]
    pub const fn tdp(&self) -> Option<Watts> {
        self.tdp
    }

    /// Each figure as it was published, with its source and date.
    pub fn cells(&self) -> impl Iterator<Item = &PublishedFigure> {
        self.cells.iter()
    }

    /// What looks wrong with the figures, a sentence each: a rate with sparsity, another unit, both directions of
    /// a link, a whole board. Empty for every device of the table. A doubt is no proof; a device may be new.
    #[must_use]
    pub fn doubts(&self) -> Vec<String> {
        doubts::of(self)
    }

    fn cell(&self, field: &str) -> Option<&PublishedFigure> {
        self.cells.iter().find(|cell| cell.field == field)
    }
}
