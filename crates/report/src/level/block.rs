//! What vLLM's block does not say of a level, in the same layout.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::fmt::Display;

use fizeau_core::{FailureClass, Millis, PerSec, TokenSource};
use fizeau_metrics::{
    Distribution, Interval, PercentileResolution, Quantile, RateDistribution, SampleSupport,
    Verdict,
};

use super::tail;
use fizeau_record::{
    EvenRouting, GoalResult, LevelReport, LevelStatus, NoReference, OperatingDecision,
    OperatingPoint, SpeedOfLight, SpeedOfLightComparison, SweepReport,
};
use fizeau_roofline::BoundShare;

use crate::Shown;
use crate::block::{heading, line};
use crate::shards::{sentences, table_lines};
use crate::text::{VERDICT, Verbosity, VerdictNotes, plain, shown};
use fizeau_record::text;
use fizeau_record::text::wrap;
use fizeau_record::text::{decimals, number, percent, supported};

/// A class of failures behind their number, which a class `status` would look like.
fn class_words(class: FailureClass) -> String {
    match class {
        FailureClass::Status => "error status".to_owned(),
        other => other.to_string(),
    }
}

impl Shown<'_, LevelReport> {
    /// The block of figures that belongs below the block of vLLM. In brief: time to first token from schedule, time per output
    /// token, what the server was at, what was reached of the speed of light, and the verdict with a line for each reason. In full
    /// also what explains the reasons, inter-chunk and inter-token latency apart, where the token counts come from, what was asked
    /// for beside what was sent, and the client's proof. Without a newline after the last line.
    #[must_use]
    pub fn block(&self, verbosity: Verbosity) -> String {
        self.lines(Vec::new(), verbosity)
    }

    /// The same, what tokens cost at a price of one's own, and how the goals of `run` came out, whose only level this is.
    #[must_use]
    pub fn block_with(&self, run: &SweepReport, verbosity: Verbosity) -> String {
        let cost = Shown(run).own_cost_at(0).zip(run.price()).map(|(usd, price)| {
            let at = text::at_price(price);
            sentence(&format!("{}: {} USD, {at}", text::MILLION, usd.usd()))
        });
        self.lines(cost.into_iter().chain(goal_lines(run)), verbosity)
    }

    pub(super) fn lines(
        &self,
        of_run: impl IntoIterator<Item = String>,
        verbosity: Verbosity,
    ) -> String {
        let mut lines = vec![heading(OWN)];
        lines.extend(match verbosity {
            Verbosity::Brief => self.brief_lines(),
            Verbosity::Full => self.full_lines(),
        });
        lines.extend(of_run);
        lines.push("=".repeat(50));
        lines.join("\n")
    }

    fn brief_lines(&self) -> Vec<String> {
        let metrics = &self.summary.metrics;
        let mut lines = match self.is_tokenless() {
            true => Vec::from(latency(E2EL_TO_EMBEDDING, &metrics.e2el)),
            false => self.seen(TTFT_SCHEDULED, &metrics.ttft_scheduled),
        };
        if !self.is_tokenless() {
            lines.extend(latency(TPOT_OF_REPLY, &metrics.tpot));
        }
        lines.extend(self.until_lines());
        lines.extend(self.requested_window_lines());
        lines.extend(self.goodput_rates());
        lines.extend(self.failure_lines());
        lines.extend(self.measured_by());
        lines.extend(self.server_sentence(Verbosity::Brief).map(|words| sentence(&words)));
        lines.extend(self.light_lines());
        lines.extend(
            self.shards.iter().flat_map(|shards| sentences(shards)).map(|text| sentence(&text)),
        );
        lines.extend(self.verdict_lines(Verbosity::Brief));
        if let Some(unseen) = &self.unseen {
            let names: Vec<_> = unseen.not_known().iter().map(|known| known.what.clone()).collect();
            lines.push(sentence(&format!("not known: {}", names.join(", "))));
        }
        lines
    }

    fn full_lines(&self) -> Vec<String> {
        let metrics = &self.summary.metrics;
        let mut lines = Vec::new();
        if self.is_tokenless() {
            lines.extend(latency(E2EL_TO_EMBEDDING, &metrics.e2el));
        } else {
            lines.extend(latency("TTFT from send (ms):", &metrics.ttft));
            lines.extend(self.seen(TTFT_SCHEDULED, &metrics.ttft_scheduled));
            lines.extend(latency(TPOT_OF_REPLY, &metrics.tpot));
            lines.extend(latency("E2EL to last token (ms):", &metrics.e2el));
            lines.extend(self.e2el_sentence());
            lines.extend(self.seen("ICL, gap of chunks (ms):", &metrics.icl));
            lines.extend(self.seen("ITL, gap of tokens (ms):", &metrics.itl));
        }
        lines.extend(self.rate_lines());
        lines.extend(self.token_lines());
        lines.extend(self.until_lines());
        lines.extend(self.phase_lines());
        lines.extend(self.goodput_lines());
        lines.extend(self.over_time_lines());
        lines.extend(self.window_lines());
        lines.extend(self.workload_lines());
        lines.extend(self.failure_lines());
        lines.extend(self.proof_lines());
        lines.extend(self.shards.iter().flat_map(|shards| table_lines(shards, Verbosity::Full)));
        lines.extend(self.telemetry_sentences().iter().map(|words| sentence(words)));
        let figures = self.telemetry_figures().into_iter();
        lines.extend(figures.map(|(name, shown)| within_width(&format!("  {name}:"), shown)));
        lines.extend(self.speed_lines());
        lines.extend(self.verdict_lines(Verbosity::Full));
        lines.extend(self.unseen_lines());
        lines
    }

    /// `E2EL mean 812 ms = network 0.21 + TTFT less network 112 + TPOT x tokens after the first chunk 699`.
    fn e2el_sentence(&self) -> Option<String> {
        let parts = self.summary.e2el_parts()?;
        let [all, network, rest, decode] =
            [parts.e2el, parts.network, parts.rest_of_ttft, parts.decode]
                .map(|ms| number(ms.get()));
        Some(sentence(&format!(
            "E2EL mean {all} ms = network {network} + TTFT less network {rest} + TPOT x tokens after the first chunk {decode}"
        )))
    }

    fn is_tokenless(&self) -> bool {
        self.summary.tokens.source == Some(TokenSource::Tokenless)
    }

    /// The headline rates. They are in vLLM's block, too, which says nothing of their intervals.
    fn rate_lines(&self) -> Vec<String> {
        let all = &self.summary.throughput;
        let rates = [
            ("Request throughput (req/s):", all.requests_per_s, all.intervals.requests_per_s),
            (
                "Output throughput (tok/s):",
                all.output_tokens_per_s,
                all.intervals.output_tokens_per_s,
            ),
        ];
        let measured = rates.into_iter().filter(|(_, rate, _)| rate.get() > 0.0);
        let shown = |(name, rate, interval): (_, PerSec, Option<_>)| {
            // Two decimals, and more of a slow server's.
            let decimals = decimals(rate.get()).max(2);
            let shown = |rate: PerSec| format!("{:.decimals$}", rate.get());
            line(name, shown(rate) + &ends(interval, shown))
        };
        measured.map(shown).collect()
    }

    /// `3 connect, 1 error status`; what we cancelled ourselves stands apart.
    fn failure_lines(&self) -> Vec<String> {
        let requests = &self.summary.requests;
        let failed =
            requests.by_class.iter().filter(|(class, _)| **class != FailureClass::Cancelled);
        let failed: Vec<_> =
            failed.map(|(class, n)| format!("{n} {}", class_words(*class))).collect();
        let failed =
            (!failed.is_empty()).then(|| within_width("Failed by class:", failed.join(", ")));
        let cancelled = Some(requests.cancelled()).filter(|n| *n > 0);
        let cancelled = cancelled.map(|n| line("Cancelled by the client:", n));
        failed.into_iter().chain(cancelled).collect()
    }

    fn token_lines(&self) -> Vec<String> {
        let tokens = &self.summary.tokens;
        let source = tokens.source.map_or("none: no request completed", text::token_source);
        let mut lines = vec![line("Tokens counted by:", source)];
        if tokens.output.get() > 0 {
            let per_event = tokens.output.get() as f64 / tokens.events as f64;
            lines.push(line("Tokens per chunk:", format_args!("{per_event:.2}")));
        }
        lines
    }

    /// Prefill and decode, always both; reasoning and text where there were any.
    fn phase_lines(&self) -> Vec<String> {
        let (rates, output) = (&self.summary.rates, &self.summary.output);
        if self.summary.tokens.output.get() == 0 {
            return Vec::new();
        }
        let mut lines = vec![
            line("Prefill p50/p10 (tok/s per request):", slow_tail(&rates.prefill_tps)),
            line("Decode p50/p10 (tok/s per request):", slow_tail(&rates.user_tps)),
        ];
        if output.reasoning.get() > 0 {
            let (reasoning, visible) = (output.reasoning, output.visible);
            lines.push(line(
                "Tokens of reasoning/of the rest:",
                format_args!("{reasoning} / {visible}"),
            ));
            if self.summary.metrics.reasoning.n > 0 {
                let spent = tail(&self.summary.metrics.reasoning);
                lines.push(line("Time spent reasoning p50/p99/max (ms):", spent));
            }
        }
        if let Some(rate) = output.text_chars_per_s {
            lines.push(line("Visible text (chars/s):", number(rate.get())));
        }
        lines
    }

    /// The share of the speed of light, and what the roofline model expects.
    fn light_lines(&self) -> Vec<String> {
        let SpeedOfLight::Known(light) = &self.speed_of_light else {
            return self.no_light_in_brief();
        };
        let rate = |rate: PerSec| supported(rate.get(), None);
        // Where the output is limited by something else, it is the bound's.
        let differs =
            |even: &EvenRouting| even.output_tokens_per_s < light.bound.output_tokens_per_s;
        let even = light.even_routing.filter(differs).and_then(|even| {
            let (share, most) = (percent(even.share?.get()), rate(even.output_tokens_per_s));
            let name = "Share of speed of light at even routing:";
            Some(line(name, format_args!("{share} of {most} output tok/s")))
        });
        let (share, bound) = (light.shares.output_tokens_per_s, light.bound.output_tokens_per_s);
        let mut lines: Vec<String> = even.into_iter().collect();
        let expected = light.expected.as_ref().ok().map(|of| of.figures.output_tokens_per_s);
        let beside = expected.map(|expected| format!(", expected: {}", rate(expected)));
        let of_bound = format!("(bound: {}{})", rate(bound), beside.unwrap_or_default());
        lines.extend(share.map(|share| {
            let share = percent(share.get());
            line("Share of speed of light (output tok/s):", format_args!("{share} {of_bound}"))
        }));
        lines
    }

    /// The same, but where nobody named a model and a device: a program that knows how to name them says that instead.
    fn no_light_in_brief(&self) -> Vec<String> {
        match self.speed_of_light == SpeedOfLight::NoReference(NoReference::NotGiven) {
            true => Vec::new(),
            false => self.no_light(),
        }
    }

    /// Why there is no speed of light; nothing where there is one. Most reasons are longer than vLLM's lines.
    fn no_light(&self) -> Vec<String> {
        match self.speed_of_light.reason() {
            None => Vec::new(),
            Some(reason) if reason.starts_with(NOT_COMPUTED) => {
                vec![line("Speed of light:", plain(reason))]
            }
            Some(reason) => vec![line("Speed of light:", NOT_COMPUTED), sentence(reason)],
        }
    }

    fn speed_lines(&self) -> Vec<String> {
        let SpeedOfLight::Known(light) = &self.speed_of_light else { return self.no_light() };
        let share = |share: Option<BoundShare>| {
            share.map_or_else(|| "-".to_owned(), |share| percent(share.get()))
        };
        let rate = |rate: PerSec| supported(rate.get(), None);
        let mut lines = vec![
            line("Speed of light (output tok/s):", rate(light.bound.output_tokens_per_s)),
            line("Share of it reached:", share(light.shares.output_tokens_per_s)),
        ];
        if let Some(even) = light.even_routing {
            lines
                .push(line("Most at even routing (output tok/s):", rate(even.output_tokens_per_s)));
            lines.push(line("Share of that reached:", share(even.share)));
        }
        if let Some(sheet) = &light.data_sheet {
            let most = rate(sheet.output_tokens_per_s);
            lines.push(line("By the data sheet (output tok/s):", most));
            lines.push(line("Share of that reached:", share(sheet.share)));
        }
        if light.shares.ttft.is_some() {
            lines.push(line("Share reached in prefill:", share(light.shares.ttft)));
        }
        if let Some(decode) = light.decode {
            lines.push(line("Share reached in decode:", percent(decode.share.get())));
        }
        lines.push(line("Limited by:", light.bound.limited_by));
        if let Ok(expected) = &light.expected {
            let tokens = rate(expected.figures.output_tokens_per_s);
            lines.push(line("Expected, roofline model (output tok/s):", tokens));
            lines.extend(beats(light).then(|| sentence(IN_TURNS)));
        }
        lines.extend(light.calibrated.as_ref().map(|calibrated| match &calibrated.prediction {
            Ok(prediction) => {
                let of = &prediction.output_tokens_per_s;
                let [value, low, high] = [of.value(), of.low(), of.high()].map(rate);
                line(
                    "Predicted, calibration (output tok/s):",
                    format_args!("{value} ({low} to {high})"),
                )
            }
            Err(outside) => sentence(&format!("calibration: {outside}")),
        }));
        lines
    }

    fn notes(&self) -> VerdictNotes {
        let told = self.finding_notes();
        let notes = self.validity.notes.iter().cloned();
        let (findings, notes) = notes.partition(|note| told.contains(note));
        VerdictNotes { findings, notes }
    }

    fn verdict_lines(&self, verbosity: Verbosity) -> Vec<String> {
        let mut lines = Vec::new();
        if let LevelStatus::Partial { reason } = &self.status {
            let short = line("Status:", format_args!("partial: {}", plain(reason)));
            if short.chars().count() <= WIDTH {
                lines.push(short);
            } else {
                lines.push(line("Status:", "partial"));
                lines.push(sentence(reason));
            }
        }
        lines.push(line(VERDICT, self.validity.verdict.as_str()));
        let mut said = HashSet::new();
        let reasons = self.validity.reasons.iter();
        let mut reasons: Vec<_> = reasons
            .filter(|reason| reason.verdict != Verdict::Valid)
            .map(|reason| (reason.verdict, shown(&reason.text, verbosity)))
            .filter(|(_, text)| said.insert(*text))
            .collect();
        reasons.sort_by_key(|(verdict, _)| Reverse(*verdict));
        let mut told: Vec<String> =
            reasons.iter().map(|(verdict, text)| format!("{}: {text}", verdict.as_str())).collect();
        // In brief what is said of shards stands above.
        let said = match (verbosity, &self.shards) {
            (Verbosity::Brief, Some(shards)) => sentences(shards),
            _ => Vec::new(),
        };
        let mut notes = self.notes();
        notes.notes.retain(|note| !said.contains(note));
        told.extend(notes.lines(verbosity));
        if verbosity == Verbosity::Brief && told.len() > MOST_REASONS {
            let left = told.split_off(MOST_REASONS - 1).len();
            told.push(format!("and {left} more (-v shows them)"));
        }
        lines.extend(told.iter().map(|told| sentence(told)));
        lines
    }
}

