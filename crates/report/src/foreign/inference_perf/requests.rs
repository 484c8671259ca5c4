//! `per_request_lifecycle_metrics.json`: a list of the requests of all stages, with when each token came.

use fizeau_core::Tape;
use serde_json::Value;

use super::TOOL;
use crate::foreign::{Fields, ForeignError, ForeignFile, Seen};

/// What each request did, stage after stage: the tool writes them so, and says of none which stage it is of.
pub(super) struct Requests<'a> {
    all: Vec<Request<'a>>,
}

/// A request, and where it stands.
struct Request<'a> {
    seen: Seen,
    fields: Fields<'a>,
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
        let request = |fields: Fields<'a>| Ok(Request { seen: request(&fields)?, fields });
        let all = Fields::all(file, TOOL)?.into_iter().map(request);
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
            return Err(format!("{found} single requests, and {sent} in the documents of stages"));
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
                    "when a token came is not there of {blank} replies, which were not streamed"
                ));
            }
            each.push(own);
        }
        Ok(each)
    }

    /// In the order in which they ended.
    pub(super) fn tapes(&self) -> Result<Vec<Tape>, ForeignError> {
        let mut all: Vec<&Request<'_>> = self.all.iter().collect();
        all.sort_by(|a, b| a.seen.sent.total_cmp(&b.seen.sent));
        let epoch = all.first().map_or(0.0, |first| first.seen.sent);
        let mut tapes = Vec::with_capacity(all.len());
        for (index, Request { seen, fields }) in all.into_iter().enumerate() {
            let own = Seen { sent: seen.sent - epoch, ..seen.clone() };
            tapes.push(own.tape(index as u64).map_err(|error| {
                let found = Value::from(error.to_string());
                fields.wrong("start_time", &found, "an instant of the run")
            })?);
        }
        tapes.sort_by_key(|tape| tape.marks.end);
        Ok(tapes)
    }

    /// What the first request names.
    pub(super) fn model(&self) -> Option<String> {
        let body: Value = serde_json::from_str(&self.all.first()?.fields.text("request")?).ok()?;
        body.get("model")?.as_str().map(str::to_owned)
    }

    fn good(&self) -> impl Iterator<Item = &Request<'a>> {
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

/// Tokens of one chunk have one instant, which is one event here.
fn request(fields: &Fields<'_>) -> Result<Seen, ForeignError> {
    let info = fields.object("info")?.ok_or_else(|| fields.missing("info"))?;
    // Since 0.7 what came back is an object of its own; a request that failed may have none.
    let reply = info.object("response_metrics")?;
    let reply = reply.as_ref().unwrap_or(&info);
    let (start, end) = (fields.number("start_time")?, fields.number("end_time")?);
    let times = reply.numbers("output_token_times")?.unwrap_or_default();
    let mut times: Vec<f64> = times.into_iter().flatten().collect();
    let tokens = times.len() as u64;
    times.dedup();
    let error = fields.object("error")?.map(|error| {
        let words = [error.words("error_type"), error.words("error_msg")];
        words.into_iter().flatten().collect::<Vec<_>>().join(": ")
    });
    let gaps = times.iter().zip(times.iter().skip(1)).map(|(from, to)| (to - from).max(0.0));
    Ok(Seen {
        intended: None,
        sent: start,
        ttft: times.first().map(|first| (first - start).max(0.0)),
        gaps: gaps.collect(),
        end: Some((end - start).max(0.0)),
        input: input(&info)?,
        output: reply.maybe_whole("output_tokens")?.unwrap_or(tokens),
        is_failed: error.is_some(),
        error: error.unwrap_or_default(),
        text: None,
    })
}

/// The prompt's length, which since 0.7 is under its kind of content, with the old field for now beside it.
fn input(info: &Fields<'_>) -> Result<Option<u64>, ForeignError> {
    let text = match info.object("request_metrics")? {
        Some(prompt) => prompt.object("text")?,
        None => None,
    };
    match text {
        Some(text) => text.maybe_whole("input_tokens"),
        None => info.maybe_whole("input_tokens"),
    }
}
