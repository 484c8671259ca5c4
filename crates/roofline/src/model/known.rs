//! Models whose configs are built in.

use super::{Model, ModelConfigError};
use fizeau_core::spelling::edit_distance;

/// A public model whose config comes with this crate.
///
/// The configs hold the fields that decide size and speed, as the named repository on Hugging Face has them. They
/// are data: a config of your own is treated in the same way.
///
/// ```
/// use fizeau_roofline::KnownModel;
///
/// let known = KnownModel::named("Qwen/Qwen3-30B-A3B")?;
/// assert_eq!(known.name, "qwen3-30b-a3b");
/// assert_eq!(known.model()?.parameters().total, 30_532_122_624);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct KnownModel {
    /// The name on the command line.
    pub name: &'static str,
    /// The repository on Hugging Face that the config is from.
    pub repository: &'static str,
    /// Repositories whose configs have the same sizes, context and formats: other training of the same architecture.
    pub aliases: &'static [&'static str],
    /// The text of the config.
    pub config: &'static str,
}

/// A name that no built-in model has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no model is called `{name}` here; known are {known}, and any Hugging Face config.json")]
pub struct UnknownModel {
    name: String,
    known: String,
    /// The known name most like it; empty if none is like it.
    pub nearest: &'static str,
}

impl UnknownModel {
    fn new(name: &str) -> Self {
        let letters = |name: &str| {
            let kept = name.chars().filter(|letter| letter.is_alphanumeric());
            kept.collect::<String>().to_lowercase()
        };
        let wanted = letters(name);
        // A part of a name is the likeliest slip (`llama3`), then one of letters.
        let cost = |known: &&KnownModel| {
            let known = letters(known.name);
            (!known.contains(&wanted), edit_distance(&wanted, &known))
        };
        let is_near = |known: &&KnownModel| {
            let (is_no_part, edits) = cost(known);
            wanted.len() > 2 && (!is_no_part || edits <= 2)
        };
        Self {
            name: name.chars().take(80).collect(),
            known: KNOWN.map(|known| known.name).join(", "),
            nearest: KNOWN.iter().filter(is_near).min_by_key(cost).map_or("", |known| known.name),
        }
    }
}

macro_rules! known {
    ($($name:literal: $repository:literal $(, as $alias:literal)*;)*) => {
        [$(KnownModel {
            name: $name,
            repository: $repository,
            aliases: &[$($alias),*],
            config: include_str!(concat!("../../data/models/", $name, ".json")),
        },)*]
    };
}

static KNOWN: [KnownModel; 18] = known! {
    "deepseek-v3": "deepseek-ai/DeepSeek-V3",
        as "deepseek-ai/DeepSeek-V3-Base",
        as "deepseek-ai/DeepSeek-V3-0324",
        as "deepseek-ai/DeepSeek-V3.1-Base",
        as "deepseek-ai/DeepSeek-V3.1",
        as "deepseek-ai/DeepSeek-V3.1-Terminus",
        as "deepseek-ai/DeepSeek-R1",
        as "deepseek-ai/DeepSeek-R1-0528",
        as "deepseek-ai/DeepSeek-R1-Zero";
    "deepseek-v3.2": "deepseek-ai/DeepSeek-V3.2";
    "gpt-oss-120b": "openai/gpt-oss-120b";
    "gpt-oss-20b": "openai/gpt-oss-20b";
    "kimi-k2": "moonshotai/Kimi-K2-Instruct",
        as "moonshotai/Kimi-K2-Base";
    "llama-3.1-405b": "meta-llama/Llama-3.1-405B",
        as "meta-llama/Llama-3.1-405B-Instruct",
        as "meta-llama/Meta-Llama-3.1-405B",
        as "meta-llama/Meta-Llama-3.1-405B-Instruct";
    "llama-3.1-70b": "meta-llama/Llama-3.1-70B",
        as "meta-llama/Llama-3.1-70B-Instruct",
        as "meta-llama/Meta-Llama-3.1-70B",
        as "meta-llama/Meta-Llama-3.1-70B-Instruct",
        as "meta-llama/Llama-3.3-70B-Instruct";
    "llama-3.1-8b": "meta-llama/Llama-3.1-8B",
        as "meta-llama/Llama-3.1-8B-Instruct",
        as "meta-llama/Meta-Llama-3.1-8B",
        as "meta-llama/Meta-Llama-3.1-8B-Instruct";
    "minimax-m2.5": "MiniMaxAI/MiniMax-M2.5";
    "mixtral-8x7b": "mistralai/Mixtral-8x7B-v0.1",
        as "mistralai/Mixtral-8x7B-Instruct-v0.1";
    "nemotron-3-nano-30b-a3b": "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16";
    "nemotron-h-56b": "nvidia/Nemotron-H-56B-Base-8K";
    "qwen3-0.6b": "Qwen/Qwen3-0.6B";
    "qwen3-235b-a22b": "Qwen/Qwen3-235B-A22B";
    "qwen3-30b-a3b": "Qwen/Qwen3-30B-A3B";
    "qwen3-32b": "Qwen/Qwen3-32B";
    "qwen3-8b": "Qwen/Qwen3-8B";
    "qwen3-next-80b-a3b": "Qwen/Qwen3-Next-80B-A3B-Instruct",
        as "Qwen/Qwen3-Next-80B-A3B-Thinking";
};