/// The head of the block, which says what its brackets are.
const OWN: &str = "Fizeau, [95 % intervals]";

const NOT_COMPUTED: &str = "not computed";

/// How many lines below a verdict a reader takes in at a glance.
const MOST_REASONS: usize = 3;

/// Whether more was measured than is expected.
fn beats(light: &SpeedOfLightComparison) -> bool {
    let reached = light.shares.output_tokens_per_s.map_or(0.0, BoundShare::get)
        * light.bound.output_tokens_per_s.get();
    light
        .expected
        .as_ref()
        .is_ok_and(|expected| reached > expected.figures.output_tokens_per_s.get())
}

/// How the goals of a run of one level came out, a line each; none where there are none.
pub(super) fn goal_lines(run: &SweepReport) -> Vec<String> {
    let point = run.operating_point();
    let mut lines: Vec<String> = run
        .goal_words()
        .into_iter()
        .map(|words| {
            let (goal, came_out) = words.split_once(": ").unwrap_or((&words, ""));
            let padded = line(&format!("{goal}:"), came_out);
            if padded.chars().count() <= WIDTH { padded } else { wrap(&plain(&words), WIDTH) }
        })
        .collect();
    let is_loose_only = run.decisions().iter().any(OperatingDecision::is_loose_only);
    let all_met = !lines.is_empty() && point.goals().iter().all(GoalResult::is_met);
    lines.extend(match point {
        OperatingPoint::Unjudged { reason } => Some(sentence(&format!("goals: {reason}"))),
        OperatingPoint::NoLevel => Some(line("Goals:", "not judged: the level is invalid")),
        OperatingPoint::Missed { .. } if all_met => {
            Some(line("Goals:", "missed, since the queue grows and they would not hold for long"))
        }
        OperatingPoint::Met { .. } if is_loose_only => {
            Some(line("Goals:", "met at the loose end only"))
        }
        _ => None,
    });
    lines
}

