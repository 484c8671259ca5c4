//! What the time of a step comes from.

use std::num::NonZeroU32;

use fizeau_core::Watts;
use fizeau_roofline::{Calibration, PowerDraw};

use super::{Asked, ScenarioError};
use crate::step::{CalibratedStep, Overheads, RooflineStep, StepModel};

/// What the time of a step comes from.
#[derive(Debug, Clone)]
pub(super) enum Timing {
    /// The roofline and what an engine adds to it, within a limit of power where there is one.
    Roofline { overheads: Overheads, power_limit: Option<Watts> },
    /// What was fitted on measurements of an engine, or of all on the device.
    Calibrated { calibration: Box<Calibration>, engine: Option<String> },
}

impl Timing {
    /// The step time of what was asked for.
    pub(super) fn step(of: &Asked) -> Result<StepModel, ScenarioError> {
        let length = of.config.drafts.as_ref().and_then(|drafts| NonZeroU32::new(drafts.length));
        let drafting = of.drafter.clone().zip(length);
        let system = of.system.clone();
        Ok(match &of.timing {
            Self::Roofline { overheads, power_limit } => {
                let step = RooflineStep::new(system, *overheads)?;
                let step = match drafting {
                    Some((drafter, length)) => step.with_drafter(drafter, length),
                    None => step,
                };
                StepModel::from(match power_limit {
                    Some(limit) => {
                        let draw = PowerDraw::estimate(of.system.device())?;
                        step.with_power_limit(draw, *limit)?
                    }
                    None => step,
                })
            }
            Self::Calibrated { calibration, engine } => {
                let step = CalibratedStep::new(system, calibration, engine.as_deref());
                StepModel::from(match drafting {
                    Some((drafter, length)) => step.with_drafter(drafter, length),
                    None => step,
                })
            }
        })
    }
}
