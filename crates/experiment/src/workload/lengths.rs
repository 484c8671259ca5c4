//! The lengths of requests, of which somebody says a part and the rest is usual.

use fizeau_core::Tokens;
use fizeau_workload::{Length, Lengths, RangeRatios, RangeStyle, VllmRandom};
use thiserror::Error;

use super::{PromptSource, WorkloadSpec};
use crate::input::InputField;

/// How long prompts and outputs are to be, as far as somebody says it.
///
/// ```
/// use fizeau_experiment::{LengthsSpec, PromptSource};
///
/// let mut asked = LengthsSpec::default();
/// asked.input = Some("500".parse()?);
/// asked.ratios = Some("0.2".parse()?);
/// let longest = asked.lengths_of(&PromptSource::Random)?.longest();
/// assert_eq!((longest.input.get(), longest.output.get()), (600, 154));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct LengthsSpec {
    /// Of prompts; none for what is usual.
    pub input: Option<Length>,
    /// Of outputs; none for what is usual.
    pub output: Option<Length>,
    /// How far ranges reach about single numbers; none where nobody asks for ranges.
    pub ratios: Option<RangeRatios>,
    /// Whose reading of such a ratio holds.
    pub style: RangeStyle,
}

/// Why lengths cannot be meant together.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum LengthsSpecError {
    /// A ratio makes a range of a single number, and a law is one already.
    #[error("a range widens a single number, and {field} {length} is already a distribution")]
    NoRange {
        /// Of prompts or of outputs.
        field: InputField,
        /// What was asked for.
        length: Length,
    },
    /// vLLM's own prompts have a number of tokens, which their range widens.
    #[error("vLLM's own prompts take a number of tokens, and {field} is {length}")]
    NoNumber {
        /// Of prompts or of outputs.
        field: InputField,
        /// What was asked for.
        length: Length,
    },
}

impl LengthsSpec {
    /// What prompts of sonnets have of their own by default: vLLM's 550 tokens (`--sonnet-input-len`) less what all share.
    pub const SONNET_INPUT: Tokens = Tokens::new(350);
    /// What prompts of sonnets share by default, as vLLM's do (`--sonnet-prefix-len`).
    pub const SONNET_PREFIX: Tokens = Tokens::new(200);
    /// How long replies to sonnets are by default, as vLLM's are (`--sonnet-output-len`).
    pub const SONNET_OUTPUT: Tokens = Tokens::new(150);

    /// The lengths of requests from `source`. Who asks for a range, for vLLM's prompts or for sonnets, means vLLM's lengths where no others
    /// are given.
    ///
    /// # Errors
    /// If a range is to be made of a law.
    pub fn lengths_of(&self, source: &PromptSource) -> Result<Lengths, LengthsSpecError> {
        let (input, output) = (self.input.clone(), self.output.clone());
        if let PromptSource::Records(_) = source {
            // The prompt has its own length; 1 stands for it.
            let input = Length::Fixed(Tokens::new(1));
            let output = output.unwrap_or(WorkloadSpec::USUAL_OUTPUT);
            return Ok(Lengths::Independent { input, output });
        }
        let is_vllm = self.ratios.is_some()
            || self.style != RangeStyle::Vllm
            || matches!(source, PromptSource::VllmRandom(_));
        let vllm = VllmRandom::default();
        let usual = |law, sonnet, tokens| match source {
            PromptSource::Sonnet => Length::Fixed(sonnet),
            _ if is_vllm => Length::Fixed(tokens),
            _ => law,
        };
        let [sonnet, verse] = [Self::SONNET_INPUT, Self::SONNET_OUTPUT];
        let input = input.unwrap_or_else(|| usual(WorkloadSpec::USUAL_INPUT, sonnet, vllm.input));
        let output =
            output.unwrap_or_else(|| usual(WorkloadSpec::USUAL_OUTPUT, verse, vllm.output));
        let ratios = self.ratios.unwrap_or_default();
        let ranged = |field, length: Length, ratio| {
            let range = length.clone().ranged(ratio, self.style);
            range.ok_or(LengthsSpecError::NoRange { field, length })
        };
        Ok(Lengths::Independent {
            input: ranged(InputField::PromptLength, input, ratios.input)?,
            output: ranged(InputField::OutputLength, output, ratios.output)?,
        })
    }

    /// Gives vLLM's own prompts the lengths that are asked for; by default they have vLLM's.
    ///
    /// # Errors
    /// If a length is no single number.
    pub fn put_into(&self, random: &mut VllmRandom) -> Result<(), LengthsSpecError> {
        for (field, length, tokens) in [
            (InputField::PromptLength, &self.input, &mut random.input),
            (InputField::OutputLength, &self.output, &mut random.output),
        ] {
            match length {
                None => {}
                Some(Length::Fixed(number)) => *tokens = *number,
                Some(length) => {
                    return Err(LengthsSpecError::NoNumber { field, length: length.clone() });
                }
            }
        }
        let ratios = self.ratios.unwrap_or_default();
        (random.input_ratio, random.output_ratio) = (ratios.input, ratios.output);
        Ok(())
    }
}
