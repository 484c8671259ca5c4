//! The prompts of a plan that come from a data set.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use fizeau_core::{Message, Prompt, Role, SessionId, TokenCounter, Tokens};

use super::draw::{SymbolSource, digits_of};
use super::user_message;
use crate::codec::TextCodec;
use crate::content::{PromptContent, PromptForm, RecordOrder, RecordReuse};
use crate::dataset::{Conversation, Dataset, with_line};
use crate::parts::{ContentSource, RequestPhase, RequestPosition, Turn};
use crate::seed::{Salt, Seed, StreamPurpose};
use crate::spec::{PlanSpec, SpecError};

/// The records of a data set as the prompts of a plan.
///
/// The measured part takes them from the front of the order, warm-up from its far end, so that the two meet only where
/// there are too few records for both.
pub(crate) struct DatasetContent {
    dataset: Arc<Dataset>,
    form: PromptForm,
    /// The numbers of the records in the order in which they are taken; none where that is the file's own.
    order: Option<Vec<usize>>,
    /// Whether records have turns of their own: then each is a session, else each a request.
    conversations: bool,
    salted: bool,
    /// The ids that records of ids are made of, where these are salted: others may not be in the vocabulary.
    ids: Vec<u32>,
    tokenizer: Option<Arc<dyn TextCodec>>,
}

/// How often a plan has to reuse the records of a data set that is too small for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatasetReuse {
    /// How many records the data set has.
    pub records: u64,
    /// How many the plan takes, each counted as often as it is taken.
    pub wanted: u64,
}

impl fmt::Display for DatasetReuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { records, wanted } = self;
        let most = wanted.div_ceil((*records).max(1));
        write!(
            f,
            "{wanted} records are asked for and the data set has {records}: each is used up to {most} times"
        )
    }
}

impl fmt::Debug for DatasetContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the records: they fill megabytes.
        f.debug_struct("DatasetContent").field("name", &self.dataset.name).finish_non_exhaustive()
    }
}

impl DatasetContent {
    /// `dataset` as the content that `spec` asks for, and how often it is gone through where its records are too few.
    pub(crate) fn new(
        spec: &PlanSpec,
        dataset: Arc<Dataset>,
        tokenizer: Option<Arc<dyn TextCodec>>,
    ) -> Result<(Self, Option<DatasetReuse>), SpecError> {
        let PromptContent::Dataset { form, order, repeat } = spec.content else {
            return Err(SpecError::NoDataset);
        };
        if let Some(why) = unfit(spec, &dataset, form, tokenizer.is_some()) {
            return Err(SpecError::Dataset { name: dataset.name.clone(), why });
        }
        let order = match order {
            RecordOrder::AsGiven => None,
            RecordOrder::Shuffled => Some(shuffled(dataset.conversations.len(), spec.seed)),
        };
        let conversations = dataset.conversations.iter().any(|record| record.turns.len() > 1);
        let salted = spec.salt != Salt::NONE;
        let ids = if salted { ids_of(&dataset) } else { Vec::new() };
        let made = Self { dataset, form, order, conversations, salted, ids, tokenizer };
        made.try_tokenizer()?;
        let (records, wanted) = (made.records(), made.wanted(spec.requests.get()));
        match repeat {
            _ if wanted <= records => Ok((made, None)),
            RecordReuse::Allowed => Ok((made, Some(DatasetReuse { records, wanted }))),
            RecordReuse::Refused => {
                let name = made.dataset.name.clone();
                Err(SpecError::TooFewRecords { name, records, wanted })
            }
        }
    }

    fn records(&self) -> u64 {
        self.dataset.conversations.len() as u64
    }

    /// How many records `requests` requests take, each counted as often as it is taken.
    fn wanted(&self, requests: u64) -> u64 {
        if !self.conversations {
            return requests;
        }
        let turns = |record| self.record(record).map_or(1, |found| found.turns.len() as u64);
        let round: u64 = (0..self.records()).map(turns).sum();
        let (mut left, mut wanted) = (requests % round, requests / round * self.records());
        while left > 0 {
            left = left.saturating_sub(turns(wanted));
            wanted += 1;
        }
        wanted
    }

