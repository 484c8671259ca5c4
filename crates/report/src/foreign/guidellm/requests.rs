//! The single requests of a benchmark.

use fizeau_core::Tape;
use serde_json::Value;

use super::TOOL;
use crate::foreign::{Fields, FigureSheet, ForeignError, Seen};

/// What each request did.
pub(super) struct Requests {
    all: Vec<Request>,
}

/// Instants are seconds since 1970.
struct Request {
    targeted: Option<f64>,
    start: f64,
    first: Option<f64>,
    last: Option<f64>,
    end: f64,
    chunks: u64,
    input: Option<u64>,
    output: u64,
    error: Option<String>,
    text: Option<String>,
}

impl Requests {
    /// Those of a benchmark; none where it has no list of them.
    pub(super) fn read(fields: &Fields<'_>) -> Result<Option<Self>, ForeignError> {
        let Some(groups) = fields.object("requests")? else { return Ok(None) };
        let mut all = Vec::new();
        for group in ["successful", "errored"] {
            for (index, value) in groups.list(group)?.unwrap_or_default().iter().enumerate() {
                let name = format!("{group}[{index}]");
                let map = value.as_object();
                let map = map.ok_or_else(|| groups.wrong(&name, value, "an object"))?;
                let place = groups.place_of(&name);
                all.extend(request(&Fields::new(place, TOOL, map), group == "errored")?);
            }
        }
        all.sort_by(|a, b| a.start.total_cmp(&b.start));
        Ok(Some(Self { all }))
    }

    pub(super) fn completed(&self) -> u64 {
        self.good().count() as u64
    }

    fn good(&self) -> impl Iterator<Item = &Request> {
        self.all.iter().filter(|request| request.error.is_none())
    }

    /// By our definitions: the end of a reply is its last token.
    pub(super) fn figures(&self, sheet: &mut FigureSheet) {
        let ms = |from: f64, to: Option<f64>| Some((to? - from) * 1e3);
        sheet.sample("ttft", self.good().filter_map(|own| ms(own.start, own.first)));
        sheet.sample("e2el", self.good().filter_map(|own| ms(own.start, own.last)));
        let pace = |own: &Request| {
            let decoding = ms(own.first?, own.last)?;
            (own.output > 1).then(|| decoding / (own.output - 1) as f64)
        };
        sheet.sample("tpot", self.good().filter_map(pace));
        sheet.caveat(
            "TPOT is shared over all tokens but one: ours leaves out those of the first event, which are more where it has several",
        );
        sheet.caveat("GuideLLM stamps by the wall clock: a step of it is in the figures");
        sheet.not_known("itl", "GuideLLM does not keep when each token came");
    }

    /// The tapes of the requests, in the order in which they ended.
    pub(super) fn tapes(self, fields: &Fields<'_>) -> Result<Vec<Tape>, ForeignError> {
        let due = |own: &Request| own.targeted.map_or(own.start, |at| at.min(own.start));
        let epoch = self.all.iter().map(due).fold(f64::INFINITY, f64::min);
        let mut tapes = Vec::with_capacity(self.all.len());
        for (index, own) in self.all.iter().enumerate() {
            let tape = own.seen(epoch).tape(index as u64).map_err(|error| {
                let found = Value::from(error.to_string());
                fields.wrong("requests", &found, "instants of the run")
            })?;
            tapes.push(tape);
        }
        tapes.sort_by_key(|tape| tape.marks.end);
        Ok(tapes)
    }
}

/// The most events that a reply is given here: no reply has more.
const MOST: u64 = 1 << 20;

impl Request {
    fn seen(&self, epoch: f64) -> Seen {
        let decoding = self.first.zip(self.last).map(|(first, last)| (last - first).max(0.0));
        let later = self.chunks.clamp(1, MOST) - 1;
        let gap = decoding.map_or(0.0, |decoding| decoding / later.max(1) as f64);
        Seen {
            intended: self.targeted.map(|at| (at - epoch).max(0.0)),
            sent: self.start - epoch,
            ttft: self.first.map(|first| (first - self.start).max(0.0)),
            gaps: (0..later).map(|_| gap).collect(),
            end: Some((self.end - self.start).max(0.0)),
            input: self.input,
            output: self.output,
            error: self.error.clone().unwrap_or_default(),
            is_failed: self.error.is_some(),
            text: self.text.clone(),
        }
    }
}

/// None of a request that was never sent.
fn request(fields: &Fields<'_>, is_failed: bool) -> Result<Option<Request>, ForeignError> {
    let info = fields.object("info")?.ok_or_else(|| fields.missing("info"))?;
    let timings = info.object("timings")?.ok_or_else(|| fields.missing("info.timings"))?;
    let tokens = |name: &str| match fields.object(name)? {
        Some(usage) => match usage.maybe_whole("total_tokens")? {
            None => usage.maybe_whole("text_tokens"),
            tokens => Ok(tokens),
        },
        None => Ok(None),
    };
    let start = timings.maybe_number("request_start")?;
    let Some(start) = start else {
        return match is_failed {
            true => Ok(None),
            false => Err(fields.missing("info.timings.request_start")),
        };
    };
    let end = match timings.maybe_number("request_end")? {
        None => timings.maybe_number("resolve_end")?,
        end => end,
    };
    let last = timings.maybe_number("last_token_iteration")?;
    let chunks = timings.maybe_whole("token_iterations")?.unwrap_or_default();
    Ok(Some(Request {
        targeted: timings.maybe_number("targeted_start")?,
        start,
        first: timings.maybe_number("first_token_iteration")?,
        last,
        end: end.or(last).unwrap_or(start),
        chunks,
        input: tokens("input_metrics")?,
        output: tokens("output_metrics")?.unwrap_or(chunks),
        error: is_failed.then(|| info.text("error").unwrap_or_default()),
        text: fields.text("output"),
    }))
}
