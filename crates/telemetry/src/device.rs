//! What devices say over a window, by exporters such as dcgm-exporter and AMD's.

mod energy;
mod identity;
mod power;
mod readings;
mod throttle;
mod window;

pub(crate) use energy::whole_devices;
pub use energy::{device_count, joules_per_token, tokens_per_joule, total_energy, total_power};
pub use identity::DeviceIdentity;
pub use power::power_timelines;
pub use throttle::ThrottleReason;
pub use window::DeviceWindow;
