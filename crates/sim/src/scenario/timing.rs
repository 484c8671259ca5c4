//! What the time of a step comes from.

use std::num::NonZeroU32;

use fizeau_core::Watts;
use fizeau_roofline::{Calibration, PowerDraw, System};

use super::{Asked, ScenarioError};
use crate::step::{CalibratedStep, Overheads, RooflineStep, StepModel};

/// What the time of a step comes from.
#[derive(Debug, Clone)]
pub(super) struct Timing {
    /// What an engine adds to the roofline.
    pub(super) overheads: Overheads,
    /// A limit of power, where there is one.
    pub(super) power_limit: Option<Watts>,
    /// Instead of both what was fitted on measurements of an engine, or of all on the device.
    pub(super) calibration: Option<(Box<Calibration>, Option<String>)>,
}

impl Timing {
    /// The step time of what was asked for, where `system` is one replica of it.
    pub(super) fn step(of: &Asked, system: System) -> Result<StepModel, ScenarioError> {
        let length = of.config.drafts.as_ref().and_then(|drafts| NonZeroU32::new(drafts.length));
        let drafting = of.drafter.clone().zip(length);
        let Self { overheads, power_limit, calibration } = &of.timing;
        if let Some((calibration, engine)) = calibration {
            if power_limit.is_some() {
                return Err(ScenarioError::PowerOfCalibrated);
            }
            let step = CalibratedStep::new(system, calibration, engine.as_deref());
            return Ok(StepModel::from(match drafting {
                Some((drafter, length)) => step.with_drafter(drafter, length),
                None => step,
            }));
        }
        let draw =
            power_limit.map(|limit| PowerDraw::estimate(system.device()).map(|draw| (draw, limit)));
        let step = RooflineStep::new(system, *overheads)?;
        let step = match drafting {
            Some((drafter, length)) => step.with_drafter(drafter, length),
            None => step,
        };
        Ok(StepModel::from(match draw.transpose()? {
            Some((draw, limit)) => step.with_power_limit(draw, limit)?,
            None => step,
        }))
    }
}
