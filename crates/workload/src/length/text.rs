//! Laws of lengths as text, for command lines and tables.

use std::fmt;
use std::str::FromStr;

use fizeau_core::Tokens;

use super::{Length, LengthBin, Lengths, WeightedPair};

/// Why a text is no law of lengths.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` {what}")]
pub struct LengthTextError {
    text: String,
    what: String,
}

impl LengthTextError {
    pub(super) fn new(text: &str, what: impl Into<String>) -> Self {
        Self { text: text.to_owned(), what: what.into() }
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(length) => write!(f, "{length}"),
            Self::Uniform { nominal, ratio } => write!(f, "vllm:nominal={nominal},ratio={ratio}"),
            Self::UniformUpTo { most, ratio } => write!(f, "sglang:most={most},ratio={ratio}"),
            Self::Between { least, most } => write!(f, "uniform:{least}-{most}"),
            Self::Normal { mean, deviation, least, most } => {
                write!(f, "normal:mean={mean},sd={deviation},min={least},max={most}")
            }
            Self::LogNormal { median, sigma, least, most } => {
                write!(f, "lognormal:median={median},sigma={sigma},min={least},max={most}")
            }
            Self::Histogram(bins) => {
                f.write_str("histogram:")?;
                listed(f, bins, |f, bin| write!(f, "{}-{}={}", bin.from, bin.to, bin.weight))
            }
        }
    }
}

/// Pairs as they are written on a command line; laws of their own as `INPUT;OUTPUT`.
impl fmt::Display for Lengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Independent { input, output } => write!(f, "{input};{output}"),
            Self::Pairs(pairs) => listed(f, pairs, |f, pair| {
                write!(f, "{}/{}={}", pair.input, pair.output, pair.weight)
            }),
        }
    }
}

fn listed<T>(
    f: &mut fmt::Formatter<'_>,
    items: &[T],
    show: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (place, item) in items.iter().enumerate() {
        if place > 0 {
            f.write_str(",")?;
        }
        show(f, item)?;
    }
    Ok(())
}

impl FromStr for Length {
    type Err = LengthTextError;

    fn from_str(text: &str) -> Result<Self, LengthTextError> {
        let Some((law, rest)) = text.split_once(':') else {
            return whole(text).map(Self::Fixed).ok_or_else(|| {
                let kinds = "uniform, vllm, sglang, normal, lognormal, histogram";
                let what = format!(
                    "cannot be read as a length: write a whole number of tokens, such as 250, or a distribution ({kinds}) and its numbers, \
                     such as uniform:200-300"
                );
                LengthTextError::new(text, what)
            });
        };
        let parsed = match law {
            "uniform" => range(rest).map(|(least, most)| Self::Between { least, most }),
            "vllm" => fields(rest, ["nominal", "ratio"]).and_then(|[nominal, ratio]| {
                Some(Self::Uniform { nominal: whole(nominal)?, ratio: number(ratio)? })
            }),
            "sglang" => fields(rest, ["most", "ratio"]).and_then(|[most, ratio]| {
                Some(Self::UniformUpTo { most: whole(most)?, ratio: number(ratio)? })
            }),
            "normal" => fields(rest, ["mean", "sd", "min", "max"]).and_then(normal),
            "lognormal" => fields(rest, ["median", "sigma", "min", "max"]).and_then(log_normal),
            "histogram" => rest.split(',').map(bin).collect::<Option<_>>().map(Self::Histogram),
            _ => {
                let what = "cannot be read as a distribution of lengths: it must be one of uniform, vllm, sglang, normal, lognormal, histogram";
                return Err(LengthTextError::new(law, what));
            }
        };
        parsed.ok_or_else(|| {
            let what = format!("is not how a {law} law is written: write it like {}", example(law));
            LengthTextError::new(text, what)
        })
    }
}

/// A right text of `law`.
fn example(law: &str) -> &'static str {
    match law {
        "vllm" => "vllm:nominal=250,ratio=0.2",
        "sglang" => "sglang:most=250,ratio=0.2",
        "normal" => "normal:mean=500,sd=100,min=50,max=2000",
        "lognormal" => "lognormal:median=500,sigma=0.8,min=50,max=4000",
        "histogram" => "histogram:1-100=5,101-1000=3",
        _ => "uniform:200-300",
    }
}

impl FromStr for Lengths {
    type Err = LengthTextError;

    /// A preset by its name, pairs with weights, or two laws as `INPUT;OUTPUT`.
    fn from_str(text: &str) -> Result<Self, LengthTextError> {
        if let Ok(preset) = text.parse::<PresetLengths>() {
            return Ok(preset.lengths());
        }
        if let Some((input, output)) = text.split_once(';') {
            return Ok(Self::Independent { input: input.parse()?, output: output.parse()? });
        }
        let pairs = text.split(',').map(pair).collect::<Option<_>>();
        pairs.map(Self::Pairs).ok_or_else(|| {
            let names = PresetLengths::ALL.map(PresetLengths::name).join(", ");
            let what = format!(
                "is neither pairs of lengths nor a preset: write pairs as INPUT/OUTPUT=WEIGHT, such as \
                 250/100=3,1000/20=1, or one of {names}"
            );
            LengthTextError::new(text, what)
        })
    }
}

