//! Devices of NVIDIA's on this machine, as their own library tells of them.
//!
//! The library comes with the driver and is opened when the program runs. What it tells becomes a [`Page`] like any exporter's, so that
//! windows, energy and findings are computed in one place.

mod reading;
mod source;

pub use source::{DeviceChoice, NvmlSource, NvmlUnavailable};
