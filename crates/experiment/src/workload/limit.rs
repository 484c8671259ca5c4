//! The most tokens that the model takes.

use fizeau::core::Tokens;
use fizeau::workload::SpecError;

use crate::exit::Fail;

/// A limit, and who says so.
#[derive(Debug, Clone)]
pub(crate) struct Limit {
    pub(crate) tokens: Tokens,
    pub(crate) said_by: &'static str,
    /// Where it is what the cache of a simulated engine holds: its blocks and their tokens.
    pub(crate) cache: Option<(u64, Tokens)>,
}

/// The limit that the command line or the model's config sets.
pub(crate) fn limit(max_model_len: Option<u64>, config: Option<&str>) -> Option<Limit> {
    let flag = max_model_len.map(|tokens| (tokens, "--max-model-len"));
    let config = || config.and_then(positions).map(|tokens| (tokens, "--model-config"));
    let (tokens, said_by) = flag.or_else(config)?;
    Some(Limit { tokens: Tokens::new(tokens), said_by, cache: None })
}

/// `max_position_embeddings` of a model's config, also where the text model has a config of its own.
fn positions(config: &str) -> Option<u64> {
    let config: serde_json::Value = serde_json::from_str(config).ok()?;
    let of = |config: &serde_json::Value| config.get("max_position_embeddings")?.as_u64();
    of(&config).or_else(|| of(config.get("text_config")?))
}

impl Limit {
    /// Why requests of up to `longest` tokens are not sent, in the words of `error` where the model itself is the limit.
    pub(crate) fn refusal(&self, error: &SpecError) -> Fail {
        let (limit, said_by) = (self.tokens, self.said_by);
        let (Some((blocks, block)), SpecError::Context { input, output, longest, .. }) =
            (self.cache, error)
        else {
            return Fail::usage(format!("{error} ({said_by} says so)"));
        };
        let needed = longest.get().div_ceil(block.get().max(1));
        Fail::usage(format!(
            "requests reach {longest} tokens, prompt {input} and output {output}, and the engine's cache of {blocks} blocks of \
             {block} tokens holds {limit}: --num-gpu-blocks {needed} or more would do where memory has room for them, or \
             shorter requests"
        ))
    }

    /// Refuses a record of a file, of `input` and `output` tokens, that is too long for the model; `what` names it.
    pub(crate) fn check(
        &self,
        what: impl FnOnce() -> String,
        input: Tokens,
        output: Tokens,
    ) -> Result<(), Fail> {
        let (limit, said_by) = (self.tokens, self.said_by);
        let total = input + output;
        if total <= limit {
            return Ok(());
        }
        Err(Fail::usage(format!(
            "{}: {input} prompt and {output} output tokens are {total}, and {} {limit} ({said_by}): leave it out of the \
             file",
            what(),
            if self.cache.is_some() { "the engine's cache holds" } else { "the model takes" }
        )))
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
