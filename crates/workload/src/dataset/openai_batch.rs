//! Batch files of OpenAI's API.

use std::io::BufRead;
use std::sync::Arc;

use fizeau_core::Prompt;

use super::Dataset;
use super::body::output_tokens;
use super::error::{DatasetError, Fault};
use super::fields::Fields;
use super::lines::each_line;
use crate::parts::Turn;

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
            let fields = Fields::of(line, EXPECTED)?;
            check_method(&fields)?;
            check_url(&fields, &mut route)?;
            conversations.push(turn(&fields)?.into());
            Ok(())
        })?;
        Self::of(name, conversations, 0)
    }
}

fn check_method(fields: &Fields<'_>) -> Result<(), Fault> {
    match fields.text("method")? {
        Some(method) if method != "POST" => Err(Fault::unfit("method", &method, "POST")),
        _ => Ok(()),
    }
}

/// Holds the line's `url` against that of the first line that has one.
fn check_url(fields: &Fields<'_>, route: &mut Option<String>) -> Result<(), Fault> {
    let Some(url) = fields.text("url")? else { return Ok(()) };
    let route = route.get_or_insert_with(|| url.clone());
    if *route == url {
        return Ok(());
    }
    Err(Fault::unfit("url", &url, format!("{route}, as on the lines before: one route a file")))
}

fn turn(fields: &Fields<'_>) -> Result<Turn, Fault> {
    let body = fields.object("body")?;
    let body: Arc<str> =
        body.ok_or_else(|| Fault::missing("body", "the body of the request, an object"))?;
    let output_tokens = output_tokens(&body).map_err(|fault| fault.inside("body"))?;
    Ok(Turn { output_tokens, ..Turn::new(Prompt::Body(body)) })
}
