//! Whether the report says what it was measured on.

use super::inputs::{CheckFinding, CheckInputs};
use crate::EngineRecord;

impl CheckInputs<'_> {
    pub(super) fn hardware(&self) -> CheckFinding {
        let setup = self.setup;
        let said = match &setup.engine {
            EngineRecord::Simulated { .. } => {
                return CheckFinding::simulated("none, the engine was simulated");
            }
            EngineRecord::Remote { description } => description.as_deref(),
        };
        let device = setup.hardware.as_ref().map(|device| match &setup.deployment {
            Some(deployment) => format!("{device}, {deployment}"),
            None => device.clone(),
        });
        let words: Vec<String> = said.map(str::to_owned).into_iter().chain(device).collect();
        match words.is_empty() {
            false => CheckFinding::pass(words.join("; ")),
            true => CheckFinding::fail("not named: describe the engine, or name the hardware"),
        }
    }

    pub(super) fn precision(&self) -> CheckFinding {
        match &self.setup.precision {
            Some(formats) => CheckFinding::pass(formats.clone()),
            None => CheckFinding::fail(
                "not named: describe the precision, or name the model and the hardware",
            ),
        }
    }
}