    /// The record that is the `number`-th to be taken.
    fn record(&self, number: u64) -> Option<&Conversation> {
        let slot = usize::try_from(number % self.records().max(1)).ok()?;
        let index = self.order.as_ref().map_or(Some(slot), |order| order.get(slot).copied())?;
        self.dataset.conversations.get(index)
    }

    fn turn(&self, place: &RequestPosition) -> Option<&Turn> {
        let number = if self.conversations { place.session.0 } else { place.request.0 };
        let number = match place.phase {
            RequestPhase::Measured => number,
            RequestPhase::Warmup => self.records() - 1 - number % self.records().max(1),
        };
        let turns = &self.record(number)?.turns;
        // Past the end of a plan a turn may be asked for that the record does not have.
        turns.get(place.turn as usize % turns.len().max(1))
    }

    /// A tokenizer that fails is found out before anything is sent.
    fn try_tokenizer(&self) -> Result<(), SpecError> {
        let first = self.record(0).and_then(|record| record.turns.first());
        let Some(codec) = &self.tokenizer else { return Ok(()) };
        match first.map(|turn| &turn.prompt) {
            Some(Prompt::Text(text)) => {
                codec.encode(text).map(|_| ()).map_err(SpecError::Tokenizer)
            }
            _ => Ok(()),
        }
    }

    /// Plain text in the form that is asked for.
    fn formed(&self, text: String, known: Option<Tokens>) -> (Prompt, Option<Tokens>) {
        match (self.form, &self.tokenizer) {
            // The server's template adds some.
            (PromptForm::Chat, _) => (user_message(text), known),
            (PromptForm::TokenIds, Some(codec)) => match codec.encode(&text) {
                Ok(ids) => {
                    let tokens = Tokens::new(ids.len() as u64);
                    (Prompt::TokenIds(ids), Some(tokens))
                }
                Err(_) => (Prompt::Text(text), None),
            },
            (PromptForm::Text | PromptForm::TokenIds, codec) => {
                let counted = || codec.as_ref().and_then(|codec| codec.count(&text).ok());
                let tokens = known.or_else(counted);
                (Prompt::Text(text), tokens)
            }
        }
    }

    /// What is said at `place`, and how many tokens it has.
    fn prompt(&self, place: &RequestPosition, turn: &Turn) -> (Prompt, Option<Tokens>) {
        let line = (self.salted && place.turn == 0).then(|| salt_line(place));
        let known = turn.input_tokens.filter(|_| line.is_none());
        match &turn.prompt {
            Prompt::Text(text) => self.formed(format!("{}{text}", line.unwrap_or_default()), known),
            Prompt::Chat(messages) => (Prompt::Chat(salted(messages, line)), known),
            Prompt::TokenIds(ids) => {
                let mut all = self.salt_ids(place);
                all.extend_from_slice(ids);
                let tokens = Tokens::new(all.len() as u64);
                (Prompt::TokenIds(all), Some(tokens))
            }
            Prompt::Body(body) => match line.and_then(|line| with_line(body, &line)) {
                Some(body) => (Prompt::Body(body), known),
                None => (turn.prompt.clone(), turn.input_tokens),
            },
        }
    }

    /// Ids that no other place of the plan begins with, nor, for another salt, of another run's.
    fn salt_ids(&self, place: &RequestPosition) -> Vec<u32> {
        if self.ids.len() < 2 {
            return Vec::new();
        }
        let digits = digits_of(0, self.ids.len() as u64).count();
        let symbols = salt_draw(place, digits.max(SALT)).symbols(self.ids.len());
        symbols.iter().filter_map(|&symbol| self.ids.get(symbol as usize).copied()).collect()
    }
}

