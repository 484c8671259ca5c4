//! From arguments to laws of lengths.

use fizeau::core::Tokens;
use fizeau::experiment::{PromptSource, WorkloadSpec};
use fizeau::workload::{
    Length, Lengths, Popularity, PresetLengths, RangeRatios, RangeStyle, SharedPrefix, VllmRandom,
};

use crate::args::{LengthArgs, PrefixArgs};
use crate::exit::{Fail, Named};

const INPUT: &str = "--random-input-len";
const OUTPUT: &str = "--random-output-len";

/// The lengths that the flags ask for of prompts from `source`.
pub(crate) fn lengths(args: &LengthArgs, source: &PromptSource) -> Result<Lengths, Fail> {
    let ratios = ratios(args)?;
    if let Some(name) = &args.length_preset {
        let preset: PresetLengths = name.parse().named("--length-preset")?;
        return Ok(preset.lengths());
    }
    if let Some(pairs) = &args.length_pairs {
        return pairs.parse().named("--length-pairs");
    }
    // Whoever asks for a range, or for vLLM's prompts, means vLLM's lengths.
    let is_vllm = ratios.is_some()
        || args.range_ratio_style != RangeStyle::Vllm
        || matches!(source, PromptSource::VllmRandom(_));
    let vllm = VllmRandom::default();
    let usual = |law, tokens| if is_vllm { Length::Fixed(tokens) } else { law };
    let ratios = ratios.unwrap_or_default();
    let input = given(INPUT, &args.random_input_len)?;
    let input = input.unwrap_or_else(|| usual(WorkloadSpec::USUAL_INPUT, vllm.input));
    let output = given(OUTPUT, &args.random_output_len)?;
    let output = output.unwrap_or_else(|| usual(WorkloadSpec::USUAL_OUTPUT, vllm.output));
    Ok(Lengths::Independent {
        input: ranged(INPUT, input, ratios.input, args.range_ratio_style)?,
        output: ranged(OUTPUT, output, ratios.output, args.range_ratio_style)?,
    })
}

/// The lengths of records that do not say theirs.
pub(crate) fn of_records(args: &LengthArgs) -> Result<Lengths, Fail> {
    let output = given(OUTPUT, &args.random_output_len)?;
    // The prompt has its own length; 1 stands for it.
    Ok(Lengths::Independent {
        input: Length::Fixed(Tokens::new(1)),
        output: output.unwrap_or(WorkloadSpec::USUAL_OUTPUT),
    })
}

/// Gives vLLM's own prompts the lengths that are asked for, which must be numbers; by default vLLM's.
pub(crate) fn of_vllm(of: &mut VllmRandom, args: &LengthArgs) -> Result<(), Fail> {
    for (flag, text, tokens) in [
        (INPUT, &args.random_input_len, &mut of.input),
        (OUTPUT, &args.random_output_len, &mut of.output),
    ] {
        let Some(text) = text else { continue };
        *tokens = text.trim().parse().map(Tokens::new).map_err(|_| {
            usage!("{flag} {text}: --dataset-name vllm-random takes a number of tokens")
        })?;
    }
    let ratios = ratios(args)?.unwrap_or_default();
    (of.input_ratio, of.output_ratio) = (ratios.input, ratios.output);
    Ok(())
}

fn given(flag: &str, text: &Option<String>) -> Result<Option<Length>, Fail> {
    text.as_ref().map(|text| text.parse().named(flag)).transpose()
}

/// A law, or a number that the range ratio widens.
fn ranged(flag: &str, law: Length, ratio: f64, style: RangeStyle) -> Result<Length, Fail> {
    let wrong = format!(
        "--random-range-ratio: it widens a single number, and {flag} {law} is already a distribution"
    );
    law.ranged(ratio, style).ok_or_else(|| Fail::usage(wrong))
}

fn ratios(args: &LengthArgs) -> Result<Option<RangeRatios>, Fail> {
    let text = args.random_range_ratio.as_deref().map(str::trim);
    let ratios = text.map(|text| {
        text.parse().map_err(|_| {
            usage!(
                "--random-range-ratio {text}: give a share such as 0.2, or {{\"input\": 0.2, \"output\": 0}}")
        })
    });
    ratios.transpose()
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
