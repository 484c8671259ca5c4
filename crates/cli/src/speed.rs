//! The speed of light for a run: model and device, read before anything is sent.

use std::num::NonZeroU64;
use std::path::Path;

use fizeau::core::Tokens;
use fizeau::roofline::{Bound, Device, Load, Model};

use crate::exit::{Fail, Named};

/// What the speed of light is computed from.
pub(crate) struct Physics {
    model_name: String,
    model: Model,
    device: Device,
    input: Tokens,
    output: Tokens,
}

impl Physics {
    /// Reads the model's config and finds the device; none if neither was given.
    pub(crate) fn from_args(
        model_config: Option<&Path>,
        hardware: Option<&str>,
        lengths: (u64, u64),
    ) -> Result<Option<Self>, Fail> {
        let (Some(path), Some(hardware)) = (model_config, hardware) else {
            return Ok(None);
        };
        let path_name = path.display().to_string();
        let flag = format!("--model-config {path_name}");
        let text = std::fs::read_to_string(path).named(&flag)?;
        let model = Model::from_config_json(&text).named(&flag)?;
        let device = Device::named(hardware).named("--hardware")?;
        Ok(Some(Self::new(path_name, model, device.clone(), lengths)))
    }

    /// For a model and a device that are known already.
    pub(crate) const fn new(
        model_name: String,
        model: Model,
        device: Device,
        (input, output): (u64, u64),
    ) -> Self {
        Self {
            model_name,
            model,
            device,
            input: Tokens::new(input),
            output: Tokens::new(output),
        }
    }

    /// What the model is called: its config's path, or a scenario's name.
    pub(crate) fn model_name(&self) -> &str {
        &self.model_name
    }

    /// What the device is called.
    pub(crate) fn device_name(&self) -> &str {
        self.device.name()
    }

    /// The bound at a concurrency, or why there is none.
    pub(crate) fn bound(&self, concurrency: u64) -> Result<Bound, String> {
        let concurrency = NonZeroU64::new(concurrency).unwrap_or(NonZeroU64::MIN);
        let load = Load {
            input_tokens: self.input,
            output_tokens: self.output,
            concurrency,
        };
        Bound::at(&self.model, &self.device, load).map_err(|error| error.to_string())
    }
}
