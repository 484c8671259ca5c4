//! What tokens take in electrical energy, and how a limit of power slows them.

mod cap;
mod draw;

pub use cap::{PowerCap, PowerCapError};
pub use draw::{PowerDraw, PowerError};

use fizeau_core::{Joules, PerSec, Seconds, Watts};

use crate::estimate_kind::EstimateKind;
use crate::figures::PhaseCosts;
use crate::pass::PassTime;
use crate::system::System;
use crate::{Figures, LimitingResource, LimitingResources, PhaseSchedule, UniformLoad};

/// The energy that a load takes. An estimate: see [`PowerDraw`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Energy {
    /// The figures, with passes stretched where the limit of power makes them longer.
    pub figures: Figures,
    /// What a request takes, all devices together.
    pub per_request: Joules,
    /// The same for each generated token, the prompt's share included.
    pub per_output_token: Joules,
    /// What a device draws on average.
    pub mean: Watts,
    /// What it draws while it reads a prompt: the peaks.
    pub prefill: Watts,
    /// What it draws while it decodes.
    pub decode: Watts,
    /// How much longer a prompt's pass takes for want of power; 1 where it does not.
    pub prefill_stretch: f64,
    /// How much longer a decode step takes for want of power; 1 where it does not.
    pub decode_stretch: f64,
    /// What limits each phase: power where it takes longer for want of it, else what [`System::limits`] says.
    pub limited_by: LimitingResources,
}

impl Energy {
    /// Generated tokens for each megawatt hour at the devices: 3.6e9 J over those of a token.
    #[must_use]
    pub fn tokens_per_mwh(&self) -> f64 {
        3.6e9 / self.per_output_token.get()
    }
}

impl System {
    /// What `load` takes in energy with `batch` sequences running, and its figures where no device may draw more than
    /// `limit`: the power-limited speed of light. The bound's rates, and its joules, are those of as many sequences as memory
    /// could hold ([`System::bound_running`]).
    ///
    /// A pass needs `E = P_arithmetic t_arithmetic + P_memory t_memory + P_link t_link` joules beside the constant draw,
    /// so it takes `max(t, E / (limit - P_constant))`. Energy per operation is taken as it is at full clock; a device that
    /// lowers its voltage with its clock loses less.
    ///
    /// ```
    /// use std::num::NonZeroU64;
    /// use fizeau_core::{Tokens, Watts};
    /// use fizeau_roofline::{Deployment, Device, KnownModel, UniformLoad, PowerDraw, EstimateKind, System};
    /// let model = KnownModel::named("llama-3.1-8b")?.model()?;
    /// let device = Device::named("h100-sxm")?;
    /// let system = System::new(model, device.clone(), Deployment::SINGLE)?;
    /// let load = UniformLoad::new(Tokens::new(2048), Tokens::new(256), NonZeroU64::new(32).ok_or("zero")?);
    /// let draw = PowerDraw::estimate(device)?;
    /// let at = |watts| system.energy(EstimateKind::Expected, &load, 32.0, &draw, Watts::new(watts));
    /// let (whole, half) = (at(700.0)?, at(350.0)?);
    /// assert_eq!((whole.prefill_stretch, whole.decode_stretch), (1.0, 1.0));
    /// // Prefill draws most, and is slowed first.
    /// assert!(whole.prefill > whole.decode);
    /// assert!(half.prefill_stretch > 2.0 && half.decode_stretch < 1.2);
    /// assert!(at(100.0).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the limit is no more than what the device draws whatever it does.
    pub fn energy(
        &self,
        by: EstimateKind,
        load: &UniformLoad,
        batch: f64,
        draw: &PowerDraw,
        limit: Watts,
    ) -> Result<Energy, PowerError> {
        let room = draw.room(limit)?;
        let whole = self.phases(by, load, batch);
        let slowed = |pass: PassTime, room: Watts| slowed(pass, draw, room);
        // A bound's lone prompt keeps all stages busy at the same time, each with its share of the energy.
        let spread = match by {
            EstimateKind::Bound => f64::from(self.deployment().pipeline()),
            EstimateKind::Expected => 1.0,
        };
        let phases = PhaseCosts {
            alone: slowed(whole.alone, room * spread),
            prefill: slowed(whole.prefill, room),
            mixed: slowed(whole.mixed, room),
            step: slowed(whole.step, room),
            ..whole
        };
        let mut figures = self.figures_of(by, load, batch, &phases);
        let most = self.rate_batch(by, load, batch);
        let sharing = if most > batch { self.phases(by, load, most) } else { whole };
        let dynamic = self.dynamic_per_request(by, load, &sharing, draw);
        let devices = self.deployment().devices() as f64;
        if by == EstimateKind::Bound {
            // Overlapped, the phases share the room for power as well.
            let powered = PerSec::new(devices * room.get() / dynamic.get());
            let free = self.figures_at(by, load, most).requests_per_s;
            let requests = if powered < free { powered } else { free };
            figures = Figures::new(load, batch, figures.ttft, figures.step, requests);
        }
        let seconds = Seconds::new(devices / figures.requests_per_s.get());
        let per_request = dynamic + draw.constant * seconds;
        let (_, output, _) = load.lengths();
        let watts = |pass: &PassTime| draw.of(pass) / pass.total + draw.constant;
        let prefill_stretch = phases.prefill.total / whole.prefill.total;
        let decode_stretch = phases.step.total / whole.step.total;
        let or_power =
            |stretch: f64, limit| if stretch > 1.0 { LimitingResource::Power } else { limit };
        let limits = self.limits(load);
        Ok(Energy {
            figures,
            per_request,
            per_output_token: per_request * (1.0 / output),
            mean: per_request / seconds,
            prefill: watts(&phases.prefill),
            decode: watts(&phases.step),
            prefill_stretch,
            decode_stretch,
            limited_by: LimitingResources {
                prefill: or_power(prefill_stretch, limits.prefill),
                decode: or_power(decode_stretch, limits.decode),
            },
        })
    }

    /// What the passes of one request take beside the constant draw, on all devices that work on them.
    fn dynamic_per_request(
        &self,
        by: EstimateKind,
        load: &UniformLoad,
        phases: &PhaseCosts,
        draw: &PowerDraw,
    ) -> Joules {
        let (_, output, _) = load.lengths();
        let each = match by {
            // A prompt is read in one of the `O` passes whose weights are read once for all sequences.
            EstimateKind::Bound => {
                let weights = phases.step.weights * (output / phases.micro);
                let each = phases.step.scaled((output - 1.0) / phases.micro);
                PassTime { weights, ..phases.prefill.then(each) }
            }
            EstimateKind::Expected => {
                let times = self.request_times(PhaseSchedule::Mixed, phases, output, 1.0);
                times.whole.scaled(1.0 / phases.micro)
            }
        };
        // A pass's times are those of one device of each stage.
        draw.of(&each) * self.deployment().devices_per_stage() as f64
    }
}

/// A pass that takes as long as its energy needs.
fn slowed(pass: PassTime, draw: &PowerDraw, room: Watts) -> PassTime {
    let total = pass.total.max(draw.of(&pass) / room);
    PassTime { total, ..pass }
}
