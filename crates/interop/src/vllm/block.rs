//! The printed block: vLLM's lines in vLLM's order, in its width of 50.

use std::fmt::Display;

use super::{VllmRequestRate, VllmResult, figures::rate};

impl VllmResult {
    /// The block that vLLM's client prints at its end, without a newline after the last line. Where a prompt's length is not known,
    /// neither is a sum with it: such a figure is `-`, and a line below the block says of how many.
    #[must_use]
    pub fn block(&self) -> String {
        let mut lines = vec![format!("{:=^50}", " Serving Benchmark Result ")];
        lines.extend(self.count_lines());
        lines.extend(self.rate_lines());
        lines.extend(self.stat_lines());
        lines.push("=".repeat(50));
        lines.extend(self.unknown_line());
        lines.join("\n")
    }

    fn count_lines(&self) -> Vec<String> {
        let mut lines = vec![
            line("Successful requests:", self.completed),
            line("Failed requests:", self.failed - self.cancelled),
        ];
        // vLLM's client keeps nothing of a run that is interrupted, and has no line for these.
        if self.cancelled > 0 {
            lines.push(line("Cancelled requests:", self.cancelled));
        }
        if let Some(cap) = self.run.max_concurrency {
            lines.push(line("Maximum request concurrency:", cap));
        }
        if let VllmRequestRate::Limited(rate) = self.run.request_rate {
            lines.push(two("Request rate configured (RPS):", rate.get()));
        }
        lines.push(two("Benchmark duration (s):", self.duration.get()));
        lines.push(line("Total input tokens:", self.if_known(self.input_tokens.to_string())));
        lines.push(line("Total generated tokens:", self.output_tokens));
        lines
    }

    fn rate_lines(&self) -> Vec<String> {
        let per_s = |count: u64| rate(count as f64, self.duration).get();
        let output = self.output_tokens.get();
        let all = output.saturating_add(self.input_tokens.get());
        let mut lines = vec![two("Request throughput (req/s):", per_s(self.completed))];
        if let Some(goodput) = self.goodput {
            lines.push(two("Request goodput (req/s):", goodput.get()));
        }
        lines.extend([
            two("Output token throughput (tok/s):", per_s(output)),
            two("Peak output token throughput (tok/s):", self.peak_tokens.get()),
            two("Peak concurrent requests:", self.peak_concurrency as f64),
            line("Total token throughput (tok/s):", self.if_known(format!("{:.2}", per_s(all)))),
        ]);
        lines
    }

    /// `figure`, which counts the tokens of all prompts.
    fn if_known(&self, figure: String) -> String {
        if self.input_unknown == 0 { figure } else { "-".to_owned() }
    }

    fn unknown_line(&self) -> Option<String> {
        let (unknown, completed) = (self.input_unknown, self.completed);
        (unknown > 0).then(|| {
            format!(
                "Input tokens are not known of {unknown} of {completed} successful requests: the server did not say. Where a file of \
                 vLLM's has numbers for them, they leave these out."
            )
        })
    }

    fn stat_lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (metric, stats) in &self.stats {
            let (name, title) = metric.words();
            // vLLM puts no spaces around these titles.
            lines.push(format!("{title:-^50}"));
            lines.push(two(&format!("Mean {name} (ms):"), stats.mean));
            lines.push(two(&format!("Median {name} (ms):"), stats.median));
            for (percentile, value) in &stats.percentiles {
                lines.push(two(&format!("P{} {name} (ms):", percentile.get()), *value));
            }
        }
        lines
    }
}

fn two(name: &str, value: f64) -> String {
    line(name, format_args!("{value:.2}"))
}

/// A name and its figure.
fn line(name: &str, value: impl Display) -> String {
    format!("{name:<40} {value}")
}
