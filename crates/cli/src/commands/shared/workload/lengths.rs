//! From arguments to laws of lengths.

use fizeau::core::Tokens;
use fizeau::experiment::{LengthsSpec, LengthsSpecError, PromptSource};
use fizeau::workload::{Lengths, Popularity, PresetLengths, SharedPrefix, VllmRandom};

use crate::args::refusal::flag;
use crate::args::{LengthArgs, PrefixArgs};
use crate::exit::{Fail, Named, parsed};

/// The lengths that the flags ask for of prompts from `source`.
pub(crate) fn lengths(args: &LengthArgs, source: &PromptSource) -> Result<Lengths, Fail> {
    if let Some(name) = &args.length_preset {
        let preset: PresetLengths = name.parse().named("--length-preset")?;
        return Ok(preset.lengths());
    }
    match &args.length_pairs {
        Some(pairs) => pairs.parse().named("--length-pairs"),
        None => spec(args)?.lengths_of(source).map_err(refused),
    }
}

/// Gives vLLM's own prompts the lengths that are asked for.
pub(crate) fn of_vllm(of: &mut VllmRandom, args: &LengthArgs) -> Result<(), Fail> {
    spec(args)?.put_into(of).map_err(refused)
}

fn spec(args: &LengthArgs) -> Result<LengthsSpec, Fail> {
    let mut spec = LengthsSpec::default();
    spec.input = parsed(&args.random_input_len).named("--random-input-len")?;
    spec.output = parsed(&args.random_output_len).named("--random-output-len")?;
    if let Some(text) = args.random_range_ratio.as_deref().map(str::trim) {
        spec.ratios = Some(text.parse().map_err(|_| {
            usage!(
                "--random-range-ratio {text}: give a share such as 0.2, or {{\"input\": 0.2, \"output\": 0}}")
        })?);
    }
    spec.style = args.range_ratio_style;
    Ok(spec)
}

fn refused(error: LengthsSpecError) -> Fail {
    match error {
        LengthsSpecError::NoRange { field, length } => usage!(
            "--random-range-ratio: it widens a single number, and {} {length} is already a distribution",
            flag(field)
        ),
        LengthsSpecError::NoNumber { field, length } => {
            usage!("{} {length}: --dataset-name vllm-random takes a number of tokens", flag(field))
        }
        error => Fail::usage(error),
    }
}

// From arguments to shared prefixes.

/// What prompts begin with that others begin with too.
pub(crate) fn prefix(args: &PrefixArgs) -> Result<SharedPrefix, Fail> {
    let (Some(groups), Some(tokens)) = (args.prefix_groups, args.prefix_len) else {
        return Ok(match args.random_prefix_len {
            0 => SharedPrefix::None,
            tokens => SharedPrefix::Common { tokens: Tokens::new(tokens) },
        });
    };
    refuse_if!(
        args.random_prefix_len > 0,
        "--random-prefix-len shares one prefix among all requests, --prefix-groups several: \
         give one of them"
    );
    refuse_if!(tokens == 0, "--prefix-len 0: give the prefixes at least 1 token");
    Ok(SharedPrefix::Groups {
        groups,
        tokens: Tokens::new(tokens),
        share: args.prefix_share.unwrap_or(1.0),
        popularity: match args.prefix_zipf {
            None => Popularity::Uniform,
            Some(exponent) => Popularity::Zipf { exponent },
        },
    })
}
