//! The client's own host, as part of the proof: its processors, memory and network over a window.
//!
//! What Linux says in `/proc`: `stat`, `meminfo`, `net/snmp` (proc(5)). Elsewhere nothing is known.

mod reading;
mod window;

pub use reading::{CpuTime, HostReading};
pub use window::HostWindow;
