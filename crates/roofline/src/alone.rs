//! One request alone, and where a batch begins to compute more than it reads.

use fizeau_core::PerSec;

use crate::pass::Pass;
use crate::span::ContextSpan;
use crate::system::System;
use crate::{PassTime, UniformLoad};

/// The pace of a request that has the devices to itself, in generated tokens per second.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SingleRequest {
    /// What no engine can beat.
    pub bound: PerSec,
    /// The expectation of the roofline model.
    pub expected: PerSec,
}

impl System {
    /// The pace of one request of `load` alone, over its growing context: `O / (step(I) + ... + step(I + O - 1))`, the
    /// harmonic mean. A step's time is affine in the context, so that the sum is `O` times the step at the mean context:
    /// `BW / (W + k (I + (O - 1) / 2))` where memory is the limit.
    ///
    /// ```
    /// use std::num::NonZeroU64;
    /// use fizeau_core::Tokens;
    /// use fizeau_roofline::{Deployment, Device, KnownModel, UniformLoad, System};
    /// let model = KnownModel::named("llama-3.1-8b")?.model()?;
    /// let system = System::new(model, Device::named("h100-sxm")?.clone(), Deployment::SINGLE)?;
    /// let load = UniformLoad::new(Tokens::new(8192), Tokens::new(1), NonZeroU64::MIN);
    /// assert_eq!(format!("{:.1}", system.single_request(&load).bound.get()), "208.3");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn single_request(&self, load: &UniformLoad) -> SingleRequest {
        let (input, output, _) = load.lengths();
        let step = Pass::decode(1.0, ContextSpan::between(input, input + output - 1.0));
        let pace = |pass: PassTime| PerSec::new(1.0 / pass.total.get());
        SingleRequest {
            bound: pace(self.bound_pass(&step)),
            expected: pace(self.expected_pass(&step)),
        }
    }

    /// The batch of one micro-batch above which a bound's decode step at `context` tokens computes longer than it reads:
    /// `B* = W F / (f BW - F k c)`, with the symbols of [`crate::Bound`]. None where each further sequence reads longer
    /// than it computes, so that no batch gets there.
    ///
    /// ```
    /// use fizeau_roofline::{Deployment, Device, KnownModel, System};
    /// let on_h100 = |name| -> Result<System, Box<dyn std::error::Error>> {
    ///     let device = Device::named("h100-sxm")?.clone();
    ///     Ok(System::new(KnownModel::named(name)?.model()?, device, Deployment::SINGLE)?)
    /// };
    /// let small = on_h100("llama-3.1-8b")?;
    /// // The ridge: 989.5 TFLOP/s over 3.35 TB/s.
    /// assert_eq!(format!("{:.0}", small.crossover(0.0).ok_or("never")?), "295");
    /// assert!(small.crossover(256.0) > small.crossover(0.0));
    /// assert_eq!(small.crossover(1024.0), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn crossover(&self, context: f64) -> Option<f64> {
        let one = self.bound_pass(&Pass::decode(1.0, ContextSpan::at(context)));
        let gained = one.arithmetic().get() - one.cache.get();
        (gained > 0.0).then(|| one.weights.get() / gained)
    }
}