impl ContentSource for DatasetContent {
    fn content(&self, place: &RequestPosition) -> Turn {
        let Some(turn) = self.turn(place) else {
            // Not to be reached: each record was seen to have a turn.
            return Turn::new(Prompt::Text(String::new()));
        };
        let (prompt, input_tokens) = self.prompt(place, turn);
        Turn {
            prompt,
            input_tokens,
            output_tokens: turn.output_tokens,
            think: turn.think,
            model: turn.model.clone(),
            extra: turn.extra.clone(),
        }
    }

    fn turns(&self, number: SessionId) -> Option<u32> {
        let record = self.record(number.0).filter(|_| self.conversations)?;
        u32::try_from(record.turns.len()).ok()
    }
}

/// Why `dataset` cannot be what `spec` asks for.
fn unfit(
    spec: &PlanSpec,
    dataset: &Dataset,
    form: PromptForm,
    tokenizer: bool,
) -> Option<&'static str> {
    let records = &dataset.conversations;
    let several = spec.sessions.is_some_and(|sessions| sessions.turns.most().get() > 1);
    let any = |test: fn(&Prompt) -> bool| {
        records.iter().flat_map(|record| &record.turns).any(|turn| test(&turn.prompt))
    };
    let of_both_kinds =
        any(|it| matches!(it, Prompt::Chat(_))) && any(|it| matches!(it, Prompt::Text(_)));
    let continued = records.iter().filter(|record| several || record.turns.len() > 1);
    let mixed = |record: &Conversation| {
        let chats = record.turns.iter().filter(|turn| matches!(turn.prompt, Prompt::Chat(_)));
        let chats = chats.count();
        form != PromptForm::Chat && chats > 0 && chats < record.turns.len()
    };
    if records.is_empty() {
        Some("it has no records")
    } else if records.iter().any(|record| record.turns.is_empty()) {
        Some("a record has no turns")
    } else if spec.prefix.tokens() > Tokens::ZERO {
        Some("a shared prefix cannot be put before records")
    } else if form == PromptForm::TokenIds && !tokenizer && any(|it| matches!(it, Prompt::Text(_)))
    {
        Some("sending its text as token ids needs a tokenizer")
    } else if continued.clone().flat_map(|record| &record.turns).any(|turn| {
        matches!(turn.prompt, Prompt::Body(_) | Prompt::TokenIds(_)) || form == PromptForm::TokenIds
    }) {
        Some("a conversation cannot be carried on in token ids or whole bodies: replies are text")
    } else if records.iter().any(mixed) || (several && form != PromptForm::Chat && of_both_kinds) {
        Some("a conversation that is partly messages and partly text can be sent as a chat only")
    } else {
        None
    }
}

/// The numbers below `len` in an order that follows from `seed`.
fn shuffled(len: usize, seed: Seed) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    seed.stream(StreamPurpose::Shuffle, 0).shuffle(&mut order);
    order
}

/// All ids in the records of `dataset`, each once.
fn ids_of(dataset: &Dataset) -> Vec<u32> {
    let turns = dataset.conversations.iter().flat_map(|record| &record.turns);
    let ids = turns.filter_map(|turn| match &turn.prompt {
        Prompt::TokenIds(ids) => Some(ids),
        _ => None,
    });
    ids.flatten().copied().collect::<BTreeSet<_>>().into_iter().collect()
}

/// How many words or ids a salt has at least.
const SALT: usize = 8;

/// A line of words that no other place of the plan has, nor, for another salt, of another run's.
fn salt_line(place: &RequestPosition) -> String {
    salt_draw(place, SALT).words() + "\n"
}

fn salt_draw(place: &RequestPosition, len: usize) -> SymbolSource {
    let (prefix_len, len) = (Tokens::ZERO, Tokens::new(len as u64));
    SymbolSource { seed: place.seed, index: place.key(), prefix: 0, prefix_len, len }
}

/// `messages`, the first with `line` in front.
fn salted(messages: &[Message], line: Option<String>) -> Vec<Message> {
    let mut messages = messages.to_vec();
    match (line, messages.first_mut()) {
        (Some(line), Some(first)) => first.content.insert_str(0, &line),
        (Some(line), None) => messages.push(Message { role: Role::User, content: line }),
        (None, _) => {}
    }
    messages
}
