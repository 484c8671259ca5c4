//! A model on devices: all that a query does not change, reckoned once.

use fizeau_core::Seconds;

use crate::exchange::Exchanges;
use crate::operator::{Cut, Operator, Positions, Routed, operators};
use crate::pass::{Pass, PassTime};
use crate::serving::Serving;
use crate::{Deployment, DeploymentError, Device, Model};

/// A model on a device, spread over a deployment, served in a certain way.
///
/// Making one costs some microseconds; each answer that it gives costs well under one and allocates nothing.
#[derive(Debug, Clone)]
pub struct System {
    model: Model,
    device: Device,
    deployment: Deployment,
    serving: Serving,
    /// As engines cut the work: for the expectation.
    real: Vec<Timed>,
    /// As evenly as arithmetic allows: for the bound.
    ideal: Vec<Timed>,
    exchanges: Exchanges,
}

impl System {
    /// Prepares `model` on `device` in `deployment`.
    ///
    /// # Errors
    /// If the model cannot be spread so.
    pub fn new(
        model: Model,
        device: Device,
        deployment: Deployment,
    ) -> Result<Self, DeploymentError> {
        deployment.check(&model)?;
        let timed = |cut: Cut| {
            let each = operators(&model, &deployment, cut).into_iter();
            each.map(|operator| Timed::new(operator, &device, cut)).collect()
        };
        Ok(Self {
            real: timed(Cut::Real),
            ideal: timed(Cut::Ideal),
            exchanges: Exchanges::new(&model, &device, &deployment),
            serving: Serving::default(),
            model,
            device,
            deployment,
        })
    }

    /// The same system with the engine's settings as `serving` has them.
    #[must_use]
    pub fn with_serving(self, serving: Serving) -> Self {
        Self { serving, ..self }
    }

    /// The model.
    #[must_use]
    pub const fn model(&self) -> &Model {
        &self.model
    }

    /// The device, one of those deployed.
    #[must_use]
    pub const fn device(&self) -> &Device {
        &self.device
    }

    /// How the model is spread.
    #[must_use]
    pub const fn deployment(&self) -> &Deployment {
        &self.deployment
    }

    /// The engine's settings.
    #[must_use]
    pub const fn serving(&self) -> &Serving {
        &self.serving
    }

    /// What no engine can undercut: the busiest resource of the stage's devices with the work spread perfectly
    /// evenly, all overlapped, all tokens choosing the same experts, nothing spent on communication.
    ///
    /// With several pipeline stages `pass` is one micro-batch and the time is that of all stages, one after the
    /// other, as each token has to take them.
    #[must_use]
    pub fn bound_pass(&self, pass: &Pass) -> PassTime {
        let mut sum = PassTime::default();
        for timed in &self.ideal {
            timed.add_to(&mut sum, pass, Cut::Ideal);
        }
        sum.total = sum.memory().max(sum.arithmetic());
        sum
    }

    /// What physics alone leads one to expect: operator by operator, each the longer of its memory and its arithmetic,
    /// experts as independent tokens pick them, and communication not overlapped.
    ///
    /// Never below [`System::bound_pass`].
    #[must_use]
    pub fn expected_pass(&self, pass: &Pass) -> PassTime {
        let mut sum = PassTime::default();
        for timed in &self.real {
            timed.add_to(&mut sum, pass, Cut::Real);
        }
        self.exchanges.add_to(&mut sum, pass);
        sum
    }
}

/// An operator in seconds.
#[derive(Debug, Clone, Copy)]
struct Timed {
    operator: Operator,
    /// Seconds a byte.
    byte: f64,
    /// Seconds a FLOP.
    flop: f64,
}

impl Timed {
    fn new(operator: Operator, device: &Device, cut: Cut) -> Self {
        let math = match cut {
            Cut::Ideal => operator.format.fastest_math_on(device),
            Cut::Real => operator.format.math_on(device),
        };
        Self {
            operator,
            byte: 1.0 / device.memory_bandwidth().get(),
            flop: 1.0 / device.rate_for(math).get(),
        }
    }

    fn add_to(&self, sum: &mut PassTime, pass: &Pass, cut: Cut) {
        let of = &self.operator;
        // A device that has any work has at least one sequence's.
        let share =
            |whole: f64| if whole > 0.0 { (whole * of.share).max(whole.min(1.0)) } else { 0.0 };
        let (decoding, prompts) = (share(pass.decoding), share(pass.prompts));
        let positions = match of.positions {
            Positions::All => decoding * pass.tokens_each + prompts * pass.positions.count(),
            Positions::Sampled => decoding * pass.tokens_each + prompts,
        };
        let routed = of.experts.map_or(0.0, |routed| match cut {
            Cut::Ideal => routed.each * routed.per_token,
            Cut::Real => routed.each * routed.touched(positions),
        });
        let weights = (of.weights + routed) * self.byte;
        let seen = pass.contexts.mean_capped(of.cap);
        let read = if prompts > 0.0 { (pass.positions.from - 1.0).min(of.cap) } else { 0.0 };
        let written = pass.positions.count().min(of.cap);
        let cached = of.cached * (decoding * seen + prompts * (read + written));
        let cache = (cached + of.state * (decoding + prompts)) * self.byte;
        let activations = of.activations * positions * self.byte;
        let matrices = of.per_token * positions * self.flop;
        let pairs = of.per_pair.decode * decoding * pass.tokens_each * seen
            + of.per_pair.prefill
                * prompts
                * pass.positions.count()
                * pass.positions.mean_capped(of.cap);
        let attention = pairs * self.flop;
        sum.weights = sum.weights + Seconds::new(weights);
        sum.cache = sum.cache + Seconds::new(cache);
        sum.activations = sum.activations + Seconds::new(activations);
        sum.matrices = sum.matrices + Seconds::new(matrices);
        sum.attention = sum.attention + Seconds::new(attention);
        let memory = weights + cache + activations;
        sum.total = sum.total + Seconds::new(memory.max(matrices + attention));
    }
}

impl Routed {
    /// Distinct experts that `tokens` independent tokens pick, `k` each: `E (1 - (1 - k / E)^T)`.
    pub(crate) fn touched(&self, tokens: f64) -> f64 {
        self.count * (1.0 - (1.0 - self.per_token / self.count).powf(tokens.max(1.0)))
    }
}
