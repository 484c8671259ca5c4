//! Inputs that would explain a measurement above the bound, if they were otherwise.

use std::fmt;

use super::change::{BoundInputs, InputChange};
use crate::system::System;
use crate::{Deployment, Format, MeasuredFigures, RequestLengths, WeightChoice, rates};

/// Something that a bound is computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BoundInput {
    /// The number of devices.
    Devices,
    /// The bandwidth of each device's memory, in bytes/s.
    Bandwidth,
    /// Each device's rate of arithmetic on the weights' format, in FLOP/s.
    Arithmetic,
    /// Bytes of weights for each parameter, on average.
    WeightBytes,
    /// Bytes of cache for each token, in layers that see the whole context.
    CacheBytes,
    /// The share of prompts' tokens that were cached already, from 0 to 1.
    CachedShare,
    /// Tokens that a decode step yields to each sequence: above 1 with speculative decoding.
    TokensPerStep,
}

fizeau_core::words! {
    /// The name used in files: `devices`, `memory_bandwidth_bytes_per_s`, `weight_bytes_per_parameter`.
    pub BoundInput::as_str {
        Devices = "devices", Bandwidth = "memory_bandwidth_bytes_per_s",
        Arithmetic = "arithmetic_flop_per_s", WeightBytes = "weight_bytes_per_parameter",
        CacheBytes = "kv_bytes_per_token", CachedShare = "cached_share",
        TokensPerStep = "tokens_per_step",
    }
}

/// The value that an input would need for a measurement to be possible.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct InputRemedy {
    /// The input.
    pub input: BoundInput,
    /// What was given, in the unit of [`BoundInput`].
    pub given: f64,
    /// What it would have to be at least; of bytes, at most.
    pub needed: f64,
}

impl fmt::Display for InputRemedy {
    /// `memory bandwidth would have to be 4.70 TB/s (not 3.35)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { input, given, needed } = *self;
        match input {
            BoundInput::Devices => write!(f, "{needed:.0} devices (not {given:.0})"),
            BoundInput::Bandwidth => {
                write!(f, "memory bandwidth of {:.2} TB/s (not {:.2})", needed / 1e12, given / 1e12)
            }
            BoundInput::Arithmetic => {
                write!(f, "arithmetic at {:.0} TFLOP/s (not {:.0})", needed / 1e12, given / 1e12)
            }
            BoundInput::WeightBytes => {
                write!(f, "weights of {needed:.2} bytes a parameter (not {given:.2})")
            }
            BoundInput::CacheBytes => {
                write!(f, "a cache of {:.1} kB a token (not {:.1})", needed / 1e3, given / 1e3)
            }
            BoundInput::CachedShare => {
                let (needed, given) = (needed * 100.0, given * 100.0);
                write!(f, "{needed:.0} % of the prompts cached (not {given:.0} %)")
            }
            BoundInput::TokensPerStep => {
                write!(
                    f,
                    "{needed:.2} tokens a step, as with speculative decoding (not {given:.0})"
                )
            }
        }
    }
}

/// As far as it is worth looking: what lies beyond explains nothing.
const MOST_TIMES: f64 = 100.0;
const MOST_COUNTS: usize = 256;
const MOST_TOKENS_PER_STEP: f64 = 8.0;
/// Two bits.
const LEAST_WEIGHT_BYTES: f64 = 0.25;
/// 16 bits to two.
const LEAST_CACHE: f64 = 0.125;

/// What would explain all of `measured` by itself, likeliest first.
pub(super) fn all(
    system: &System,
    inputs: &BoundInputs,
    measured: &MeasuredFigures,
    lengths: &RequestLengths,
) -> Vec<InputRemedy> {
    let none = InputChange::NONE;
    let scaled = |input, given: f64, limit: f64, change: &dyn Fn(f64) -> InputChange| {
        let factor = least(limit, |factor| inputs.allows(&change(factor), measured))?;
        Some(InputRemedy { input, given, needed: given * factor })
    };
    let bandwidth = system.device().memory_bandwidth().get();
    let kv = system.memory_account().ideal_per_token();
    let found = [
        devices(system, inputs, measured, lengths),
        scaled(BoundInput::Bandwidth, bandwidth, MOST_TIMES, &|bandwidth| InputChange {
            bandwidth,
            ..none
        }),
        scaled(BoundInput::Arithmetic, arithmetic(system), MOST_TIMES, &|arithmetic| InputChange {
            arithmetic,
            ..none
        }),
        weights(system, inputs, measured, lengths),
        scaled(BoundInput::CacheBytes, kv, LEAST_CACHE, &|cache| InputChange { cache, ..none })
            .filter(|_| kv > 0.0),
        cached(inputs, measured, lengths),
        scaled(BoundInput::TokensPerStep, inputs.per_step(), MOST_TOKENS_PER_STEP, &|per_step| {
            InputChange { per_step, ..none }
        }),
    ];
    found.into_iter().flatten().collect()
}

