//! The driver of NVIDIA's, by the functions of libcuda that are needed. Their types are those of `cuda.h`, version 11.4 and later.

#![allow(unsafe_code, reason = "the driver takes pointers and handles")]
#![deny(clippy::undocumented_unsafe_blocks)]

mod device;
mod ranks;

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;
use std::rc::Rc;

pub(super) use device::Device;
pub(super) use ranks::Devices;

use super::driver::{Address, Properties};
use super::error::CudaError;
use super::library::{Opened, functions};
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
        ask_stream = "cuStreamQuery" (Handle);
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
    devices: u32,
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

    /// Opens each device, or says why it cannot be opened.
    pub(super) fn each(&self) -> Vec<Result<Device, CudaError>> {
        let named =
            |index, error: CudaError| CudaError::NotOpened { index, reason: error.to_string() };
        let opened = |index| self.open(index).map_err(|error| named(index, error));
        (0..self.devices).map(opened).collect()
    }

    /// Opens device `index`.
    fn open(&self, index: u32) -> Result<Device, CudaError> {
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
        Device::of(functions, (device, context), properties)
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