impl KnownModel {
    /// All of them, by name.
    #[must_use]
    pub fn all() -> &'static [Self] {
        &KNOWN
    }

    /// The one with this name, as people call it (`llama-3.1-8b`) or as its repository is called
    /// (`meta-llama/Llama-3.1-8B`, with or without the owner), in whatever case; or as one of its
    /// [aliases](Self::aliases) is.
    ///
    /// # Errors
    /// If there is none of that name; the error lists those that there are.
    pub fn named(name: &str) -> Result<&'static Self, UnknownModel> {
        KNOWN.iter().find(|known| known.is_called(name)).ok_or_else(|| UnknownModel::new(name))
    }

    /// Whether two names are certainly of one model: in whatever case, with or without an owner, as people call it or as its
    /// repository is called. Other [training](Self::aliases) of the same architecture is another model, and so may be one of another
    /// owner.
    ///
    /// ```
    /// use fizeau_roofline::KnownModel;
    /// assert!(KnownModel::is_same_model("llama-3.1-8b", "meta-llama/Llama-3.1-8B"));
    /// assert!(KnownModel::is_same_model("kimi-k2", "Kimi-K2-Instruct"));
    /// assert!(!KnownModel::is_same_model("llama-3.1-8b", "meta-llama/Llama-3.1-8B-Instruct"));
    /// ```
    #[must_use]
    pub fn is_same_model(one: &str, other: &str) -> bool {
        let whole = |name| {
            let known = KNOWN.iter().find(|known| known.name.eq_ignore_ascii_case(name));
            known.map_or(name, |known| known.repository)
        };
        let [(owner, one), (other_owner, other)] = [one, other]
            .map(|name| whole(name).rsplit_once('/').unwrap_or_else(|| ("", whole(name))));
        let is_either_unknown = owner.is_empty() || other_owner.is_empty();
        one.eq_ignore_ascii_case(other)
            && (is_either_unknown || owner.eq_ignore_ascii_case(other_owner))
    }

    /// The config, read.
    ///
    /// # Errors
    /// Never for what is built in; the type is that of [`Model::from_config_json`].
    pub fn model(&self) -> Result<Model, ModelConfigError> {
        Model::from_config_json(self.config)
    }

    fn is_called(&self, name: &str) -> bool {
        let repositories = || std::iter::once(&self.repository).chain(self.aliases);
        self.name.eq_ignore_ascii_case(name)
            || repositories().any(|known| known.eq_ignore_ascii_case(name))
            || repositories().map(short_of).any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// A repository without its owner.
fn short_of(repository: &&'static str) -> &'static str {
    repository.rsplit('/').next().unwrap_or_default()
}
