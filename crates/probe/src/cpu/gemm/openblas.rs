//! OpenBLAS, opened when it is asked for where this machine has it. Nothing is linked.

#![allow(
    unsafe_code,
    reason = "a library that is opened runs its own code, and a symbol has the type that its header gives it"
)]
#![deny(clippy::undocumented_unsafe_blocks)]

use std::ffi::{CStr, c_char, c_int};
use std::sync::OnceLock;

use libloading::Library;

use super::super::lanes::Bf16;

/// Under which names systems have it, and what its symbols begin and end with there. The first is that of numpy's and scipy's wheels
/// (`scipy-openblas64` on PyPI), which no system has where a loader looks: who put its folder there wants that one, and it is newer than
/// a distribution's.
const NAMES: [(&str, [&str; 2]); 9] = [
    ("libscipy_openblas64_.so", ["scipy_", "64_"]),
    ("libopenblas.so.0", ["", ""]),
    ("libopenblas.so", ["", ""]),
    ("libopenblas64.so.0", ["", ""]),
    ("libopenblas64_.so.0", ["", "64_"]),
    ("libopenblas64_.so", ["", "64_"]),
    ("libopenblas.0.dylib", ["", ""]),
    ("libopenblas.dylib", ["", ""]),
    ("libopenblas.dll", ["", ""]),
];

/// `CblasRowMajor`, `CblasNoTrans`, `CblasTrans` of `cblas.h`.
const ORDER: [c_int; 3] = [101, 111, 112];

/// `cblas_?gemm`, with integers as wide as the library was built for.
type Gemm<I, T> = unsafe extern "C" fn(
    c_int,
    c_int,
    c_int,
    I,
    I,
    I,
    f32,
    *const T,
    I,
    *const T,
    I,
    f32,
    *mut f32,
    I,
);

/// A product of the library's.
#[derive(Debug, Clone, Copy)]
enum Product<T> {
    Of32(Gemm<i32, T>),
    Of64(Gemm<i64, T>),
}

/// The library, with one thread for each caller: what is multiplied is cut among our own threads, so that it is known where they ran.
#[derive(Debug)]
pub(in crate::cpu) struct OpenBlas {
    config: String,
    single: Product<f32>,
    bf16: Option<Product<Bf16>>,
    // After the functions that are in it.
    _library: Library,
}

impl OpenBlas {
    /// The one of this machine; none where no loader finds one. Opened once.
    pub(in crate::cpu) fn installed() -> Option<&'static Self> {
        static FOUND: OnceLock<Option<OpenBlas>> = OnceLock::new();
        let found = || NAMES.iter().find_map(|(name, around)| Self::open(name, *around));
        FOUND.get_or_init(found).as_ref()
    }

    fn open(name: &str, around: [&str; 2]) -> Option<Self> {
        // SAFETY: these names are OpenBLAS's own, whose initialiser sets up its own state only.
        let library = unsafe { Library::new(name) }.ok()?;
        // SAFETY: both have these types in `cblas.h`, whatever the width of its integers.
        let (config, set_threads) = unsafe {
            let config = symbol::<unsafe extern "C" fn() -> *const c_char>(
                &library,
                "openblas_get_config",
                around,
            )?;
            let set = "openblas_set_num_threads";
            (config, symbol::<unsafe extern "C" fn(c_int)>(&library, set, around)?)
        };
        // SAFETY: it gives a text that ends with a zero and stays as long as the library.
        let config = unsafe { CStr::from_ptr(config()) }.to_string_lossy().trim().to_owned();
        // SAFETY: it takes any number.
        unsafe { set_threads(1) };
        let is_wide = config.contains("USE64BITINT") || !around[1].is_empty();
        let single = product(&library, "cblas_sgemm", around, is_wide)?;
        let bf16 = product(&library, "cblas_sbgemm", around, is_wide);
        Some(Self { config, single, bf16, _library: library })
    }

    /// What it says of itself: version, how it was built, the kernels that it chose.
    pub(in crate::cpu) fn config(&self) -> &str {
        &self.config
    }

    pub(in crate::cpu) const fn has_bf16(&self) -> bool {
        self.bf16.is_some()
    }

    /// `to = a b^T`: `a` has `rows` by `depth`, `b` has `columns` by `depth`, one row after the other. Nothing is written if a
    /// count is more than the library's integers hold, and the check of the result finds that.
    pub(super) fn single(&self, a: &[f32], b: &[f32], to: &mut [f32], shape: [usize; 3]) {
        multiply(&self.single, a, b, to, shape);
    }

    /// The same of operands in bf16, if the library [has it](Self::has_bf16).
    pub(super) fn bf16(&self, a: &[Bf16], b: &[Bf16], to: &mut [f32], shape: [usize; 3]) {
        if let Some(product) = self.bf16 {
            multiply(&product, a, b, to, shape);
        }
    }
}

/// # Safety
///
/// `F` must be a function pointer of the type that the library gives that symbol, and must not be called after `library` is dropped.
unsafe fn symbol<F: Copy>(library: &Library, name: &str, around: [&str; 2]) -> Option<F> {
    let [before, after] = around;
    // SAFETY: the caller vouches for the type; the pointer is copied out on its word that it is not called later.
    unsafe { library.get::<F>(format!("{before}{name}{after}")) }.map(|found| *found).ok()
}

fn product<T>(
    library: &Library,
    name: &str,
    around: [&str; 2],
    is_wide: bool,
) -> Option<Product<T>> {
    // SAFETY: the types are those of `cblas.h` with integers of that width, and whoever keeps the product keeps the library.
    unsafe {
        match is_wide {
            true => symbol(library, name, around).map(Product::Of64),
            false => symbol(library, name, around).map(Product::Of32),
        }
    }
}

fn multiply<T>(of: &Product<T>, a: &[T], b: &[T], to: &mut [f32], shape: [usize; 3]) {
    let [m, n, k] = shape;
    assert!(
        a.len() >= m * k && b.len() >= n * k && to.len() >= m * n,
        "operands are as large as the shape"
    );
    let (a, b, to) = (a.as_ptr(), b.as_ptr(), to.as_mut_ptr());
    let [order, plain, turned] = ORDER;
    match of {
        Product::Of32(gemm) => {
            let [Ok(m), Ok(n), Ok(k)] = shape.map(i32::try_from) else { return };
            // SAFETY: each matrix has as many elements as its shape asks for, and the result is borrowed alone.
            unsafe { gemm(order, plain, turned, m, n, k, 1.0, a, k, b, k, 0.0, to, n) };
        }
        Product::Of64(gemm) => {
            let [Ok(m), Ok(n), Ok(k)] = shape.map(i64::try_from) else { return };
            // SAFETY: as above.
            unsafe { gemm(order, plain, turned, m, n, k, 1.0, a, k, b, k, 0.0, to, n) };
        }
    }
}
