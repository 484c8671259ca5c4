//! The speed of light for a run: model and device, read before anything is sent.

use std::path::Path;

use fizeau::core::Tokens;
use fizeau::report::LengthTally;
use fizeau::roofline::{Deployment, Model, System};

use crate::exit::{Fail, Named};
use crate::hardware::{self, Hardware};

/// What the speed of light is computed from.
pub(crate) struct Physics {
    model_name: String,
    system: System,
    /// The text of the model's config, where it came from a file.
    config: Option<String>,
    /// Likewise the device's.
    device_file: Option<String>,
    /// The prompt's nominal length, for servers that do not say how long it was.
    input: Tokens,
}

impl Physics {
    /// Reads the model's config and finds the device; none if neither was given.
    pub(crate) fn from_args(
        model_config: Option<&Path>,
        hardware: Option<&str>,
    ) -> Result<Option<Self>, Fail> {
        let (Some(path), Some(hardware)) = (model_config, hardware) else {
            return Ok(None);
        };
        let path_name = path.display().to_string();
        let flag = format!("--model-config {path_name}");
        let text = std::fs::read_to_string(path).named(&flag)?;
        let model = Model::from_config_json(&text).named(&flag)?;
        let Hardware { device, file } = hardware::named(hardware)?;
        let system = System::new(model, device, Deployment::SINGLE).named(&flag)?;
        let physics = Self::new(path_name, system, (0, 0));
        Ok(Some(Self { config: Some(text), device_file: file, ..physics }))
    }

    /// For a model and its devices that are known already.
    pub(crate) const fn new(model_name: String, system: System, (input, _): (u64, u64)) -> Self {
        Self { model_name, system, config: None, device_file: None, input: Tokens::new(input) }
    }

    /// For prompts of a nominal length, where the server does not say how long they were.
    pub(crate) fn for_prompts_of(self, (input, _): (u64, u64)) -> Self {
        Self { input: Tokens::new(input), ..self }
    }

    /// The model's config as it was read; none for the embedded engine, whose config is the program's own.
    pub(crate) fn config(&self) -> Option<&str> {
        self.config.as_deref()
    }

    /// The device's file as it was read; none for a device of the table.
    pub(crate) fn device_file(&self) -> Option<&str> {
        self.device_file.as_deref()
    }

    /// What the model is called: its config's path, or a scenario's name.
    pub(crate) fn model_name(&self) -> &str {
        &self.model_name
    }

    /// What the device is called.
    pub(crate) fn device_name(&self) -> &str {
        self.system.device().name()
    }

    /// An account of the lengths of a level's replies, for [`Physics::bound`].
    pub(crate) fn lengths(&self) -> LengthTally {
        LengthTally::new(self.input, self.system.model())
    }

    /// The model on its devices.
    pub(crate) const fn system(&self) -> &System {
        &self.system
    }
}
