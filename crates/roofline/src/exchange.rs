//! What devices have to tell each other in a pass.

mod experts;
mod listed;

use crate::Collective;
use crate::collective::{CollectiveTime, DeviceGroup, DeviceGroupError, GroupCollective};
use crate::model::{FeedForward, Layers, Mixer};
use crate::pass::{Pass, PassTime};
use crate::{Deployment, Device, Model, Topology};

use experts::ExpertTraffic;
pub use listed::PassCollective;

/// Bytes of an element between layers: 16 bits.
const ACTIVATION: f64 = 2.0;

/// The collectives of a pass, ready for any pass.
///
/// Within an attention group of `t` ranks, each with `T` of the group's tokens: the sum of a vocabulary-parallel
/// embedding, a sum after each mixer and each feed-forward block (Megatron-LM, arXiv 1909.08053), and the logits of
/// the tokens that are sampled. With one attention group experts need nothing else: their outputs are summed as a dense
/// block's are. With more, see [`ExpertTraffic`]. Between pipeline stages each device sends its tokens to its counterpart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Exchanges {
    /// Of the replica's tokens, an attention group's share.
    group: f64,
    /// For each token of a group.
    of_tokens: [Repeated; 4],
    /// For each of them that is sampled.
    of_samples: Repeated,
    experts: Vec<ExpertTraffic>,
}

impl Exchanges {
    pub(crate) fn new(model: &Model, device: &Device, deployment: &Deployment) -> Self {
        let tensor = DeviceGroup::of(device, deployment.tensor());
        let token = ACTIVATION * model.hidden as f64;
        let logits = ACTIVATION * model.vocabulary as f64;
        let groups = deployment.attention_groups();
        let over = |collective, bytes, times: f64| {
            if deployment.tensor() == 1 {
                return Repeated::NEVER;
            }
            let levels = prepared(device, tensor, (collective, deployment.tensor()));
            Repeated { collective, ranks: deployment.tensor(), levels, bytes, times }
        };
        // The embedding's sum besides.
        let sums = 1.0 + per_layer(model, |layers| sums_of(layers, groups));
        let gathers = per_layer(model, |layers| gathers_of(layers, groups));
        let (near, far) = sends(device, deployment, token);
        Self {
            group: 1.0 / f64::from(groups),
            of_tokens: [
                over(Collective::AllReduce, token, sums),
                over(Collective::AllGather, token, gathers),
                near,
                far,
            ],
            of_samples: over(Collective::AllGather, logits, 1.0),
            experts: ExpertTraffic::of(model, device, deployment),
        }
    }

    /// Whether no pass has any: a device by itself.
    pub(crate) fn is_empty(&self) -> bool {
        let never = |repeated: &Repeated| repeated.times <= 0.0;
        self.experts.is_empty() && never(&self.of_samples) && self.of_tokens.iter().all(never)
    }

    /// What `pass` takes, and how many collectives it has.
    pub(crate) fn time(&self, pass: &Pass) -> (CollectiveTime, f64) {
        let (mut sum, mut count) = (CollectiveTime::default(), 0.0);
        if pass.tokens() <= 0.0 {
            return (sum, count);
        }
        let (tokens, samples) = self.busiest_group(pass);
        let mut add = |time: CollectiveTime, times: f64| {
            sum = sum + time;
            count += times;
        };
        for repeated in &self.of_tokens {
            add(repeated.time(tokens), repeated.times);
        }
        add(self.of_samples.time(samples), self.of_samples.times);
        for experts in &self.experts {
            add(experts.time(tokens, pass.tokens()), experts.collectives());
        }
        (sum, count)
    }

    /// Tokens of the attention group that has most, and those of them that are sampled.
    fn busiest_group(&self, pass: &Pass) -> (f64, f64) {
        let (decoding, prompts) =
            (busiest(pass.decoding, self.group), busiest(pass.prompts, self.group));
        let decoded = decoding * pass.tokens_each;
        (decoded + prompts * pass.positions.count(), decoded + prompts)
    }

