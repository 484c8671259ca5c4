//! Bodies that are given whole: the places within their text that a run has to change.

use std::io::BufRead;
use std::ops::Range;
use std::sync::Arc;

use fizeau_core::{Prompt, Tokens};

use super::Dataset;
use super::error::{DatasetError, RecordFault};
use super::fields::RecordFields;
use super::jsonl::each_line;
use crate::parts::Turn;

/// The names that bodies have for the most tokens to generate; the first that is there counts.
pub(super) const LIMITS: [&str; 3] = ["max_completion_tokens", "max_tokens", "max_output_tokens"];

const OBJECT: &str = "a JSON object";

/// The most tokens that `body` asks for.
pub(super) fn output_tokens(body: &str) -> Result<Option<Tokens>, RecordFault> {
    let fields = RecordFields::of(body, OBJECT)?;
    for name in LIMITS {
        if let Some(tokens) = fields.tokens(name)? {
            return Ok(Some(tokens));
        }
    }
    Ok(None)
}

/// `body`, of `tokens` at most under each name that it has for that.
pub(super) fn with_output(body: &str, tokens: Tokens) -> Option<String> {
    let fields = RecordFields::of(body, OBJECT).ok()?;
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
    let fields = RecordFields::of(body, OBJECT).ok()?;
    let message = fields.list("messages").ok().flatten().map(|list| {
        let first = RecordFields::of(list.first()?, OBJECT).ok()?;
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

// Batch files of OpenAI's API.

const EXPECTED: &str = "one JSON object a line, such as {\"custom_id\": \"1\", \"url\": \"/v1/chat/completions\", \"body\": {...}}";

impl Dataset {
    /// Reads a batch file of OpenAI's API: lines of `{"custom_id", "method", "url", "body"}`.
    ///
    /// Each body goes out as it stands, tools and response formats too, but for what a transport has to set: the model of the
    /// run, and streaming; and, unless the salt is [`crate::Salt::NONE`], for a line of words in front of its first text. The most tokens to generate are its `max_completion_tokens`, `max_tokens` or
    /// `max_output_tokens`, the first that is there. Where it goes is for the run to say, not for `url`; all lines must have
    /// the same, as OpenAI asks too. `method` must be POST where it is given, and `custom_id` is not looked at.
    ///
    /// The format: the guide "Batch API" in OpenAI's public documentation.
    ///
    /// # Errors
    /// If a line is not such an object, or there is none.
    pub fn openai_batch(name: &str, reader: impl BufRead) -> Result<Self, DatasetError> {
        let mut conversations = Vec::new();
        let mut route = None;
        each_line(name, reader, |line| {
            let fields = RecordFields::of(line, EXPECTED)?;
            check_method(&fields)?;
            check_url(&fields, &mut route)?;
            conversations.push(turn(&fields)?.into());
            Ok(())
        })?;
        Self::of(name, conversations, 0)
    }
}

fn check_method(fields: &RecordFields<'_>) -> Result<(), RecordFault> {
    match fields.text("method")? {
        Some(method) if method != "POST" => Err(RecordFault::unfit("method", &method, "POST")),
        _ => Ok(()),
    }
}

/// Holds the line's `url` against that of the first line that has one.
fn check_url(fields: &RecordFields<'_>, route: &mut Option<String>) -> Result<(), RecordFault> {
    let Some(url) = fields.text("url")? else { return Ok(()) };
    let route = route.get_or_insert_with(|| url.clone());
    if *route == url {
        return Ok(());
    }
    Err(RecordFault::unfit(
        "url",
        &url,
        format!("{route}, as on the lines before: one route a file"),
    ))
}

fn turn(fields: &RecordFields<'_>) -> Result<Turn, RecordFault> {
    let body = fields.object("body")?;
    let body: Arc<str> =
        body.ok_or_else(|| RecordFault::missing("body", "the body of the request, an object"))?;
    let output_tokens = output_tokens(&body).map_err(|fault| fault.inside("body"))?;
    Ok(Turn { output_tokens, ..Turn::new(Prompt::Body(body)) })
}
