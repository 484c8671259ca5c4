//! Curves as CSV: over the running batch, and over the context.

use std::fmt::Write;
use std::num::NonZeroU64;

use fizeau_core::PerSec;
use fizeau_roofline::{CurveStride, Figures, LoadAnalysisError, System, UniformLoad};

/// What a system comes to over the running batch, from one sequence to as many as fit: for each estimate its frontier of
/// throughput against latency.
#[derive(Debug, Clone, Copy)]
pub struct BatchCsv<'a> {
    /// The model on its devices.
    pub system: &'a System,
    /// What is asked of it; its concurrency does not matter.
    pub load: &'a UniformLoad,
}

/// What a system comes to over the context, from 128 tokens to 2^20 or as many as fit.
#[derive(Debug, Clone, Copy)]
pub struct ContextCsv<'a> {
    /// The model on its devices.
    pub system: &'a System,
    /// What is asked of it; its lengths do not matter. As many sequences run as it has at once, or as fit.
    pub load: &'a UniformLoad,
}

/// A curve and where it ends.
struct Csv<'a> {
    system: &'a System,
    columns: &'a [Column],
    text: String,
}

impl BatchCsv<'_> {
    /// A line of heads and a line for each batch. Batches up to 64 are all there, then 32 for each doubling; the last is what
    /// fits.
    ///
    /// # Errors
    /// If not even one sequence fits.
    pub fn csv(&self) -> Result<String, LoadAnalysisError> {
        let Self { system, load } = *self;
        let most = system.answer(load)?.max_batch.unwrap_or(UNLIMITED).clamp(1, UNLIMITED);
        let all =
            UniformLoad { concurrency: NonZeroU64::new(most).unwrap_or(NonZeroU64::MIN), ..*load };
        let mut csv = Csv::new(system, "batch", &OF_REQUESTS);
        for point in system.batch_curve(&all, CurveStride::Fine) {
            csv.line(point.batch, &[point.bound, point.expected]);
        }
        Ok(csv.text)
    }
}

impl ContextCsv<'_> {
    /// A line of heads and a line for each context, four for each doubling, and what ended the curve if it was not its length.
    ///
    /// # Errors
    /// If not even one sequence of 128 tokens fits.
    pub fn csv(&self) -> Result<(String, Option<LoadAnalysisError>), LoadAnalysisError> {
        let system = self.system;
        let heads = "context,cache_bytes_per_device,max_batch,batch";
        let mut csv = Csv::new(system, heads, &OF_CONTEXT);
        for (index, point) in system.context_curve(self.load.concurrency).enumerate() {
            let point = match point {
                Ok(point) => point,
                Err(error) if index == 0 => return Err(error),
                Err(error) => return Ok((csv.text, Some(error))),
            };
            let (context, batch) = (point.context.get(), point.batch);
            let bytes = point.cache_per_device.get();
            let most = point.max_batch.map_or_else(String::new, |most| most.to_string());
            let ways = [point.bound, point.expected];
            csv.line(format_args!("{context},{bytes:.0},{most},{batch}"), &ways);
        }
        Ok((csv.text, None))
    }
}

/// Where memory sets no limit.
const UNLIMITED: u64 = 1 << 20;

impl<'a> Csv<'a> {
    fn new(system: &'a System, first: &str, columns: &'a [Column]) -> Self {
        let mut text = first.to_owned();
        for way in ["bound", "expected"] {
            for (figure, _) in columns {
                let _ = write!(text, ",{way}_{figure}");
            }
        }
        text.push('\n');
        Self { system, columns, text }
    }

    fn line(&mut self, first: impl std::fmt::Display, ways: &[Figures; 2]) {
        let _ = write!(self.text, "{first}");
        for figures in ways {
            for (_, of) in self.columns {
                let value = of(figures, self.system).filter(|value| value.is_finite());
                let _ = match value {
                    Some(value) => write!(self.text, ",{value:.0$}", six_digits(value)),
                    None => write!(self.text, ","),
                };
            }
        }
        self.text.push('\n');
    }
}

/// The decimals that leave six digits that count.
fn six_digits(value: f64) -> usize {
    let before = value.abs().log10().floor();
    if before.is_finite() { (5.0 - before).clamp(0.0, 12.0) as usize } else { 0 }
}

/// A figure's name and how it is had.
type Column = (&'static str, fn(&Figures, &System) -> Option<f64>);

const OF_REQUESTS: [Column; 7] = [
    ("ttft_ms", |figures, _| Some(figures.ttft.get() * 1e3)),
    ("tpot_ms", |figures, _| figures.tpot.map(|tpot| tpot.get() * 1e3)),
    ("e2el_ms", |figures, _| Some(figures.e2el.get() * 1e3)),
    ("tokens_per_s_per_user", |figures, _| figures.tokens_per_s_per_user().map(PerSec::get)),
    ("output_tokens_per_s", |figures, _| Some(figures.output_tokens_per_s.get())),
    ("output_tokens_per_s_per_device", |figures, system| {
        Some(figures.tokens_per_s_per_device(system).get())
    }),
    ("requests_per_s", |figures, _| Some(figures.requests_per_s.get())),
];

/// Of decode steps alone, and the pass over a prompt as long.
const OF_CONTEXT: [Column; 4] = [
    ("prefill_ms", |figures, _| Some(figures.ttft.get() * 1e3)),
    ("step_ms", |figures, _| Some(figures.step.get() * 1e3)),
    ("tokens_per_s_per_user", |figures, _| Some(1.0 / figures.step.get())),
    ("tokens_per_s", |figures, _| Some(figures.batch / figures.step.get())),
];
