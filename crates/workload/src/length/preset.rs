//! Lengths as typical applications have them.

use std::fmt;
use std::str::FromStr;

use fizeau_core::Tokens;

use super::{Length, LengthTextError, Lengths};

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
/// use fizeau_workload::{Lengths, Preset};
/// let preset: Preset = "chat".parse()?;
/// assert_eq!(Lengths::from(preset).longest().input.get(), 4000);
/// # Ok::<(), fizeau_workload::LengthTextError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Preset {
    /// People who chat.
    Chat,
    /// Code to be written.
    CodeGeneration,
    /// Questions on long documents.
    LongContextQa,
    /// Documents to be made short.
    Summarization,
}

impl Preset {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::Chat, Self::CodeGeneration, Self::LongContextQa, Self::Summarization];

    /// Its name on a command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::CodeGeneration => "code-generation",
            Self::LongContextQa => "long-context-qa",
            Self::Summarization => "summarization",
        }
    }

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

const fn around(median: u64, least: u64, most: u64) -> Length {
    Length::LogNormal {
        median: Tokens::new(median),
        sigma: 0.8,
        least: Tokens::new(least),
        most: Tokens::new(most),
    }
}

impl From<Preset> for Lengths {
    fn from(preset: Preset) -> Self {
        preset.lengths()
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Preset {
    type Err = LengthTextError;

    fn from_str(text: &str) -> Result<Self, LengthTextError> {
        let named = Self::ALL.into_iter().find(|preset| preset.name() == text);
        named.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            LengthTextError::new(text, format!("no preset: it must be one of {names}"))
        })
    }
}
