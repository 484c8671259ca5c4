//! The most tokens that the model takes.

use fizeau::core::Tokens;

use crate::exit::Fail;

/// A limit, and who says so.
#[derive(Debug, Clone)]
pub(crate) struct Limit {
    pub(crate) tokens: Tokens,
    pub(crate) said_by: &'static str,
}

/// The limit that the command line or the model's config sets.
pub(crate) fn limit(max_model_len: Option<u64>, config: Option<&str>) -> Option<Limit> {
    let flag = max_model_len.map(|tokens| (tokens, "--max-model-len"));
    let config = || config.and_then(positions).map(|tokens| (tokens, "--model-config"));
    let (tokens, said_by) = flag.or_else(config)?;
    Some(Limit { tokens: Tokens::new(tokens), said_by })
}

/// `max_position_embeddings` of a model's config, also where the text model has a config of its own.
fn positions(config: &str) -> Option<u64> {
    let config: serde_json::Value = serde_json::from_str(config).ok()?;
    let of = |config: &serde_json::Value| config.get("max_position_embeddings")?.as_u64();
    of(&config).or_else(|| of(config.get("text_config")?))
}

impl Limit {
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
            "{}: {input} prompt and {output} output tokens are {total}, and the model takes {limit} ({said_by}): leave \
             it out of the file",
            what()
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
