//! Several engines that serve as one.

mod disaggregated;
mod engines;
pub(crate) mod fakes;
mod replicas;
mod routing;
