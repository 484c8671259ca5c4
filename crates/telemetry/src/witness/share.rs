//! Who tells a share of the speed of light, and what on.

use fizeau_core::{PerSec, Seconds, Tokens};
use fizeau_roofline::System;
use serde::{Deserialize, Serialize};

use crate::device::DeviceWindow;
use crate::server::ServerWindow;
use crate::steps::StepsAssessment;

/// Who tells a share of the speed of light.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum LightWitness {
    /// The client: output tokens over the level's time, over the bound's rate.
    ClientThroughput,
    /// The engine's own counters of operations and bytes over what its devices can do in that time: the larger of the two.
    EngineCounters,
    /// The devices: the share of cycles in which DRAM moved data or the tensor pipe worked, the larger of the two.
    DeviceActivity,
    /// The engine's records of its steps: the bounds of all steps over the level's time.
    ForwardPasses,
}

fizeau_core::words! {
    LightWitness, shown {
        ClientThroughput = "client's throughput", EngineCounters = "engine's counters",
        DeviceActivity = "devices' activity", ForwardPasses = "forward passes",
    }
}

/// What one witness says: for what share of the level's time devices at their limits would have had to work for what was done, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct WitnessShare {
    /// Who.
    pub witness: LightWitness,
    /// The share.
    pub share: f64,
    /// At least that.
    pub low: f64,
    /// At most that.
    pub high: f64,
}

/// What witnesses are heard on.
#[derive(Debug, Clone, Copy)]
pub struct WitnessInput<'a> {
    /// How long the level was, from first send to last end.
    pub length: Seconds,
    /// What serves.
    pub system: &'a System,
    /// The output tokens that the client counted, and the most a second that the bound allows; none where either is not known.
    pub client: Option<(Tokens, PerSec)>,
    /// What the server said, if it did.
    pub server: Option<&'a ServerWindow>,
    /// What its devices said.
    pub devices: &'a [DeviceWindow],
    /// Its steps beside their bounds, if it told them.
    pub steps: Option<&'a StepsAssessment>,
}
