//! The most tokens that the model takes.

use fizeau_core::Tokens;
use fizeau_workload::SpecError;

use super::WorkloadSpec;
use crate::hint::{InputHint, LimitSource};
use crate::input::{InputError, InputField};

/// A limit, and who says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextLimit {
    /// The most tokens, prompt and output together.
    pub tokens: Tokens,
    /// Who says so.
    pub said_by: LimitSource,
    /// Where it is what the cache of a simulated engine holds.
    pub cache: Option<CacheBlocks>,
}

/// The cache of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheBlocks {
    /// How many blocks it has.
    pub blocks: u64,
    /// The tokens of each.
    pub block: Tokens,
}

impl WorkloadSpec {
    /// The limit that was given, or that the model's `config` sets.
    pub fn context_limit(&self, config: Option<&str>) -> Option<ContextLimit> {
        let given = self.max_context.map(|tokens| ContextLimit::new(tokens, LimitSource::Given));
        let of_config = |tokens| ContextLimit::new(Tokens::new(tokens), LimitSource::ModelConfig);
        given.or_else(|| config.and_then(positions).map(of_config))
    }
}

/// `max_position_embeddings` of a model's config, also where the text model has a config of its own.
fn positions(config: &str) -> Option<u64> {
    let config: serde_json::Value = serde_json::from_str(config).ok()?;
    let of = |config: &serde_json::Value| config.get("max_position_embeddings")?.as_u64();
    of(&config).or_else(|| of(config.get("text_config")?))
}

impl ContextLimit {
    /// That `said_by` takes no more than `tokens`.
    pub const fn new(tokens: Tokens, said_by: LimitSource) -> Self {
        Self { tokens, said_by, cache: None }
    }

    /// The same, since that is what a cache holds.
    #[must_use]
    pub fn with_cache(self, cache: Option<CacheBlocks>) -> Self {
        Self { cache, ..self }
    }

    /// Why requests of up to `longest` tokens are not sent, in the words of `error` where the model itself is the limit.
    pub(super) fn refusal(&self, error: &SpecError) -> InputError {
        let limit = self.tokens;
        let (Some(cache), SpecError::Context { input, output, longest, .. }) = (self.cache, error)
        else {
            return InputError::new(InputField::Workload, error)
                .hint(InputHint::SaidBy(self.said_by));
        };
        let CacheBlocks { blocks, block } = cache;
        let needed = longest.get().div_ceil(block.get().max(1));
        let message = format!(
            "requests reach {longest} tokens, prompt {input} and output {output}, and the engine's cache of {blocks} blocks of \
             {block} tokens holds {limit}"
        );
        InputError::new(InputField::Workload, message).hint(InputHint::CacheBlocks { needed })
    }

    /// Refuses a request of `input` and `output` tokens that is too long for the model, as `refused` has it.
    pub(crate) fn check(
        &self,
        input: Tokens,
        output: Tokens,
        refused: impl FnOnce(String) -> InputError,
    ) -> Result<(), InputError> {
        let (limit, total) = (self.tokens, input + output);
        if total <= limit {
            return Ok(());
        }
        let holds =
            if self.cache.is_some() { "the engine's cache holds" } else { "the model takes" };
        let message =
            format!("{input} prompt and {output} output tokens are {total}, and {holds} {limit}");
        Err(refused(message).hint(InputHint::LeaveOut(self.said_by)))
    }
}

#[cfg(test)]
mod tests {
    use super::positions;

    #[test]
    fn a_config_says_its_limit_at_the_top_or_in_its_text_part() {
        assert_eq!(positions(r#"{"max_position_embeddings": 131072}"#), Some(131_072));
        let nested = r#"{"text_config": {"max_position_embeddings": 8192}}"#;
        assert_eq!(positions(nested), Some(8_192));
        assert_eq!(positions(r#"{"hidden_size": 1}"#), None);
        assert_eq!(positions("no json"), None);
    }
}
