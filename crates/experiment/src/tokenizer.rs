//! A tokenizer of the client's own, by name or by path.

use std::convert::Infallible;
use std::ffi::OsString;
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
    /// That of a model on the Hugging Face Hub, as a cache of the Hub has it. Behind the feature `hf-tokenizer`.
    Cached {
        /// What the Hub calls the model: `ORG/NAME`.
        model: String,
        /// The folder of the cache.
        cache: PathBuf,
    },
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
            Self::Cached { model, .. } => f.write_str(model),
        }
    }
}

impl TokenizerSpec {
    /// `tiktoken:NAME`, a path, or what the Hugging Face Hub calls a model, to be found in the folder `cache`: what is there as a path is one.
    #[must_use]
    pub fn found(text: &str, variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let Ok(spec) = text.parse::<Self>();
        match (spec, hub_cache(variable)) {
            (Self::File(path), Some(cache)) if !path.exists() && is_on_hub(text) => {
                Self::Cached { model: text.to_owned(), cache }
            }
            (spec, _) => spec,
        }
    }

    /// The tokenizer. Its file is read.
    ///
    /// # Errors
    /// If there is none, or this build cannot read such.
    pub fn load(&self) -> Result<Arc<dyn TextCodec>, InputError> {
        match self {
            Self::Tiktoken(name) => self.tiktoken(name),
            Self::File(path) => self.tokenizer_json(path),
            Self::Cached { model, cache } => match cached(cache, model) {
                Some(path) => self.tokenizer_json(&path),
                None => Err(self.not_cached(model, cache)),
            },
        }
    }

    fn not_cached(&self, model: &str, cache: &Path) -> InputError {
        let why = format!(
            "there is no such path, and the cache of the Hugging Face Hub ({}) has no tokenizer.json of such a model; \
             `hf download {model} tokenizer.json` puts it there",
            cache.display()
        );
        InputError::new(InputField::Tokenizer, why).given(self)
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

/// Where the Hub's files are kept, as its own tools find that.
fn hub_cache(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let folder = |name| variable(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    folder("HF_HUB_CACHE")
        .or_else(|| folder("HF_HOME").map(|home| home.join("hub")))
        .or_else(|| folder("HOME").map(|home| home.join(".cache/huggingface/hub")))
}

/// Whether a text may be what the Hub calls a model: one or two parts of letters, digits, hyphens, underscores and full stops, and no name of
/// a file of JSON.
fn is_on_hub(text: &str) -> bool {
    let parts: Vec<&str> = text.split('/').collect();
    let is_part = |part: &&str| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        !part.is_empty() && !part.starts_with('.') && part.chars().all(is_plain)
    };
    parts.len() <= 2 && parts.iter().all(is_part) && !text.ends_with(".json")
}

/// The `tokenizer.json` of `model` in the folder `cache`, of the revision that its branch `main` has; none if it was never loaded. The layout
/// is described at <https://huggingface.co/docs/hub/local-cache>.
fn cached(cache: &Path, model: &str) -> Option<PathBuf> {
    let folder = cache.join(format!("models--{}", model.replace('/', "--")));
    let revision = std::fs::read_to_string(folder.join("refs/main")).ok()?;
    let file = folder.join("snapshots").join(revision.trim()).join("tokenizer.json");
    file.is_file().then_some(file)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{TokenizerSpec, cached, is_on_hub};

    #[test]
    fn names_of_the_hub_are_told_from_paths() {
        for name in ["meta-llama/Llama-3.1-8B", "gpt2"] {
            assert!(is_on_hub(name), "{name}");
        }
        for path in ["a/b/c", "./a", "/a/b", "tokenizer.json", "a/b.json", "", "a/", "C:\\a"] {
            assert!(!is_on_hub(path), "{path}");
        }
    }

    #[test]
    fn a_cached_tokenizer_is_that_of_the_main_branch() {
        let cache = std::env::temp_dir().join(format!("fizeau-hub-{}", std::process::id()));
        let model = cache.join("models--meta-llama--Llama-3.1-8B");
        let snapshot = model.join("snapshots/0e9e39f");
        fs::create_dir_all(&snapshot).unwrap();
        fs::create_dir_all(model.join("refs")).unwrap();
        let found = || cached(&cache, "meta-llama/Llama-3.1-8B");
        assert_eq!(found(), None);
        fs::write(model.join("refs/main"), "0e9e39f").unwrap();
        assert_eq!(found(), None);
        fs::write(snapshot.join("tokenizer.json"), "{}").unwrap();
        assert_eq!(found(), Some(snapshot.join("tokenizer.json")));
        assert_eq!(cached(&cache, "meta-llama/Llama-3.1-70B"), None);
        fs::remove_dir_all(&cache).unwrap();
    }

    #[test]
    fn what_is_not_cached_says_how_to_load_it() {
        let home = |name: &str| (name == "HOME").then(|| "no/such/home".into());
        let spec = TokenizerSpec::found("meta-llama/Llama-3.1-8B", home);
        assert_eq!(spec.to_string(), "meta-llama/Llama-3.1-8B");
        let Err(error) = spec.load() else { panic!("{spec:?}") };
        let told = "`hf download meta-llama/Llama-3.1-8B tokenizer.json` puts it there";
        assert!(error.to_string().contains(told), "{error}");
    }
}
