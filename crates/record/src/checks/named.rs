//! Whether the report says what it was measured on.

use super::seen::{Finding, Seen};
use crate::Engine;

impl Seen<'_> {
    pub(super) fn hardware(&self) -> Finding {
        let setup = self.setup;
        let said = match &setup.engine {
            Engine::Simulated { description } => {
                return Finding::simulated(format!("no hardware served: {description}"));
            }
            Engine::Remote { description } => description.as_deref(),
        };
        let device = setup.hardware.as_ref().map(|device| match &setup.deployment {
            Some(deployment) => format!("{device}, {deployment}"),
            None => device.clone(),
        });
        let words: Vec<String> = said.map(str::to_owned).into_iter().chain(device).collect();
        match words.is_empty() {
            false => Finding::pass(words.join("; ")),
            true => {
                Finding::fail("not named: give the engine in words of your own, or the hardware")
            }
        }
    }

    pub(super) fn precision(&self) -> Finding {
        match &self.setup.precision {
            Some(formats) => Finding::pass(formats.clone()),
            None => Finding::fail(
                "not named: give the precision in words of your own, or the model and the hardware",
            ),
        }
    }
}
