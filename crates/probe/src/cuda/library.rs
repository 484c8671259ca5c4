//! Libraries that are there or not: opened when they are asked for, so that a program that has this code runs where they are missing.

#![allow(
    unsafe_code,
    reason = "a library that is opened runs its own code, and a symbol has the type that we say"
)]
#![deny(clippy::undocumented_unsafe_blocks)]

use libloading::Library;

use super::error::CudaError;

/// A library that was opened.
#[derive(Debug)]
pub(super) struct Opened {
    library: Library,
    name: String,
}

impl Opened {
    /// The first of `names` that the system finds; what it said of the last one if there is none.
    pub(super) fn first_of(names: &[&str]) -> Result<Self, String> {
        let mut reason = "it has no name here".to_owned();
        for name in names {
            // SAFETY: these are NVIDIA's own libraries, whose initialisers set up their own state only.
            match unsafe { Library::new(*name) } {
                Ok(library) => return Ok(Self { library, name: (*name).to_owned() }),
                Err(error) => reason = error.to_string(),
            }
        }
        Err(reason)
    }

    /// The function `symbol`.
    ///
    /// # Safety
    ///
    /// `F` must be a function pointer of the type that the library gives that symbol, and must not be called after `self` is dropped.
    pub(super) unsafe fn function<F: Copy>(&self, symbol: &'static str) -> Result<F, CudaError> {
        let lacks = |_| CudaError::TooOld { library: self.name.clone(), symbol: symbol.to_owned() };
        // SAFETY: the caller vouches for the type; the pointer is copied out of the borrow on its word that it is not called later.
        unsafe { self.library.get::<F>(symbol) }.map(|found| *found).map_err(lacks)
    }
}

/// Declares a table of functions, all of which return a status.
macro_rules! functions {
    ($(#[$meta:meta])* $table:ident { $($field:ident = $symbol:literal ($($of_type:ty),* $(,)?);)+ }) => {
        $(#[$meta])*
        #[derive(Debug)]
        struct $table {
            $($field: unsafe extern "system" fn($($of_type),*) -> c_int,)+
            // After the functions that are in it.
            _library: Opened,
        }

        impl $table {
            fn of(library: Opened) -> Result<Self, CudaError> {
                Ok(Self {
                    // SAFETY: the types are those of the library's header, and the library lives as long as the table.
                    $($field: unsafe { library.function($symbol)? },)+
                    _library: library,
                })
            }
        }
    };
}
pub(super) use functions;
