//! Which flags go with which source of prompts.

use super::names::{Records, Source};
use crate::args::{RangeStyleArg, WorkloadArgs};
use crate::exit::Fail;

/// Flags that this source has no use for are refused where they are ours; vLLM's of other data sets do nothing, as there.
pub(super) fn check_flags(args: &WorkloadArgs, source: Source) -> Result<(), Fail> {
    let name = &args.dataset_name;
    match &args.data.dataset_path {
        None if source.is_file() => {
            return Err(Fail::usage(format!(
                "--dataset-path: name the file of --dataset-name {name}"
            )));
        }
        Some(path) if !source.is_file() && source != Source::Sonnet => {
            let path = path.display();
            return Err(Fail::usage(format!(
                "--dataset-path {path}: --dataset-name {name} is made up, and reads no file"
            )));
        }
        _ => {}
    }
    let has_own_lengths = !matches!(source, Source::Random | Source::Sonnet);
    let is_times = matches!(source, Source::Times(_));
    let refused = [
        (args.laws.length_preset.is_some() && has_own_lengths, "--length-preset"),
        (args.laws.length_pairs.is_some() && has_own_lengths, "--length-pairs"),
        (
            args.laws.range_ratio_style != RangeStyleArg::Vllm && source == Source::VllmRandom,
            "--range-ratio-style sglang",
        ),
        (args.prefix.prefix_groups.is_some() && has_own_lengths, "--prefix-groups"),
        (args.sessions.turns.is_some() && has_own_lengths, "--turns"),
        (args.sessions.think_time.is_some() && is_times, "--think-time"),
        (args.sessions.multi_turn && source != Source::Records(Records::ShareGpt), "--multi-turn"),
        (!args.lora_modules.is_empty() && is_times, "--lora-modules"),
        (args.data.disable_shuffle && !matches!(source, Source::Records(_)), "--disable-shuffle"),
        (args.data.no_repeat && !source.is_file(), "--no-repeat"),
    ];
    match refused.into_iter().find(|(is_refused, _)| *is_refused) {
        Some((_, flag)) => {
            Err(Fail::usage(format!("{flag}: --dataset-name {name} has no use for it")))
        }
        None => Ok(()),
    }
}
