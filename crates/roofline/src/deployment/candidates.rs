//! The ways in which a number of devices can be put to use.

use std::num::NonZeroU32;

use super::Deployment;
use crate::Model;
use crate::model::{FeedForward, Mixer};

impl Deployment {
    /// All sensible ways to spread `model` over exactly `devices`, the ones with the fewest devices per replica first.
    ///
    /// Left out is what does not divide and what cannot be better than another: attention groups where there is
    /// neither a mixture of experts nor a latent cache (replicas do the same without waiting for each other), and
    /// expert groups other than one or as many as a stage has devices (or can use). Empty if `devices` is 0, or has a
    /// divisor above 65,536 that no way can avoid.
    ///
    /// ```
    /// use fizeau_roofline::{Deployment, KnownModel};
    /// let model = KnownModel::named("llama-3.1-8b")?.model()?;
    /// let ways: Vec<String> = Deployment::candidates(&model, 4).iter().map(|way| way.to_string()).collect();
    /// assert_eq!(ways, ["x4", "PP2 x2", "TP2 x2", "PP4", "TP2 PP2", "TP4"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn candidates(model: &Model, devices: u64) -> Vec<Self> {
        let mut all = Vec::new();
        let splits_attention = gains_from_groups(model);
        for tensor in divisors(devices) {
            let rest = devices / u64::from(tensor.get());
            for pipeline in divisors(rest) {
                let rest = rest / u64::from(pipeline.get());
                for replicas in divisors(rest) {
                    let groups = rest / u64::from(replicas.get());
                    let Some(attention) = degree(groups) else { continue };
                    if groups > 1 && !splits_attention {
                        continue;
                    }
                    let of = Self { tensor, pipeline, attention, replicas, ..Self::SINGLE };
                    all.extend(
                        of.with_sensible_experts(model).filter(|way| way.check(model).is_ok()),
                    );
                }
            }
        }
        all.sort_by_key(|way| {
            (way.devices_per_replica(), way.tensor, way.attention, way.pipeline, way.expert)
        });
        all
    }

    /// Experts cut over all devices of a stage, and kept as whole as their number allows.
    fn with_sensible_experts(self, model: &Model) -> impl Iterator<Item = Self> {
        let stage = self.devices_per_stage();
        let counts = model.layers.iter().filter_map(|layers| match &layers.feed_forward {
            FeedForward::Experts(experts) => Some(experts.count),
            _ => None,
        });
        // Without experts there is nothing to spread.
        let most = counts.reduce(common_divisor).map_or(1, |count| common_divisor(count, stage));
        let whole = degree(most).filter(|groups| groups.get() > 1);
        std::iter::once(self).chain(whole.map(|expert| Self { expert, ..self }))
    }
}

/// Whether attention groups could be better than replicas: they share experts, and divide what heads cannot.
fn gains_from_groups(model: &Model) -> bool {
    model.layers.iter().any(|layers| {
        matches!(layers.feed_forward, FeedForward::Experts(_))
            || matches!(layers.mixer, Mixer::Latent(_))
    })
}

fn degree(value: u64) -> Option<NonZeroU32> {
    let degree = u32::try_from(value).ok().filter(|degree| *degree <= 1 << 16)?;
    NonZeroU32::new(degree)
}

/// The divisors of `whole` that are degrees, in order.
fn divisors(whole: u64) -> impl Iterator<Item = NonZeroU32> {
    let most = whole.min(1 << 16);
    (1..=most).filter(move |of| whole.is_multiple_of(*of)).filter_map(degree)
}

const fn common_divisor(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
