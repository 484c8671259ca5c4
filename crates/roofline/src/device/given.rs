//! Devices by figures that somebody gives.

use fizeau_core::{Bytes, BytesPerSec, FlopsPerSec};

use super::cell::SourceRange;
use super::error::{at_most, positive};
use super::quantity::FigureQuantity;
use super::{BANDWIDTH, Device, DeviceError, Link, MathType, Price, PublishedFigure};
use crate::MeasuredCollective;

impl Device {
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
        let bytes = positive(memory.get(), "memory")?;
        let bandwidth = positive(memory_bandwidth.get(), "memory bandwidth")?;
        let rate = positive(bf16.get(), "bf16 rate")?;
        Ok(Self {
            title: name.clone(),
            name,
            vendor: None,
            generation: None,
            aliases: Vec::new(),
            note: None,
            data_sheet: None,
            memory,
            usable_memory: memory,
            memory_bandwidth,
            cached: Vec::new(),
            reading: None,
            bf16,
            fp8: None,
            fp4: None,
            int8: None,
            link: None,
            network: None,
            collectives: Vec::new(),
            tdp: None,
            prices: Vec::new(),
            cells: vec![
                PublishedFigure::given("memory.capacity", FigureQuantity::Memory, bytes),
                PublishedFigure::given(BANDWIDTH, FigureQuantity::Bandwidth, bandwidth),
                PublishedFigure::given("rates.bf16", FigureQuantity::Rate, rate),
            ],
        })
    }

    /// The same device with arithmetic units for `math` that reach `rate`, dense.
    ///
    /// # Errors
    /// If the rate is not a positive finite number.
    pub fn with_rate(mut self, math: MathType, rate: FlopsPerSec) -> Result<Self, DeviceError> {
        let figure = match math {
            MathType::Bf16 => "bf16 rate",
            MathType::Fp8 => "fp8 rate",
            MathType::Fp4 => "fp4 rate",
            MathType::Int8 => "int8 rate",
        };
        positive(rate.get(), figure)?;
        self.set_rate(math, rate);
        self.put(PublishedFigure::given(math.field(), FigureQuantity::Rate, rate.get()));
        Ok(self)
    }

    /// The same device with all its arithmetic `factor` times as fast, what is expected of it as well.
    ///
    /// # Errors
    /// If the factor is not a positive finite number.
    pub(crate) fn with_arithmetic(mut self, factor: f64) -> Result<Self, DeviceError> {
        positive(factor, "factor of arithmetic")?;
        for math in MathType::ALL {
            let (Some(rate), Some(usual)) = (self.dense_rate(math), self.usual_rate(math)) else {
                continue;
            };
            let (rate, usual) = (rate * factor, usual * factor);
            self.set_rate(math, rate);
            let show = |rate: FlopsPerSec| FigureQuantity::Rate.show(rate.get());
            let range = (usual < rate).then(|| SourceRange {
                texts: (show(usual), show(rate)),
                numbers: (usual.get(), rate.get()),
            });
            self.put(PublishedFigure {
                range,
                ..PublishedFigure::given(math.field(), FigureQuantity::Rate, rate.get())
            });
        }
        Ok(self)
    }

    /// The same device with a memory that is read at `bandwidth`, whatever its caches hold; where it was measured, what is typical
    /// of it changes alike.
    ///
    /// # Errors
    /// If that is not a positive finite number.
    pub(crate) fn with_memory_bandwidth(
        mut self,
        bandwidth: BytesPerSec,
    ) -> Result<Self, DeviceError> {
        let rate = positive(bandwidth.get(), "memory bandwidth")?;
        let usual = self.usual_bandwidth() * (rate / self.memory_bandwidth().get());
        self.memory_bandwidth = bandwidth;
        (self.cached, self.reading) = (Vec::new(), None);
        let mut cell = PublishedFigure::given(BANDWIDTH, FigureQuantity::Bandwidth, rate);
        if let Some(measured) = self.cell(BANDWIDTH).filter(|cell| cell.is_probed()) {
            cell.source.clone_from(&measured.source);
            let show = |rate: f64| FigureQuantity::Bandwidth.show(rate);
            let numbers = (usual.get(), rate);
            cell.range = Some(SourceRange { texts: (show(numbers.0), show(numbers.1)), numbers });
        }
        self.put(cell);
        Ok(self)
    }

    /// The same device, of whose memory software sees `usable`.
    ///
    /// # Errors
    /// If that is not a positive finite number, or more than the device has.
    pub fn with_usable_memory(mut self, usable: Bytes) -> Result<Self, DeviceError> {
        let bytes = positive(usable.get(), "usable memory")?;
        at_most(bytes, self.memory.get(), "usable memory", "the memory that the device has")?;
        self.usable_memory = usable;
        self.put(PublishedFigure::given("memory.usable", FigureQuantity::Memory, bytes));
        Ok(self)
    }

    /// The same device with this link to its neighbours.
    ///
    /// # Errors
    /// If a figure of the link makes no sense: its bandwidth is not above 0, its latency is below 0, or it joins fewer than two devices.
    pub fn with_link(mut self, link: Link) -> Result<Self, DeviceError> {
        self.link = Some(link.checked()?);
        self.put(PublishedFigure::given(
            "link.each_way",
            FigureQuantity::Bandwidth,
            link.bandwidth.get(),
        ));
        self.put(PublishedFigure::given("link.latency", FigureQuantity::Time, link.latency.get()));
        Ok(self)
    }

    /// The same device with this link to devices of other machines.
    ///
    /// # Errors
    /// If a figure of the link makes no sense: its bandwidth is not above 0, its latency is below 0, or it joins fewer than two devices.
    pub fn with_network(mut self, network: Link) -> Result<Self, DeviceError> {
        self.network = Some(network.checked()?);
        self.put(PublishedFigure::given(
            "network.each_way",
            FigureQuantity::Bandwidth,
            network.bandwidth.get(),
        ));
        self.put(PublishedFigure::given(
            "network.latency",
            FigureQuantity::Time,
            network.latency.get(),
        ));
        Ok(self)
    }

    /// The same device with one more collective as it was measured.
    ///
    /// # Errors
    /// If a figure of it makes no sense: fewer than two ranks, sizes that are not in order, a time that is below 0 or nothing at all.
    pub fn with_collective(mut self, measured: MeasuredCollective) -> Result<Self, DeviceError> {
        self.collectives.push(measured.checked()?);
        Ok(self)
    }

    /// The same device with one more price.
    #[must_use]
    pub fn with_price(mut self, price: Price) -> Self {
        self.prices.push(price);
        self
    }

    pub(super) const fn set_rate(&mut self, math: MathType, rate: FlopsPerSec) {
        match math {
            MathType::Bf16 => self.bf16 = rate,
            MathType::Fp8 => self.fp8 = Some(rate),
            MathType::Fp4 => self.fp4 = Some(rate),
            MathType::Int8 => self.int8 = Some(rate),
        }
    }

    /// In the place of the cell of that field, or at the end.
    pub(super) fn put(&mut self, cell: PublishedFigure) {
        match self.cells.iter_mut().find(|known| known.field == cell.field) {
            Some(known) => *known = cell,
            None => self.cells.push(cell),
        }
    }
}
