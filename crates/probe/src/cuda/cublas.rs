//! Products of matrices by cublasLt, NVIDIA's library, where it is installed. Types and numbers are those of `cublasLt.h` and
//! `library_types.h` of CUDA 12.9.

#![allow(unsafe_code, reason = "the library takes pointers and handles")]
#![deny(clippy::undocumented_unsafe_blocks)]

use std::ffi::{c_int, c_void};
use std::ptr;

use super::error::CudaError;
use super::library::{Opened, functions};
use super::product::{Operands, Product, ProductSpec};
use crate::measurement::Dtype;

type Handle = *mut c_void;

functions! {
    Functions {
        create = "cublasLtCreate" (*mut Handle);
        destroy = "cublasLtDestroy" (Handle);
        create_product = "cublasLtMatmulDescCreate" (*mut Handle, c_int, c_int);
        destroy_product = "cublasLtMatmulDescDestroy" (Handle);
        set_product = "cublasLtMatmulDescSetAttribute" (Handle, c_int, *const c_void, usize);
        create_layout = "cublasLtMatrixLayoutCreate" (*mut Handle, c_int, u64, u64, i64);
        destroy_layout = "cublasLtMatrixLayoutDestroy" (Handle);
        set_layout = "cublasLtMatrixLayoutSetAttribute" (Handle, c_int, *const c_void, usize);
        create_preference = "cublasLtMatmulPreferenceCreate" (*mut Handle);
        destroy_preference = "cublasLtMatmulPreferenceDestroy" (Handle);
        set_preference = "cublasLtMatmulPreferenceSetAttribute" (Handle, c_int, *const c_void, usize);
        choose = "cublasLtMatmulAlgoGetHeuristic" (
            Handle, Handle, Handle, Handle, Handle, Handle, Handle, c_int, *mut Choice, *mut c_int,
        );
        multiply = "cublasLtMatmul" (
            Handle, Handle, *const c_void, *const c_void, Handle, *const c_void, Handle, *const c_void, *const c_void, Handle,
            *mut c_void, Handle, *const [u64; 8], *mut c_void, usize, Handle,
        );
    }
}

/// What the heuristic answers: `cublasLtMatmulHeuristicResult_t`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Choice {
    algorithm: [u64; 8],
    workspace_bytes: usize,
    state: c_int,
    waves: f32,
    reserved: [c_int; 4],
}

/// The library with what was prepared on one device.
#[derive(Debug)]
pub(super) struct CublasLt {
    functions: Functions,
    handle: Handle,
    pub(super) version: (u32, u32, u32),
    prepared: Vec<Prepared>,
}

/// Descriptors of a product and of its matrices, and the algorithm.
#[derive(Debug)]
struct Prepared {
    product: Handle,
    /// Weights, inputs, result.
    layouts: [Handle; 3],
    algorithm: [u64; 8],
    workspace: (u64, u64),
}

/// What the library is called, that of the driver's own generation first.
fn names(driver: u32) -> Vec<&'static str> {
    let newer = ["libcublasLt.so.13", "cublasLt64_13.dll"];
    let older = ["libcublasLt.so.12", "cublasLt64_12.dll"];
    // A library of a newer generation does not run on an older driver.
    let all = if driver >= 13 { [newer, older].concat() } else { older.to_vec() };
    all.into_iter().chain(["libcublasLt.so"]).collect()
}

fn checked(call: &'static str, code: c_int) -> Result<(), CudaError> {
    let name = match code {
        0 => return Ok(()),
        1 => "CUBLAS_STATUS_NOT_INITIALIZED",
        3 => "CUBLAS_STATUS_ALLOC_FAILED",
        7 => "CUBLAS_STATUS_INVALID_VALUE",
        8 => "CUBLAS_STATUS_ARCH_MISMATCH",
        11 => "CUBLAS_STATUS_MAPPING_ERROR",
        13 => "CUBLAS_STATUS_EXECUTION_FAILED",
        14 => "CUBLAS_STATUS_INTERNAL_ERROR",
        15 => "CUBLAS_STATUS_NOT_SUPPORTED",
        16 => "CUBLAS_STATUS_LICENSE_ERROR",
        _ => "an error without a name",
    };
    Err(CudaError::LibraryFailed { call, code, name: name.to_owned() })
}

/// `cudaDataType`.
const fn number(dtype: Dtype) -> c_int {
    match dtype {
        Dtype::F32 => 0,
        Dtype::F16 => 2,
        Dtype::Fp8E4m3 => 28,
        Dtype::Nvfp4 => 33,
        _ => 14,
    }
}

