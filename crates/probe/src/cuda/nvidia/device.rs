//! One device by the driver: a context, a queue, two events, and what was loaded.

#![allow(unsafe_code, reason = "the driver takes pointers and handles")]
#![deny(clippy::undocumented_unsafe_blocks)]

use std::ffi::{CString, c_int, c_void};
use std::ptr;
use std::rc::Rc;
use std::time::Instant;

use fizeau_core::Nanos;

use super::{Functions, Handle};
use crate::cuda::cublas::CublasLt;
use crate::cuda::driver::{Address, Driver, Graph, Kernel, Launch, Mark, Properties};
use crate::cuda::error::CudaError;
use crate::cuda::product::{Operands, Product, ProductSpec};

/// A device with a context, a queue and two events.
#[derive(Debug)]
pub(in crate::cuda) struct Device {
    functions: Rc<Functions>,
    device: c_int,
    context: Handle,
    stream: Handle,
    events: [Handle; 2],
    /// Texts with what became of them.
    modules: Vec<(String, Handle)>,
    kernels: Vec<Handle>,
    graphs: Vec<Handle>,
    products: Option<CublasLt>,
    properties: Properties,
    begun: Instant,
}

impl Device {
    /// The device with its context, which is given back when it is dropped.
    pub(super) fn of(
        functions: Rc<Functions>,
        (device, context): (c_int, Handle),
        properties: Properties,
    ) -> Result<Self, CudaError> {
        let mut opened = Self {
            functions,
            device,
            context,
            stream: ptr::null_mut(),
            events: [ptr::null_mut(); 2],
            modules: Vec::new(),
            kernels: Vec::new(),
            graphs: Vec::new(),
            products: None,
            properties,
            begun: Instant::now(),
        };
        opened.set_up()?;
        Ok(opened)
    }

    /// Its queue, for libraries that put their own work into it.
    pub(super) const fn stream(&self) -> Handle {
        self.stream
    }

    /// Whether everything queued was carried out.
    pub(super) fn is_idle(&self) -> Result<bool, CudaError> {
        self.make_current()?;
        // SAFETY: the stream is ours.
        match unsafe { (self.functions.ask_stream)(self.stream) } {
            // CUDA_ERROR_NOT_READY.
            600 => Ok(false),
            code => self.functions.checked("cuStreamQuery", code).map(|()| true),
        }
    }

    fn set_up(&mut self) -> Result<(), CudaError> {
        self.make_current()?;
        // CU_STREAM_NON_BLOCKING: nothing else of this process waits for it.
        // SAFETY: the driver writes a handle that is destroyed when `Device` is dropped.
        let code = unsafe { (self.functions.create_stream)(&raw mut self.stream, 1) };
        self.functions.checked("cuStreamCreate", code)?;
        for event in &mut self.events {
            // SAFETY: likewise.
            let code = unsafe { (self.functions.create_event)(event, 0) };
            self.functions.checked("cuEventCreate", code)?;
        }
        Ok(())
    }

    /// Other devices of this process may have been used since.
    fn make_current(&self) -> Result<(), CudaError> {
        // SAFETY: the context is held as long as `self` is.
        let code = unsafe { (self.functions.use_context)(self.context) };
        self.functions.checked("cuCtxSetCurrent", code)
    }

    fn module(&mut self, text: &str) -> Result<Handle, CudaError> {
        if let Some((_, module)) = self.modules.iter().find(|(known, _)| known == text) {
            return Ok(*module);
        }
        // The generator writes no null byte.
        let image = CString::new(text).unwrap_or_default();
        let mut module = ptr::null_mut();
        // SAFETY: the image is a text that ends in a null byte, which the driver copies.
        let code = unsafe { (self.functions.load_module)(&raw mut module, image.as_ptr().cast()) };
        self.functions.checked("cuModuleLoadData", code)?;
        self.modules.push((text.to_owned(), module));
        Ok(module)
    }

