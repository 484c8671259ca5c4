//! The speed of light for a run: model and device, read before anything is sent.

use std::num::NonZeroU64;
use std::path::Path;

use fizeau::core::{Tape, Tokens};
use fizeau::roofline::{Bound, Device, Lengths, Model};

use crate::exit::{Fail, Named};

/// What the speed of light is computed from.
pub(crate) struct Physics {
    model_name: String,
    model: Model,
    device: Device,
    /// The text of the model's config, where it came from a file.
    config: Option<String>,
    /// The prompt's nominal length, for servers that do not say how long it was.
    input: Tokens,
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
        let physics = Self::new(path_name, model, device.clone(), lengths);
        Ok(Some(Self { config: Some(text), ..physics }))
    }

    /// For a model and a device that are known already.
    pub(crate) const fn new(
        model_name: String,
        model: Model,
        device: Device,
        (input, _): (u64, u64),
    ) -> Self {
        Self { model_name, model, device, config: None, input: Tokens::new(input) }
    }

    /// The model's config as it was read; none for the embedded engine, whose config is the program's own.
    pub(crate) fn config(&self) -> Option<&str> {
        self.config.as_deref()
    }

    /// What the model is called: its config's path, or a scenario's name.
    pub(crate) fn model_name(&self) -> &str {
        &self.model_name
    }

    /// What the device is called.
    pub(crate) fn device_name(&self) -> &str {
        self.device.name()
    }

    /// The bound at a concurrency over the replies that came, or why there is none. Over their own lengths: those that
    /// were asked bound neither a model that ends early nor a sample of random lengths.
    pub(crate) fn bound(&self, tapes: &[Tape], concurrency: u64) -> Result<Bound, String> {
        let concurrency = NonZeroU64::new(concurrency).unwrap_or(NonZeroU64::MIN);
        let replies = tapes.iter().filter(|tape| tape.is_success());
        let lengths: Lengths = replies.map(|tape| self.lengths(tape)).collect();
        Bound::over(&self.model, &self.device, &lengths, concurrency)
            .map_err(|error| error.to_string())
    }

    /// Prompt and output of one reply; what a cache supplied was not computed.
    fn lengths(&self, tape: &Tape) -> (Tokens, Tokens) {
        let cached = tape.usage.and_then(|usage| usage.cached_tokens);
        let input = tape.input_tokens().unwrap_or(self.input).get();
        let computed = input.saturating_sub(cached.map_or(0, Tokens::get));
        let one = Tokens::new(1);
        (Tokens::new(computed).max(one), tape.output_tokens().max(one))
    }
}