/// What the library calls its version: 120901, and up to 11 one digit less, 11402 (`CUBLAS_VERSION` in `cublas_api.h` of either).
const fn version_of(number: u32) -> (u32, u32, u32) {
    let major = if number < 100_000 { 1000 } else { 10_000 };
    (number / major, number % major / 100, number % 100)
}

impl CublasLt {
    /// Opens the library for the device whose context is current, whose driver is of CUDA `driver`.
    pub(super) fn open(driver: u32) -> Result<Self, CudaError> {
        let names = names(driver);
        let library = Opened::first_of(&names).map_err(|reason| CudaError::NoLibrary {
            library: "cublasLt",
            names: names.join(", "),
            reason,
        })?;
        // SAFETY: a function without arguments that returns a size_t, called while the library is open.
        let version = unsafe {
            library.function::<unsafe extern "system" fn() -> usize>("cublasLtGetVersion")?()
        } as u32;
        let functions = Functions::of(library)?;
        let mut handle = ptr::null_mut();
        // SAFETY: the library writes a handle that is destroyed when `CublasLt` is dropped.
        checked("cublasLtCreate", unsafe { (functions.create)(&raw mut handle) })?;
        Ok(Self { functions, handle, version: version_of(version), prepared: Vec::new() })
    }

    fn set<T: Copy>(&self, of: Handle, attribute: c_int, value: T) -> Result<(), CudaError> {
        // SAFETY: the library copies as many bytes as it is told, all of which `value` has; a length that is not the attribute's own it
        // refuses.
        let code = unsafe {
            let value = ptr::from_ref(&value).cast();
            (self.functions.set_product)(of, attribute, value, size_of::<T>())
        };
        checked("cublasLtMatmulDescSetAttribute", code)
    }

    /// A matrix whose columns lie one after the other, each `rows` long, `batch` times over.
    fn layout(
        &self,
        dtype: Dtype,
        (rows, columns): (u64, u64),
        batch: u64,
    ) -> Result<Handle, CudaError> {
        let mut layout = ptr::null_mut();
        // SAFETY: the library writes a handle that is destroyed with what it is prepared for.
        let code = unsafe {
            (self.functions.create_layout)(
                &raw mut layout,
                number(dtype),
                rows,
                columns,
                rows as i64,
            )
        };
        checked("cublasLtMatrixLayoutCreate", code)?;
        if batch > 1 {
            // CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, and _STRIDED_BATCH_OFFSET in elements.
            let (count, apart) = (batch as i32, (rows * columns) as i64);
            // SAFETY: the library copies an int32 and an int64, which is what both attributes are.
            let (counted, placed) = unsafe {
                let count = ptr::from_ref(&count).cast();
                let apart = ptr::from_ref(&apart).cast();
                let counted = (self.functions.set_layout)(layout, 5, count, 4);
                (counted, (self.functions.set_layout)(layout, 6, apart, 8))
            };
            checked("cublasLtMatrixLayoutSetAttribute", counted)?;
            checked("cublasLtMatrixLayoutSetAttribute", placed)?;
        }
        Ok(layout)
    }

    /// Descriptors of `of` with the algorithm that the library thinks best.
    pub(super) fn prepare(&mut self, of: &ProductSpec) -> Result<Product, CudaError> {
        let mut prepared = Prepared {
            product: ptr::null_mut(),
            layouts: [ptr::null_mut(); 3],
            algorithm: [0; 8],
            workspace: (of.workspace, of.workspace_bytes),
        };
        let described = self.describe(of, &mut prepared);
        let chosen = described.and_then(|()| self.choose(of, &prepared));
        match chosen {
            Ok(algorithm) => {
                self.prepared.push(Prepared { algorithm, ..prepared });
                Ok(Product(self.prepared.len() - 1))
            }
            Err(error) => {
                self.destroy(&prepared);
                Err(error)
            }
        }
    }

