//! Bodies that are given whole: the places within their text that a run has to change.

use std::ops::Range;
use std::sync::Arc;

use fizeau_core::Tokens;

use super::error::Fault;
use super::fields::Fields;

/// The names that bodies have for the most tokens to generate; the first that is there counts.
pub(super) const LIMITS: [&str; 3] = ["max_completion_tokens", "max_tokens", "max_output_tokens"];

const OBJECT: &str = "a JSON object";

/// The most tokens that `body` asks for.
pub(super) fn output_tokens(body: &str) -> Result<Option<Tokens>, Fault> {
    let fields = Fields::of(body, OBJECT)?;
    for name in LIMITS {
        if let Some(tokens) = fields.tokens(name)? {
            return Ok(Some(tokens));
        }
    }
    Ok(None)
}

/// `body`, of `tokens` at most under each name that it has for that.
pub(super) fn with_output(body: &str, tokens: Tokens) -> Option<String> {
    let fields = Fields::of(body, OBJECT).ok()?;
    let mut places: Vec<_> =
        LIMITS.iter().filter_map(|name| place(body, fields.raw(name)?)).collect();
    places.sort_by_key(|place| place.start);
    let mut changed = body.to_owned();
    for place in places.into_iter().rev() {
        changed.replace_range(place, &tokens.get().to_string());
    }
    Some(changed)
}

/// `body` with `line` in front of all that the model reads; none where that is no plain text.
pub(crate) fn with_line(body: &str, line: &str) -> Option<Arc<str>> {
    let inside = opening(body)? + 1;
    let (before, behind) = body.split_at_checked(inside)?;
    let line = serde_json::to_string(line).ok()?;
    let line = line.trim_matches('"');
    Some([before, line, behind].concat().into())
}

/// Where the text begins that the model reads first: its opening quote.
fn opening(body: &str) -> Option<usize> {
    let fields = Fields::of(body, OBJECT).ok()?;
    let message = fields.list("messages").ok().flatten().map(|list| {
        let first = Fields::of(list.first()?, OBJECT).ok()?;
        first.raw("content")
    });
    let text = match message {
        Some(content) => content?,
        None => fields.raw("prompt").or_else(|| fields.raw("input"))?,
    };
    text.starts_with('"').then(|| place(body, text))?.map(|place| place.start)
}

/// Where `part` lies within `whole`, which it was borrowed from.
fn place(whole: &str, part: &str) -> Option<Range<usize>> {
    let start = part.as_ptr().addr().checked_sub(whole.as_ptr().addr())?;
    let place = start..start.checked_add(part.len())?;
    (whole.get(place.clone()) == Some(part)).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_before_what_the_model_reads_first() {
        let line = |body| with_line(body, "a b\n").map(|changed| changed.to_string());
        let cases = [
            (r#"{"prompt": "Hi"}"#, r#"{"prompt": "a b\nHi"}"#),
            (r#"{"input":"x", "n": 1}"#, r#"{"input":"a b\nx", "n": 1}"#),
            (
                r#"{"messages": [{"role": "system", "content": "\u00e9"}, {"content": "y"}]}"#,
                r#"{"messages": [{"role": "system", "content": "a b\n\u00e9"}, {"content": "y"}]}"#,
            ),
            // Of two the last counts.
            (r#"{"prompt": "a", "prompt": "b"}"#, r#"{"prompt": "a", "prompt": "a b\nb"}"#),
        ];
        for (body, salted) in cases {
            assert_eq!(line(body).as_deref(), Some(salted));
        }
        let parts =
            r#"{"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]}"#;
        for none in [parts, r#"{"prompt": [1, 2]}"#, r#"{"messages": []}"#, "{}", "[", ""] {
            assert_eq!(line(none), None, "{none}");
        }
    }

    #[test]
    fn each_name_of_the_length_is_set_where_the_body_has_one() {
        let set = |body| with_output(body, Tokens::new(7));
        assert_eq!(
            set(r#"{"max_tokens": 200, "prompt": "x", "max_completion_tokens":1}"#).as_deref(),
            Some(r#"{"max_tokens": 7, "prompt": "x", "max_completion_tokens":7}"#)
        );
        assert_eq!(set(r#"{"max_tokens": null}"#).as_deref(), Some(r#"{"max_tokens": null}"#));
    }
}