    /// The library of products with the context of this device, opened the first time.
    fn products(&mut self) -> Result<&mut CublasLt, CudaError> {
        self.make_current()?;
        match &mut self.products {
            Some(products) => Ok(products),
            none => Ok(none.insert(CublasLt::open(self.properties.driver.0)?)),
        }
    }

    /// What `work` queues, as one graph.
    fn captured(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<(), CudaError>,
    ) -> Result<Graph, CudaError> {
        self.make_current()?;
        // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL.
        // SAFETY: the stream is ours, and nothing is under capture on it.
        let code = unsafe { (self.functions.begin_capture)(self.stream, 1) };
        self.functions.checked("cuStreamBeginCapture_v2", code)?;
        let worked = work(self);
        let (mut graph, mut instance) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: ends what was begun above, whatever came between.
        let ended = unsafe { (self.functions.end_capture)(self.stream, &raw mut graph) };
        worked?;
        self.functions.checked("cuStreamEndCapture", ended)?;
        // SAFETY: the graph is the one just captured; it is not needed once there is an instance of it.
        let code = unsafe {
            let code = (self.functions.instantiate)(&raw mut instance, graph, 0);
            let _ = (self.functions.destroy_graph)(graph);
            code
        };
        self.functions.checked("cuGraphInstantiateWithFlags", code)?;
        self.graphs.push(instance);
        Ok(Graph(self.graphs.len() - 1))
    }
}

impl Driver for Device {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn free_bytes(&mut self) -> Result<u64, CudaError> {
        self.make_current()?;
        let (mut free, mut all) = (0, 0);
        // SAFETY: the driver writes two numbers.
        let code = unsafe { (self.functions.memory_info)(&raw mut free, &raw mut all) };
        self.functions.checked("cuMemGetInfo_v2", code)?;
        Ok(free as u64)
    }

    fn allocate(&mut self, bytes: u64) -> Result<Address, CudaError> {
        self.make_current()?;
        let mut address = 0;
        // SAFETY: the driver writes an address, which `release` gives back.
        let code = unsafe { (self.functions.allocate)(&raw mut address, bytes as usize) };
        self.functions.checked("cuMemAlloc_v2", code)?;
        Ok(address)
    }

    fn release(&mut self, at: Address) {
        if self.make_current().is_ok() {
            // SAFETY: the address is one that `allocate` gave; the driver waits for what still uses it.
            let _ = unsafe { (self.functions.release)(at) };
        }
    }

    fn upload(&mut self, to: Address, bytes: &[u8]) -> Result<(), CudaError> {
        self.wait()?;
        // SAFETY: the host's side is as long as it says; a target that is too short is an error of the driver's, not a write elsewhere
        // on the host.
        let code = unsafe { (self.functions.upload)(to, bytes.as_ptr().cast(), bytes.len()) };
        self.functions.checked("cuMemcpyHtoD_v2", code)
    }

    fn download(&mut self, from: Address, bytes: &mut [u8]) -> Result<(), CudaError> {
        self.wait()?;
        // SAFETY: the host's side has room for as many bytes as are asked for.
        let code =
            unsafe { (self.functions.download)(bytes.as_mut_ptr().cast(), from, bytes.len()) };
        self.functions.checked("cuMemcpyDtoH_v2", code)
    }

    fn load(&mut self, module: &str, entry: &str) -> Result<Kernel, CudaError> {
        self.make_current()?;
        let module = self.module(module)?;
        let entry = CString::new(entry).unwrap_or_default();
        let mut kernel = ptr::null_mut();
        // SAFETY: the module is loaded until `self` is dropped, and the name ends in a null byte.
        let code = unsafe { (self.functions.function)(&raw mut kernel, module, entry.as_ptr()) };
        self.functions.checked("cuModuleGetFunction", code)?;
        self.kernels.push(kernel);
        Ok(Kernel(self.kernels.len() - 1))
    }

