//! Faults in what events say.

use serde_json::{Value, json};

use super::AssignedFaults;
use super::event::StreamEvent;
use super::kind::Kind;

/// Changes the events of one reply, in the order in which they come.
pub(super) struct ContentFaults {
    met: AssignedFaults,
    prompt_tokens: u64,
    /// Token events that wait to be one with later ones.
    held: Vec<StreamEvent>,
    /// Whether the first event with a token is gone.
    begun: bool,
    /// The text so far.
    text: String,
    /// Events seen, for what befalls every other one.
    seen: u64,
}

/// What none of the reply's texts has.
const WIDE: &str = " \u{e9}\u{4e16}\u{1f680}";

impl ContentFaults {
    pub(super) fn new(met: &AssignedFaults, prompt_tokens: u64) -> Self {
        Self {
            met: met.clone(),
            prompt_tokens,
            held: Vec::new(),
            begun: false,
            text: String::new(),
            seen: 0,
        }
    }

    /// What becomes of the events of token `index`, of which `last` says whether it is the reply's last.
    pub(super) fn edit(
        &mut self,
        index: u64,
        last: LastToken,
        events: Vec<StreamEvent>,
    ) -> Vec<StreamEvent> {
        let mut edited = Vec::new();
        for mut event in events {
            if event.tokens > 0 {
                self.edit_text(index, &mut event);
            }
            self.edit_usage(&mut event);
            edited.extend(self.bundle(event, last));
        }
        self.edit_end(&mut edited);
        let choices = self.met.get(Kind::Choices).map_or(1, |fault| fault.count());
        match choices {
            1 => edited,
            _ => edited.iter().flat_map(|event| multiply(event, choices)).collect(),
        }
    }

    fn edit_text(&mut self, index: u64, event: &mut StreamEvent) {
        if self.met.get(Kind::Reasoning).is_some_and(|fault| index < fault.count())
            && let Some(delta) = event.choice().and_then(|choice| choice.get_mut("delta"))
            && let Some(content) = delta.as_object_mut().and_then(|delta| delta.remove("content"))
        {
            delta["reasoning_content"] = content;
        }
        let Some(text) = event.text() else {
            return;
        };
        if self.met.has(Kind::Utf8Cut) {
            text.push_str(WIDE);
        }
        if self.met.has(Kind::EmptyText) && index % 2 == 1 {
            text.clear();
        }
        if self.met.has(Kind::Cumulative) {
            self.text.push_str(text);
            text.clone_from(&self.text);
        }
        if self.met.has(Kind::Echo) && index == 0 {
            let prompt: String = (0..self.prompt_tokens).map(|_| " prompt").collect();
            text.insert_str(0, &prompt);
            if let Some(choice) = event.choice() {
                choice.insert("prompt_token_ids".to_owned(), (0..self.prompt_tokens).collect());
            }
        }
        if self.met.has(Kind::Filter)
            && let Some(choice) = event.choice()
        {
            let hate = json!({"hate": {"filtered": false, "severity": "safe"}});
            choice.insert("content_filter_results".to_owned(), hate);
        }
    }

    fn edit_usage(&mut self, event: &mut StreamEvent) {
        let (met, is_usage) = (&self.met, event.is_usage());
        if let Some(mut usage) = event.usage() {
            if let Some(fault) = met.get(Kind::UsageOff).filter(|_| is_usage) {
                let count = usage.of("completion_tokens").saturating_add(fault.count());
                usage.set("completion_tokens", count);
            }
            if let Some(fault) = met.get(Kind::PromptOff) {
                let count = usage.of("prompt_tokens").saturating_add(fault.count());
                usage.set("prompt_tokens", count);
            }
            if let Some(fault) = met.get(Kind::Cached) {
                usage.set_cached(fault.count().min(self.prompt_tokens));
            }
        }
        if met.has(Kind::ZeroUsage) && !is_usage && event.choice().is_some() {
            let zeros = json!({"prompt_tokens": 0, "total_tokens": 0, "completion_tokens": 0});
            let usage = if self.seen.is_multiple_of(2) { zeros } else { Value::Null };
            if let Some(value) = event.value() {
                value["usage"] = usage;
            }
            self.seen += 1;
        }
    }

