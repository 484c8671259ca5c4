//! What the measurements ask of a device: the seam at which tests put a device that is none.

use std::fmt;

use fizeau_core::Nanos;

use super::error::CudaError;
use super::product::{Operands, Product, ProductSpec};

/// What a device says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Properties {
    pub(super) index: u32,
    pub(super) name: String,
    pub(super) capability: (u32, u32),
    pub(super) multiprocessors: u32,
    pub(super) memory_bytes: u64,
    pub(super) l2_bytes: u64,
    pub(super) clock_khz: u32,
    pub(super) memory_clock_khz: u32,
    pub(super) memory_bus_bits: u32,
    /// The newest CUDA that the driver knows: 12.4.
    pub(super) driver: (u32, u32),
}

/// Where something lies on a device.
pub(super) type Address = u64;

/// A kernel that was loaded, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kernel(pub(super) usize);

/// Launches that were recorded to be repeated as one, by their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Graph(pub(super) usize);

/// What a kernel is given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Argument {
    Long(u64),
    Word(u32),
    Float(f32),
}

impl Argument {
    /// Its bits, from the lowest byte.
    pub(super) const fn bits(self) -> u64 {
        match self {
            Self::Long(long) => long,
            Self::Word(word) => word as u64,
            Self::Float(float) => float.to_bits() as u64,
        }
    }
}

/// One launch.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Launch {
    pub(super) kernel: Kernel,
    pub(super) blocks: (u32, u32),
    pub(super) threads: u32,
    pub(super) arguments: Vec<Argument>,
}

/// Either end of a time that a device takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Begin,
    End,
}

/// One device with one queue, in which everything happens in order.
pub(super) trait Driver: fmt::Debug {
    fn properties(&self) -> &Properties;

    /// Memory that is free.
    fn free_bytes(&mut self) -> Result<u64, CudaError>;

    fn allocate(&mut self, bytes: u64) -> Result<Address, CudaError>;

    /// Gives memory back. A device that is gone has nothing to give back to.
    fn release(&mut self, at: Address);

    /// After everything queued before.
    fn upload(&mut self, to: Address, bytes: &[u8]) -> Result<(), CudaError>;

    /// After everything queued before.
    fn download(&mut self, from: Address, bytes: &mut [u8]) -> Result<(), CudaError>;

    /// The kernel `entry` of a module in PTX, which is compiled once.
    fn load(&mut self, module: &str, entry: &str) -> Result<Kernel, CudaError>;

    /// Queues a launch.
    fn launch(&mut self, launch: &Launch) -> Result<(), CudaError>;

    /// `launch` so many times as one graph.
    fn record(&mut self, launch: &Launch, times: u32) -> Result<Graph, CudaError>;

    /// Queues a graph.
    fn replay(&mut self, graph: Graph) -> Result<(), CudaError>;

    /// The version of the library of products, which is opened when it is first asked for.
    fn product_library(&mut self) -> Result<(u32, u32, u32), CudaError>;

    /// Chooses how a product is computed.
    fn prepare_product(&mut self, of: &ProductSpec) -> Result<Product, CudaError>;

    /// Queues a product.
    fn multiply(&mut self, product: Product, on: Operands) -> Result<(), CudaError>;

    /// The product on each of these operands in turn, as one graph.
    fn record_products(&mut self, product: Product, on: &[Operands]) -> Result<Graph, CudaError>;

    /// Queues one end of a time.
    fn mark(&mut self, mark: Mark) -> Result<(), CudaError>;

    /// Waits for [`Mark::End`], and gives the time between the marks by the device's own clock.
    fn between_marks(&mut self) -> Result<Nanos, CudaError>;

    /// Waits for everything queued.
    fn wait(&mut self) -> Result<(), CudaError>;

    /// The host's clock.
    fn host_now(&self) -> Nanos;
}

/// How long the device takes for what `work` queues.
pub(super) fn timed(
    driver: &mut dyn Driver,
    work: impl FnOnce(&mut dyn Driver) -> Result<(), CudaError>,
) -> Result<Nanos, CudaError> {
    driver.mark(Mark::Begin)?;
    work(driver)?;
    driver.mark(Mark::End)?;
    driver.between_marks()
}

/// Arrays of these lengths in bytes for as long as `work` takes.
pub(super) fn with_arrays<T, const N: usize>(
    driver: &mut dyn Driver,
    lengths: [u64; N],
    work: impl FnOnce(&mut dyn Driver, [Address; N]) -> Result<T, CudaError>,
) -> Result<T, CudaError> {
    let mut arrays = [0; N];
    let mut result = Ok(());
    for (array, length) in arrays.iter_mut().zip(lengths) {
        match driver.allocate(length.max(1)) {
            Ok(address) => *array = address,
            Err(error) => {
                result = Err(error);
                break;
            }
        }
    }
    let done = result.and_then(|()| work(driver, arrays));
    for array in arrays.into_iter().filter(|array| *array != 0) {
        driver.release(array);
    }
    done
}
