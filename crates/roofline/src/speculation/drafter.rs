//! Who drafts, and what that costs.

use fizeau_core::Bytes;

use crate::estimate_kind::EstimateKind;
use crate::pass::{Pass, PassTime};
use crate::system::System;
use crate::{Deployment, DeploymentError};

/// The drafter of speculative decoding.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Drafter {
    /// A search in the text so far (prompt lookup, n-grams): its cost does not count.
    Lookup,
    /// Something that takes this share of a decode step for each level of the draft, as measured.
    Share(f64),
    /// A model on the same devices, one pass for each level of the draft: a smaller model, or what
    /// [`Drafter::own_module`] makes. It reads prompts as well, and its weights and caches take room: see
    /// [`super::Speculation::max_batch`].
    Model(Box<System>),
}

impl Drafter {
    /// The model's own module for it (multi-token prediction), with the model's LM head, on the devices of one
    /// stage; used again for each further token. None where the model has no such module.
    ///
    /// # Errors
    /// If the module cannot be spread as the model is.
    pub fn own_module(system: &System) -> Result<Option<Self>, DeploymentError> {
        let Some(module) = system.model().draft_model() else {
            return Ok(None);
        };
        let deployment = last_stage(system.deployment())?;
        let drafter = System::new(module, system.device().clone(), deployment)?;
        Ok(Some(Self::Model(Box::new(drafter.with_routing(system.routing())))))
    }

    /// What its weights take on each device beside those of `system`, for which it drafts: nothing but for a model, of which the
    /// tables do not count where it is that system's own module.
    #[must_use]
    pub fn weight_bytes_beside(&self, system: &System) -> Bytes {
        match self {
            Self::Model(drafting) => Bytes::new(drafting.weights_beside(system)),
            Self::Lookup | Self::Share(_) => Bytes::new(0.0),
        }
    }

    /// Drafting `levels` tokens one after the other for the sequences of `pass`.
    pub(super) fn time(
        &self,
        by: EstimateKind,
        pass: &Pass,
        plain: PassTime,
        levels: u32,
    ) -> PassTime {
        let levels = f64::from(levels);
        match self {
            Self::Lookup => PassTime::default(),
            Self::Share(share) => {
                // Nothing is known of which resource takes it: memory, as for the step of a small model.
                let total = plain.total * (share.max(0.0) * levels);
                PassTime { total, weights: total, ..PassTime::default() }
            }
            Self::Model(system) => system.pass_time(by, pass).scaled(levels),
        }
    }
}

/// The same without pipeline stages: the module runs where the LM head is.
fn last_stage(of: &Deployment) -> Result<Deployment, DeploymentError> {
    of.with_pipeline(1)
}

#[cfg(test)]
mod tests {
    use fizeau_core::Seconds;

    use super::*;
    use crate::ContextSpan;

    #[test]
    fn a_share_is_of_the_plain_step() {
        let plain = PassTime { total: Seconds::new(0.01), ..PassTime::default() };
        let pass = Pass::decode(1.0, ContextSpan::at(1.0));
        let time = Drafter::Share(0.1).time(EstimateKind::Expected, &pass, plain, 3);
        assert!((time.total.get() - 0.003).abs() < 1e-15);
        assert_eq!(Drafter::Lookup.time(EstimateKind::Bound, &pass, plain, 3), PassTime::default());
    }
}
