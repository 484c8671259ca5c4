//! A tokenizer of the client's own, by name or by path.

use std::sync::Arc;

use fizeau::workload::TextCodec;

use crate::exit::Fail;

/// Loads `tiktoken:NAME` or the `tokenizer.json` at a path.
pub(crate) fn load(what: &str) -> Result<Arc<dyn TextCodec>, Fail> {
    match what.strip_prefix("tiktoken:") {
        Some(name) => tiktoken(name),
        None => tokenizer_json(what),
    }
}

#[cfg(feature = "tiktoken")]
fn tiktoken(name: &str) -> Result<Arc<dyn TextCodec>, Fail> {
    use crate::exit::Named;
    Ok(Arc::new(fizeau::workload::Tiktoken::named(name).named("--tokenizer")?))
}

#[cfg(not(feature = "tiktoken"))]
fn tiktoken(name: &str) -> Result<Arc<dyn TextCodec>, Fail> {
    Err(Fail::usage(format!(
        "--tokenizer tiktoken:{name}: this fizeau was built without it; build it with `--features tiktoken`, or leave \
         --tokenizer out: the server then counts"
    )))
}

#[cfg(feature = "hf-tokenizer")]
fn tokenizer_json(path: &str) -> Result<Arc<dyn TextCodec>, Fail> {
    use crate::exit::Named;
    Ok(Arc::new(fizeau::workload::HfTokenizer::from_file(path).named("--tokenizer")?))
}

#[cfg(not(feature = "hf-tokenizer"))]
fn tokenizer_json(path: &str) -> Result<Arc<dyn TextCodec>, Fail> {
    Err(Fail::usage(format!(
        "--tokenizer {path}: this fizeau was built without tokenizer files; build it with `--features hf-tokenizer`, or \
         leave --tokenizer out: the server then counts"
    )))
}
