//! One value a request, as the clients of vLLM and SGLang write them on request (`--save-detailed`, `--output-details`).

use fizeau_core::{Nanos, Outcome, Stamp, Tape, Tokens};
use serde::{Deserialize, Deserializer};

use super::VllmDetail;
use super::object::{Field, Object};
use crate::peers::run::{
    events, first_token, last_token, queued, reported_or_counted, sent, spans,
};

/// One entry a request; times in seconds. A list that a file does not have is empty.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Lists {
    #[serde(deserialize_with = "filled")]
    pub(crate) input_lens: Vec<u64>,
    #[serde(deserialize_with = "filled")]
    pub(crate) output_lens: Vec<u64>,
    #[serde(deserialize_with = "filled")]
    pub(crate) ttfts: Vec<f64>,
    #[serde(deserialize_with = "filled")]
    pub(crate) itls: Vec<Vec<f64>>,
    #[serde(deserialize_with = "filled")]
    pub(crate) errors: Vec<String>,
    #[serde(deserialize_with = "filled")]
    pub(crate) generated_texts: Vec<String>,
    #[serde(deserialize_with = "filled")]
    pub(crate) start_times: Vec<f64>,
    #[serde(deserialize_with = "filled")]
    pub(crate) latencies: Vec<f64>,
    #[serde(deserialize_with = "filled")]
    pub(crate) queue_times: Vec<f64>,
}

/// A list in which null is the default.
fn filled<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    from: D,
) -> Result<Vec<T>, D::Error> {
    let list = Option::<Vec<Option<T>>>::deserialize(from)?.unwrap_or_default();
    Ok(list.into_iter().map(Option::unwrap_or_default).collect())
}

impl Lists {
    /// The fields that hold them: what of a record becomes tapes.
    pub(crate) const KEYS: [&str; 9] = [
        "input_lens",
        "output_lens",
        "ttfts",
        "itls",
        "errors",
        "generated_texts",
        "start_times",
        "latencies",
        "queue_times",
    ];

    /// Those of `tapes`, sent so long after the first release.
    pub(crate) fn of(tapes: &[&Tape]) -> Self {
        let epoch = tapes.iter().map(|tape| tape.marks.released).min().unwrap_or_default();
        let mut all = Self::default();
        tapes.iter().for_each(|tape| all.add(tape, epoch, VllmDetail::Full));
        all
    }

    /// A failed request has zeros for what it did not reach, as vLLM has it; its error text tells it apart. Latencies and
    /// queue times stand in every file, the rest only in a full one.
    pub(crate) fn add(&mut self, tape: &Tape, epoch: Stamp, detail: VllmDetail) {
        if detail == VllmDetail::Totals {
            return;
        }
        let good = tape.is_success();
        let seconds = |span: Option<Nanos>| {
            let span = span.filter(|_| good);
            span.map_or(0.0, Nanos::as_secs_f64)
        };
        self.latencies.push(seconds(last_token(tape)));
        self.queue_times.push(queued(tape).as_secs_f64());
        if detail == VllmDetail::Brief {
            return;
        }
        self.input_lens.push(tape.input_tokens().map_or(0, Tokens::get));
        self.output_lens.push(if good { reported_or_counted(tape) } else { 0 });
        self.ttfts.push(seconds(first_token(tape)));
        let gaps = spans(events(tape)).filter(|_| good);
        self.itls.push(gaps.map(Nanos::as_secs_f64).collect());
        self.start_times.push(sent(tape).saturating_since(epoch).as_secs_f64());
        self.generated_texts.push(tape.text.clone().unwrap_or_default());
        self.errors.push(match &tape.outcome {
            Outcome::Complete(_) => String::new(),
            Outcome::Failed(failure) => failure.to_string(),
        });
    }

    /// Puts those of `keys` into a record, in that order.
    pub(crate) fn put(&self, object: &mut Object, keys: &[&'static str]) {
        for &key in keys {
            let field = match key {
                "input_lens" => Field::Counts(self.input_lens.clone()),
                "output_lens" => Field::Counts(self.output_lens.clone()),
                "ttfts" => Field::Numbers(self.ttfts.clone()),
                "itls" => Field::Lists(self.itls.clone()),
                "errors" => Field::Texts(self.errors.clone()),
                "generated_texts" => Field::Texts(self.generated_texts.clone()),
                "start_times" => Field::Numbers(self.start_times.clone()),
                "latencies" => Field::Numbers(self.latencies.clone()),
                _ => Field::Numbers(self.queue_times.clone()),
            };
            object.put(key, field);
        }
    }

    /// How long the first list is that is not like `ttfts` and not empty, and its name.
    pub(crate) fn odd(&self) -> Option<(&'static str, usize)> {
        let lengths = [
            ("input_lens", self.input_lens.len()),
            ("output_lens", self.output_lens.len()),
            ("itls", self.itls.len()),
            ("errors", self.errors.len()),
            ("generated_texts", self.generated_texts.len()),
            ("start_times", self.start_times.len()),
            ("latencies", self.latencies.len()),
            ("queue_times", self.queue_times.len()),
        ];
        lengths.into_iter().find(|(_, length)| *length != self.ttfts.len() && *length != 0)
    }
}
