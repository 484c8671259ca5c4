//! Which devices of this machine `fizeau probe` measures.

use fizeau::probe::{CpuBackend, Dtype, ProbeBackend, SeveralDevices};

use crate::args::DeviceArg;
use crate::exit::Fail;

/// What is asked for, opened. GPUs that nobody asked for by name are left out with a note where they cannot be opened.
pub(super) fn opened(asked: DeviceArg) -> Result<SeveralDevices, Fail> {
    let cpu = CpuBackend::new();
    let devices = SeveralDevices::of(cpu.host());
    match asked {
        DeviceArg::Cpu => Ok(devices.with(cpu)),
        DeviceArg::Gpu => with_gpus(devices).map_err(|(_, absent)| Fail::device(absent)),
        DeviceArg::All => Ok(with_gpus(devices.with(cpu)).unwrap_or_else(|(devices, absent)| {
            tell!("note: no GPU is measured: {absent}");
            devices
        })),
    }
}

#[cfg(feature = "cuda")]
fn with_gpus(devices: SeveralDevices) -> Result<SeveralDevices, (SeveralDevices, String)> {
    match fizeau::probe::CudaBackend::all() {
        Ok(gpus) => Ok(gpus.into_iter().fold(devices, SeveralDevices::with)),
        Err(error) => Err((devices, error.to_string())),
    }
}

#[cfg(not(feature = "cuda"))]
fn with_gpus(devices: SeveralDevices) -> Result<SeveralDevices, (SeveralDevices, String)> {
    Err((devices, "this program was built without the feature cuda".to_owned()))
}

/// On what a model's operators are measured: processors widen to 32 bits, GPUs compute in 16.
pub(super) const fn model_dtype(asked: DeviceArg) -> Dtype {
    match asked {
        DeviceArg::Gpu => Dtype::Bf16,
        DeviceArg::Cpu | DeviceArg::All => Dtype::F32,
    }
}
