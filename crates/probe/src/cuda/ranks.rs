//! What a measurement of collectives asks of several devices: the seam at which tests put devices that are none.

use std::fmt;

use super::driver::{Address, Driver, Properties};
use super::error::CudaError;
use crate::measurement::CollectiveOp;

/// One collective of bf16 among all ranks. Of those with a root that is the first rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Exchange {
    pub(super) op: CollectiveOp,
    /// As the library counts: all of a message where each rank has it whole, else a rank's part of it.
    pub(super) elements: u64,
}

/// The buffers of one rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Buffers {
    pub(super) given: Address,
    pub(super) result: Address,
}

/// Devices of one machine as ranks, each with its own queue.
pub(super) trait Ranks: fmt::Debug {
    /// What each device says of itself, in order of ranks.
    fn properties(&self) -> Vec<Properties>;

    /// One rank's device.
    fn device(&mut self, rank: usize) -> &mut dyn Driver;

    /// The version of the library of collectives, which is looked for each time.
    fn library(&self) -> Result<(u32, u32, u32), CudaError>;

    /// Makes the ranks known to one another, if they are not.
    fn connect(&mut self) -> Result<(), CudaError>;

    /// Puts a collective into every rank's queue.
    fn queue(&mut self, exchange: Exchange, on: &[Buffers]) -> Result<(), CudaError>;

    /// Waits for all queues, but not for ever.
    fn wait(&mut self) -> Result<(), CudaError>;

    /// Ends what is queued, whatever it waits for: ranks would wait for ever for one that failed.
    fn disconnect(&mut self);
}
