//! From arguments to laws of lengths.

use fizeau::core::Tokens;
use fizeau::workload::{Length, Lengths, Preset};

use crate::args::{LawArgs, RangeStyleArg};
use crate::exit::{Fail, Named};

/// What the two flags of lengths say, as `fizeau bench` and `fizeau sweep` call them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Nominal<'a> {
    pub(crate) input: (&'static str, &'a str),
    pub(crate) output: (&'static str, &'a str),
}

/// The lengths that the flags ask for.
pub(crate) fn lengths(args: &LawArgs, nominal: Nominal<'_>) -> Result<Lengths, Fail> {
    let (input_ratio, output_ratio) = ratios(args)?;
    if let Some(name) = &args.length_preset {
        let preset: Preset = name.parse().named("--length-preset")?;
        return Ok(preset.lengths());
    }
    if let Some(pairs) = &args.length_pairs {
        return pairs.parse().named("--length-pairs");
    }
    Ok(Lengths::Independent {
        input: length(nominal.input, input_ratio, args.range_ratio_style)?,
        output: length(nominal.output, output_ratio, args.range_ratio_style)?,
    })
}

/// The lengths of records that do not say theirs.
pub(crate) fn of_records(nominal: Nominal<'_>) -> Result<Lengths, Fail> {
    let (flag, text) = nominal.output;
    // The prompt has its own length; 1 stands for it.
    Ok(Lengths::Independent {
        input: Length::Fixed(Tokens::new(1)),
        output: text.parse().named(flag)?,
    })
}

/// A law in words, or a number that the range ratio widens.
fn length((flag, text): (&str, &str), ratio: f64, style: RangeStyleArg) -> Result<Length, Fail> {
    let law: Length = text.parse().named(flag)?;
    let Length::Fixed(tokens) = law else {
        return match ratio {
            0.0 => Ok(law),
            _ => Err(Fail::usage(format!(
                "--random-range-ratio: it widens a single number, and {flag} {text} is a law of its own"
            ))),
        };
    };
    Ok(match style {
        RangeStyleArg::Vllm if ratio == 0.0 => law,
        RangeStyleArg::Vllm => Length::Uniform { nominal: tokens, ratio },
        RangeStyleArg::Sglang if ratio == 1.0 => law,
        RangeStyleArg::Sglang => Length::UniformUpTo { most: tokens, ratio },
    })
}

/// `0.2`, or `{"input": 0.2, "output": 0}`, as vLLM takes it.
pub(crate) fn ratios(args: &LawArgs) -> Result<(f64, f64), Fail> {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Both {
        input: f64,
        output: f64,
    }
    let text = args.random_range_ratio.trim();
    if let Ok(ratio) = text.parse() {
        return Ok((ratio, ratio));
    }
    let both: Result<Both, _> = serde_json::from_str(text);
    both.map(|both| (both.input, both.output)).map_err(|_| {
        Fail::usage(format!(
            "--random-range-ratio {text}: give a share such as 0.2, or {{\"input\": 0.2, \"output\": 0}}"
        ))
    })
}

/// The single number that a length must be where a data set of vLLM's takes nothing else.
pub(crate) fn fixed((flag, text): (&str, &str), source: &str) -> Result<Tokens, Fail> {
    text.trim().parse().map(Tokens::new).map_err(|_| {
        Fail::usage(format!("{flag} {text}: --dataset-name {source} takes a number of tokens"))
    })
}
