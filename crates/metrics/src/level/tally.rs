//! One pass over the tapes of a level.

use fizeau_core::{
    EosRule, Finish, Nanos, Outcome, PerSec, Seconds, Stamp, Tape, TokenSource, Tokens,
};

use super::{Goodput, Jitter, LevelSummary, MetricTable, RequestCounts, TokenCounts};
use super::{Throughput, Window};
use crate::distribution::{Sample, WeightedSample};
use crate::{GoodputGoals, RequestMetrics, Statistic, inter_chunk, inter_token};

/// What has been seen of a level so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    requests: RequestCounts,
    tokens: TokenTally,
    latencies: Latencies,
    good: u64,
    span: Option<(Stamp, Stamp)>,
}

impl Tally {
    pub(super) fn add(&mut self, tape: &Tape, goals: &GoodputGoals) {
        self.requests.sent += 1;
        match &tape.outcome {
            Outcome::Complete(finish) => {
                self.requests.completed += 1;
                self.tokens.add(tape, *finish);
            }
            Outcome::Failed(failure) => {
                self.requests.failed += 1;
                *self.requests.by_class.entry(failure.class).or_default() += 1;
            }
        }
        let metrics = RequestMetrics::of(tape);
        self.good += u64::from(goals.are_met_by(&metrics));
        self.latencies.add(tape, &metrics);
        self.extend_span(tape);
    }

    /// From the first release to the last end; a tape without an end reaches to its last token.
    fn extend_span(&mut self, tape: &Tape) {
        let start = tape.marks.released;
        let end = tape.marks.end.or_else(|| tape.last_token());
        let end = end.unwrap_or(start);
        self.span = Some(match self.span {
            Some((first, last)) => (first.min(start), last.max(end)),
            None => (start, end),
        });
    }

    pub(super) fn summary(self, goals: &GoodputGoals) -> LevelSummary {
        let tokens = self.tokens.counts();
        let (metrics, jitter) = self.latencies.summary();
        let sent = self.requests.sent;
        let window = self.span.map_or(Nanos::ZERO, |(start, end)| end.saturating_since(start));
        let per_s = |count: u64| per_second(count, window);
        let throughput = Throughput {
            window: Window::WholeRun,
            duration: Seconds::new(window.as_secs_f64()),
            requests_per_s: per_s(self.requests.completed),
            output_tokens_per_s: per_s(tokens.output.get()),
            total_tokens_per_s: tokens.input.map(|input| per_s((input + tokens.output).get())),
            goodput: (!goals.is_empty() && sent > 0)
                .then(|| Goodput { rate: per_s(self.good), share: self.good as f64 / sent as f64 }),
        };
        LevelSummary { requests: self.requests, tokens, metrics, jitter, throughput }
    }
}

/// A rate over a window of no length is zero here: nothing can have been completed in it.
fn per_second(count: u64, window: Nanos) -> PerSec {
    if window == Nanos::ZERO {
        return PerSec::default();
    }
    PerSec::new(count as f64 / window.as_secs_f64())
}

/// Tokens of completed requests.
#[derive(Debug, Default)]
struct TokenTally {
    counts: TokenCounts,
    input_unknown: bool,
    cached_unknown: bool,
    cached: Option<Tokens>,
    input: Tokens,
}

impl TokenTally {
    fn add(&mut self, tape: &Tape, finish: Finish) {
        let output = tape.output_tokens();
        self.counts.output += output;
        self.counts.events += tape.arrivals.len() as u64;
        self.counts.source = self.counts.source.max(Some(tape.token_source));
        self.counts.output_length_differs += u64::from(length_differs(tape, output, finish));
        match tape.input_tokens() {
            Some(input) => self.input += input,
            None => self.input_unknown = true,
        }
        match tape.usage.and_then(|usage| usage.cached_tokens) {
            Some(cached) => *self.cached.get_or_insert_default() += cached,
            None => self.cached_unknown = true,
        }
    }

    fn counts(self) -> TokenCounts {
        TokenCounts {
            input: (!self.input_unknown).then_some(self.input),
            cached_input: self.cached.filter(|_| !self.cached_unknown),
            ..self.counts
        }
    }
}

/// Whether the output is certain to have another length than was asked.
fn length_differs(tape: &Tape, counted: Tokens, finish: Finish) -> bool {
    if tape.asked.eos == EosRule::Stop {
        return false;
    }
    let reported = tape.usage.and_then(|usage| usage.completion_tokens);
    let sum_is_exact =
        tape.token_source.is_exact() || tape.token_source == TokenSource::FinalUsageSpread;
    match reported.or_else(|| sum_is_exact.then_some(counted)) {
        Some(length) => length != tape.asked.output_tokens,
        None => finish == Finish::Stop,
    }
}

/// The samples behind [`MetricTable`] and [`Jitter`].
#[derive(Debug, Default)]
struct Latencies {
    ttft: Sample,
    ttft_scheduled: Sample,
    first_visible: Sample,
    tpot: Sample,
    itl: WeightedSample,
    icl: Sample,
    e2el: Sample,
    e2el_scheduled: Sample,
    send_lateness: Sample,
    release_lateness: Sample,
    send_delay: Sample,
    connect: Sample,
    gaps: u64,
    zero_gaps: u64,
}

impl Latencies {
    fn add(&mut self, tape: &Tape, metrics: &RequestMetrics) {
        let figures = [
            (&mut self.ttft, metrics.ttft),
            (&mut self.ttft_scheduled, metrics.ttft_scheduled),
            (&mut self.first_visible, metrics.first_visible),
            (&mut self.e2el, metrics.e2el),
            (&mut self.e2el_scheduled, metrics.e2el_scheduled),
            (&mut self.send_lateness, metrics.send_lateness),
            (&mut self.release_lateness, metrics.release_lateness),
            (&mut self.send_delay, metrics.send_delay),
            (&mut self.connect, metrics.connect),
        ];
        for (sample, figure) in figures {
            if let Some(figure) = figure {
                sample.push(figure.to_millis());
            }
        }
        if let Some(tpot) = metrics.tpot {
            self.tpot.push(tpot);
        }
        for gap in inter_chunk(tape) {
            self.gaps += 1;
            self.zero_gaps += u64::from(gap == Nanos::ZERO);
            self.icl.push(gap.to_millis());
        }
        for share in inter_token(tape) {
            self.itl.push(share.per_token, share.tokens);
        }
    }

    fn summary(self) -> (MetricTable, Jitter) {
        let table = MetricTable {
            ttft: self.ttft.summary(),
            ttft_scheduled: self.ttft_scheduled.summary(),
            first_visible: self.first_visible.summary(),
            tpot: self.tpot.summary(),
            itl: self.itl.summary(),
            icl: self.icl.pooled_summary(),
            e2el: self.e2el.summary(),
            e2el_scheduled: self.e2el_scheduled.summary(),
            send_lateness: self.send_lateness.summary(),
            release_lateness: self.release_lateness.summary(),
            send_delay: self.send_delay.summary(),
            connect: self.connect.summary(),
        };
        let itl = |statistic| table.itl.statistic(statistic);
        let ratio = itl(Statistic::P99).zip(itl(Statistic::P50));
        let jitter = Jitter {
            itl_tail_ratio: ratio.map(|(p99, p50)| p99 / p50).filter(|ratio| ratio.is_finite()),
            zero_gap_share: (self.gaps > 0).then(|| self.zero_gaps as f64 / self.gaps as f64),
        };
        (table, jitter)
    }
}
