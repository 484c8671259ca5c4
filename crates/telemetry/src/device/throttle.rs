//! Why clocks are lowered.

use serde::{Deserialize, Serialize};

/// Why a device of NVIDIA's runs below its highest clock.
///
/// Bits of `nvmlClocksEventReasons` in `nvml.h` of NVIDIA's CUDA toolkit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum ThrottleReason {
    /// It has nothing to do.
    Idle,
    /// Somebody set its clocks.
    ApplicationClocks,
    /// It is at its power limit.
    PowerCap,
    /// Heat, power or an external signal, as the hardware sees it.
    HardwareSlowdown,
    /// It keeps the pace of others.
    SyncBoost,
    /// Heat, as the driver sees it.
    SoftwareThermal,
    /// Heat, as the hardware sees it.
    HardwareThermal,
    /// The power supply asks for it.
    PowerBrake,
    /// A display's clock.
    DisplayClock,
}

impl ThrottleReason {
    /// All of them, from the lowest bit.
    pub const ALL: [Self; 9] = [
        Self::Idle,
        Self::ApplicationClocks,
        Self::PowerCap,
        Self::HardwareSlowdown,
        Self::SyncBoost,
        Self::SoftwareThermal,
        Self::HardwareThermal,
        Self::PowerBrake,
        Self::DisplayClock,
    ];

    /// Its bit.
    #[must_use]
    pub const fn bit(self) -> u64 {
        1 << self as u32
    }

    /// Whether it takes performance away unasked: power or heat, and nobody's setting.
    #[must_use]
    pub const fn is_throttling(self) -> bool {
        !matches!(self, Self::Idle | Self::ApplicationClocks | Self::SyncBoost | Self::DisplayClock)
    }
}
