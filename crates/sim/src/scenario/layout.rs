//! How many engines there are, and what is between them.

use std::num::NonZeroU32;

use fizeau_core::Bytes;
use fizeau_roofline::{Deployment, DeploymentError, System, Transfer};

use super::{ScenarioError, memory};
use crate::cluster::{ClusterError, Disaggregated, Handover, Replicas, Routing};
use crate::engine::Engine;
use crate::serve::Serve;
use crate::step::StepModel;

/// How many engines there are; each is a replica of the system.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Layout {
    /// As many as the deployment has replicas.
    Replicas(Routing),
    /// So many that read prompts and so many that decode.
    Apart { prefill: NonZeroU32, decode: NonZeroU32, handover: Handover },
}

/// What serves, with nothing to do yet.
#[derive(Debug, Clone)]
pub(super) enum Service {
    One(Engine<StepModel>),
    Replicas(Replicas<Engine<StepModel>>),
    Apart(Disaggregated<Engine<StepModel>, Engine<StepModel>>),
}

impl Layout {
    pub(super) fn service(
        &self,
        engine: &Engine<StepModel>,
        replicas: u32,
    ) -> Result<Service, ClusterError> {
        let copies = |count: u32| vec![engine.clone(); count as usize];
        Ok(match *self {
            Self::Replicas(_) if replicas == 1 => Service::One(engine.clone()),
            Self::Replicas(routing) => Service::Replicas(Replicas::new(copies(replicas), routing)?),
            Self::Apart { prefill, decode, handover } => {
                let (prefill, decode) = (copies(prefill.get()), copies(decode.get()));
                Service::Apart(Disaggregated::new(prefill, decode, handover)?)
            }
        })
    }
}

impl Service {
    pub(super) fn serve(&self) -> Box<dyn Serve + Send> {
        match self {
            Self::One(engine) => Box::new(engine.clone()),
            Self::Replicas(engines) => Box::new(engines.clone()),
            Self::Apart(engines) => Box::new(engines.clone()),
        }
    }
}

/// What crosses from one instance of `system` to another, and how: each device sends what it keeps of a sequence to its
/// counterpart, over the link between machines where there is one. Windows count as full.
pub(super) fn handover(system: &System, transfer: Transfer) -> Result<Handover, ScenarioError> {
    let device = system.device();
    let link = device.network().or_else(|| device.link());
    let link = link.ok_or_else(|| ScenarioError::NoLink { device: device.name().to_owned() })?;
    let (constant, per_token) = memory::kept(system);
    let layers: u64 = system.model().layers().iter().map(|layers| layers.count).sum();
    let layers = u32::try_from(layers).ok().and_then(NonZeroU32::new);
    Ok(Handover {
        per_token: Bytes::new(per_token),
        per_sequence: Bytes::new(constant),
        bandwidth: link.bandwidth,
        latency: link.latency.to_nanos().unwrap_or_default(),
        transfer,
        layers: layers.unwrap_or(NonZeroU32::MIN),
    })
}

/// `system` that many times.
pub(super) fn replicated(system: &System, count: NonZeroU32) -> Result<System, DeploymentError> {
    spread(system, system.deployment().with_replicas(count.get())?)
}

/// The same model on the same device, spread another way.
pub(super) fn spread(system: &System, deployment: Deployment) -> Result<System, DeploymentError> {
    let other = System::new(system.model().clone(), system.device().clone(), deployment)?;
    Ok(other.with_serving(*system.serving()).with_routing(system.routing()))
}