    fn launch(&mut self, launch: &Launch) -> Result<(), CudaError> {
        self.make_current()?;
        let mut words: Vec<u64> = launch.arguments.iter().map(|argument| argument.bits()).collect();
        let mut given: Vec<*mut c_void> =
            words.iter_mut().map(|word| ptr::from_mut(word).cast()).collect();
        let ((x, y), threads) = (launch.blocks, launch.threads);
        let kernel = self.kernels[launch.kernel.0];
        // SAFETY: the driver copies each argument by its size in the kernel, at most the eight bytes that each pointer has (lowest first
        // on the processors that CUDA runs on); a wrong address makes the device fail, not the host.
        let code = unsafe {
            (self.functions.launch)(
                kernel,
                x,
                y,
                1,
                threads,
                1,
                1,
                0,
                self.stream,
                given.as_mut_ptr(),
                ptr::null_mut(),
            )
        };
        self.functions.checked("cuLaunchKernel", code)
    }

    fn record(&mut self, launch: &Launch, times: u32) -> Result<Graph, CudaError> {
        self.captured(|device| (0..times).try_for_each(|_| device.launch(launch)))
    }

    fn product_library(&mut self) -> Result<(u32, u32, u32), CudaError> {
        Ok(self.products()?.version)
    }

    fn prepare_product(&mut self, of: &ProductSpec) -> Result<Product, CudaError> {
        self.products()?.prepare(of)
    }

    fn multiply(&mut self, product: Product, on: Operands) -> Result<(), CudaError> {
        let stream = self.stream;
        self.products()?.multiply(product, on, stream)
    }

    fn record_products(&mut self, product: Product, on: &[Operands]) -> Result<Graph, CudaError> {
        self.captured(|device| on.iter().try_for_each(|on| device.multiply(product, *on)))
    }

    fn replay(&mut self, graph: Graph) -> Result<(), CudaError> {
        self.make_current()?;
        // SAFETY: the instance lives until `self` is dropped.
        let code = unsafe { (self.functions.launch_graph)(self.graphs[graph.0], self.stream) };
        self.functions.checked("cuGraphLaunch", code)
    }

    fn mark(&mut self, mark: Mark) -> Result<(), CudaError> {
        self.make_current()?;
        // SAFETY: event and stream live as long as `self` and are of the same context.
        let code =
            unsafe { (self.functions.record_event)(self.events[mark as usize], self.stream) };
        self.functions.checked("cuEventRecord", code)
    }

    fn between_marks(&mut self) -> Result<Nanos, CudaError> {
        self.make_current()?;
        let [begin, end] = self.events;
        let mut millis = 0.0_f32;
        // SAFETY: both events are ours; the driver writes one number.
        let (waited, told) = unsafe {
            let waited = (self.functions.wait_for_event)(end);
            (waited, (self.functions.elapsed)(&raw mut millis, begin, end))
        };
        self.functions.checked("cuEventSynchronize", waited)?;
        self.functions.checked("cuEventElapsedTime", told)?;
        Ok(Nanos::from_nanos((f64::from(millis) * 1e6) as u64))
    }

    fn wait(&mut self) -> Result<(), CudaError> {
        self.make_current()?;
        // SAFETY: the stream is ours.
        let code = unsafe { (self.functions.wait_for_stream)(self.stream) };
        self.functions.checked("cuStreamSynchronize", code)
    }

    fn host_now(&self) -> Nanos {
        Nanos::from_nanos(self.begun.elapsed().as_nanos() as u64)
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        if self.make_current().is_err() {
            return;
        }
        // While there is a context.
        self.products = None;
        // SAFETY: each handle is from the driver, is given back once, and is used by nobody afterwards; null handles are left out. What the
        // driver says is of no use any more.
        unsafe {
            for instance in self.graphs.drain(..) {
                let _ = (self.functions.destroy_instance)(instance);
            }
            for (_, module) in self.modules.drain(..) {
                let _ = (self.functions.unload_module)(module);
            }
            for event in self.events.into_iter().filter(|event| !event.is_null()) {
                let _ = (self.functions.destroy_event)(event);
            }
            if !self.stream.is_null() {
                let _ = (self.functions.destroy_stream)(self.stream);
            }
            let _ = (self.functions.release_context)(self.device);
        }
    }
}
