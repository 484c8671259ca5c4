//! The driver of NVIDIA's, by the functions of libcuda that are needed. Their types are those of `cuda.h`, version 11.4 and later.

#![allow(unsafe_code, reason = "the driver takes pointers and handles")]
#![deny(clippy::undocumented_unsafe_blocks)]

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr;
use std::rc::Rc;
use std::time::Instant;

use fizeau_core::Nanos;

use super::cublas::CublasLt;
use super::driver::{Address, Driver, Graph, Kernel, Launch, Mark, Properties};
use super::error::CudaError;
use super::library::{Opened, functions};
use super::product::{Operands, Product, ProductSpec};
use super::ptx;

type Handle = *mut c_void;

/// What the driver is called: on Linux, and on Windows.
const NAMES: [&str; 3] = ["libcuda.so.1", "libcuda.so", "nvcuda.dll"];

functions! {
    Functions {
        init = "cuInit" (c_uint);
        driver_version = "cuDriverGetVersion" (*mut c_int);
        device_count = "cuDeviceGetCount" (*mut c_int);
        device = "cuDeviceGet" (*mut c_int, c_int);
        device_name = "cuDeviceGetName" (*mut c_char, c_int, c_int);
        device_attribute = "cuDeviceGetAttribute" (*mut c_int, c_int, c_int);
        device_memory = "cuDeviceTotalMem_v2" (*mut usize, c_int);
        retain_context = "cuDevicePrimaryCtxRetain" (*mut Handle, c_int);
        release_context = "cuDevicePrimaryCtxRelease_v2" (c_int);
        use_context = "cuCtxSetCurrent" (Handle);
        memory_info = "cuMemGetInfo_v2" (*mut usize, *mut usize);
        allocate = "cuMemAlloc_v2" (*mut Address, usize);
        release = "cuMemFree_v2" (Address);
        upload = "cuMemcpyHtoD_v2" (Address, *const c_void, usize);
        download = "cuMemcpyDtoH_v2" (*mut c_void, Address, usize);
        load_module = "cuModuleLoadData" (*mut Handle, *const c_void);
        function = "cuModuleGetFunction" (*mut Handle, Handle, *const c_char);
        unload_module = "cuModuleUnload" (Handle);
        launch = "cuLaunchKernel" (
            Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void, *mut *mut c_void,
        );
        create_stream = "cuStreamCreate" (*mut Handle, c_uint);
        destroy_stream = "cuStreamDestroy_v2" (Handle);
        wait_for_stream = "cuStreamSynchronize" (Handle);
        begin_capture = "cuStreamBeginCapture_v2" (Handle, c_int);
        end_capture = "cuStreamEndCapture" (Handle, *mut Handle);
        instantiate = "cuGraphInstantiateWithFlags" (*mut Handle, Handle, u64);
        destroy_graph = "cuGraphDestroy" (Handle);
        launch_graph = "cuGraphLaunch" (Handle, Handle);
        destroy_instance = "cuGraphExecDestroy" (Handle);
        create_event = "cuEventCreate" (*mut Handle, c_uint);
        destroy_event = "cuEventDestroy_v2" (Handle);
        record_event = "cuEventRecord" (Handle, Handle);
        wait_for_event = "cuEventSynchronize" (Handle);
        elapsed = "cuEventElapsedTime" (*mut f32, Handle, Handle);
        error_name = "cuGetErrorName" (c_int, *mut *const c_char);
    }
}

impl Functions {
    /// What a call returned.
    fn checked(&self, call: &'static str, code: c_int) -> Result<(), CudaError> {
        if code == 0 {
            return Ok(());
        }
        let mut name = ptr::null();
        // SAFETY: the driver sets the pointer to a text of its own that is never freed, or to null.
        let known = unsafe { (self.error_name)(code, &raw mut name) } == 0 && !name.is_null();
        let name = match known {
            // SAFETY: as above: a text that ends in a null byte.
            true => unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned(),
            false => "an error without a name".to_owned(),
        };
        Err(CudaError::Failed { call, code, name })
    }
}