    fn describe(&self, of: &ProductSpec, prepared: &mut Prepared) -> Result<(), CudaError> {
        // CUBLAS_COMPUTE_32F, and scales of CUDA_R_32F.
        // SAFETY: the library writes a handle that is destroyed with what is prepared.
        let code = unsafe { (self.functions.create_product)(&raw mut prepared.product, 68, 0) };
        checked("cublasLtMatmulDescCreate", code)?;
        // By their numbers: TRANSA is CUBLAS_OP_T and TRANSB CUBLAS_OP_N, the one order that FP8 has. Rows of models are columns here.
        self.set(prepared.product, 3, 1_i32)?;
        self.set(prepared.product, 4, 0_i32)?;
        if matches!(of.dtype, Dtype::Fp8E4m3 | Dtype::Nvfp4) {
            let [inputs, weights] = of.scales;
            self.set(prepared.product, 17, weights)?;
            self.set(prepared.product, 18, inputs)?;
        }
        match of.dtype {
            // FAST_ACCUM, as engines have it.
            Dtype::Fp8E4m3 => self.set(prepared.product, 25, 1_i8)?,
            // A_SCALE_MODE and B_SCALE_MODE: VEC16_UE4M3.
            Dtype::Nvfp4 => {
                self.set(prepared.product, 31, 1_i32)?;
                self.set(prepared.product, 32, 1_i32)?;
            }
            _ => {}
        }
        let shape = of.shape;
        prepared.layouts[0] = self.layout(of.dtype, (shape.k, shape.n), shape.batch)?;
        prepared.layouts[1] = self.layout(of.dtype, (shape.k, shape.m), shape.batch)?;
        prepared.layouts[2] = self.layout(of.output, (shape.n, shape.m), shape.batch)?;
        Ok(())
    }

    /// The first of the algorithms that the library's heuristic names.
    fn choose(&self, of: &ProductSpec, prepared: &Prepared) -> Result<[u64; 8], CudaError> {
        let mut preference = ptr::null_mut();
        // SAFETY: the library writes a handle that is destroyed below.
        let code = unsafe { (self.functions.create_preference)(&raw mut preference) };
        checked("cublasLtMatmulPreferenceCreate", code)?;
        let (mut choice, mut count) = (Choice::default(), 0);
        let [weights, inputs, result] = prepared.layouts;
        // SAFETY: all handles are the library's; CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES is a uint64; there is room for the one choice
        // that is asked for.
        let (set, chosen) = unsafe {
            let bytes = ptr::from_ref(&of.workspace_bytes).cast();
            let set = (self.functions.set_preference)(preference, 1, bytes, 8);
            let chosen = (self.functions.choose)(
                self.handle,
                prepared.product,
                weights,
                inputs,
                result,
                result,
                preference,
                1,
                &raw mut choice,
                &raw mut count,
            );
            let _ = (self.functions.destroy_preference)(preference);
            (set, chosen)
        };
        checked("cublasLtMatmulPreferenceSetAttribute", set)?;
        // CUBLAS_STATUS_NOT_SUPPORTED is how it says that there is none.
        if chosen == 15 || (chosen == 0 && (count < 1 || choice.state != 0)) {
            let (operands, output) = (of.dtype, of.output);
            return Err(CudaError::NoAlgorithm { operands, output, shape: of.shape });
        }
        checked("cublasLtMatmulAlgoGetHeuristic", chosen)?;
        Ok(choice.algorithm)
    }

    /// Queues a product on `stream`.
    pub(super) fn multiply(
        &self,
        product: Product,
        on: Operands,
        stream: Handle,
    ) -> Result<(), CudaError> {
        let prepared = &self.prepared[product.0];
        let [weights, inputs, result] = prepared.layouts;
        let (one, zero) = (1.0_f32, 0.0_f32);
        let at = |address: u64| address as usize as *mut c_void;
        // SAFETY: handles are the library's and live as long as `self`; the factors are singles on the host, as is preset, and are copied; a
        // wrong address on the device makes the device fail, not the host.
        let code = unsafe {
            (self.functions.multiply)(
                self.handle,
                prepared.product,
                ptr::from_ref(&one).cast(),
                at(on.weights),
                weights,
                at(on.inputs),
                inputs,
                ptr::from_ref(&zero).cast(),
                at(on.output),
                result,
                at(on.output),
                result,
                &raw const prepared.algorithm,
                at(prepared.workspace.0),
                prepared.workspace.1 as usize,
                stream,
            )
        };
        checked("cublasLtMatmul", code)
    }

    fn destroy(&self, prepared: &Prepared) {
        // SAFETY: each handle is the library's, is given back once, and is used by nobody afterwards; null handles are left out.
        unsafe {
            for layout in prepared.layouts.into_iter().filter(|layout| !layout.is_null()) {
                let _ = (self.functions.destroy_layout)(layout);
            }
            if !prepared.product.is_null() {
                let _ = (self.functions.destroy_product)(prepared.product);
            }
        }
    }
}

impl Drop for CublasLt {
    fn drop(&mut self) {
        for prepared in &self.prepared {
            self.destroy(prepared);
        }
        // SAFETY: the handle is the library's and is used by nobody afterwards.
        let _ = unsafe { (self.functions.destroy)(self.handle) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_by_their_digits() {
        let found = [120_901, 130_000, 11_402, 11_011].map(version_of);
        assert_eq!(found, [(12, 9, 1), (13, 0, 0), (11, 4, 2), (11, 0, 11)]);
    }
}