impl Shown<'_, LevelReport> {
    /// A latency; in one line that it is not known where another tool did not see it.
    fn seen(&self, name: &str, sample: &Distribution) -> Vec<String> {
        match &self.unseen {
            Some(_) if sample.n == 0 => vec![line(name, "not known")],
            _ => latency(name, sample).into(),
        }
    }

    /// What is not known since another tool measured it.
    fn unseen_lines(&self) -> Vec<String> {
        let Some(unseen) = &self.unseen else { return Vec::new() };
        let known = unseen.not_known().iter();
        let known = known.map(|known| sentence(&format!("{}: {}", known.what, known.why)));
        std::iter::once("Not known:".to_owned()).chain(known).collect()
    }
}

/// `101 / 88.2`: the median and the pace that nine requests in ten reach; `-` where the sample supports none.
fn slow_tail(rates: &RateDistribution) -> String {
    let figure =
        |rate: Option<PerSec>| rate.map_or_else(|| "-".to_owned(), |rate| number(rate.get()));
    format!("{} / {}", figure(rates.p50), figure(rates.p10))
}

/// A line, or where there is no room a sentence.
fn within_width(name: &str, shown: impl Display) -> String {
    let short = line(name, &shown);
    match short.chars().count() <= WIDTH {
        true => short,
        false => sentence(&format!("{} {shown}", name.trim_start())),
    }
}

