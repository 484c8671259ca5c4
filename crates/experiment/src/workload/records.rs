//! The records of a data set compared with what they are sent to.

use fizeau_core::{Message, Prompt, Request, RequestId, Role, TokenCounter, Tokens};
use fizeau_transport::{PromptKind, Route, Target};
use fizeau_workload::{PlanSpec, PromptContent, PromptForm, Salt, TextCodec, Turn};
use serde_json::Value;

use super::describe::output_law;
use super::{ContextLimit, PlanParts};
use crate::hint::InputHint;
use crate::input::{ExperimentError, InputError, InputField};

impl PlanParts {
    /// Refuses records that cannot be sent to `target`, before any is sent.
    ///
    /// # Errors
    /// Which record is the first that cannot.
    pub(crate) fn check_sendable(&self, target: &Target) -> Result<(), InputError> {
        let (PromptContent::Dataset { form, .. }, Some(dataset)) =
            (&self.spec.content, &self.dataset)
        else {
            return Ok(());
        };
        for (number, conversation) in (1_u64..).zip(&dataset.conversations) {
            for turn in &conversation.turns {
                if let Some((wrong, hint)) = unsendable(turn, *form, target) {
                    let message = format!("{}, record {number} {wrong}", dataset.name);
                    let error = InputError::new(InputField::DatasetPath, message);
                    return Err(match hint {
                        Some(hint) => error.hint(hint),
                        None => error,
                    });
                }
            }
        }
        Ok(())
    }

    /// Which records are not sent, or not with a salt, in words.
    pub(super) fn left_out(&self) -> Option<String> {
        let dataset = self.dataset.as_ref()?;
        let dropped = (dataset.dropped > 0).then(|| {
            let of = dataset.dropped + dataset.conversations.len() as u64;
            let are = if dataset.dropped == 1 { "is" } else { "are" };
            format!(
                "{} of {of} records {are} left out, as vLLM does: no prompt and reply in `conversations`, or too short \
                 or too long",
                dataset.dropped
            )
        });
        let unsalted = if self.spec.salt == Salt::NONE { 0 } else { dataset.unsalted() };
        let unsalted = (unsalted > 0).then(|| {
            format!(
                "{unsalted} bodies do not begin with plain text and are sent as they are, the \
                 same in every run"
            )
        });
        let parts: Vec<String> = dropped.into_iter().chain(unsalted).collect();
        (!parts.is_empty()).then(|| format!("{}: {}", dataset.name, parts.join("; ")))
    }

    /// That records without a length of their own all ask for the same, in words.
    pub(super) fn of_one_length(&self) -> Option<String> {
        let dataset = self.dataset.as_ref()?;
        let turns = || dataset.conversations.iter().flat_map(|conversation| &conversation.turns);
        let untold = turns().filter(|turn| turn.output_tokens.is_none()).count();
        let is_given = self.file.as_ref().is_some_and(|file| file.output_tokens.is_some());
        let counts = match &self.tokenizer {
            None => {
                " (a record may give output_tokens, and a tokenizer counts the replies of ShareGPT)"
            }
            Some(_) => "",
        };
        (untold > 0 && !is_given).then(|| {
            format!(
                "{}: {untold} of {} requests have no output length of their own, so that {} tokens are requested{counts}",
                dataset.name,
                turns().count(),
                output_law(&self.spec.lengths)
            )
        })
    }

    /// What was asked, and what the data set has.
    pub(super) fn record(&self) -> Result<Value, ExperimentError> {
        let mut record = serde_json::to_value(&self.spec).map_err(ExperimentError::broken)?;
        if let (Some(fields), Some(dataset)) = (record.as_object_mut(), &self.dataset) {
            fields.insert("records".to_owned(), dataset.conversations.len().into());
            fields.insert("dropped".to_owned(), dataset.dropped.into());
            let file = serde_json::to_value(&self.file).map_err(ExperimentError::broken)?;
            fields.insert("dataset".to_owned(), file);
        }
        Ok(record)
    }
}

/// Why `turn` cannot be sent, as words behind its number, and what to do about it.
fn unsendable(
    turn: &Turn,
    form: PromptForm,
    target: &Target,
) -> Option<(String, Option<InputHint>)> {
    let (kind, what) = match (&turn.prompt, form) {
        (Prompt::Body(_), _) => (PromptKind::Body, "a whole body"),
        (Prompt::Chat(_), _) | (Prompt::Text(_), PromptForm::Chat) => {
            (PromptKind::Chat, "chat messages")
        }
        (Prompt::Text(_), _) => (PromptKind::Text, "text"),
        (Prompt::TokenIds(_), _) => (PromptKind::TokenIds, "token ids"),
    };
    if !target.route().takes(kind) {
        let url = target.url();
        let why = format!("has {what}, which {url} does not take");
        let another = Route::ALL.into_iter().find(|route| route.takes(kind));
        let hint = |route: Route| InputHint::AnotherRecordRoute { path: route.default_path("") };
        return Some((why, another.map(hint)));
    }
    let is_plain = turn.extra.is_none() && turn.model.is_none();
    if is_plain && matches!(turn.prompt, Prompt::Text(_)) {
        return None;
    }
    let prompt = match (&turn.prompt, form) {
        (Prompt::Text(text), PromptForm::Chat) => {
            Prompt::Chat(vec![Message { role: Role::User, content: text.clone() }])
        }
        (prompt, _) => prompt.clone(),
    };
    let request = Request {
        model: turn.model.clone(),
        extra: turn.extra.clone(),
        ..Request::new(RequestId(0), prompt, turn.output_tokens.unwrap_or(Tokens::new(1)))
    };
    target.check(&request).err().map(|error| (format!("cannot be sent: {error}"), None))
}

/// Refuses the first record that is longer than `limit`, as far as its lengths are known or a tokenizer counts them. The
/// turns of a conversation add up. All records are looked at: warm-up takes those that the measured part leaves.
pub(super) fn check_limit(
    spec: &PlanSpec,
    parts: &PlanParts,
    limit: &ContextLimit,
) -> Result<(), InputError> {
    let Some(dataset) = &parts.dataset else { return Ok(()) };
    let law = spec.lengths.longest().output;
    let codec = parts.tokenizer.as_deref();
    for (number, conversation) in (1_u64..).zip(&dataset.conversations) {
        let (mut input, mut output) = (Tokens::ZERO, Tokens::ZERO);
        for turn in &conversation.turns {
            input += turn.input_tokens.unwrap_or_else(|| count(&turn.prompt, codec));
            if spec.salt != Salt::NONE && matches!(turn.prompt, Prompt::TokenIds(_)) {
                input += SALT_IDS;
            }
            output += turn.output_tokens.unwrap_or(law);
        }
        limit.check(input, output, |message| {
            let message = format!("{}, record {number}: {message}", dataset.name);
            InputError::new(InputField::Workload, message)
        })?;
    }
    Ok(())
}

/// How many ids a salt has at least.
const SALT_IDS: Tokens = Tokens::new(8);

/// How many tokens `prompt` has at least.
fn count(prompt: &Prompt, codec: Option<&dyn TextCodec>) -> Tokens {
    let of = |text: &str| codec.and_then(|codec| codec.count(text).ok()).unwrap_or_default();
    match prompt {
        Prompt::TokenIds(ids) => Tokens::new(ids.len() as u64),
        Prompt::Text(text) => of(text),
        Prompt::Chat(messages) => {
            messages.iter().map(|message| of(&message.content)).fold(Tokens::ZERO, |a, b| a + b)
        }
        Prompt::Body(_) => Tokens::ZERO,
    }
}
