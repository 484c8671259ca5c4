//! What servers, their devices and the client's host said of a level: a sentence in brief, else figure by figure.

mod catalogue;

use fizeau_record::text::{four_digits, number, percent};
use fizeau_record::{LevelReport, LevelTelemetry};
use fizeau_telemetry::{ReportedGauge, ServerWindow, TelemetryFinding, WitnessShare};

use crate::{Shown, Verbosity};
use catalogue::whole;
pub(crate) use catalogue::{TelemetryExport, TelemetryFigure, exported, figures, shown};

impl Shown<'_, LevelReport> {
    /// What the server was at, and how far its word is from the client's: a sentence each.
    pub(crate) fn telemetry_sentences(&self) -> Vec<String> {
        let Some(said) = &self.telemetry else { return Vec::new() };
        let all = [self.server_sentence(Verbosity::Full), gap_sentence(said)].into_iter();
        all.chain(witness_sentences(said)).flatten().collect()
    }

    /// What the server was at; in brief without what did not happen.
    pub(crate) fn server_sentence(&self, verbosity: Verbosity) -> Option<String> {
        server_sentence(self.telemetry.as_ref()?, verbosity)
    }

    /// All figures by name.
    pub(crate) fn telemetry_figures(&self) -> Vec<(String, String)> {
        let Some(said) = &self.telemetry else { return Vec::new() };
        let shown = |figure: &TelemetryFigure| {
            let TelemetryFigure { name, unit, .. } = figure;
            let unit = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
            Some((format!("{name}{unit}"), figure.shown(said)?))
        };
        figures().filter_map(shown).collect()
    }
}

/// `server: running 12.1 (max 16), waiting 0, KV 34 % (peak 51 %), preemptions 0, prefix cache 62 % of queries`.
fn server_sentence(said: &LevelTelemetry, verbosity: Verbosity) -> Option<String> {
    let server = said.server.as_ref()?;
    let is_told = |amount: f64| verbosity == Verbosity::Full || amount > 0.0;
    let with_peak =
        |name: &str, told: Option<&ReportedGauge>, word: &str, shown: fn(f64) -> String| {
            let figure = told?.figure;
            let mean = shown(figure.mean);
            let peak = figure.peak.map(shown).filter(|peak| *peak != mean);
            let peak = peak.map_or_else(String::new, |peak| format!(" ({word} {peak})"));
            Some(format!("{name} {mean}{peak}"))
        };
    let words: Vec<String> = [
        with_peak("running", server.running.as_ref(), "max", four_digits),
        with_peak("waiting", server.waiting.as_ref(), "max", four_digits),
        with_peak("KV", server.kv_use.as_ref(), "peak", percent),
        server
            .preemptions
            .as_ref()
            .map(|told| told.figure.delta)
            .filter(|delta| is_told(delta.round()))
            .map(|delta| format!("preemptions {}", whole(delta))),
        server
            .prefix_hit_share()
            .filter(|share| is_told(*share))
            .map(|share| format!("prefix cache {} of {}", percent(share), looked_up(server))),
        said.joules_per_token.map(|each| format!("{} J a token", number(each.get()))),
        said.tokens_per_joule.map(|each| format!("{} tokens a joule", number(each.get()))),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!words.is_empty()).then(|| format!("server: {}", words.join(", ")))
}

/// Of what the share of the prefix cache is: an engine that counts no queries tells cached tokens.
const fn looked_up(server: &ServerWindow) -> &'static str {
    if server.prefix_queries.is_some() { "queries" } else { "prompt tokens" }
}

/// `speed of light: client's throughput 31 %, engine's counters 33 %, forward passes 33 %` and
/// `steps: 1,204, none lost, at 78 % of their bounds; 12 % of the time without a step`.
fn witness_sentences(said: &LevelTelemetry) -> [Option<String>; 2] {
    let told = said.witnesses.as_ref().map(|told| {
        let each = |told: &WitnessShare| format!("{} {}", told.witness, shown(told));
        let each: Vec<String> = told.shares.iter().map(each).collect();
        let agree = if told.disagreements.is_empty() { "; they agree" } else { "; they differ" };
        let agree = if each.len() > 1 { agree } else { "" };
        format!("speed of light: {}{agree}", each.join(", "))
    });
    let steps = said.steps.as_ref().map(|steps| {
        let lost = if steps.lost == 0 { "none".to_owned() } else { steps.lost.to_string() };
        let idle = said.witnesses.as_ref().and_then(|told| told.idle);
        let idle = idle.filter(|share| *share >= 0.01);
        let idle = idle.map_or_else(String::new, |share| {
            format!("; {} of the time without a step", percent(share))
        });
        let share = percent(steps.share);
        format!("steps: {}, {lost} lost, at {share} of their bounds{idle}", steps.steps)
    });
    [told, steps]
}

/// `gap: client TTFT less server TTFT 3.1 ms; tokens agree`.
fn gap_sentence(said: &LevelTelemetry) -> Option<String> {
    let ttft = said
        .gaps
        .ttft
        .map(|ttft| format!("client TTFT less server TTFT {} ms", number(ttft.gap.get())));
    let is_equal = |finding: &TelemetryFinding| match finding {
        TelemetryFinding::TokensEqual { .. } => Some(true),
        TelemetryFinding::TokensDiffer { .. } => Some(false),
        _ => None,
    };
    let tokens: Vec<bool> = said.findings.iter().filter_map(is_equal).collect();
    let tokens = match tokens.iter().all(|equal| *equal) {
        _ if tokens.is_empty() => None,
        true => Some("tokens agree".to_owned()),
        false => Some("tokens differ".to_owned()),
    };
    let words: Vec<String> = ttft.into_iter().chain(tokens).collect();
    (!words.is_empty()).then(|| format!("gap: {}", words.join("; ")))
}
