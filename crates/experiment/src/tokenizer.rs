//! A tokenizer of the client's own, by name or by path.

use std::convert::Infallible;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use fizeau_workload::TextCodec;

use crate::input::{InputError, InputField};

/// A tokenizer of the client's own.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenizerSpec {
    /// A vocabulary of tiktoken's, by name. Behind the feature `tiktoken`.
    Tiktoken(String),
    /// A `tokenizer.json`, or the folder that has one. Behind the feature `hf-tokenizer`.
    File(PathBuf),
}

impl FromStr for TokenizerSpec {
    type Err = Infallible;

    /// `tiktoken:NAME`, or a path.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text.strip_prefix("tiktoken:") {
            Some(name) => Self::Tiktoken(name.to_owned()),
            None => Self::File(text.into()),
        })
    }
}

impl fmt::Display for TokenizerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tiktoken(name) => write!(f, "tiktoken:{name}"),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

impl TokenizerSpec {
    /// The tokenizer. Its file is read.
    ///
    /// # Errors
    /// If there is none, or this build cannot read such.
    pub fn load(&self) -> Result<Arc<dyn TextCodec>, InputError> {
        match self {
            Self::Tiktoken(name) => self.tiktoken(name),
            Self::File(path) => self.tokenizer_json(path),
        }
    }

    #[cfg(feature = "tiktoken")]
    #[expect(clippy::unused_self, reason = "the build without tiktoken names it")]
    fn tiktoken(&self, name: &str) -> Result<Arc<dyn TextCodec>, InputError> {
        use crate::input::Blame;
        Ok(Arc::new(fizeau_workload::Tiktoken::named(name).blame(InputField::Tokenizer)?))
    }

    #[cfg(not(feature = "tiktoken"))]
    fn tiktoken(&self, _: &str) -> Result<Arc<dyn TextCodec>, InputError> {
        use crate::hint::{InputHint, TokenizerKind};
        let error = InputError::new(InputField::Tokenizer, "this fizeau was built without it");
        Err(error.given(self).hint(InputHint::BuiltWithout(TokenizerKind::Tiktoken)))
    }

    #[cfg(feature = "hf-tokenizer")]
    #[expect(clippy::unused_self, reason = "the build without tokenizer files names it")]
    fn tokenizer_json(&self, path: &Path) -> Result<Arc<dyn TextCodec>, InputError> {
        use crate::input::Blame;
        Ok(Arc::new(fizeau_workload::HfTokenizer::from_file(path).blame(InputField::Tokenizer)?))
    }

    #[cfg(not(feature = "hf-tokenizer"))]
    fn tokenizer_json(&self, _: &Path) -> Result<Arc<dyn TextCodec>, InputError> {
        use crate::hint::{InputHint, TokenizerKind};
        let why = "this fizeau was built without tokenizer files";
        let error = InputError::new(InputField::Tokenizer, why);
        Err(error.given(self).hint(InputHint::BuiltWithout(TokenizerKind::TokenizerJson)))
    }
}
