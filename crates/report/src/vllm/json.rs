//! The result file, key by key in vLLM's order.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{RequestRate, VllmResult, figures::rate};

/// How much of each request goes into the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// Totals, latencies and queue times, as vLLM writes by default.
    #[default]
    Brief,
    /// With lengths, times to first token, gaps, start times, texts and errors of each request
    /// (`--save-detailed`).
    Full,
}

/// One value of the file.
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
enum Field<'a> {
    Null,
    Text(Cow<'a, str>),
    Count(u64),
    Number(f64),
    Counts(&'a [u64]),
    Numbers(&'a [f64]),
    Lists(&'a [Vec<f64>]),
    Texts(&'a [String]),
}

impl<'a> Field<'a> {
    fn text(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    fn text_or_null(text: Option<&'a String>) -> Self {
        text.map_or(Self::Null, |text| Self::text(text))
    }
}

/// Keys and values in order; setting a key again keeps its place, as in a Python dictionary.
#[derive(Debug, Default)]
struct Entries<'a>(Vec<(Cow<'a, str>, Field<'a>)>);

impl<'a> Entries<'a> {
    fn set(&mut self, key: impl Into<Cow<'a, str>>, value: Field<'a>) {
        let key = key.into();
        match self.0.iter_mut().find(|entry| entry.0 == key) {
            Some(entry) => entry.1 = value,
            None => self.0.push((key, value)),
        }
    }
}

impl Serialize for Entries<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl VllmResult {
    /// The content of the result file: one object, on one line, with as much of each request as the result was made for.
    ///
    /// # Errors
    /// Only if the JSON writer fails, which it does not for these types.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(&self.entries())
    }

    /// The same, field by field.
    pub(crate) fn fields(&self) -> Result<Vec<(String, serde_json::Value)>, serde_json::Error> {
        let entries = self.entries().0.into_iter();
        let field = |(key, value): (Cow<'_, str>, Field<'_>)| {
            Ok((key.into_owned(), serde_json::to_value(&value)?))
        };
        entries.map(field).collect()
    }

    fn entries(&self) -> Entries<'_> {
        let mut entries = Entries::default();
        self.asked(&mut entries);
        self.totals(&mut entries);
        self.requests(&mut entries);
        self.peaks(&mut entries);
        self.probes(&mut entries);
        self.stats(&mut entries);
        entries
    }

    fn asked<'a>(&'a self, entries: &mut Entries<'a>) {
        let run = &self.run;
        entries.set("date", Field::text(&run.date));
        entries.set("endpoint_type", Field::text(&run.backend));
        entries.set("backend", Field::text(&run.backend));
        entries.set("label", Field::text_or_null(run.label.as_ref()));
        entries.set("model_id", Field::text(&run.model_id));
        entries.set("tokenizer_id", Field::text_or_null(run.tokenizer_id.as_ref()));
        entries.set("num_prompts", Field::Count(self.num_prompts()));
        for (key, value) in &run.metadata {
            entries.set(key.as_str(), Field::text(value));
        }
        let request_rate = match run.request_rate {
            RequestRate::Limited(rate) => Field::Number(rate.get()),
            RequestRate::Unlimited | RequestRate::Ramp { .. } => Field::text("inf"),
        };
        entries.set("request_rate", request_rate);
        // JSON has no infinity; Python reads the word, as it does the rate's.
        let burstiness = match run.burstiness {
            even if even.is_infinite() => Field::text("inf"),
            burstiness => Field::Number(burstiness),
        };
        entries.set("burstiness", burstiness);
        let cap = run.max_concurrency.map(u64::from);
        entries.set("max_concurrency", cap.map_or(Field::Null, Field::Count));
        if let RequestRate::Ramp { strategy, start, end } = run.request_rate {
            entries.set("ramp_up_strategy", Field::text(strategy.as_str()));
            entries.set("ramp_up_start_rps", Field::Number(start.get()));
            entries.set("ramp_up_end_rps", Field::Number(end.get()));
        }
    }

    fn totals(&self, entries: &mut Entries<'_>) {
        let per_s = |count: u64| Field::Number(rate(count as f64, self.duration).get());
        let (input, output) = (self.input_tokens.get(), self.output_tokens.get());
        entries.set("duration", Field::Number(self.duration.get()));
        entries.set("completed", Field::Count(self.completed));
        entries.set("failed", Field::Count(self.failed));
        entries.set("total_input_tokens", Field::Count(input));
        entries.set("total_output_tokens", Field::Count(output));
        entries.set("request_throughput", per_s(self.completed));
        let goodput = self.goodput.map(|rate| Field::Number(rate.get()));
        entries.set("request_goodput", goodput.unwrap_or(Field::Null));
        entries.set("output_throughput", per_s(output));
        entries.set("total_token_throughput", per_s(input.saturating_add(output)));
    }

    fn requests<'a>(&'a self, entries: &mut Entries<'a>) {
        let all = &self.requests;
        let keys = [
            ("input_lens", Field::Counts(&all.input_lens)),
            ("output_lens", Field::Counts(&all.output_lens)),
            ("ttfts", Field::Numbers(&all.ttfts)),
            ("itls", Field::Lists(&all.itls)),
            ("latencies", Field::Numbers(&all.latencies)),
            ("start_times", Field::Numbers(&all.start_times)),
            ("queue_times", Field::Numbers(&all.queue_times)),
            ("generated_texts", Field::Texts(&all.generated_texts)),
            ("errors", Field::Texts(&all.errors)),
        ];
        for (key, value) in keys {
            // These two stay in vLLM's file whether or not details were asked for.
            let always = matches!(key, "latencies" | "queue_times");
            if always || self.detail == Detail::Full {
                entries.set(key, value);
            }
        }
    }

    fn peaks(&self, entries: &mut Entries<'_>) {
        let peak = Field::Number(self.peak_tokens.get());
        entries.set("max_output_tokens_per_s", peak);
        entries.set("max_concurrent_requests", Field::Count(self.peak_concurrency));
        // The real-time factor of audio input, which is not sent here.
        entries.set("rtfx", Field::Number(0.0));
    }

    /// What vLLM's `--probe-request-rate` adds; only where there was a probe.
    fn probes(&self, entries: &mut Entries<'_>) {
        let Some(probes) = &self.probes else { return };
        entries.set("probe_completed", Field::Count(probes.completed));
        entries.set("probe_failed", Field::Count(probes.failed));
        entries.set("probe_median_e2el_ms", Field::Number(probes.median));
        entries.set("probe_p99_e2el_ms", Field::Number(probes.p99));
        entries.set("probe_max_e2el_ms", Field::Number(probes.max));
    }

    fn stats(&self, entries: &mut Entries<'_>) {
        for (metric, stats) in &self.stats {
            let key = metric.key();
            entries.set(format!("mean_{key}_ms"), Field::Number(stats.mean));
            entries.set(format!("median_{key}_ms"), Field::Number(stats.median));
            entries.set(format!("std_{key}_ms"), Field::Number(stats.std));
            for (percentile, value) in &stats.percentiles {
                let key = format!("p{}_{key}_ms", percentile.word());
                entries.set(key, Field::Number(*value));
            }
        }
    }
}