/// What is longer than a figure, on lines of its own.
pub(super) fn sentence(text: &str) -> String {
    wrap(&format!("  {}", plain(text)), WIDTH)
}

const TTFT_SCHEDULED: &str = "TTFT from schedule (ms):";
/// Not the TPOT of the block above it, which counts replies that came in one event and subtracts one token whatever the first held.
const TPOT_OF_REPLY: &str = "TPOT after first event (ms):";
const E2EL_TO_EMBEDDING: &str = "E2EL to the embedding (ms):";

/// The width of a terminal as it comes: vLLM's 50 columns are too few for a sentence.
const WIDTH: usize = 80;

/// Why a run may be faster than what is expected, and still below the bound.
const IN_TURNS: &str = "the expectation assumes that prefill and decode alternate; an engine that overlaps them in one \
 step can beat it";

/// The ends of an interval of requests behind its figure, as [`ends_of`] has them.
fn ends<T>(interval: Option<SampleSupport<Interval<T>>>, shown: impl Fn(T) -> String) -> String {
    ends_of("requests", interval, shown)
}

/// The ends of an interval behind its figure; how many values it would take and of what, where there are too few; nothing where the
/// figure has none at all.
pub(super) fn ends_of<T>(
    values: &str,
    interval: Option<SampleSupport<Interval<T>>>,
    shown: impl Fn(T) -> String,
) -> String {
    match interval {
        Some(SampleSupport::Known(Interval { low, high, .. })) => {
            format!("  [{}, {}]", shown(low), shown(high))
        }
        Some(SampleSupport::NotSupported { needs, .. }) => {
            format!("  [CI needs {needs} {values}]")
        }
        Some(SampleSupport::CorrelationUnknown) | None => String::new(),
    }
}

/// The median and the tail of a sample with their 95 % intervals in brackets, or why there are none.
fn latency(name: &str, sample: &Distribution) -> [String; 2] {
    let resolution = match sample.resolution {
        PercentileResolution::Exact => String::new(),
        PercentileResolution::Folded | PercentileResolution::Drawn => {
            format!(" ({})", sample.resolution.as_str())
        }
    };
    let two = |value: Millis| format!("{:.2}{resolution}", value.get());
    let end = |end: Millis| format!("{:.2}", end.get());
    let quantile = |quantile: Quantile| match quantile {
        Quantile::Known { value, interval } => two(value) + &ends(interval, end),
        Quantile::Withheld { needs } => format!("- (needs {needs} values, has {})", sample.n),
        Quantile::Absent => "- (no values)".to_owned(),
    };
    [
        line(&format!("Median {name}"), quantile(sample.p50)),
        line(&format!("P99 {name}"), quantile(sample.p99)),
    ]
}
