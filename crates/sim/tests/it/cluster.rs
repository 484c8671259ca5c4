//! Several engines that serve as one.

mod disaggregated;
mod fakes;
mod replicas;
mod routing;
