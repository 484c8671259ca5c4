//! The one thing to try first.

use fizeau_roofline::LimitingResource;
use serde::{Deserialize, Serialize};

use super::waterfall::{SlowdownCause, WaterfallStep};

/// What is likely to help most.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TryFirst {
    /// The largest cause.
    pub cause: SlowdownCause,
    /// What to do about it, in one or two sentences.
    pub advice: String,
}

/// What advice depends on besides the steps.
#[derive(Clone, Copy)]
pub(super) struct AdviceFacts {
    pub(super) limit: LimitingResource,
    /// Devices that share each matrix.
    pub(super) devices: u32,
}

pub(super) fn for_tpot(steps: &[WaterfallStep], facts: AdviceFacts) -> TryFirst {
    let cause = largest(steps);
    let advice = match cause {
        SlowdownCause::BatchAndQueue => {
            "Let prompts interrupt decoding less: chunked prefill with a smaller token budget, or prefill on devices of its own."
        }
        SlowdownCause::LaunchesAndSteps => {
            "Cut what a step costs besides its kernels: CUDA graphs or compiled steps, asynchronous scheduling, fewer and fused kernels; and see that the engine's own process has a free core."
        }
        other => common(other, facts),
    };
    TryFirst { cause, advice: advice.to_owned() }
}

pub(super) fn for_ttft(steps: &[WaterfallStep], facts: AdviceFacts) -> TryFirst {
    let cause = largest(steps);
    let advice = match cause {
        SlowdownCause::BatchAndQueue => {
            "Let fewer requests wait: limit those in flight, add a replica, or give prompts a larger share of each step."
        }
        SlowdownCause::LaunchesAndSteps => {
            "Look at what stands before the first kernel: tokenization, the HTTP front end, the network's round trip, the scheduler's interval."
        }
        other => common(other, facts),
    };
    TryFirst { cause, advice: advice.to_owned() }
}

/// The cause that adds most, the bound itself among them.
fn largest(steps: &[WaterfallStep]) -> SlowdownCause {
    let most = steps.iter().max_by(|a, b| a.adds_ms.get().total_cmp(&b.adds_ms.get()));
    most.map_or(SlowdownCause::Unexplained, |step| step.cause)
}

const fn common(cause: SlowdownCause, facts: AdviceFacts) -> &'static str {
    match cause {
        SlowdownCause::DataSheet | SlowdownCause::AsProbed => match facts.limit {
            LimitingResource::Weights => {
                "The largest part is the hardware's limit: read fewer bytes of weights (a narrower format), share them among more devices, or draft tokens."
            }
            LimitingResource::Kv => {
                "The largest part is the hardware's limit: make the KV cache smaller (a narrower format, shorter contexts) or share it among more devices."
            }
            _ => {
                "The largest part is the hardware's limit: multiply narrower types where the device is faster with them, or use more devices."
            }
        },
        SlowdownCause::Silicon => {
            "Look at the device before the engine: clocks and power limit, error correction, other programs, the virtual machine; compare its probe with that of another device of its kind."
        }
        SlowdownCause::EngineOrQueue => {
            "Measure a level with one request in flight as well: it shows what the engine costs by itself, and so what other requests add."
        }
        SlowdownCause::Collectives if facts.devices > 1 => {
            "Make devices exchange less: use fewer devices for each matrix, or overlap collectives with arithmetic; and measure the collectives at these message sizes."
        }
        SlowdownCause::Collectives => {
            "Measure the collectives at these message sizes, and overlap them with arithmetic."
        }
        SlowdownCause::Algorithm => {
            "Fuse operators and use kernels that keep memory and arithmetic busy at once: other attention or GEMM back ends, tuned for these shapes."
        }
        _ => {
            "Find out what it is: record the engine's steps, or its own metrics, over the same load, and measure the device part by part."
        }
    }
}
