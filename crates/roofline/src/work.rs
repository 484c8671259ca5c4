//! What a pass asks of one device: operations and bytes, in place of seconds.

use fizeau_core::{Bytes, Flops, FlopsPerSec};

use crate::pass_demand::PassSums;
use crate::rates;
use crate::system::System;

/// The work of a pass on one device, as an engine that counts it tells it: experts as independent tokens pick them, caches once a
/// sequence, activations left on chip.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct PassWork {
    /// Floating-point operations, at [`System::matrix_rate`] where formats differ: slower ones count for more.
    pub flops: Flops,
    /// Bytes that are read and written: weights, caches and states.
    pub bytes: Bytes,
    /// Of those the bytes that are written: the caches of new tokens.
    pub written: Bytes,
}

impl System {
    /// The work of a pass over a batch of which sums are known: the parts of [`System::overlapped_sums`] times the rates of the device, of
    /// several pipeline stages the mean.
    ///
    /// ```
    /// use fizeau_roofline::{Deployment, Device, KnownModel, PassSums, System};
    /// let model = KnownModel::named("llama-3.1-8b")?.model()?;
    /// let system = System::new(model, Device::named("h100-sxm")?.clone(), Deployment::SINGLE)?;
    /// let token = PassSums { decoding: 1.0, context: 1.0, ..PassSums::default() };
    /// let work = system.pass_work(&token);
    /// // 7.5 billion parameters at two bytes and two operations each.
    /// assert_eq!(format!("{:.2}, {:.2}", work.bytes.get() / 1e9, work.flops.get() / 1e9), "15.01, 15.01");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn pass_work(&self, sums: &PassSums) -> PassWork {
        let parts = self.overlapped_sums(sums);
        let (memory, arithmetic) = (parts.weights + parts.cache, parts.matrices + parts.attention);
        let rate = 1.0 / rates::usual(self.device(), self.main_format());
        let new = sums.decoding + sums.drafted + sums.prompt_tokens;
        // Times are those of all stages, one after the other; a device is in one.
        let stage = 1.0 / f64::from(self.deployment().pipeline());
        let bytes = self.device().usual_bandwidth() * (memory * stage);
        // A device holds its share of a token's cache.
        let share = new / self.deployment().devices_per_replica() as f64;
        PassWork {
            flops: FlopsPerSec::new(rate) * (arithmetic * stage),
            bytes,
            written: Bytes::new((self.kv_bytes_per_token().get() * share).min(bytes.get())),
        }
    }

    /// The most operations a second of one device in the format of most of the model's weights: what a count of operations is a share
    /// of.
    #[must_use]
    pub fn matrix_rate(&self) -> FlopsPerSec {
        FlopsPerSec::new(1.0 / rates::fastest(self.device(), self.main_format()))
    }

    /// The format of most of the weights that a token is multiplied with.
    fn main_format(&self) -> crate::Format {
        let tensors = self.model().tensors();
        let most = tensors.iter().max_by_key(|tensors| tensors.active);
        most.map_or(crate::Format::Bf16, |tensors| tensors.format)
    }
}