fn normal([mean, sd, min, max]: [&str; 4]) -> Option<Length> {
    let (mean, deviation) = (whole(mean)?, number(sd)?);
    Some(Length::Normal { mean, deviation, least: whole(min)?, most: whole(max)? })
}

fn log_normal([median, sigma, min, max]: [&str; 4]) -> Option<Length> {
    let (median, sigma) = (whole(median)?, number(sigma)?);
    Some(Length::LogNormal { median, sigma, least: whole(min)?, most: whole(max)? })
}

fn bin(text: &str) -> Option<LengthBin> {
    let (ends, weight) = text.split_once('=')?;
    let (from, to) = range(ends)?;
    Some(LengthBin { from, to, weight: number(weight)? })
}

/// A pair may go without its weight, which is then 1.
fn pair(text: &str) -> Option<WeightedPair> {
    let (lengths, weight) = text.split_once('=').unwrap_or((text, "1"));
    let (input, output) = lengths.split_once('/')?;
    Some(WeightedPair { input: whole(input)?, output: whole(output)?, weight: number(weight)? })
}

/// `LEAST-MOST`.
fn range(text: &str) -> Option<(Tokens, Tokens)> {
    let (least, most) = text.split_once('-')?;
    Some((whole(least)?, whole(most)?))
}

/// The values of `names` out of `NAME=VALUE,NAME=VALUE`: each name once, in any order.
fn fields<'a, const N: usize>(text: &'a str, names: [&str; N]) -> Option<[&'a str; N]> {
    let mut values = [None; N];
    for field in text.split(',') {
        let (name, value) = field.split_once('=')?;
        let place = names.iter().position(|known| *known == name.trim())?;
        let slot = values.get_mut(place)?;
        if slot.replace(value).is_some() {
            return None;
        }
    }
    let given: Option<Vec<&str>> = values.into_iter().collect();
    given?.try_into().ok()
}

fn whole(text: &str) -> Option<Tokens> {
    text.trim().parse().ok().map(Tokens::new)
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

// Lengths as typical applications have them.

/// Lengths as a typical application has them: log-normal with a sigma of 0.8 about the centre that is named, which is the
/// median, and clipped.
///
/// | name | prompt | output |
/// |---|---|---|
/// | `chat` | 500 in 50 to 4000 | 200 in 10 to 2000 |
/// | `code-generation` | 1500 in 200 to 8000 | 500 in 50 to 4000 |
/// | `long-context-qa` | 16000 in 2000 to 128000 | 300 in 20 to 2000 |
/// | `summarization` | 4000 in 500 to 32000 | 150 in 50 to 500 |
///
/// ```
/// use fizeau_workload::{Lengths, PresetLengths};
/// let preset: PresetLengths = "chat".parse()?;
/// assert_eq!(Lengths::from(preset).longest().input.get(), 4000);
/// # Ok::<(), fizeau_workload::LengthTextError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PresetLengths {
    /// People who chat.
    Chat,
    /// Code to be written.
    CodeGeneration,
    /// Questions on long documents.
    LongContextQa,
    /// Documents to be made short.
    Summarization,
}

impl PresetLengths {
    /// Its lengths.
    #[must_use]
    pub fn lengths(self) -> Lengths {
        let (input, output) = match self {
            Self::Chat => (around(500, 50, 4_000), around(200, 10, 2_000)),
            Self::CodeGeneration => (around(1_500, 200, 8_000), around(500, 50, 4_000)),
            Self::LongContextQa => (around(16_000, 2_000, 128_000), around(300, 20, 2_000)),
            Self::Summarization => (around(4_000, 500, 32_000), around(150, 50, 500)),
        };
        Lengths::Independent { input, output }
    }
}

fizeau_core::words! {
    /// Its name on a command line.
    pub PresetLengths::name, all {
        Chat = "chat", CodeGeneration = "code-generation", LongContextQa = "long-context-qa",
        Summarization = "summarization",
    }
}

const fn around(median: u64, least: u64, most: u64) -> Length {
    Length::LogNormal {
        median: Tokens::new(median),
        sigma: 0.8,
        least: Tokens::new(least),
        most: Tokens::new(most),
    }
}

impl From<PresetLengths> for Lengths {
    fn from(preset: PresetLengths) -> Self {
        preset.lengths()
    }
}

impl fmt::Display for PresetLengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for PresetLengths {
    type Err = LengthTextError;

    fn from_str(text: &str) -> Result<Self, LengthTextError> {
        let named = Self::ALL.into_iter().find(|preset| preset.name() == text);
        named.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            LengthTextError::new(
                text,
                format!("is not the name of a preset: it must be one of {names}"),
            )
        })
    }
}
