//! `per_request_lifecycle_metrics.json`: a list of the requests of all stages, with when each token came.

use fizeau_core::Tape;
use serde::Deserialize;
use serde_json::Value;

use super::TOOL;
use crate::foreign::read::{Lenient, Record};
use crate::foreign::{ForeignError, ForeignFile, Seen};

/// What each request did, stage after stage: the tool writes them so, and says of none which stage it is of.
pub(super) struct Requests<'a> {
    all: Vec<LocatedRequest<'a>>,
}

/// A request, and where it stands.
struct LocatedRequest<'a> {
    seen: Seen,
    record: Record<'a>,
}

/// A request as the file has it.
#[derive(Debug, Deserialize)]
struct Request {
    start_time: f64,
    end_time: f64,
    info: Info,
    error: Option<ErrorInfo>,
}

#[derive(Debug, Deserialize)]
struct Info {
    /// The prompt's length, which since 0.7 is under its kind of content, with the old field for now beside it.
    input_tokens: Option<u64>,
    request_metrics: Option<Prompt>,
    /// What came back, which since 0.7 is an object of its own; a request that failed may have none.
    #[serde(rename = "response_metrics")]
    reply: Option<Reply>,
    output_tokens: Option<u64>,
    output_token_times: Option<Vec<Option<f64>>>,
}

#[derive(Debug, Deserialize)]
struct Prompt {
    text: Option<PromptText>,
}

#[derive(Debug, Deserialize)]
struct PromptText {
    input_tokens: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct Reply {
    output_tokens: Option<u64>,
    output_token_times: Option<Vec<Option<f64>>>,
}

#[derive(Debug, Deserialize)]
struct ErrorInfo {
    error_type: Lenient<String>,
    error_msg: Lenient<String>,
}

/// What the document of a stage says of its requests.
#[derive(Debug, Clone, Copy)]
pub(super) struct StageCounts {
    pub(super) completed: u64,
    pub(super) failed: Option<u64>,
}

impl StageCounts {
    const fn sent(&self) -> u64 {
        match self.failed {
            Some(failed) => self.completed.saturating_add(failed),
            None => self.completed,
        }
    }
}

pub(super) fn is_requests(file: &ForeignFile<'_>) -> bool {
    let info = file.first().and_then(|first| first.get("info"));
    file.has(&["start_time", "end_time"]) && info.is_some_and(Value::is_object)
}

impl<'a> Requests<'a> {
    pub(super) fn read(file: &'a ForeignFile<'_>) -> Result<Self, ForeignError> {
        let own = |record: Record<'a>| {
            Ok(LocatedRequest { seen: record.read::<Request>()?.seen(), record })
        };
        let all = Record::all(file, TOOL)?.into_iter().map(own);
        Ok(Self { all: all.collect::<Result<_, _>>()? })
    }

    /// Those of each stage, in the order of the stages.
    ///
    /// # Errors
    /// If the documents do not count the same requests as the list has; with what each says.
    pub(super) fn by_stage(self, stages: &[StageCounts]) -> Result<Vec<Self>, String> {
        let (sent, found) =
            (stages.iter().map(StageCounts::sent).fold(0, u64::saturating_add), self.all.len());
        if sent != found as u64 {
            return Err(format!(
                "the file has {found} single requests, but the documents of stages \
                have {sent}"
            ));
        }
        let mut rest = self.all.into_iter();
        let mut each = Vec::with_capacity(stages.len());
        for (index, stage) in stages.iter().enumerate() {
            let own = Self { all: rest.by_ref().take(stage.sent() as usize).collect() };
            let (completed, wanted) = (own.completed(), stage.completed);
            if completed != wanted {
                return Err(format!(
                    "{completed} of the single requests of stage {index} succeeded, and {wanted} by its document"
                ));
            }
            let blank = own.good().filter(|request| request.seen.ttft.is_none()).count();
            if blank > 0 {
                return Err(format!(
                    "{blank} replies were not streamed and have no times of tokens"
                ));
            }
            each.push(own);
        }
        Ok(each)
    }

    /// In the order in which they ended.
    pub(super) fn tapes(&self) -> Result<Vec<Tape>, ForeignError> {
        let mut all: Vec<&LocatedRequest<'_>> = self.all.iter().collect();
        all.sort_by(|a, b| a.seen.sent.total_cmp(&b.seen.sent));
        let Some(first) = all.first() else { return Ok(Vec::new()) };
        let epoch = first.seen.sent;
        let seen = all.iter().map(|own| Seen { sent: own.seen.sent - epoch, ..own.seen.clone() });
        Seen::tapes(seen, &first.record, |_| "start_time".to_owned())
    }

    /// What the first request names.
    pub(super) fn model(&self) -> Option<String> {
        let body: Value = serde_json::from_str(self.all.first()?.record.text("request")?).ok()?;
        body.get("model")?.as_str().map(str::to_owned)
    }

    fn good(&self) -> impl Iterator<Item = &LocatedRequest<'a>> {
        self.all.iter().filter(|request| !request.seen.is_failed)
    }

    fn completed(&self) -> u64 {
        self.good().count() as u64
    }

    pub(super) fn input_tokens(&self) -> u64 {
        self.good().filter_map(|request| request.seen.input).fold(0, u64::saturating_add)
    }

    pub(super) fn output_tokens(&self) -> u64 {
        self.good().map(|request| request.seen.output).fold(0, u64::saturating_add)
    }
}

impl Request {
    /// Tokens of one chunk have one instant, which is one event here.
    fn seen(self) -> Seen {
        let Info { input_tokens, request_metrics, reply, output_tokens, output_token_times } =
            self.info;
        let reply = reply.unwrap_or(Reply { output_tokens, output_token_times });
        let times = reply.output_token_times.unwrap_or_default();
        let times: Vec<f64> = times.into_iter().flatten().collect();
        let tokens = times.len() as u64;
        let chunks = times.chunk_by(|one, next| one == next);
        let (times, of_each): (Vec<f64>, Vec<u32>) =
            chunks.filter_map(|same| Some((*same.first()?, same.len() as u32))).unzip();
        let words = |error: ErrorInfo| {
            let words = [error.error_type.0, error.error_msg.0];
            words.into_iter().flatten().collect::<Vec<_>>().join(": ")
        };
        let error = self.error.map(words);
        let (start, end) = (self.start_time, self.end_time);
        let gaps = times.iter().zip(times.iter().skip(1)).map(|(from, to)| (to - from).max(0.0));
        Seen {
            sent: start,
            ttft: times.first().map(|first| (first - start).max(0.0)),
            gaps: gaps.collect(),
            tokens: of_each,
            end: Some((end - start).max(0.0)),
            input: match request_metrics.and_then(|prompt| prompt.text) {
                Some(text) => text.input_tokens,
                None => input_tokens,
            },
            output: reply.output_tokens.unwrap_or(tokens),
            is_failed: error.is_some(),
            error: error.unwrap_or_default(),
            ..Seen::default()
        }
    }
}