/// The factor nearest to 1, on the way to `limit`, for which `is_enough`; none if not even the limit is. What is enough
/// stays so further on.
fn least(limit: f64, is_enough: impl Fn(f64) -> bool) -> Option<f64> {
    if !is_enough(limit) {
        return None;
    }
    let (mut short, mut enough) = (1.0, limit);
    for _ in 0..60 {
        let middle = f64::midpoint(short, enough);
        if is_enough(middle) {
            enough = middle;
        } else {
            short = middle;
        }
    }
    Some(enough)
}

/// The fewest devices over which the model can be spread so that the figures are possible.
fn devices(
    system: &System,
    inputs: &BoundInputs,
    measured: &MeasuredFigures,
    lengths: &RequestLengths,
) -> Option<InputRemedy> {
    let given = system.deployment().devices();
    let change = |devices| InputChange { devices, ..InputChange::NONE };
    let factor = least(MOST_TIMES, |factor| inputs.allows(&change(factor), measured))?;
    // A hair less than a whole number is that number.
    let least = (given as f64 * factor - 1e-6).ceil() as u64;
    let is_enough = |deployment| {
        let Ok(other) = system.spread(deployment) else { return false };
        let inputs = BoundInputs::new(&other, lengths, inputs.concurrency());
        inputs.allows(&InputChange::NONE, measured)
    };
    let spreads =
        |devices: &u64| Deployment::candidates(system.model(), *devices).into_iter().any(is_enough);
    let needed = (least..=least.saturating_mul(2)).take(MOST_COUNTS).find(spreads)? as f64;
    Some(InputRemedy { input: BoundInput::Devices, given: given as f64, needed })
}

/// The rate for the format in which most of the weights are stored.
fn arithmetic(system: &System) -> f64 {
    let tensors = system.model().tensors();
    let most = tensors.iter().max_by(|a, b| a.bytes().get().total_cmp(&b.bytes().get()));
    let format = most.map_or(Format::Bf16, |tensors| tensors.format);
    1.0 / rates::fastest(system.device(), format)
}

/// Fewer bytes, where traffic is what limits; else a format for which the device computes faster.
fn weights(
    system: &System,
    inputs: &BoundInputs,
    measured: &MeasuredFigures,
    lengths: &RequestLengths,
) -> Option<InputRemedy> {
    let parameters = system.parameters().total as f64;
    let given = system.memory_account().ideal_weights() / parameters;
    let change = |weights| InputChange { weights, ..InputChange::NONE };
    let limit = LEAST_WEIGHT_BYTES / given;
    if limit < 1.0
        && let Some(factor) = least(limit, |factor| inputs.allows(&change(factor), measured))
    {
        return Some(InputRemedy { input: BoundInput::WeightBytes, given, needed: given * factor });
    }
    let as_format = |format| {
        let model = system.model().clone().with_weights(&WeightChoice::all(format));
        let other = system.with_model(model).ok()?;
        let needed = other.memory_account().ideal_weights() / parameters;
        let inputs = BoundInputs::new(&other, lengths, inputs.concurrency());
        let is_enough = needed < given && inputs.allows(&InputChange::NONE, measured);
        is_enough.then_some(InputRemedy { input: BoundInput::WeightBytes, given, needed })
    };
    [Format::Fp8, Format::Nvfp4].into_iter().find_map(as_format)
}

fn cached(
    inputs: &BoundInputs,
    measured: &MeasuredFigures,
    lengths: &RequestLengths,
) -> Option<InputRemedy> {
    let change = |computed| InputChange { computed, ..InputChange::NONE };
    // All but the last token of each prompt.
    let limit = 1.0 / lengths.mean_computed().max(1.0);
    let computed = least(limit, |computed| inputs.allows(&change(computed), measured))?;
    let given = lengths.cached_share();
    Some(InputRemedy {
        input: BoundInput::CachedShare,
        given,
        needed: 1.0 - (1.0 - given) * computed,
    })
}
