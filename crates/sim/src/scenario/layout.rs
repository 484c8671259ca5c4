//! How many engines there are, and what is between them.

use std::num::NonZeroU32;

use fizeau_core::Bytes;
use fizeau_roofline::{CacheTransfer, Deployment, DeploymentError, Drafter, System};

use super::{ScenarioError, ScenarioSettings, memory};
use crate::cluster::{DisaggregatedEngine, Handover, ReplicaRouting, Replicas};
use crate::engine::Engine;
use crate::serve::Serve;
use crate::step::StepModel;

/// How many engines there are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct EngineLayout {
    /// Who of an instance's replicas serves a request, where prefill and decode are together.
    pub(super) routing: ReplicaRouting,
    pub(super) apart: Option<SplitInstances>,
}

/// So many instances that read prompts and so many that decode, each with all replicas of the deployment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SplitInstances {
    pub(super) prefill: NonZeroU32,
    pub(super) decode: NonZeroU32,
    pub(super) transfer: CacheTransfer,
}

impl SplitInstances {
    /// The engines that read prompts and those that decode, where an instance has `each`.
    pub(super) fn engines(&self, each: u32) -> [NonZeroU32; 2] {
        let each = NonZeroU32::new(each).unwrap_or(NonZeroU32::MIN);
        [self.prefill, self.decode].map(|instances| instances.saturating_mul(each))
    }
}

/// What serves, with nothing to do yet.
#[derive(Debug, Clone)]
pub(super) enum Service {
    One(Box<Engine<StepModel>>),
    Replicas(Box<Replicas<Engine<StepModel>>>),
    Apart(Box<DisaggregatedEngine<Engine<StepModel>, Engine<StepModel>>>),
}

/// What was asked for, made of copies of `engine`.
pub(super) fn service(
    of: &ScenarioSettings,
    engine: &Engine<StepModel>,
) -> Result<Service, ScenarioError> {
    let copies = |count: u32| vec![engine.clone(); count as usize];
    let replicas = of.system.deployment().replicas();
    Ok(match of.layout {
        EngineLayout { apart: Some(apart), .. } => {
            let handover = handover(&of.system, of.drafter.as_ref(), apart.transfer)?;
            let [prefill, decode] = apart.engines(replicas).map(|count| copies(count.get()));
            Service::Apart(Box::new(DisaggregatedEngine::new(prefill, decode, handover)?))
        }
        EngineLayout { .. } if replicas == 1 => Service::One(Box::new(engine.clone())),
        EngineLayout { routing, .. } => {
            Service::Replicas(Box::new(Replicas::new(copies(replicas), routing)?))
        }
    })
}

/// An instance, `each`, as often as there are.
pub(super) fn all(each: &System, layout: &EngineLayout) -> Result<System, DeploymentError> {
    let Some(apart) = layout.apart else { return Ok(each.clone()) };
    let [prefill, decode] = apart.engines(each.deployment().replicas());
    replicated(each, prefill.saturating_add(decode.get()))
}

impl Service {
    pub(super) fn serve(&self) -> Box<dyn Serve + Send> {
        match self {
            Self::One(engine) => engine.clone(),
            Self::Replicas(engines) => engines.clone(),
            Self::Apart(engines) => engines.clone(),
        }
    }
}

/// What crosses from one instance of `system` to another, and how: each device sends what it keeps of a sequence, for a drafting
/// model too, to its counterpart, over the link between machines where there is one. Windows count as full.
fn handover(
    system: &System,
    drafter: Option<&Drafter>,
    transfer: CacheTransfer,
) -> Result<Handover, ScenarioError> {
    let device = system.device();
    let link = device.network().or_else(|| device.link());
    let link = link.ok_or_else(|| ScenarioError::NoLink { device: device.name.to_owned() })?;
    let (constant, per_token) = memory::kept_with(system, drafter);
    let layers: u64 = system.model().layers.iter().map(|layers| layers.count).sum();
    let layers = u32::try_from(layers).ok().and_then(NonZeroU32::new);
    let groups = NonZeroU32::new(system.deployment().attention_groups());
    Ok(Handover {
        per_token: Bytes::new(per_token),
        per_sequence: Bytes::new(constant),
        links: groups.unwrap_or(NonZeroU32::MIN),
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
