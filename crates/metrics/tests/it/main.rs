//! Tests of the crate from outside.

mod distribution;
mod goodput;
mod histogram;
mod level;
mod request;
mod slo;
mod tapes;
mod validity;
