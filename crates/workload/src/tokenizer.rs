//! Tokenizers of other libraries, each behind a feature.

#[cfg(feature = "hf-tokenizer")]
mod hf;
#[cfg(feature = "tiktoken")]
mod tiktoken;

#[cfg(feature = "hf-tokenizer")]
pub use hf::{HfTokenizer, HfTokenizerError};
#[cfg(feature = "tiktoken")]
pub use tiktoken::{Tiktoken, UnknownVocabulary};
