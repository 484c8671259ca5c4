//! Which flags go with which source of prompts.

use fizeau::experiment::{PromptSource, RecordFormat};
use fizeau::workload::RangeStyle;

use crate::args::WorkloadArgs;
use crate::exit::{Fail, refuse_given};

/// Flags that this source has no use for are refused, but those of vLLM that say by their names that they are of another.
pub(super) fn check_flags(args: &WorkloadArgs, source: &PromptSource) -> Result<(), Fail> {
    let name = &args.dataset_name;
    let is_records = matches!(source, PromptSource::Records(_));
    let is_times = matches!(source, PromptSource::Trace(_));
    let is_file = is_records || is_times;
    match &args.data.dataset_path {
        None if is_file => bail!("--dataset-path: name the file of --dataset-name {name}"),
        Some(path) if !is_file && *source != PromptSource::Sonnet => {
            bail!(
                "--dataset-path {}: --dataset-name {name} makes its prompts up and reads no file",
                path.display()
            );
        }
        _ => {}
    }
    let has_own_lengths = !matches!(source, PromptSource::Random | PromptSource::Sonnet);
    let is_vllm = matches!(source, PromptSource::VllmRandom(_));
    let is_sglang = args.lengths.range_ratio_style != RangeStyle::Vllm;
    let is_shared = matches!(source, PromptSource::Records(of) if matches!(of.format, RecordFormat::ShareGpt(_)));
    let refused = [
        (args.lengths.length_preset.is_some() && has_own_lengths, "--length-preset"),
        (args.lengths.length_pairs.is_some() && has_own_lengths, "--length-pairs"),
        (is_sglang && is_vllm, "--range-ratio-style sglang"),
        (args.prefix.prefix_groups.is_some() && has_own_lengths, "--prefix-groups"),
        (args.sessions.turns.is_some() && has_own_lengths, "--turns"),
        (args.sessions.think_time.is_some() && is_times, "--think-time"),
        (args.sessions.multi_turn && !is_shared, "--multi-turn"),
        (!args.lora_modules.is_empty() && is_times, "--lora-modules"),
        (args.data.disable_shuffle && !is_records, "--disable-shuffle"),
        (args.data.no_repeat && !is_file, "--no-repeat"),
        (args.data.vocab_size != VOCABULARY && !has_vocabulary(source), "--vocab-size"),
    ];
    refuse(&refused, name)
}

/// Refuses lengths where prompts have their own. Whoever calibrates the client has a use for them all the same.
pub(crate) fn check_lengths(args: &WorkloadArgs) -> Result<(), Fail> {
    let source = super::source(args)?;
    let (is_records, is_others) = match source {
        PromptSource::Records(_) => (true, false),
        PromptSource::Trace(_) | PromptSource::PrefixRepetition(_) => (false, true),
        _ => (false, false),
    };
    let lengths = &args.lengths;
    let refused = [
        (lengths.random_input_len.is_some() && (is_records || is_others), "--random-input-len"),
        // A record that does not say how long its reply is has this length.
        (lengths.random_output_len.is_some() && is_others, "--random-output-len"),
        (lengths.random_range_ratio.is_some() && (is_records || is_others), "--random-range-ratio"),
        // Of records the library says so.
        (args.prefix.random_prefix_len > 0 && is_others, "--random-prefix-len"),
    ];
    refuse(&refused, &args.dataset_name)
}

fn refuse(flags: &[(bool, &str)], dataset: &str) -> Result<(), Fail> {
    refuse_given(flags, |flag| {
        format!("{flag} has no effect with --dataset-name {dataset}; leave it out")
    })
}

/// vLLM's flags of one data set, which say so by their names, do nothing beside another, as there. Those that are given so, in words.
pub(super) fn of_other_sets(args: &WorkloadArgs) -> Vec<String> {
    let (name, data) = (args.dataset_name.as_str(), &args.data);
    let (repetition, timed) = ("prefix_repetition", "mooncake timed_trace");
    let is_odd = data.prefix_repetition_num_prefixes.get() != 10;
    let flags = [
        (data.sharegpt_output_len.is_some(), "--sharegpt-output-len", "sharegpt"),
        (data.custom_output_len.is_some(), "--custom-output-len", "custom openai-batch"),
        (data.prefix_repetition_prefix_len != 256, "--prefix-repetition-prefix-len", repetition),
        (data.prefix_repetition_suffix_len != 256, "--prefix-repetition-suffix-len", repetition),
        (is_odd, "--prefix-repetition-num-prefixes", repetition),
        (data.prefix_repetition_output_len != 128, "--prefix-repetition-output-len", repetition),
        (data.timed_trace_sec_multiplier.is_some(), "--timed-trace-sec-multiplier", timed),
        (data.timed_trace_chunk_hash_size.is_some(), "--timed-trace-chunk-hash-size", timed),
    ];
    let is_of_other = |sets: &str| sets.split(' ').all(|set| set != name);
    let given = flags.into_iter().filter(|(is_given, _, sets)| *is_given && is_of_other(sets));
    given.map(|(_, flag, _)| format!("{flag} has no effect with --dataset-name {name}")).collect()
}

/// What `--vocab-size` is by default.
const VOCABULARY: u32 = 32_000;

const fn has_vocabulary(source: &PromptSource) -> bool {
    matches!(source, PromptSource::VllmRandom(_) | PromptSource::PrefixRepetition(_))
}
