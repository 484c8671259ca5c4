//! What a result of vLLM's clients and one of SGLang's have in common.

use serde::Deserialize;

use super::read::{Lenient, Record};
use super::{FigureSheet, ForeignError, ImportedCounts, ImportedLoad};

/// The totals of a result, and what was asked.
#[derive(Debug, Deserialize)]
pub(super) struct Serving {
    completed: u64,
    failed: Option<u64>,
    total_input_tokens: u64,
    total_output_tokens: u64,
    duration: f64,
    /// Early versions of SGLang's lack it.
    request_throughput: Option<f64>,
    output_throughput: f64,
    /// Of vLLM.
    total_token_throughput: Option<f64>,
    /// Of SGLang.
    total_throughput: Option<f64>,
    max_concurrency: Option<u64>,
    multi_turn_concurrency: Option<u64>,
    pub(super) backend: Lenient<String>,
    pub(super) endpoint_type: Lenient<String>,
    pub(super) dataset_name: Lenient<String>,
    pub(super) model_id: Lenient<String>,
    pub(super) date: Lenient<String>,
    pub(super) label: Lenient<String>,
    pub(super) tag: Lenient<String>,
}

impl Serving {
    pub(super) const fn counts(&self) -> ImportedCounts {
        ImportedCounts {
            completed: self.completed,
            failed: self.failed,
            input_tokens: Some(self.total_input_tokens),
            output_tokens: Some(self.total_output_tokens),
            duration_s: Some(self.duration),
            held_back: None,
        }
    }

    /// The figures of its rates; all tokens per second as the file has it, else from the tokens and the time, which it is made of.
    pub(super) fn rates(&self) -> FigureSheet {
        let mut sheet = FigureSheet::new(self.completed);
        let rate = self.request_throughput.unwrap_or(self.completed as f64 / self.duration);
        sheet.put("requests_per_s", Some(rate));
        sheet.put("output_tps", Some(self.output_throughput));
        let tokens = self.total_input_tokens as f64 + self.total_output_tokens as f64;
        // Not finite where no time passed, and then no figure.
        let total = self.total_token_throughput.or(self.total_throughput);
        sheet.put("total_tps", Some(total.unwrap_or(tokens / self.duration)));
        sheet.caveat(
            "rates are over the time of the sending loop, the wait before the first request included",
        );
        sheet
    }

    /// `request_rate` is Python's `Infinity` where it was not limited, and a word of SGLang's where times came from a trace.
    pub(super) fn load(&self, record: &Record<'_>) -> Result<ImportedLoad, ForeignError> {
        let cap = self.max_concurrency.or(self.multi_turn_concurrency);
        let word = record.text("request_rate");
        let rate = match word {
            Some("inf" | "trace") => None,
            _ => record.field::<f64>("request_rate")?,
        };
        let told = ImportedLoad::from_rate_and_cap(rate, cap);
        // Of a ramp the file has `inf` too, and no one rate.
        let is_unknown = match word {
            Some("inf") => false,
            Some("trace") => true,
            _ => told.is_unknown,
        };
        let is_unknown = is_unknown || record.has("ramp_up_strategy");
        Ok(ImportedLoad { is_unknown, ..told })
    }
}

/// The means of latencies that stand beside the requests' own.
pub(super) fn stated_means(
    record: &Record<'_>,
    sheet: &mut FigureSheet,
    latencies: [(&'static str, &str); 3],
) -> Result<(), ForeignError> {
    for (metric, key) in latencies {
        sheet.stated_mean(metric, record.field(&format!("mean_{key}_ms"))?);
    }
    Ok(())
}

/// Statistics of latencies of which the name has both: `median_ttft_ms`. `latencies` are our names and the tool's.
pub(super) fn latencies(
    record: &Record<'_>,
    sheet: &mut FigureSheet,
    latencies: [(&str, &str); 3],
) -> Result<(), ForeignError> {
    for (metric, key) in latencies {
        for (statistic, word) in
            [("mean", "mean"), ("p50", "median"), ("p90", "p90"), ("p99", "p99")]
        {
            let value = record.field(&format!("{word}_{key}_ms"))?;
            sheet.latency(metric, statistic, value);
        }
    }
    Ok(())
}
