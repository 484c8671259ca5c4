//! One JSON object a line, in our own fields and vLLM's.

use std::io::BufRead;
use std::sync::Arc;

use fizeau_core::{Message, Prompt, Role};

use super::body::LIMITS;
use super::error::{DatasetError, DatasetLocation, RecordFault, RecordStart, RestOfFile, as_text};
use super::fields::RecordFields;
use super::{Conversation, Dataset};
use crate::parts::Turn;

const EXPECTED: &str = "one JSON object a line, such as {\"prompt\": \"Once upon a time\"}";

impl Dataset {
    /// Reads one JSON object a line. vLLM's `custom` lines, of `prompt` and perhaps `output_tokens`, are such.
    ///
    /// | field | holds |
    /// |---|---|
    /// | `prompt` | plain text |
    /// | `prompt_token_ids` | token ids, in place of `prompt` |
    /// | `messages` | a chat's `{"role", "content"}`, in place of `prompt`; roles are `system`, `user` and `assistant`, contents plain text |
    /// | `turns` | a conversation, in place of `prompt`: a list of objects of these same fields, each with what is new in its turn; several turns cannot be of token ids |
    /// | `output_tokens`, or `max_tokens`, or another name that OpenAI's API has for it | the most tokens to generate, 1 to 16777216 |
    /// | `input_tokens` | how many tokens the server shall see |
    /// | `think_ms` | how long the user thinks before this turn, in milliseconds |
    /// | `text`, with `output_length` and `delay` | AIPerf's names for `prompt`, `output_tokens` and `think_ms`, where no other prompt is there |
    /// | `model` | the model to be asked |
    /// | `extra` | an object of further fields of the body, sent as they stand: `response_format`, `tools` |
    ///
    /// Exactly one of the first four must be there, or AIPerf's `text`. `model` and `extra` beside `turns` hold for all turns that do not name
    /// their own. Fields of other names are not looked at, but one that is nearly such a name is refused. `name` is for messages.
    ///
    /// ```
    /// use fizeau_workload::Dataset;
    /// let lines = r#"{"prompt": "Why is the sky blue?", "output_tokens": 200}
    /// {"turns": [{"prompt": "Name a colour."}, {"prompt": "Another.", "think_ms": 1500}]}"#;
    /// let dataset = Dataset::jsonl("colours.jsonl", lines.as_bytes())?;
    /// assert_eq!(dataset.conversations[1].turns.len(), 2);
    ///
    /// let error = Dataset::jsonl("bad.jsonl", r#"{"prompt": "Hi", "max_tokens": 0}"#.as_bytes()).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "bad.jsonl, line 1: field max_tokens is 0; expected a whole number from 1 to 16777216"
    /// );
    /// # Ok::<(), fizeau_workload::DatasetError>(())
    /// ```
    ///
    /// # Errors
    /// If a line is not such an object, or there is none.
    pub fn jsonl(name: &str, reader: impl BufRead) -> Result<Self, DatasetError> {
        let mut conversations = Vec::new();
        each_line(name, reader, |line| {
            conversations.push(conversation(line)?);
            Ok(())
        })?;
        Self::of(name, conversations, 0)
    }
}

/// The names of the most tokens to generate.
const OUTPUT: [&str; 4] = {
    let [a, b, c] = LIMITS;
    ["output_tokens", a, b, c]
};

/// The other fields of a turn.
const FIELDS: [&str; 4] = ["input_tokens", "think_ms", "model", "extra"];

/// AIPerf's name for a prompt of plain text.
const TEXT: &str = "text";

/// The kinds of prompt that there are.
const KINDS: [&str; 3] = ["prompt", "prompt_token_ids", "messages"];

fn conversation(line: &str) -> Result<Conversation, RecordFault> {
    let fields = RecordFields::of(line, EXPECTED)?;
    if fields.raw("turns").is_none() && kinds(&fields).next().is_none() {
        fields.check_spelling(&["turns"])?;
    }
    let Some(listed) = fields.filled_list("turns")? else { return Ok(turn(&fields)?.into()) };
    fields.check_spelling(&["turns", "model", "extra"])?;
    for name in KINDS.into_iter().chain(OUTPUT).chain(["think_ms"]) {
        if let Some(raw) = fields.raw(name) {
            return Err(RecordFault::unfit(name, raw, "it within turns, where there are turns"));
        }
    }
    let (model, extra) = (model(&fields)?, fields.object("extra")?);
    let several = listed.len() > 1;
    let turns = listed.into_iter().enumerate().map(|(number, json)| {
        let read = RecordFields::of(json, "an object with the fields of a turn")
            .and_then(|fields| turn(&fields))
            .and_then(|turn| match turn.prompt {
                Prompt::TokenIds(_) if several => Err(RecordFault::unfit(
                    "prompt_token_ids",
                    "one of several turns'",
                    "prompt or messages, since replies come as text",
                )),
                _ => Ok(turn),
            });
        let mut turn = read.map_err(|fault| fault.inside(&format!("turns[{number}]")))?;
        turn.model = turn.model.or_else(|| model.clone());
        turn.extra = turn.extra.or_else(|| extra.clone());
        Ok(turn)
    });
    Ok(Conversation { turns: turns.collect::<Result<_, _>>()? })
}

