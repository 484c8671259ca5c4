//! The kernels as text that the driver compiles when it loads them (PTX), so that no toolkit is needed to build or to run.
//!
//! Pure: text out of shapes. The tests carry the text out on the host, instruction by instruction, and `cargo xtask ptx` assembles it
//! with NVIDIA's own assembler.

mod attention;
#[cfg(test)]
pub(super) mod interpret;
mod small;
mod stream;
#[cfg(test)]
mod tests;
mod writer;

pub(super) use attention::{
    COMBINE_THREADS, HEAD_DIM, PAGE_TOKENS, PagedDecode, combine as attention_combine,
    decode as attention_decode,
};
pub(super) use small::{CHASE_HOPS, chase, empty, spin};
pub(super) use stream::{CONSTANT, Fill, LoadSetting, fill, stream};

use crate::gpu_coverage::MOST_QUERY_HEADS;

/// The oldest language that knows the oldest target: so that every driver that can drive an A100 compiles it.
const HEADER: &str = ".version 7.0\n.target sm_80\n.address_size 64\n\n";

/// The oldest compute capability that the kernels are for.
pub(super) const OLDEST_CAPABILITY: (u32, u32) = (8, 0);

/// A module of these kernels.
pub(super) fn module(kernels: impl IntoIterator<Item = String>) -> String {
    std::iter::once(HEADER.to_owned()).chain(kernels).collect()
}

/// Every kernel that this crate ever loads, each as a module of its own beside a name for a file.
pub(super) fn all() -> Vec<(String, String)> {
    let mut modules = Vec::new();
    for kernel in stream::KERNELS {
        let settings = LoadSetting::all().map(|setting| stream(kernel, setting));
        modules.push((kernel.as_str().to_owned(), module(settings)));
    }
    modules.push(("small".to_owned(), module([fill(), chase(), empty(), spin()])));
    for group in 1..=MOST_QUERY_HEADS as u32 {
        let shape = PagedDecode { kv_heads: 8, group };
        let kernels = [attention_decode(shape), attention_combine(shape)];
        modules.push((format!("attention_{group}"), module(kernels)));
    }
    modules
}
