//! Witnesses of the share of the speed of light, each on grounds of its own.

use fizeau_core::{Seconds, document};

use super::disagreement::{WitnessDisagreement, disagreements};
use super::share::{LightWitness, WitnessInput, WitnessShare};
use crate::device::DeviceWindow;
use crate::server::ReportedCounter;
use crate::window::GaugeOver;

document! {
    /// The witnesses of one level side by side.
    #[non_exhaustive]
    pub struct SpeedWitnesses {
        /// Those who say something, in the order of [`LightWitness`].
        pub shares: Vec<WitnessShare>,
        /// The share of the level's time in which no step ran, by the records of forward passes: what the host takes between steps, and what
        /// there was nothing to do. Absent without them.
        pub idle?: f64,
        /// Where they differ by more than their uncertainty, and what that means.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub disagreements: Vec<WitnessDisagreement>,
    }
}

impl SpeedWitnesses {
    /// What they say; none where nobody but the client does, since one alone agrees with itself.
    #[must_use]
    pub fn of(input: &WitnessInput<'_>) -> Option<Self> {
        let all = [client(input), counters(input), activity(input), steps(input)];
        let shares: Vec<WitnessShare> = all.into_iter().flatten().collect();
        let is_alone = shares.iter().all(|told| told.witness == LightWitness::ClientThroughput);
        (input.length.get() > 0.0 && !is_alone).then(|| Self {
            disagreements: disagreements(&shares, input),
            idle: idle(input),
            shares,
        })
    }

    /// What one of them says.
    #[must_use]
    pub fn share_of(&self, witness: LightWitness) -> Option<WitnessShare> {
        self.shares.iter().find(|told| told.witness == witness).copied()
    }
}

fn told(witness: LightWitness, [low, share, high]: [f64; 3]) -> Option<WitnessShare> {
    let is_share = share.is_finite() && low.is_finite() && high.is_finite();
    is_share.then_some(WitnessShare { witness, share, low, high })
}

fn client(input: &WitnessInput<'_>) -> Option<WitnessShare> {
    let (tokens, bound) = input.client?;
    let share = tokens.get() as f64 / input.length.get() / bound.get();
    told(LightWitness::ClientThroughput, [share; 3])
}

/// Of the times of two resources that work at once or one after the other, nobody tells which: at least the longer one, at most both.
fn larger(one: Option<[f64; 3]>, other: Option<[f64; 3]>) -> Option<[f64; 3]> {
    let ends = |[low, share, high]: [f64; 3], [also_low, also, more]: [f64; 3]| {
        [low.max(also_low), share.max(also), high + more]
    };
    one.into_iter().chain(other).reduce(ends)
}

/// Engines tell what one device of theirs did; of several the mean.
fn counters(input: &WitnessInput<'_>) -> Option<WitnessShare> {
    let server = input.server?;
    let edges = |counter: &Option<ReportedCounter>| {
        let figure = counter.as_ref()?.figure;
        Some([figure.low, figure.delta, figure.high].map(|count| count.max(0.0)))
    };
    let over = |[low, count, high]: [f64; 3], rate: f64| {
        [low, count, high].map(|count| count / rate / input.length.get())
    };
    let arithmetic = edges(&server.estimated_flops_per_gpu)
        .map(|flops| over(flops, input.system.matrix_rate().get()));
    let written = edges(&server.estimated_write_bytes_per_gpu).unwrap_or_default();
    let memory = edges(&server.estimated_read_bytes_per_gpu).map(|read| {
        let bytes = [read[0] + written[0], read[1] + written[1], read[2] + written[2]];
        over(bytes, input.system.device().memory_bandwidth().get())
    });
    let larger = larger(arithmetic, memory)?;
    // On some builds they are there and stay 0.
    told(LightWitness::EngineCounters, larger).filter(|told| told.share > 0.0)
}

/// The mean over devices.
fn activity(input: &WitnessInput<'_>) -> Option<WitnessShare> {
    let mean = |of: fn(&DeviceWindow) -> Option<GaugeOver>| {
        let each: Option<Vec<GaugeOver>> = input.devices.iter().map(of).collect();
        let each = each.filter(|each| !each.is_empty())?;
        let mean = each.iter().map(|gauge| gauge.mean).sum::<f64>() / each.len() as f64;
        let blurred = each.iter().map(|gauge| blur(gauge, input.length)).fold(0.0, f64::max);
        Some([mean * (1.0 - blurred), mean, mean * (1.0 + blurred)])
    };
    let dram = mean(|device| Some(device.dram_active.as_ref()?.figure));
    let tensor = mean(|device| Some(device.tensor_active.as_ref()?.figure));
    let larger = larger(dram, tensor)?;
    told(LightWitness::DeviceActivity, larger)
}

/// How far off the mean of a gauge may be: by as much of the level as lies between two of its values, at either end, and as nobody looked
/// at.
fn blur(gauge: &GaugeOver, length: Seconds) -> f64 {
    let between = gauge.resolution.map_or_else(|| length.get(), |each| each.get() / 1e3);
    (between / length.get() + 1.0 - gauge.covered).clamp(0.0, 1.0)
}

/// A step at either end may be counted that lies half outside; of lost records those that came stand for the others. Groups of
/// attention step together, and no record says with which of another group's it was: their bounds do not add up to one of all.
fn steps(input: &WitnessInput<'_>) -> Option<WitnessShare> {
    let of = input.steps.filter(|_| input.system.deployment().attention_groups() == 1)?;
    let time = input.length.get() * of.ranks.max(1) as f64;
    let share = of.bound.get() / 1e3 / time;
    let each = of.bound.get() / 1e3 / of.steps.max(1) as f64;
    let ends = 2.0 * each * of.ranks.max(1) as f64 / time;
    let missed = of.lost as f64 / of.steps.max(1) as f64;
    told(
        LightWitness::ForwardPasses,
        [(share - ends).max(0.0), share, share * (1.0 + missed) + ends],
    )
}

fn idle(input: &WitnessInput<'_>) -> Option<f64> {
    let of = input.steps.filter(|of| of.lost == 0)?;
    let busy = of.wall.get() / 1e3 / (input.length.get() * of.ranks.max(1) as f64);
    Some((1.0 - busy).clamp(0.0, 1.0))
}
