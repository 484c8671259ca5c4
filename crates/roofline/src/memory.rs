//! What fits.

use fizeau_core::Bytes;

use crate::system::System;
use crate::{Admission, Load};

impl System {
    /// What the weights take on the fullest device.
    #[must_use]
    pub fn weight_bytes_per_device(&self) -> Bytes {
        let stages = f64::from(self.deployment().pipeline());
        let spread = self.deployment().devices_per_stage() as f64;
        self.model().weight_bytes() * (1.0 / (stages * spread))
    }

    /// What a sequence of `context` tokens takes on each device that keeps a part of it.
    #[must_use]
    pub fn cache_bytes_per_device(&self, context: f64) -> Bytes {
        let stages = f64::from(self.deployment().pipeline());
        let tensor = f64::from(self.deployment().tensor());
        self.model().cache_bytes(context) * (1.0 / (stages * tensor))
    }

    /// How many sequences of `load` all replicas together can run at once, on average, by their memory and
    /// [`crate::Serving::max_sequences`]. Not rounded: it is a mean over time.
    #[must_use]
    pub fn max_batch(&self, load: &Load) -> f64 {
        let device = self.device();
        let serving = self.serving();
        let room = device.memory().get() * serving.memory_share
            - serving.reserve.get()
            - self.weight_bytes_per_device().get();
        let (input, output) = (load.input_tokens.get() as f64, load.output_tokens.get() as f64);
        let context = match serving.admission {
            Admission::AsItGrows => input + output / 2.0,
            Admission::Whole => input + output,
        };
        let groups = f64::from(self.deployment().attention_groups())
            * f64::from(self.deployment().replicas());
        let fitting = room / self.cache_bytes_per_device(context).get();
        let most = serving.max_sequences.map_or(f64::INFINITY, |most| most.get() as f64);
        (fitting.min(most) * groups).max(0.0)
    }
}
