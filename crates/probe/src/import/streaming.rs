//! What the kin of STREAM have in common.

use crate::measurement::{Dtype, MemoryKernel, Operation, OperationWork, StoreKind};
use fizeau_core::Bytes;

/// A kernel by its name in STREAM and `BabelStream`.
pub(super) fn kernel(name: &str) -> Option<MemoryKernel> {
    Some(match name.trim().trim_end_matches(':').to_ascii_lowercase().as_str() {
        "copy" => MemoryKernel::Copy,
        "scale" | "mul" => MemoryKernel::Scale,
        "add" => MemoryKernel::Add,
        "triad" => MemoryKernel::Triad,
        "dot" => MemoryKernel::Dot,
        "nstream" => MemoryKernel::Nstream,
        _ => return None,
    })
}

/// The type of elements of a float or a double.
pub(super) fn float_of(bytes: u64) -> Option<Dtype> {
    match bytes {
        4 => Some(Dtype::F32),
        8 => Some(Dtype::F64),
        _ => None,
    }
}

/// One pass of `kernel`. How it stores is not told, so what memory carries is not known where it stores at all.
pub(super) fn work(kernel: MemoryKernel, elements: u64, dtype: Dtype) -> OperationWork {
    let mut work = kernel.work(elements, dtype, StoreKind::Ordinary);
    if kernel.stores() {
        work.bytes.hardware = None;
    }
    work
}

/// `kernel` on arrays of `array` bytes each.
pub(super) fn operation(kernel: MemoryKernel, array: Option<f64>) -> Operation {
    let arrays = f64::from(kernel.array_count());
    let working_set = array.map(|bytes| Bytes::new(bytes * arrays));
    Operation::Memory { kernel, stores: None, working_set }
}
