//! A device that is none, for tests: it carries kernels out on the host, and its clock goes by a cost that follows from what they move.

mod ranks;

use std::collections::VecDeque;

use fizeau_core::Nanos;

pub(super) use ranks::{EACH_FURTHER, FIRST_RANK, FROM_IDLE, FakeRanks};

use super::driver::{Address, Driver, Graph, Kernel, Launch, Mark, Properties};
use super::error::CudaError;
use super::product::{Format, Operands, Product, ProductSpec};
use super::ptx::interpret::{BASE, Program};
use crate::measurement::Dtype;

/// Bytes a nanosecond of its memory, of its cache, and what starting anything costs.
pub(super) const MEMORY_RATE: f64 = 100.0;
pub(super) const CACHE_RATE: f64 = 400.0;
pub(super) const LAUNCH: u64 = 200;
pub(super) const LAUNCH_IN_GRAPH: u64 = 50;
/// What a load takes that others wait for, of memory and of its cache.
pub(super) const HOP: u64 = 1500;
pub(super) const HOP_IN_CACHE: u64 = 300;
/// Bytes of a line of its cache.
const LINE: u64 = 128;
/// Cycles a nanosecond: 1.5 GHz.
pub(super) const CLOCK: f64 = 1.5;

/// What a graph does.
#[derive(Debug, Clone)]
enum Recorded {
    Launches(u32),
    Products(Product, Vec<Operands>),
}

/// Operations a nanosecond of its products, by bits of an operand.
pub(super) fn product_rate(bits: u32) -> f64 {
    1600.0 / f64::from(bits)
}

#[derive(Debug)]
pub(super) struct Fake {
    properties: Properties,
    memory: Vec<u8>,
    /// Where arrays begin, and how long they are.
    arrays: Vec<(Address, u64)>,
    kernels: Vec<(String, Program)>,
    graphs: Vec<Recorded>,
    /// Products that were prepared, and the last that was queued: those before it stand in nobody's way.
    products: Vec<ProductSpec>,
    product: Option<(Product, Operands)>,
    /// The version of its library of products; none: it is not installed.
    pub(super) library: Option<(u32, u32, u32)>,
    /// The library's heuristic names an algorithm.
    pub(super) has_algorithm: bool,
    /// Lines that the cache holds of what pointers led to, the longest unused first.
    cached: VecDeque<u64>,
    /// Launches that were not carried out yet, since nobody looked.
    queued: Vec<Launch>,
    now: u64,
    marks: [u64; 2],
    launched: u64,
    /// After so many launches the device is gone.
    pub(super) lost_after: Option<u64>,
    /// Products come out as none.
    pub(super) spoils_products: bool,
    /// Words come back wrong, as if results were.
    pub(super) spoils: bool,
}

impl Fake {
    pub(super) fn new() -> Self {
        let properties = Properties {
            index: 0,
            name: "NVIDIA Fake".to_owned(),
            capability: (9, 0),
            multiprocessors: 1,
            memory_bytes: 8 << 20,
            l2_bytes: 64 << 10,
            clock_khz: 1_500_000,
            memory_clock_khz: 1_000_000,
            memory_bus_bits: 512,
            driver: (12, 4),
        };
        Self {
            properties,
            memory: Vec::new(),
            arrays: Vec::new(),
            kernels: Vec::new(),
            graphs: Vec::new(),
            products: Vec::new(),
            product: None,
            library: Some((12, 9, 1)),
            has_algorithm: true,
            cached: VecDeque::new(),
            queued: Vec::new(),
            now: 0,
            marks: [0; 2],
            launched: 0,
            lost_after: None,
            spoils: false,
            spoils_products: false,
        }
    }

    /// Another device, with other tensor cores.
    pub(super) fn with_capability(mut self, capability: (u32, u32)) -> Self {
        self.properties.capability = capability;
        self
    }

    /// Gives it a number among others.
    fn is_numbered(&mut self, index: u32) {
        self.properties.index = index;
    }

    pub(super) fn allocated(&self) -> usize {
        self.arrays.len()
    }

    /// Something that takes so long.
    fn pass(&mut self, nanos: u64) -> Result<(), CudaError> {
        self.launched += 1;
        self.there()?;
        self.now += nanos;
        Ok(())
    }

