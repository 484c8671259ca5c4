//! Several engines that serve as one.

mod disaggregated;
pub(crate) mod fakes;
mod replicas;
mod routing;
