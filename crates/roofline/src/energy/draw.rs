//! What a device draws, by what it does.

use fizeau_core::{Joules, Seconds, Watts};

use crate::Device;
use crate::pass::PassTime;

/// What one device draws while each of its resources works at its peak rate, and always. What a resource takes for an
/// operation is its power over its peak rate, so a pass's energy follows from how long each is busy.
///
/// Vendors publish a board's limit and nothing of its parts: figures from [`PowerDraw::estimate`] are assumptions.
/// Put your own measurements in the fields.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerDraw {
    /// Arithmetic units at their peak dense rate, of whatever type: a type of half the width has twice the rate at half
    /// the energy.
    pub arithmetic: Watts,
    /// Memory and the way to it, at peak bandwidth.
    pub memory: Watts,
    /// Links, sending at their peak.
    pub link: Watts,
    /// Whatever the device does: leakage, clocks, fans, a host's share if you like.
    pub constant: Watts,
}

/// Why the energy of a load cannot be computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PowerError {
    /// The device has no published limit of power to estimate from.
    #[error("the power limit of {device} is not published; give its power draw")]
    NoLimit {
        /// The device.
        device: String,
    },
    /// A limit that leaves nothing to work with.
    #[error(
        "the power limit is {limit:.0} W; it must be above the {constant:.0} W that the device draws at rest"
    )]
    TooLow {
        /// The limit, in watts.
        limit: f64,
        /// The constant draw, in watts.
        constant: f64,
    },
}

/// Of a board's limit, what its arithmetic units draw at their peak dense rate. An assumption, by what vendors size boards
/// for: large matrix multiplications run near the limit.
const ARITHMETIC_SHARE: f64 = 0.65;

/// Of a board's limit, what it draws at rest with its clocks up. An assumption.
const CONSTANT_SHARE: f64 = 0.2;

/// Reading a byte of HBM: 3.9 pJ a bit for HBM2 (O'Connor et al., "Fine-Grained DRAM", MICRO 2017), and as much
/// again to bring it over the die, where a byte takes several times what arithmetic on it does (Horowitz, "Computing's
/// energy problem", ISSCC 2014). An assumption for other kinds of memory.
const JOULES_PER_BYTE: f64 = 2.0 * 8.0 * 3.9e-12;

/// Sending a byte to another board: 1.2 pJ a bit beside a package (Poulton et al., "Ground-referenced serial link", JSSC
/// 2019) and several times that over a board and a switch. An assumption.
const JOULES_PER_LINK_BYTE: f64 = 8.0 * 8e-12;

impl PowerDraw {
    /// An estimate from the device's published limit, memory bandwidth and link: 65 % of the limit for arithmetic at its
    /// peak, 20 % at rest, 62 pJ for each byte of memory, and 64 pJ for each byte sent.
    ///
    /// # Errors
    /// If no limit of power is published for the device.
    pub fn estimate(device: &Device) -> Result<Self, PowerError> {
        let limit =
            device.tdp().ok_or_else(|| PowerError::NoLimit { device: device.name.to_owned() })?;
        let link = device.link().map_or(0.0, |link| link.bandwidth.get());
        Ok(Self {
            arithmetic: limit * ARITHMETIC_SHARE,
            memory: Watts::new(JOULES_PER_BYTE * device.memory_bandwidth().get()),
            link: Watts::new(JOULES_PER_LINK_BYTE * link),
            constant: limit * CONSTANT_SHARE,
        })
    }

    /// The least time that a pass can take where a device may draw no more than `limit`: its energy beside the constant draw,
    /// over what the limit leaves for it, `E / (limit - P_constant)`. As [`crate::System::energy`] has it.
    ///
    /// ```
    /// use fizeau_core::Watts;
    /// use fizeau_roofline::{Deployment, Device, KnownModel, Pass, PowerDraw, System};
    /// let device = Device::named("h100-sxm")?;
    /// let model = KnownModel::named("llama-3.1-8b")?.model()?;
    /// let system = System::new(model, device.clone(), Deployment::SINGLE)?;
    /// let prompt = system.expected_pass(&Pass::prefill(2048.0, 0.0));
    /// let draw = PowerDraw::estimate(device)?;
    /// assert!(draw.least_time(&prompt, Watts::new(700.0))? < prompt.total);
    /// assert!(draw.least_time(&prompt, Watts::new(350.0))? > prompt.total);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the limit is no more than what the device draws whatever it does.
    pub fn least_time(&self, pass: &PassTime, limit: Watts) -> Result<Seconds, PowerError> {
        Ok(self.of(pass) / self.room(limit)?)
    }

    /// What a pass takes on one device of each stage, beside the constant draw.
    pub(super) fn of(&self, pass: &PassTime) -> Joules {
        self.arithmetic * pass.arithmetic() + self.memory * pass.memory() + self.link * pass.link
    }

    /// What a limit leaves beside the constant draw.
    pub(super) fn room(&self, limit: Watts) -> Result<Watts, PowerError> {
        let (limit, constant) = (limit.get(), self.constant.get());
        if limit > constant {
            return Ok(Watts::new(limit - constant));
        }
        Err(PowerError::TooLow { limit, constant })
    }
}