    fn there(&self) -> Result<(), CudaError> {
        match self.lost_after {
            Some(after) if self.launched > after => Err(CudaError::Failed {
                call: "cuLaunchKernel",
                code: 719,
                name: "CUDA_ERROR_LAUNCH_FAILED".to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// How long a launch takes, beside its start: by what its arguments say.
    fn cost(&self, name: &str, launch: &Launch) -> u64 {
        let given = |at: usize| launch.arguments[at].bits();
        match name {
            "spin" => (given(1) as f64 / CLOCK) as u64,
            "empty" => 0,
            "fill" => given(1) / 25,
            "paged_decode" | "paged_combine" => {
                10_000 + 100 * u64::from(launch.blocks.1.abs_diff(8))
            }
            stream => {
                let mut words =
                    stream.split(['_', 'w', 'u']).filter_map(|word| word.parse::<u64>().ok());
                let (width, unroll) = (words.next().unwrap_or(4), words.next().unwrap_or(1));
                let arrays = match stream.split('_').next() {
                    Some("triad") => 3,
                    Some("copy") => 2,
                    _ => 1,
                };
                let bytes = (arrays * given(3) * width * given(4)) as f64;
                let in_cache = given(3) * width <= self.properties.l2_bytes;
                let rate = if in_cache { CACHE_RATE } else { MEMORY_RATE };
                // The more bytes under way the better, and four blocks are best.
                let under_way = (width * unroll) as f64;
                let blocks = f64::from(launch.blocks.0 / self.properties.multiprocessors);
                let efficiency =
                    under_way / (under_way + 8.0) / (1.0 + (blocks / 4.0).log2().abs() / 10.0);
                (bytes / (rate * efficiency)) as u64
            }
        }
    }

    /// How long pointers take from the one that lies in `place` on: by which of their lines are in the cache.
    fn chased(&mut self, place: Address, turns: u64) -> u64 {
        self.carry_out();
        let lines = (self.properties.l2_bytes / LINE) as usize;
        let (mut at, mut took) = (self.word(place), 0);
        for _ in 0..turns * super::ptx::CHASE_HOPS {
            match self.cached.iter().position(|line| *line == at / LINE) {
                Some(known) => {
                    self.cached.remove(known);
                    took += HOP_IN_CACHE;
                }
                None => took += HOP,
            }
            self.cached.push_back(at / LINE);
            if self.cached.len() > lines {
                self.cached.pop_front();
            }
            at = self.word(at);
        }
        took
    }

    fn word(&self, at: Address) -> u64 {
        let at = (at - BASE) as usize;
        u64::from_le_bytes(self.memory[at..at + 8].try_into().unwrap())
    }

    /// One that does what an earlier one does, with another setting, stands in its place: interpreting takes long.
    fn queue(&mut self, launch: &Launch) {
        let target = |of: &Launch| of.arguments[0];
        let kind = |of: &Launch| self.kernels[of.kernel.0].0.split("_w").next().map(str::to_owned);
        let (new, given) = (kind(launch), target(launch));
        let is_other = |old: &Launch| kind(old) != new || target(old) != given;
        let queued = self.queued.iter().filter(|old| is_other(old)).cloned();
        self.queued = queued.chain([launch.clone()]).collect();
    }

    fn carry_out(&mut self) {
        for launch in std::mem::take(&mut self.queued) {
            let (name, program) = &self.kernels[launch.kernel.0];
            let given: Vec<u64> = launch.arguments.iter().map(|argument| argument.bits()).collect();
            if name == "spin" {
                // The clock of a kernel is the device's, not the interpreter's: waiting for long would take long.
                let at = (given[0] - BASE) as usize;
                self.memory[at..at + 8].copy_from_slice(&given[1].to_le_bytes());
            } else {
                program.run(launch.blocks, launch.threads, &given, &mut self.memory);
            }
        }
        if let Some((product, on)) = self.product.take().filter(|_| !self.spoils_products) {
            self.compute(self.products[product.0], on);
        }
    }
}

/// Products on the host, from what lies in memory.
impl Fake {
    fn compute(&mut self, spec: ProductSpec, on: Operands) {
        let (shape, format) = (spec.shape, Format::of(spec.dtype).unwrap());
        let bits = u64::from(format.bits);
        let operand = |from: Address, index: u64| {
            let byte = (from - BASE + index * bits / 8) as usize;
            let word = u16::from_le_bytes([self.memory[byte], self.memory[byte + 1]]);
            format.value(u32::from(word) >> (index * bits % 8))
        };
        let mut result = Vec::new();
        for at in 0..shape.batch {
            for row in 0..shape.m {
                for column in 0..shape.n {
                    let (a, b) =
                        ((at * shape.m + row) * shape.k, (at * shape.n + column) * shape.k);
                    let term =
                        |depth| operand(on.inputs, a + depth) * operand(on.weights, b + depth);
                    let sum = (0..shape.k).map(term).sum::<f64>() as f32;
                    let rounded = if spec.output == Dtype::F16 {
                        half(sum)
                    } else {
                        (sum.to_bits() >> 16) as u16
                    };
                    result.extend(rounded.to_le_bytes());
                }
            }
        }
        let to = (on.output - BASE) as usize;
        self.memory[to..to + result.len()].copy_from_slice(&result);
    }

    /// How long one takes: by its arithmetic.
    fn product_cost(&self, product: Product) -> u64 {
        let spec = self.products[product.0];
        let flops = spec.shape.work(spec.dtype, spec.output).flops.unwrap().get();
        let format = Format::of(spec.dtype).unwrap();
        1 + (flops / product_rate(format.bits)) as u64
    }
}

/// Half precision of what is neither too large nor too small for it, cut off.
fn half(value: f32) -> u16 {
    let bits = value.to_bits();
    let exponent = (bits >> 23 & 255) as i32 - 127 + 15;
    if exponent < 1 {
        return 0;
    }
    ((bits >> 16 & 0x8000) | (exponent as u32) << 10 | (bits >> 13 & 1023)) as u16
}

impl Driver for Fake {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn free_bytes(&mut self) -> Result<u64, CudaError> {
        self.there()?;
        let used: u64 = self.arrays.iter().map(|(_, length)| length).sum();
        Ok(self.properties.memory_bytes - used)
    }

    fn allocate(&mut self, bytes: u64) -> Result<Address, CudaError> {
        self.there()?;
        if bytes > self.free_bytes()? {
            let name = "CUDA_ERROR_OUT_OF_MEMORY".to_owned();
            return Err(CudaError::Failed { call: "cuMemAlloc_v2", code: 2, name });
        }
        let end = self.arrays.iter().map(|(at, length)| at + length).max().unwrap_or(BASE);
        let at = end.next_multiple_of(256);
        self.memory.resize((at + bytes - BASE) as usize, 0xff);
        self.arrays.push((at, bytes));
        Ok(at)
    }

    fn release(&mut self, at: Address) {
        self.product = None;
        self.queued.retain(|launch| launch.arguments[0].bits() != at);
        let before = self.arrays.len();
        self.arrays.retain(|(start, _)| *start != at);
        assert_eq!(self.arrays.len(), before - 1, "released what was not allocated");
    }

    fn upload(&mut self, to: Address, bytes: &[u8]) -> Result<(), CudaError> {
        self.there()?;
        self.carry_out();
        let at = (to - BASE) as usize;
        self.memory[at..at + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn download(&mut self, from: Address, bytes: &mut [u8]) -> Result<(), CudaError> {
        self.there()?;
        self.carry_out();
        let at = (from - BASE) as usize;
        bytes.copy_from_slice(&self.memory[at..at + bytes.len()]);
        if self.spoils {
            bytes.iter_mut().skip(2).step_by(4096).for_each(|byte| *byte ^= 0x40);
        }
        Ok(())
    }

    fn load(&mut self, module: &str, entry: &str) -> Result<Kernel, CudaError> {
        self.there()?;
        let program = Program::of(module, entry).unwrap_or_else(|| panic!("no kernel {entry}"));
        self.kernels.push((entry.to_owned(), program));
        Ok(Kernel(self.kernels.len() - 1))
    }

    fn launch(&mut self, launch: &Launch) -> Result<(), CudaError> {
        self.launched += 1;
        self.there()?;
        let name = self.kernels[launch.kernel.0].0.clone();
        let took = match name.as_str() {
            "chase" => self.chased(launch.arguments[0].bits(), launch.arguments[1].bits()),
            _ => self.cost(&name, launch),
        };
        self.now += LAUNCH + took;
        self.queue(launch);
        Ok(())
    }

    fn record(&mut self, launch: &Launch, times: u32) -> Result<Graph, CudaError> {
        self.there()?;
        let _ = launch;
        self.graphs.push(Recorded::Launches(times));
        Ok(Graph(self.graphs.len() - 1))
    }

    fn replay(&mut self, graph: Graph) -> Result<(), CudaError> {
        self.there()?;
        match self.graphs[graph.0].clone() {
            Recorded::Launches(times) => self.now += u64::from(times) * LAUNCH_IN_GRAPH,
            Recorded::Products(product, on) => {
                self.now += on.len() as u64 * self.product_cost(product);
                self.product = on.last().map(|on| (product, *on));
            }
        }
        Ok(())
    }

    fn product_library(&mut self) -> Result<(u32, u32, u32), CudaError> {
        self.there()?;
        self.library.ok_or_else(|| CudaError::NoLibrary {
            library: "cublasLt",
            names: "libcublasLt.so.12".to_owned(),
            reason: "no such file".to_owned(),
        })
    }

    fn prepare_product(&mut self, of: &ProductSpec) -> Result<Product, CudaError> {
        self.there()?;
        if !self.has_algorithm {
            let (operands, output) = (of.dtype, of.output);
            return Err(CudaError::NoAlgorithm { operands, output, shape: of.shape });
        }
        self.products.push(*of);
        Ok(Product(self.products.len() - 1))
    }

    fn multiply(&mut self, product: Product, on: Operands) -> Result<(), CudaError> {
        self.launched += 1;
        self.there()?;
        self.now += LAUNCH + self.product_cost(product);
        self.product = Some((product, on));
        Ok(())
    }

    fn record_products(&mut self, product: Product, on: &[Operands]) -> Result<Graph, CudaError> {
        self.there()?;
        self.graphs.push(Recorded::Products(product, on.to_vec()));
        Ok(Graph(self.graphs.len() - 1))
    }

    fn mark(&mut self, mark: Mark) -> Result<(), CudaError> {
        self.there()?;
        self.marks[mark as usize] = self.now;
        Ok(())
    }

    fn between_marks(&mut self) -> Result<Nanos, CudaError> {
        self.there()?;
        Ok(Nanos::from_nanos(self.marks[1] - self.marks[0]))
    }

    fn wait(&mut self) -> Result<(), CudaError> {
        self.there()?;
        // The way to the device and back.
        self.now += 5_000;
        Ok(())
    }

    fn host_now(&self) -> Nanos {
        Nanos::from_nanos(self.now)
    }
}
