//! GPUs of NVIDIA's as what is measured, through their driver, which is opened when it is asked for.
//!
//! **This has not been run on a GPU by those who wrote it.** The kernels are carried out on the host in the tests and assembled with
//! NVIDIA's assembler; what surrounds them runs against a device that is none.

mod collectives;
mod cublas;
mod driver;
mod error;
mod facts;
#[cfg(test)]
mod fake;
mod library;
mod measure;
mod nccl;
mod nvidia;
mod product;
mod ptx;
mod ranks;
mod sweep;
#[cfg(test)]
mod tests;
mod trials;

use fizeau_core::Nanos;

use crate::device::DeviceFacts;
use crate::host::ProbeHost;
use crate::measurement::{Component, Measurement, Operation};
use crate::trial::{ProbeBackend, ProbeTrial, Unavailable};

pub use collectives::CudaCollectives;
pub use error::CudaError;

/// One GPU of NVIDIA's, by kernels that its driver compiles when they are loaded. No toolkit is needed, only the driver.
///
/// **It has not been run on a GPU by those who wrote it**: hold what it says against another tool before you rely on it.
///
/// ```
/// use fizeau_probe::{CudaBackend, CudaError};
///
/// match CudaBackend::all() {
///     Ok(devices) => println!("{} devices", devices.len()),
///     Err(CudaError::NoDriver { .. }) => println!("a machine without a GPU of NVIDIA's"),
///     Err(error) => println!("{error}"),
/// }
/// ```
#[derive(Debug)]
pub struct CudaBackend {
    driver: Box<dyn driver::Driver>,
    name: String,
    /// There is no other.
    is_alone: bool,
    /// Why the device takes no calls any more.
    lost: Option<String>,
}

impl CudaBackend {
    /// Opens every device that the driver has and that can be opened; measures nothing yet.
    ///
    /// # Errors
    /// If there is no driver, no device, or none that can be opened.
    pub fn all() -> Result<Vec<Self>, CudaError> {
        opened(Self::each()?)
    }

    /// Opens every device that the driver has, or says of it why it cannot be opened: one that is broken or lent to somebody else is no
    /// reason to measure none of the others.
    ///
    /// # Errors
    /// If there is no driver or no device.
    pub fn each() -> Result<Vec<Result<Self, CudaError>>, CudaError> {
        let each = nvidia::Nvidia::load()?.each();
        let is_alone = each.iter().filter(|one| one.is_ok()).count() == 1;
        let over = |one: nvidia::Device| Self { is_alone, ..Self::over(Box::new(one)) };
        Ok(each.into_iter().map(|one| one.map(over)).collect())
    }

    /// The text of every kernel that is ever loaded (PTX), each module beside a name for it: for an assembler to look at.
    #[must_use]
    pub fn kernels() -> Vec<(String, String)> {
        ptx::all()
    }

    fn over(driver: Box<dyn driver::Driver>) -> Self {
        let name = format!("gpu{}", driver.properties().index);
        Self { driver, name, is_alone: false, lost: None }
    }
}

/// Those that could be opened; where none could, why the first could not.
fn opened<T>(each: impl IntoIterator<Item = Result<T, CudaError>>) -> Result<Vec<T>, CudaError> {
    let (mut there, mut first) = (Vec::new(), None);
    for one in each {
        match one {
            Ok(one) => there.push(one),
            Err(error) => first = first.or(Some(error)),
        }
    }
    match first {
        Some(error) if there.is_empty() => Err(error),
        _ => Ok(there),
    }
}

fn this_machine() -> ProbeHost {
    let mut host = ProbeHost::named("this machine");
    host.system = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    host
}

impl ProbeBackend for CudaBackend {
    fn host(&self) -> ProbeHost {
        this_machine()
    }

    fn devices(&self) -> Vec<DeviceFacts> {
        vec![facts::device(self.driver.properties(), &self.name)]
    }

    fn trials(&self, component: Component) -> Vec<ProbeTrial> {
        let device = self.driver.properties();
        let trials = match component {
            Component::Memory => trials::memory(device),
            Component::Latency => trials::latency(device),
            Component::Attention => trials::attention(device),
            Component::Launch => trials::launch(),
            Component::Gemm => trials::gemm(device),
            Component::Compute => trials::peak(device),
            Component::Collective if self.is_alone => vec![trials::collective()],
            _ => Vec::new(),
        };
        let here = |trial| ProbeTrial { device: Some(self.name.clone()), ..trial };
        trials.into_iter().map(here).collect()
    }

    fn measure(&mut self, trial: &ProbeTrial, time: Nanos) -> Result<Measurement, Unavailable> {
        if let Some(lost) = &self.lost {
            return Err(Unavailable::because(CudaError::Lost(lost.clone()).to_string()));
        }
        let mut on =
            measure::Measuring { driver: &mut *self.driver, device: &self.name, time, trial };
        let measured = match &trial.operation {
            Operation::Memory { kernel, working_set: Some(bytes), .. } => {
                on.memory(*kernel, *bytes)
            }
            Operation::Latency { working_set: Some(bytes), path: None } => on.latency(*bytes),
            Operation::Launch { way } => on.launch(way),
            Operation::Attention { shape, .. } => on.attention(*shape),
            Operation::Gemm { shape, output, .. } => on.gemm(*shape, *output),
            Operation::Peak => on.peak(),
            Operation::Collective { .. } => Err(measure::Failure::not_written(format!(
                "collectives need two devices, and {} is one",
                self.name
            ))),
            Operation::Norm { shape, .. } => on.copied(shape.work(trial.dtype)),
            Operation::Recurrence { shape, .. } if shape.tokens == 1 => {
                on.copied(shape.work(trial.dtype))
            }
            Operation::Recurrence { .. } => Err(measure::Failure::not_written(
                "what a prompt does with states is not written for GPUs".to_owned(),
            )),
            other => Err(measure::Failure::not_written(format!("{other} is not written for GPUs"))),
        };
        measured.map_err(|failure| {
            if let measure::Failure::Cuda(error) = &failure
                && error.is_lasting()
            {
                self.lost = Some(error.to_string());
            }
            Unavailable::because(failure.to_string())
        })
    }
}
