//! Why CUDA does not do what is asked.

use crate::measurement::{Dtype, GemmShape};

/// Why a device of NVIDIA's cannot be used, or stopped being usable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CudaError {
    /// The driver is not installed.
    #[error(
        "no CUDA driver was found: {reason} (looked for {names}); NVIDIA's driver has it, no toolkit is needed"
    )]
    NoDriver {
        /// The names of the library that were tried.
        names: String,
        /// What the system said of the last one.
        reason: String,
    },
    /// It is, but lacks something.
    #[error("{library} has no {symbol}: a newer version has it")]
    TooOld {
        /// Which library.
        library: String,
        /// The function that it lacks.
        symbol: String,
    },
    /// There is a driver, and no device.
    #[error("the CUDA driver is there, and finds no device")]
    NoDevice,
    /// The device cannot run the kernels.
    #[error(
        "{device} has compute capability {major}.{minor}, and the kernels are for 8.0 (A100) and later"
    )]
    DeviceTooOld {
        /// Its name.
        device: String,
        /// The capability's first part.
        major: u32,
        /// The capability's second part.
        minor: u32,
    },
    /// There are devices, and this one cannot be used.
    #[error("gpu{index} cannot be opened: {reason}")]
    NotOpened {
        /// Its number.
        index: u32,
        /// Why not.
        reason: String,
    },
    /// A call failed.
    #[error("{call} failed: {name} ({code})")]
    Failed {
        /// Which.
        call: &'static str,
        /// The number of the error.
        code: i32,
        /// Its name in NVIDIA's documentation.
        name: String,
    },
    /// A library beside the driver is not installed, or cannot be found.
    #[error(
        "{library} was not found: {reason} (looked for {names}); it comes with CUDA and with PyTorch, and the path of the system's linker must have its folder"
    )]
    NoLibrary {
        /// What it is called.
        library: &'static str,
        /// The names of its file that were tried.
        names: String,
        /// What the system said of the last one.
        reason: String,
    },
    /// A library is older than what is asked of it.
    #[error("{operands} operands need {library} {}.{} or later, and {}.{} is installed", needs.0, needs.1, found.0, found.1)]
    LibraryTooOld {
        /// What it is called.
        library: &'static str,
        /// Of what it was asked.
        operands: Dtype,
        /// The oldest version that has it.
        needs: (u32, u32),
        /// The version that there is.
        found: (u32, u32),
    },
    /// The device has no units for that type.
    #[error(
        "{operands} operands need tensor cores of compute capability {}.{} or later, and {device} has {}.{}",
        needs.0, needs.1, found.0, found.1
    )]
    NoUnits {
        /// Its name.
        device: String,
        /// The type.
        operands: Dtype,
        /// The oldest capability that has it.
        needs: (u32, u32),
        /// The device's own.
        found: (u32, u32),
    },
    /// A library has no way to compute that.
    #[error(
        "cublasLt has no algorithm on this device for {} x {} x {} x {} of {operands} to {output}",
        shape.batch, shape.m, shape.n, shape.k
    )]
    NoAlgorithm {
        /// The type of the operands.
        operands: Dtype,
        /// The type of the result.
        output: Dtype,
        /// The shape.
        shape: GemmShape,
    },
    /// A call of a library beside the driver failed.
    #[error("{call} failed: {name} ({code})")]
    LibraryFailed {
        /// Which.
        call: &'static str,
        /// The number of the status.
        code: i32,
        /// Its name in NVIDIA's documentation.
        name: String,
    },
    /// Ranks wait for one another.
    #[error(
        "no collective ended within {seconds} s: a device, or a link between two, does not answer"
    )]
    Stuck {
        /// How long was waited.
        seconds: u64,
    },
    /// The device failed before, and takes no calls since.
    #[error("the device failed earlier: {0}")]
    Lost(String),
}

impl CudaError {
    /// Whether nothing can be asked of the device after it: its context is gone, not just a call wrong.
    pub(super) const fn is_lasting(&self) -> bool {
        // By number, as cuda.h has them: the driver shuts down or was never up; the device is not to be had; memory with errors that
        // cannot be corrected; a link likewise; a kernel that went wrong; the system is not ready; unknown.
        matches!(
            self,
            Self::Failed {
                code: 3 | 4 | 46 | 101 | 201 | 214 | 220 | 700 | 702 | 709..=719 | 802 | 999,
                ..
            } | Self::Lost(_)
        )
    }
}
