//! How tokens of several attention groups reach the experts that serve them all.

use crate::Collective;
use crate::collective::{CollectiveTime, DeviceGroup, DeviceGroupError, GroupCollective};
use crate::model::{Experts, FeedForward};
use crate::{Deployment, Device, ExpertExchange, MathType, Model};

use super::{ACTIVATION, PassCollective, prepared};

/// An 8-bit element on its way to an expert, with a 4-byte scale for each 128 (DeepEP).
const NARROW: f64 = 1.0 + 4.0 / 128.0;

/// The exchanges around experts that are alike, all layers together, where there is more than one attention group.
///
/// All-to-all: a token goes once to each of the `R = e (1 - (1 - 1/e)^k)` expert groups that it can expect its `k`
/// experts in, or of those that its router lets it use, but for the devices where it is already, and comes back from
/// them summed. Across domains of the link it goes once to each domain, and from there on over the link. It travels in 8 bits where experts
/// multiply so, and comes back in 16.
///
/// All-gather: all tokens go everywhere, and sums come back in a reduce-scatter.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ExpertTraffic {
    layers: f64,
    /// Ranks that share an attention group's tokens.
    tensor: f64,
    /// Ranks of a stage, which share the experts.
    ranks: u32,
    exchange: ExpertExchange,
    /// Bytes of a token on its way there and back.
    bytes: (f64, f64),
    to_experts: GroupCollective,
    gather: GroupCollective,
    scatter: GroupCollective,
}

impl ExpertTraffic {
    /// All of `model`; nothing where one attention group has all tokens.
    pub(super) fn of(model: &Model, device: &Device, deployment: &Deployment) -> Vec<Self> {
        if deployment.attention_groups() == 1 {
            return Vec::new();
        }
        let ranks = u32::try_from(deployment.devices_per_stage()).unwrap_or(u32::MAX);
        let stage = DeviceGroup::of(device, ranks);
        let mut all: Vec<Self> = Vec::new();
        for layers in &model.layers {
            let FeedForward::Experts(experts) = &layers.feed_forward else { continue };
            let width = experts.latent.unwrap_or(model.hidden);
            let new = Self::new(experts, width, (device, stage, ranks), deployment);
            let count = layers.count as f64;
            match all.iter_mut().find(|known| Self { layers: 0.0, ..(*known).clone() } == new) {
                Some(known) => known.layers += count,
                None => all.push(Self { layers: count, ..new }),
            }
        }
        all
    }

    fn new(
        experts: &Experts,
        width: u64,
        (device, stage, ranks): (&Device, Result<DeviceGroup, DeviceGroupError>, u32),
        deployment: &Deployment,
    ) -> Self {
        let there = match experts.each.format.math() {
            MathType::Bf16 => ACTIVATION,
            MathType::Fp8 | MathType::Fp4 | MathType::Int8 => NARROW,
        };
        let to_experts = stage.map_or(GroupCollective::FREE, |stage| {
            let (near, far) = copies(&stage, deployment, experts);
            stage.routed(near, far, device.measured(Collective::AllToAll, ranks))
        });
        Self {
            layers: 0.0,
            tensor: f64::from(deployment.tensor()),
            ranks,
            exchange: deployment.expert_exchange(),
            bytes: (there * width as f64, ACTIVATION * width as f64),
            to_experts,
            gather: prepared(device, stage, (Collective::AllGather, ranks)),
            scatter: prepared(device, stage, (Collective::ReduceScatter, ranks)),
        }
    }

    /// There and back in each layer.
    pub(super) fn collectives(&self) -> f64 {
        2.0 * self.layers
    }

    /// With `group` tokens in the busiest attention group, of `all`.
    pub(super) fn time(&self, group: f64, all: f64) -> CollectiveTime {
        let sum = |legs: [ExpertLeg<'_>; 2]| legs[0].time() + legs[1].time();
        sum(self.legs(group, all)) * self.layers
    }

    /// To the experts and back, once, by the exchange that is deployed.
    fn legs(&self, group: f64, all: f64) -> [ExpertLeg<'_>; 2] {
        use Collective::{AllGather, AllToAll, ReduceScatter};
        let (there, back) = self.bytes;
        let leg = |collective, by, bytes| ExpertLeg { collective, by, bytes };
        let tokens = group / self.tensor;
        let direct = [there, back].map(|bytes| leg(AllToAll, &self.to_experts, bytes * tokens));
        let gathered = [
            leg(AllGather, &self.gather, there * all),
            leg(ReduceScatter, &self.scatter, back * all),
        ];
        let total = |legs: &[ExpertLeg<'_>; 2]| (legs[0].time() + legs[1].time()).total();
        match self.exchange {
            ExpertExchange::AllToAll => direct,
            ExpertExchange::AllGather => gathered,
            ExpertExchange::Fastest if total(&gathered) < total(&direct) => gathered,
            ExpertExchange::Fastest => direct,
        }
    }

    /// The same, as a list of what is told.
    pub(super) fn listed(&self, group: f64, all: f64) -> [PassCollective; 2] {
        self.legs(group, all).map(|leg| {
            PassCollective::of((leg.collective, self.ranks), (leg.by, leg.bytes), self.layers)
        })
    }
}

/// One way of an exchange.
#[derive(Clone, Copy)]
struct ExpertLeg<'a> {
    collective: Collective,
    by: &'a GroupCollective,
    bytes: f64,
}

impl ExpertLeg<'_> {
    fn time(&self) -> CollectiveTime {
        self.by.at(self.bytes)
    }
}

/// How often a token crosses the link and the network on its way to its experts.
fn copies(stage: &DeviceGroup, deployment: &Deployment, experts: &Experts) -> (f64, f64) {
    let groups = f64::from(deployment.expert_groups());
    let each = f64::from(stage.ranks()) / groups;
    let (within, domains) = (f64::from(stage.ranks_within()), f64::from(stage.domains()));
    let near = reached(groups, experts) * each * (within - 1.0) / within;
    let far = reached(domains, experts) * (domains - 1.0) / domains;
    (near, far)
}

/// Of `n` places that share the experts, those that a token can expect its experts in: `m (1 - (1 - 1/m)^k)` distinct
/// ones of the `m` that its router lets it use.
fn reached(n: f64, experts: &Experts) -> f64 {
    let open = experts.groups.map_or(n, |groups| {
        let (count, used) = (groups.count as f64, groups.per_token as f64);
        if n < count { n.min(used) } else { n * used / count }
    });
    open * (1.0 - (1.0 - 1.0 / open).powf(experts.per_token as f64))
}