/// The driver, before any device is opened.
#[derive(Debug, Clone)]
pub(super) struct Nvidia {
    functions: Rc<Functions>,
    pub(super) devices: u32,
    version: (u32, u32),
}

impl Nvidia {
    /// Opens the driver's library and counts devices.
    pub(super) fn load() -> Result<Self, CudaError> {
        let library = Opened::first_of(&NAMES)
            .map_err(|reason| CudaError::NoDriver { names: NAMES.join(", "), reason })?;
        let functions = Functions::of(library)?;
        let (mut count, mut version) = (0, 0);
        // SAFETY: the flags must be zero, and are; the driver writes a number through each pointer.
        let (begun, counted, told) = unsafe {
            let begun = (functions.init)(0);
            if begun != 0 {
                (begun, 0, 0)
            } else {
                let counted = (functions.device_count)(&raw mut count);
                (begun, counted, (functions.driver_version)(&raw mut version))
            }
        };
        // CUDA_ERROR_NO_DEVICE: a driver without anything to drive.
        if begun == 100 {
            return Err(CudaError::NoDevice);
        }
        functions.checked("cuInit", begun)?;
        functions.checked("cuDeviceGetCount", counted)?;
        functions.checked("cuDriverGetVersion", told)?;
        if count < 1 {
            return Err(CudaError::NoDevice);
        }
        let version = (version as u32 / 1000, version as u32 % 1000 / 10);
        Ok(Self { functions: Rc::new(functions), devices: count as u32, version })
    }

    /// Opens device `index`.
    pub(super) fn open(&self, index: u32) -> Result<Device, CudaError> {
        let functions = Rc::clone(&self.functions);
        let mut device = 0;
        // SAFETY: the driver writes the handle of a device, a number.
        let code = unsafe { (functions.device)(&raw mut device, index as c_int) };
        functions.checked("cuDeviceGet", code)?;
        let properties = properties(&functions, device, (index, self.version))?;
        let (major, minor) = properties.capability;
        if properties.capability < ptx::OLDEST_CAPABILITY {
            return Err(CudaError::DeviceTooOld { device: properties.name, major, minor });
        }
        let mut context = ptr::null_mut();
        // SAFETY: the device's handle is from the driver; the context that it gives is given back when `Device` is dropped.
        let code = unsafe { (functions.retain_context)(&raw mut context, device) };
        functions.checked("cuDevicePrimaryCtxRetain", code)?;
        let mut opened = Device {
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
}

fn properties(
    functions: &Functions,
    device: c_int,
    (index, driver): (u32, (u32, u32)),
) -> Result<Properties, CudaError> {
    let attribute = |which: c_int| {
        let mut value = 0;
        // SAFETY: the driver writes one number.
        let code = unsafe { (functions.device_attribute)(&raw mut value, which, device) };
        functions.checked("cuDeviceGetAttribute", code)?;
        Ok::<u32, CudaError>(value.max(0) as u32)
    };
    let mut name = [0 as c_char; 256];
    // SAFETY: the driver writes no more than it is told there is room for, a null byte last.
    let code = unsafe { (functions.device_name)(name.as_mut_ptr(), 255, device) };
    functions.checked("cuDeviceGetName", code)?;
    // SAFETY: the array was zeros and its last byte still is, so the text ends within it.
    let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
    let mut memory = 0;
    // SAFETY: the driver writes one number.
    let code = unsafe { (functions.device_memory)(&raw mut memory, device) };
    functions.checked("cuDeviceTotalMem_v2", code)?;
    // By their numbers in cuda.h.
    Ok(Properties {
        index,
        name,
        capability: (attribute(75)?, attribute(76)?),
        multiprocessors: attribute(16)?,
        memory_bytes: memory as u64,
        l2_bytes: attribute(38)?.into(),
        clock_khz: attribute(13)?,
        memory_clock_khz: attribute(36)?,
        memory_bus_bits: attribute(37)?,
        driver,
    })
}

/// A device with a context, a queue and two events.
#[derive(Debug)]
pub(super) struct Device {
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
