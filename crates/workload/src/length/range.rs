//! Numbers of tokens that a ratio widens to ranges, as other tools have it.

use fizeau_core::{Choice, NamedChoice};
use std::str::FromStr;

use serde::Deserialize;

use super::{Length, LengthTextError};

/// Whose reading of a range ratio holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum RangeStyle {
    /// vLLM's: to either side of the length.
    #[default]
    Vllm,
    /// SGLang's: from a share of the length to all of it.
    Sglang,
}

impl Choice for RangeStyle {
    const CHOICES: &'static [NamedChoice<Self>] = &[
        NamedChoice::new("vllm", Self::Vllm, "From L(1-R) to L(1+R)"),
        NamedChoice::new("sglang", Self::Sglang, "From L R to L"),
    ];
}

/// How far ranges reach, as shares of the lengths.
///
/// ```
/// use fizeau_workload::RangeRatios;
/// let ratios: RangeRatios = "0.2".parse()?;
/// assert_eq!((ratios.input, ratios.output), (0.2, 0.2));
/// let ratios: RangeRatios = r#"{"input": 0.2, "output": 0}"#.parse()?;
/// assert_eq!((ratios.input, ratios.output), (0.2, 0.0));
/// # Ok::<(), fizeau_workload::LengthTextError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RangeRatios {
    /// Of prompts.
    pub input: f64,
    /// Of outputs.
    pub output: f64,
}

impl FromStr for RangeRatios {
    type Err = LengthTextError;

    /// A share for both, or a JSON object with one for each, as vLLM takes it.
    fn from_str(text: &str) -> Result<Self, LengthTextError> {
        let text = text.trim();
        if let Ok(ratio) = text.parse() {
            return Ok(Self { input: ratio, output: ratio });
        }
        let what = "cannot be read as a ratio: give a share such as 0.2, or {\"input\": 0.2, \"output\": 0}";
        serde_json::from_str(text).map_err(|_| LengthTextError::new(text, what))
    }
}

impl Length {
    /// The range that `ratio` makes of a single number; none of a law, which is a range of its own, unless the ratio is 0.
    ///
    /// ```
    /// use fizeau_workload::{Length, RangeStyle};
    /// let length: Length = "250".parse()?;
    /// let range = length.clone().ranged(0.2, RangeStyle::Sglang).ok_or("a law")?;
    /// assert_eq!(range.to_string(), "sglang:most=250,ratio=0.2");
    /// assert_eq!(length.clone().ranged(0.0, RangeStyle::Vllm), Some(length));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn ranged(self, ratio: f64, style: RangeStyle) -> Option<Self> {
        let Self::Fixed(tokens) = self else { return (ratio == 0.0).then_some(self) };
        Some(match style {
            RangeStyle::Vllm if ratio == 0.0 => self,
            RangeStyle::Vllm => Self::Uniform { nominal: tokens, ratio },
            RangeStyle::Sglang if ratio == 1.0 => self,
            RangeStyle::Sglang => Self::UniformUpTo { most: tokens, ratio },
        })
    }
}