    pub(crate) fn add_to(&self, sum: &mut PassTime, pass: &Pass) {
        let (time, count) = self.time(pass);
        sum.link = sum.link + time.link;
        sum.hops = sum.hops + time.hops;
        sum.collectives += count;
        sum.total = sum.total + time.total();
    }
}

/// Of `whole` sequences, those of the attention group that has most: one that has any has at least one.
fn busiest(whole: f64, share: f64) -> f64 {
    (whole * share).max(whole.min(1.0))
}

/// A collective that a pass has several times.
#[derive(Debug, Clone, PartialEq)]
struct Repeated {
    collective: Collective,
    ranks: u32,
    levels: GroupCollective,
    /// Bytes for each token.
    bytes: f64,
    times: f64,
}

impl Repeated {
    const NEVER: Self = Self {
        collective: Collective::SendReceive,
        ranks: 1,
        levels: GroupCollective::FREE,
        bytes: 0.0,
        times: 0.0,
    };

    fn time(&self, tokens: f64) -> CollectiveTime {
        if self.times <= 0.0 {
            return CollectiveTime::default();
        }
        self.levels.at(self.bytes * tokens) * self.times
    }
}

/// A group's collective: as it was measured among as many devices, or else by links; free where the device's data does not say how
/// the group is joined, of which [`Deployment::link_notes`] tells.
fn prepared(
    device: &Device,
    group: Result<DeviceGroup, DeviceGroupError>,
    (collective, ranks): (Collective, u32),
) -> GroupCollective {
    let by_links = || group.map_or(GroupCollective::FREE, |group| group.prepare(collective));
    let measured = device.measured(collective, ranks);
    measured.map_or_else(by_links, |lines| GroupCollective::Measured(lines, 1.0))
}

fn per_layer(model: &Model, times: impl Fn(&Layers) -> f64) -> f64 {
    model.layers.iter().map(|layers| layers.count as f64 * times(layers)).sum()
}

/// Sums within an attention group: after each mixer and after each feed-forward block, after both at once where they read
/// the same input. Of experts that serve other groups
/// as well only the shared ones are summed so.
fn sums_of(layers: &Layers, groups: u32) -> f64 {
    let mixer = f64::from(!matches!(layers.mixer, Mixer::None));
    let feed_forward = match &layers.feed_forward {
        FeedForward::None => 0.0,
        FeedForward::Experts(experts) if groups > 1 => f64::from(experts.shared.is_some()),
        FeedForward::Experts(_) | FeedForward::Dense(_) => 1.0,
    };
    if layers.parallel { feed_forward.max(mixer) } else { mixer + feed_forward }
}

/// Each rank of a group sends its part of the tokens to the experts; what comes back, all ranks need. A sum of shared
/// experts has that in it.
fn gathers_of(layers: &Layers, groups: u32) -> f64 {
    match &layers.feed_forward {
        FeedForward::Experts(experts) if groups > 1 && experts.shared.is_none() => 1.0,
        _ => 0.0,
    }
}

/// Sends to the next stage within a link's domain, and those into another domain.
fn sends(device: &Device, deployment: &Deployment, token: f64) -> (Repeated, Repeated) {
    let boundaries = deployment.pipeline() - 1;
    let of = |levels: GroupCollective, times: u32| Repeated {
        collective: Collective::SendReceive,
        ranks: 2,
        levels,
        bytes: token,
        times: f64::from(times),
    };
    let pair = |link| DeviceGroup::new(2, link, None);
    let near = prepared(device, pair(device.link()), (Collective::SendReceive, 2));
    let far = pair(device.network())
        .map_or(GroupCollective::FREE, |pair| pair.prepare(Collective::SendReceive));
    let crossing = device.link().map_or(0, |link| crossing(link.topology, deployment));
    (of(near, boundaries - crossing), of(far, crossing))
}

/// How many boundaries between stages lie between domains of the link.
fn crossing(topology: Topology, deployment: &Deployment) -> u32 {
    let domain = u64::from(topology.reach());
    let domains = deployment.devices_per_replica().div_ceil(domain.max(1));
    u32::try_from(domains - 1).unwrap_or(u32::MAX).min(deployment.pipeline() - 1)
}
