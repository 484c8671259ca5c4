//! Shares of the speed of light, and steps.

use fizeau_record::text::percent;
use fizeau_record::{LevelTelemetry, PassSource};
use fizeau_telemetry::LightWitness;

use super::FigureText::{All, Each, Own};
use super::wording::shown;
use super::{TelemetryFigure, export, figure, plain, whole};

#[rustfmt::skip] // A figure is a row, and what programs get of it are three lines.
pub(super) static FIGURES: &[TelemetryFigure] = &[
    figure(["share of the speed of light, by the client", ""], Own(|said| share(said, LightWitness::ClientThroughput)), &[
        export(["witness_client_share", "fizeau_speed_of_light_client_ratio"],
            "The share of the speed of light by what the client received, 0 to 1.",
            plain(|said| share_of(said, LightWitness::ClientThroughput))),
    ]),
    figure(["the same by the engine's counters", ""], Own(|said| share(said, LightWitness::EngineCounters)), &[
        export(["witness_counters_share", "fizeau_speed_of_light_counters_ratio"],
            "The same by the engine's own counters of operations and bytes, 0 to 1.",
            plain(|said| share_of(said, LightWitness::EngineCounters))),
    ]),
    figure(["the same by the devices' activity", ""], Own(|said| share(said, LightWitness::DeviceActivity)), &[
        export(["witness_devices_share", "fizeau_speed_of_light_devices_ratio"],
            "The same by how busy the devices' memory and tensor units were, 0 to 1.",
            plain(|said| share_of(said, LightWitness::DeviceActivity))),
    ]),
    figure(["the same by forward passes", ""], Own(|said| share(said, LightWitness::ForwardPasses)), &[
        export(["witness_passes_share", "fizeau_speed_of_light_passes_ratio"],
            "The same step by step, by the engine's forward-pass records, 0 to 1.",
            plain(|said| share_of(said, LightWitness::ForwardPasses))),
    ]),
    figure(["forward passes / lost", ""], All(whole), &[
        export(["forward_passes", "fizeau_forward_passes"],
            "Forward passes of the engine whose records arrived.",
            plain(|said| passes(said, |source| source.passes).map(|count| count as f64))),
        export(["forward_passes_lost", "fizeau_forward_passes_lost"],
            "Forward passes whose records were lost on the way.",
            plain(|said| passes(said, |source| source.lost).map(|count| count as f64))),
    ]),
    figure(["a step's share of its bound, decode / with prompts", ""], Own(step_shares), &[
        export(["step_decode_share", "fizeau_decode_steps_speed_of_light_ratio"],
            "The bounds of steps that only decode over their times, 0 to 1.",
            plain(|said| said.steps.as_ref()?.decode_share)),
        export(["step_prefill_share", "fizeau_prefill_steps_speed_of_light_ratio"],
            "The same of steps with prompts, 0 to 1.",
            plain(|said| said.steps.as_ref()?.prefill_share)),
    ]),
    figure(["time without a step", ""], Each(percent), &[
        export(["idle_share", "fizeau_server_idle_ratio"],
            "The share of the level's time in which the engine ran no step, 0 to 1.",
            plain(|said| said.witnesses.as_ref()?.idle)),
    ]),
];

fn share(said: &LevelTelemetry, witness: LightWitness) -> Option<String> {
    Some(shown(&said.witnesses.as_ref()?.share_of(witness)?))
}

fn share_of(said: &LevelTelemetry, witness: LightWitness) -> Option<f64> {
    Some(said.witnesses.as_ref()?.share_of(witness)?.share)
}

fn step_shares(said: &LevelTelemetry) -> Option<String> {
    let steps = said.steps.as_ref()?;
    let [decode, prefill] = [steps.decode_share, steps.prefill_share]
        .map(|share| share.map_or_else(|| "-".to_owned(), percent));
    Some(format!("{decode} / {prefill}"))
}

/// Records of all streams; none without a stream.
fn passes(said: &LevelTelemetry, of: fn(&PassSource) -> u64) -> Option<u64> {
    let all = &said.pass_sources;
    (!all.is_empty()).then(|| all.iter().map(of).sum())
}