    /// Holds a token's event back until it is one with others.
    fn bundle(&mut self, event: StreamEvent, last: LastToken) -> Vec<StreamEvent> {
        if event.tokens == 0 || !event.is_chunk() {
            return vec![event];
        }
        let size = match (self.met.get(Kind::Bundle), self.met.get(Kind::FirstBundle)) {
            (_, Some(first)) if !self.begun => first.count(),
            (Some(each), _) => each.count(),
            _ => 1,
        };
        self.held.push(event);
        if (self.held.len() as u64) < size && last == LastToken::No {
            return Vec::new();
        }
        self.begun = true;
        merge(std::mem::take(&mut self.held)).into_iter().collect()
    }

    /// What is held, where the reply ends before its time.
    pub(super) fn rest(&mut self) -> Option<StreamEvent> {
        merge(std::mem::take(&mut self.held))
    }

    /// Faults around the last token and the usage.
    fn edit_end(&self, events: &mut Vec<StreamEvent>) {
        let usage = events.iter().position(StreamEvent::is_usage);
        if self.met.has(Kind::ZeroUsage)
            && let Some(at) = usage
            && let Some(mut nothing) = events.get(at).cloned()
        {
            if let Some(value) = nothing.value() {
                value["usage"] = Value::Null;
            }
            events.insert(at + 1, nothing);
        }
        if self.met.has(Kind::UsageWithChoices)
            && let Some(at) = usage
            && let Some(token) = events.iter().rposition(|event| event.tokens > 0)
            && let Some(usage) =
                events.get_mut(at).and_then(StreamEvent::value).map(|value| value["usage"].take())
            && let Some(token) = events.get_mut(token).and_then(StreamEvent::value)
        {
            token["usage"] = usage;
            events.remove(at);
        }
        if self.met.has(Kind::FinishChunk)
            && let Some(at) = events.iter_mut().position(|event| event.finish().is_some())
            && let Some(token) = events.get_mut(at)
        {
            let mut finish = StreamEvent { tokens: 0, ..token.clone() };
            token.finish().into_iter().for_each(|reason| *reason = Value::Null);
            finish.text().into_iter().for_each(String::clear);
            if let Some(choice) = finish.choice() {
                choice.remove("token_ids");
            }
            events.insert(at + 1, finish);
        }
    }
}

/// Whether a token is the last of its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastToken {
    No,
    Yes,
}

/// One event out of several: the last of them, with the texts and ids of all.
fn merge(mut events: Vec<StreamEvent>) -> Option<StreamEvent> {
    let mut texts = String::new();
    let mut ids = Vec::new();
    let mut tokens = 0;
    for event in &mut events {
        tokens += event.tokens;
        if let Some(text) = event.text() {
            texts.push_str(text);
        }
        let own = event.choice().and_then(|choice| choice.get_mut("token_ids")?.as_array_mut());
        own.into_iter().for_each(|own| ids.append(own));
    }
    let prompt =
        events.first_mut().and_then(|event| event.choice()?.get("prompt_token_ids").cloned());
    let mut last = events.pop()?;
    last.tokens = tokens;
    last.text().into_iter().for_each(|text| *text = texts.clone());
    if let Some(choice) = last.choice() {
        if let Some(own) = choice.get_mut("token_ids") {
            *own = ids.into();
        }
        if let Some(prompt) = prompt {
            choice.insert("prompt_token_ids".to_owned(), prompt);
        }
    }
    Some(last)
}

/// One event for each of `choices` choices; a usage counts the tokens of all.
fn multiply(event: &StreamEvent, choices: u64) -> Vec<StreamEvent> {
    let copies = if event.is_chunk() { choices } else { 1 };
    let tokens = event.tokens;
    let copy = |index: u64| {
        let mut event = event.clone();
        // The engine's token has left with the last of them.
        if index + 1 < copies {
            event.tokens = 0;
        }
        if let Some(choice) = event.choice() {
            choice.insert("index".to_owned(), index.into());
        }
        if let Some(mut usage) = event.usage() {
            let count = usage.of("completion_tokens").saturating_mul(choices);
            // Those that the events of the other choices have yet to show.
            let later = tokens.saturating_mul(copies - 1 - index);
            usage.set("completion_tokens", count.saturating_sub(later));
        }
        event
    };
    (0..copies).map(copy).collect()
}
