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
        DeviceArg::Gpu => match with_gpus(devices) {
            (devices, None) => Ok(devices),
            (_, Some(absent)) => Err(Fail::device(absent)),
        },
        DeviceArg::All => {
            let (devices, absent) = with_gpus(devices.with(cpu));
            if let Some(absent) = absent {
                tell!("note: no GPU is measured: {absent}");
            }
            Ok(devices)
        }
    }
}

/// With all GPUs, or as it was and why there are none.
#[cfg(feature = "cuda")]
fn with_gpus(devices: SeveralDevices) -> (SeveralDevices, Option<String>) {
    use fizeau::probe::{CudaBackend, CudaCollectives};
    let opened = CudaBackend::all().and_then(|gpus| Ok((gpus, CudaCollectives::all()?)));
    match opened {
        Ok((gpus, together)) => {
            let devices = gpus.into_iter().fold(devices, SeveralDevices::with);
            (together.into_iter().fold(devices, SeveralDevices::with), None)
        }
        Err(error) => (devices, Some(error.to_string())),
    }
}

#[cfg(not(feature = "cuda"))]
fn with_gpus(devices: SeveralDevices) -> (SeveralDevices, Option<String>) {
    (devices, Some("this program was built without the feature cuda".to_owned()))
}

/// On what a model's operators are measured: processors widen to 32 bits, GPUs compute in 16.
pub(super) const fn model_dtype(asked: DeviceArg) -> Dtype {
    match asked {
        DeviceArg::Gpu => Dtype::Bf16,
        DeviceArg::Cpu | DeviceArg::All => Dtype::F32,
    }
}
