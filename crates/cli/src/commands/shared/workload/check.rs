//! Which flags go with which source of prompts.

use fizeau::experiment::{PromptSource, RecordFormat};
use fizeau::workload::RangeStyle;

use crate::args::WorkloadArgs;
use crate::exit::{Fail, refuse_given};

/// Flags that this source has no use for are refused where they are ours; vLLM's of other data sets do nothing, as there.
pub(super) fn check_flags(args: &WorkloadArgs, source: &PromptSource) -> Result<(), Fail> {
    let name = &args.dataset_name;
    let is_records = matches!(source, PromptSource::Records(_));
    let is_times = matches!(source, PromptSource::Trace(_));
    let is_file = is_records || is_times;
    match &args.data.dataset_path {
        None if is_file => bail!("--dataset-path: name the file of --dataset-name {name}"),
        Some(path) if !is_file && *source != PromptSource::Sonnet => {
            let path = path.display();
            bail!(
                "--dataset-path {path}: --dataset-name {name} makes its prompts up and reads no \
                 file"
            );
        }
        _ => {}
    }
    let has_own_lengths = !matches!(source, PromptSource::Random | PromptSource::Sonnet);
    let is_vllm = matches!(source, PromptSource::VllmRandom(_));
    let is_shared = matches!(source, PromptSource::Records(of) if matches!(of.format, RecordFormat::ShareGpt(_)));
    let refused = [
        (args.lengths.length_preset.is_some() && has_own_lengths, "--length-preset"),
        (args.lengths.length_pairs.is_some() && has_own_lengths, "--length-pairs"),
        (
            args.lengths.range_ratio_style != RangeStyle::Vllm && is_vllm,
            "--range-ratio-style sglang",
        ),
        (args.prefix.prefix_groups.is_some() && has_own_lengths, "--prefix-groups"),
        (args.sessions.turns.is_some() && has_own_lengths, "--turns"),
        (args.sessions.think_time.is_some() && is_times, "--think-time"),
        (args.sessions.multi_turn && !is_shared, "--multi-turn"),
        (!args.lora_modules.is_empty() && is_times, "--lora-modules"),
        (args.data.disable_shuffle && !is_records, "--disable-shuffle"),
        (args.data.no_repeat && !is_file, "--no-repeat"),
    ];
    refuse_given(&refused, |flag| {
        format!("{flag} has no effect with --dataset-name {name}; leave it out")
    })
}