fn turn(fields: &RecordFields<'_>) -> Result<Turn, RecordFault> {
    if kinds(fields).next().is_none() {
        fields.check_spelling(&KINDS)?;
    }
    fields.check_spelling(&OUTPUT)?;
    fields.check_spelling(&FIELDS)?;
    let aiperf = kinds(fields).next().is_none() && fields.raw(TEXT).is_some();
    let (output, think) = match aiperf {
        true => (fields.tokens("output_length")?, fields.millis("delay")?),
        false => (None, None),
    };
    let (prompt, input_tokens) = (prompt(fields)?, fields.tokens("input_tokens")?);
    if let (Prompt::TokenIds(ids), Some(said)) = (&prompt, input_tokens)
        && said.get() != ids.len() as u64
    {
        let expected = format!("{}, as many as prompt_token_ids has", ids.len());
        return Err(RecordFault::unfit("input_tokens", &said.to_string(), expected));
    }
    Ok(Turn {
        prompt,
        input_tokens,
        output_tokens: fields.same_tokens(&OUTPUT)?.or(output),
        think: fields.millis("think_ms")?.or(think),
        model: model(fields)?,
        extra: fields.object("extra")?,
    })
}

fn model(fields: &RecordFields<'_>) -> Result<Option<Arc<str>>, RecordFault> {
    Ok(fields.text("model")?.map(Arc::from))
}

/// The kinds of prompt that are there, as a name and a text.
fn kinds<'a>(fields: &RecordFields<'a>) -> impl Iterator<Item = (&'static str, &'a str)> {
    KINDS.into_iter().filter_map(|kind| Some((kind, fields.raw(kind)?)))
}

fn prompt(fields: &RecordFields<'_>) -> Result<Prompt, RecordFault> {
    let mut kinds = kinds(fields);
    let Some((first, _)) = kinds.next() else {
        if fields.raw(TEXT).is_some() {
            return text(fields, TEXT);
        }
        let expected = match fields.raw("data").is_some() {
            true => {
                "it, or prompt_token_ids, messages or turns; of AIPerf's inputs.json each of data[].payloads[] is the body of a line of \
                 the data set openai-batch"
            }
            false => "it, or prompt_token_ids, messages or turns",
        };
        return Err(RecordFault::missing("prompt", expected));
    };
    if let Some((second, raw)) = kinds.next() {
        return Err(RecordFault::unfit(
            second,
            raw,
            format!("none beside {first}: one prompt a record"),
        ));
    }
    if let Some(ids) = fields.ids("prompt_token_ids")? {
        return Ok(Prompt::TokenIds(ids));
    }
    if let Some(listed) = fields.filled_list("messages")? {
        let messages = listed.into_iter().enumerate().map(|(number, json)| {
            message(json).map_err(|fault| fault.inside(&format!("messages[{number}]")))
        });
        return Ok(Prompt::Chat(messages.collect::<Result<_, _>>()?));
    }
    text(fields, "prompt")
}

/// Plain text in the field of that name.
fn text(fields: &RecordFields<'_>, name: &str) -> Result<Prompt, RecordFault> {
    let text = fields.required_text(name)?;
    if text.is_empty() {
        return Err(RecordFault::unfit(name, "empty", "at least one character"));
    }
    Ok(Prompt::Text(text))
}

fn message(json: &str) -> Result<Message, RecordFault> {
    let fields = RecordFields::of(json, "an object of role and content")?;
    let role = match fields.required_text("role")?.as_str() {
        "assistant" => Role::Assistant,
        "system" => Role::System,
        "user" => Role::User,
        other => {
            const ROLES: &str = "system, user or assistant (a batch file of OpenAI's can have any)";
            return Err(RecordFault::unfit("role", other, ROLES));
        }
    };
    if let Some(parts) = fields.raw("content").filter(|raw| raw.starts_with('[')) {
        const PLAIN: &str = "text (the data set openai-batch takes bodies with lists of parts)";
        return Err(RecordFault::unfit("content", parts, PLAIN));
    }
    Ok(Message { role, content: fields.required_text("content")? })
}

// Files of one record a line.

/// The sign that some editors put at the start of a file of UTF-8.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Shows each line of `reader` that is not blank to `take`. A byte order mark and either kind of line end are fine.
pub(super) fn each_line(
    name: &str,
    mut reader: impl BufRead,
    mut take: impl FnMut(&str) -> Result<(), RecordFault>,
) -> Result<(), DatasetError> {
    let mut buffer = Vec::new();
    let mut location = DatasetLocation { line: 0, record: None };
    loop {
        buffer.clear();
        match reader.read_until(b'\n', &mut buffer) {
            Ok(0) => return Ok(()),
            Ok(_) => location.line += 1,
            Err(source) => return Err(DatasetError::Read { name: name.into(), location, source }),
        }
        let mut bytes = buffer.as_slice();
        if location.line == 1 {
            bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        }
        if bytes.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let rest = match buffer.last() {
            Some(b'\n') => RestOfFile::Something,
            _ => RestOfFile::Nothing,
        };
        let at = RecordStart { name, location, column: 1, rest };
        as_text(bytes).and_then(&mut take).map_err(|fault| fault.at(at))?;
    }
}
