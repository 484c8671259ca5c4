//! Ranks that are none: each a device that is none, and collectives carried out by their definition.

use super::Fake;
use crate::cuda::driver::{Driver, Properties};
use crate::cuda::error::CudaError;
use crate::cuda::ranks::{Buffers, Exchange, Ranks};
use crate::measurement::CollectiveOp;

/// What a collective costs the first rank, and how much more each further one.
pub(in crate::cuda) const FIRST_RANK: u64 = 2_000;
pub(in crate::cuda) const EACH_FURTHER: u64 = 1_000;
/// What it costs beside where queues were empty.
pub(in crate::cuda) const FROM_IDLE: u64 = 7_000;

#[derive(Debug)]
pub(in crate::cuda) struct FakeRanks {
    devices: Vec<Fake>,
    /// The version of its library; none: it is not installed.
    pub(in crate::cuda) library: Option<(u32, u32, u32)>,
    /// Ranks do not find one another.
    pub(in crate::cuda) parted: bool,
    /// After so many collectives no rank answers any more.
    pub(in crate::cuda) stuck_after: Option<u64>,
    /// Whether what was queued was ended.
    pub(in crate::cuda) is_ended: bool,
    /// Results are what they were.
    pub(in crate::cuda) spoils: bool,
    queued: u64,
    last: Option<(Exchange, Vec<Buffers>)>,
}

impl FakeRanks {
    pub(in crate::cuda) fn of(mut devices: Vec<Fake>) -> Self {
        (0..).zip(&mut devices).for_each(|(index, device)| device.is_numbered(index));
        let library = Some((2, 32, 3));
        let (parted, is_ended, spoils) = (false, false, false);
        let (stuck_after, queued, last) = (None, 0, None);
        Self { devices, library, parted, stuck_after, is_ended, spoils, queued, last }
    }

    /// How many arrays all ranks have together.
    pub(in crate::cuda) fn allocated(&self) -> usize {
        self.devices.iter().map(Fake::allocated).sum()
    }

    /// What rank `rank` has, given what all were `given`, each element a single. Block by block, as the guide of NCCL draws it.
    fn results(Exchange { op, elements }: Exchange, given: &[Vec<f32>], rank: usize) -> Vec<f32> {
        let length = elements as usize;
        let sums = |from: usize| {
            let sum = |at| given.iter().map(|of| of[from + at]).sum::<f32>();
            (0..length).map(sum).collect::<Vec<f32>>()
        };
        match op {
            CollectiveOp::AllReduce => sums(0),
            CollectiveOp::ReduceScatter => sums(rank * length),
            CollectiveOp::AllGather => given.concat(),
            CollectiveOp::AllToAll => {
                let block = |of: &Vec<f32>| of[rank * length..(rank + 1) * length].to_vec();
                given.iter().flat_map(block).collect()
            }
            _ => given[0].clone(),
        }
    }

    fn carry_out(&mut self, exchange: Exchange, on: &[Buffers]) -> Result<(), CudaError> {
        let parts = self.devices.len() as u64;
        let is_of_parts =
            matches!(exchange.op, CollectiveOp::ReduceScatter | CollectiveOp::AllToAll);
        let length = exchange.elements * if is_of_parts { parts } else { 1 };
        let mut given = Vec::new();
        for (device, buffers) in self.devices.iter_mut().zip(on) {
            let mut bytes = vec![0; 2 * length as usize];
            device.download(buffers.given, &mut bytes)?;
            let single =
                |half: &[u8; 2]| f32::from_bits(u32::from(u16::from_le_bytes(*half)) << 16);
            given.push(bytes.as_chunks().0.iter().map(single).collect::<Vec<f32>>());
        }
        for (rank, (device, buffers)) in self.devices.iter_mut().zip(on).enumerate() {
            let halves = Self::results(exchange, &given, rank);
            let bytes = halves.iter().flat_map(|one| ((one.to_bits() >> 16) as u16).to_le_bytes());
            device.upload(buffers.result, &bytes.collect::<Vec<u8>>())?;
        }
        Ok(())
    }
}

impl Ranks for FakeRanks {
    fn properties(&self) -> Vec<Properties> {
        self.devices.iter().map(|device| device.properties().clone()).collect()
    }

    fn device(&mut self, rank: usize) -> &mut dyn Driver {
        &mut self.devices[rank]
    }

    fn library(&self) -> Result<(u32, u32, u32), CudaError> {
        self.library.ok_or_else(|| CudaError::NoLibrary {
            library: "NCCL",
            names: "libnccl.so.2".to_owned(),
            reason: "no such file".to_owned(),
        })
    }

    fn connect(&mut self) -> Result<(), CudaError> {
        if !self.parted {
            return Ok(());
        }
        let name = "ncclSystemError".to_owned();
        Err(CudaError::LibraryFailed { call: "ncclCommInitAll", code: 2, name })
    }

    fn queue(&mut self, exchange: Exchange, on: &[Buffers]) -> Result<(), CudaError> {
        self.queued += 1;
        let from_idle = if self.last.is_none() { FROM_IDLE } else { 0 };
        for (rank, device) in self.devices.iter_mut().enumerate() {
            device.pass(from_idle + FIRST_RANK + EACH_FURTHER * rank as u64)?;
        }
        self.last = Some((exchange, on.to_vec()));
        Ok(())
    }

    fn wait(&mut self) -> Result<(), CudaError> {
        let last = self.last.take();
        if self.stuck_after.is_some_and(|after| self.queued > after) {
            return Err(CudaError::Stuck { seconds: 60 });
        }
        match last.filter(|_| !self.spoils) {
            Some((exchange, on)) => self.carry_out(exchange, &on),
            None => Ok(()),
        }
    }

    fn disconnect(&mut self) {
        self.is_ended = true;
        self.last = None;
    }
}
