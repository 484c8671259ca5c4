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

fizeau_core::words! {
    /// The name in files, from the lowest bit.
    pub ThrottleReason::as_str, all, shown {
        Idle = "idle", ApplicationClocks = "application_clocks", PowerCap = "power_cap", HardwareSlowdown = "hardware_slowdown",
        SyncBoost = "sync_boost", SoftwareThermal = "software_thermal", HardwareThermal = "hardware_thermal",
        PowerBrake = "power_brake", DisplayClock = "display_clock",
    }
}

impl ThrottleReason {
    /// Its bit.
    #[must_use]
    pub const fn bit(self) -> u64 {
        1 << self as u32
    }

    /// Whether it takes performance away unasked: power or heat, and nobody's setting.
    #[must_use]
    pub(crate) const fn is_throttling(self) -> bool {
        !matches!(self, Self::Idle | Self::ApplicationClocks | Self::SyncBoost | Self::DisplayClock)
    }
}
