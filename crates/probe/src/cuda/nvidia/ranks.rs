//! All devices of NVIDIA's as ranks of collectives, driven by one thread.

use std::thread;
use std::time::{Duration, Instant};

use super::{Device, Nvidia};
use crate::cuda::driver::{Driver, Properties};
use crate::cuda::error::CudaError;
use crate::cuda::nccl::{self, Nccl};
use crate::cuda::opened;
use crate::cuda::ranks::{Buffers, Exchange, Ranks};

/// What is queued at once takes far less, but where a rank does not answer.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Devices with what connects them.
#[derive(Debug)]
pub(in crate::cuda) struct Devices {
    // Before the devices, whose queues it uses, so that it is dropped before them.
    nccl: Option<Nccl>,
    devices: Vec<Device>,
}

impl Devices {
    /// All that the driver has and that can be opened, with queues of their own.
    pub(in crate::cuda) fn of(nvidia: &Nvidia) -> Result<Self, CudaError> {
        Ok(Self { nccl: None, devices: opened(nvidia.each())? })
    }

    fn is_idle(&self) -> Result<bool, CudaError> {
        if let Some(nccl) = &self.nccl {
            nccl.trouble()?;
        }
        let mut is_idle = true;
        for device in &self.devices {
            is_idle &= device.is_idle()?;
        }
        Ok(is_idle)
    }
}

impl Ranks for Devices {
    fn properties(&self) -> Vec<Properties> {
        self.devices.iter().map(|device| device.properties().clone()).collect()
    }

    fn device(&mut self, rank: usize) -> &mut dyn Driver {
        &mut self.devices[rank]
    }

    fn library(&self) -> Result<(u32, u32, u32), CudaError> {
        nccl::version()
    }

    fn connect(&mut self) -> Result<(), CudaError> {
        if self.nccl.is_none() {
            let indices: Vec<u32> =
                self.devices.iter().map(|device| device.properties().index).collect();
            self.nccl = Some(Nccl::connect(&indices)?);
        }
        Ok(())
    }

    fn queue(&mut self, exchange: Exchange, on: &[Buffers]) -> Result<(), CudaError> {
        self.connect()?;
        let streams: Vec<_> = self.devices.iter().map(Device::stream).collect();
        self.nccl.as_ref().map_or(Ok(()), |nccl| nccl.queue(exchange, on, &streams))
    }

    fn wait(&mut self) -> Result<(), CudaError> {
        let begun = Instant::now();
        while !self.is_idle()? {
            if begun.elapsed() > LONGEST_WAIT {
                return Err(CudaError::Stuck { seconds: LONGEST_WAIT.as_secs() });
            }
            thread::yield_now();
        }
        Ok(())
    }

    fn disconnect(&mut self) {
        if let Some(nccl) = self.nccl.take() {
            nccl.abort();
        }
    }
}
