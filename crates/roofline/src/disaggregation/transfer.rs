//! How a cache comes from where a prompt was read to where it decodes.

use fizeau_core::{Choice, NamedChoice, PerSec, Seconds};

use super::Disaggregation;
use crate::UniformLoad;
use crate::estimate_kind::EstimateKind;

/// When a request's cache is sent, and so which latency has it in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CacheTransfer {
    /// After the prompt is read, and before the first token goes out: the decoding side sends that. All of it is in
    /// TTFT.
    BeforeFirstToken,
    /// After the first token has gone out: the gap to the second has all of it, and so TPOT a share.
    BeforeSecondToken,
    /// Layer by layer while the prompt is read; what is left at the end is in TTFT.
    LayerWise,
}

impl Choice for CacheTransfer {
    const CHOICES: &'static [NamedChoice<Self>] = &[
        NamedChoice::new("first", Self::BeforeFirstToken, "Before the first token is sent out"),
        NamedChoice::new(
            "second",
            Self::BeforeSecondToken,
            "Between the first token and the second",
        ),
        NamedChoice::new("layers", Self::LayerWise, "Layer by layer while the prompt is read"),
    ];
}

impl CacheTransfer {
    /// When all has arrived, of a prompt that takes `prompt` to read and whose cache takes `sending`, in equal parts for
    /// each of `layers`: of a pipeline of both, the longer stage goes on all the time, and the other is seen for one layer.
    pub(super) fn done(self, prompt: Seconds, sending: Seconds, layers: u64) -> Seconds {
        match self {
            Self::BeforeFirstToken | Self::BeforeSecondToken => prompt + sending,
            Self::LayerWise => {
                let layer = 1.0 / layers.max(1) as f64;
                (prompt + sending * layer).max(sending + prompt * layer)
            }
        }
    }
}

fizeau_core::words! {
    /// The name used in files: `before_first_token`, `before_second_token`, `layer_wise`.
    pub CacheTransfer::as_str {
        BeforeFirstToken = "before_first_token", BeforeSecondToken = "before_second_token",
        LayerWise = "layer_wise",
    }
}

impl Disaggregation<'_> {
    /// Sending one request's cache. Expected: each decoding device gets what it keeps from one counterpart, repeated
    /// latents and heads included. At best: each byte that the other side cannot have crosses once, over all links.
    pub(super) fn transfer_time(&self, by: EstimateKind, load: &UniformLoad) -> Seconds {
        let bandwidth = self.link.bandwidth;
        match by {
            EstimateKind::Expected => {
                let (input, ..) = load.lengths();
                let sent = self.prefill.cache_bytes_per_device(input) / bandwidth;
                let received = self.decode.cache_bytes_per_device(input) / bandwidth;
                sent.max(received) + self.link.latency
            }
            EstimateKind::Bound => {
                let sends = self.prefill.deployment().devices_per_replica();
                let receives = self.decode.deployment().devices_per_replica();
                self.new_bytes(load) / bandwidth * (1.0 / sends.min(receives) as f64)
            }
        }
    }

    /// Caches per second over the links of all instances.
    pub(super) fn transfer_rate(&self, by: EstimateKind, load: &UniformLoad) -> PerSec {
        let prefill = f64::from(self.prefill_instances.get());
        let decode = f64::from(self.decode_instances.get());
        let bandwidth = self.link.bandwidth;
        let rate = match by {
            EstimateKind::Expected => {
                let (input, ..) = load.lengths();
                let of = |system: &crate::System, instances: f64| {
                    // Each attention group moves the caches of its own sequences.
                    let groups = f64::from(system.deployment().attention_groups())
                        * f64::from(system.deployment().replicas());
                    let each = system.cache_bytes_per_device(input) / bandwidth;
                    instances * groups / each.get()
                };
                of(self.prefill, prefill).min(of(self.decode, decode))
            }
            EstimateKind::Bound => {
                let sends = prefill * self.prefill.deployment().devices() as f64;
                let receives = decode * self.decode.deployment().devices() as f64;
                sends.min(receives) / (self.new_bytes(load) / bandwidth).get()
            }
        };
        PerSec::new(rate)
    }

    /// The least that the cache of a prompt takes but for its cached tokens, which may lie on both sides already.
    fn new_bytes(&self, load: &UniformLoad) -> fizeau_core::Bytes {
        let (input, _, cached) = load.lengths();
        let memory = self.decode.memory_account();
        fizeau_core::Bytes::new(memory.ideal_sequence(input) - memory.ideal_sequence(cached))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_by_layers_shows_only_its_last_part() {
        let seconds = Seconds::new;
        let done =
            |sending| CacheTransfer::LayerWise.done(seconds(1.0), seconds(sending), 10).get();
        assert!((done(0.5) - 1.05).abs() < 1e-12);
        // Slower than reading: the links are busy from the first layer on.
        assert!((done(4.0) - 4.1).abs() < 1e-12);
        let whole = CacheTransfer::BeforeFirstToken.done(seconds(1.0), seconds(0.5), 10);
        assert!((whole.get() - 1.5).abs() < 1e-12);
    }
}
