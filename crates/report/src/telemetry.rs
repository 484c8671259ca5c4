//! What servers, their devices and the client's host said of a level: two lines in brief, else figure by figure.

use fizeau_record::text::{four_digits, number, percent};
use fizeau_record::{LevelReport, LevelTelemetry, PassSource};
use fizeau_telemetry::{
    DeviceWindow, LatencyGap, LightWitness, ScrapeCost, ServerWindow, TelemetryFinding,
    ToldCounter, ToldGauge, ToldHistogram, WitnessShare,
};

use crate::Shown;

/// A figure: its name, its unit, and what it is at a level.
pub(crate) type TelemetryFigure =
    (&'static str, &'static str, fn(&LevelTelemetry) -> Option<String>);

/// All that is shown of a level, in order; what nobody said is left out.
pub(crate) const FIGURES: [TelemetryFigure; 31] = [
    ("server", "", |said| Some(of(said)?.exporter?.name().to_owned())),
    ("running, mean / peak", "", |said| gauge(of(said)?.running.as_ref(), four_digits)),
    ("waiting, mean / peak", "", |said| gauge(of(said)?.waiting.as_ref(), four_digits)),
    ("KV cache in use, mean / peak", "", |said| gauge(of(said)?.kv_use.as_ref(), percent)),
    ("the same in the steady part", "", |said| {
        gauge(said.steady.as_ref()?.kv_use.as_ref(), percent)
    }),
    ("preemptions", "", |said| counter(of(said)?.preemptions.as_ref())),
    ("prefix cache, hits of queries", "", |said| said.prefix_hit_share().map(percent)),
    ("prompt tokens", "", |said| counter(of(said)?.prompt_tokens.as_ref())),
    ("generated tokens", "", |said| counter(of(said)?.generation_tokens.as_ref())),
    ("TTFT, client / server / gap", "ms", |said| gap(said.gaps.ttft)),
    ("TPOT, client / server / gap", "ms", |said| gap(said.gaps.tpot)),
    ("E2EL, client / server / gap", "ms", |said| gap(said.gaps.e2el)),
    ("queue, mean", "ms", |said| mean(of(said)?.queue_time.as_ref())),
    ("prefill, mean", "ms", |said| mean(of(said)?.prefill_time.as_ref())),
    ("decode, mean", "ms", |said| mean(of(said)?.decode_time.as_ref())),
    ("server's p99 TTFT, bucket", "ms", |said| bucket(of(said)?.ttft.as_ref())),
    ("tokens an iteration, mean", "", |said| of(said)?.mean_iteration_tokens().map(number)),
    ("drafted tokens accepted", "", |said| of(said)?.accepted_share().map(percent)),
    ("share of the speed of light, by the client", "", |said| {
        share(said, LightWitness::ClientThroughput)
    }),
    ("the same by the engine's counters", "", |said| share(said, LightWitness::EngineCounters)),
    ("the same by the devices' activity", "", |said| share(said, LightWitness::DeviceActivity)),
    ("the same by forward passes", "", |said| share(said, LightWitness::ForwardPasses)),
    ("forward passes / lost", "", |said| {
        let total = |of: fn(&PassSource) -> u64| said.pass_sources.iter().map(of).sum::<u64>();
        let lost = total(|source| source.lost);
        (!said.pass_sources.is_empty()).then(|| format!("{} / {lost}", total(|of| of.passes)))
    }),
    ("a step's share of its bound, decode / with prompts", "", |said| {
        let steps = said.steps.as_ref()?;
        let shown = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), percent);
        Some(format!("{} / {}", shown(steps.decode_share), shown(steps.prefill_share)))
    }),
    ("time without a step", "", |said| said.witnesses.as_ref()?.idle.map(percent)),
    ("energy", "J", |said| Some(number(said.energy?.get()))),
    ("energy a token", "J", |said| Some(number(said.joules_per_token?.get()))),
    ("clocks lowered by power or heat", "", |said| {
        let shares = said.devices.iter().filter_map(DeviceWindow::throttled_share);
        shares.reduce(f64::max).map(percent)
    }),
    ("host CPU busy / stolen", "", |said| {
        let host = said.host?;
        Some(format!("{} / {}", percent(host.cpu_busy?), percent(host.cpu_steal?)))
    }),
    ("pages read / missed", "", |said| {
        let total = |of: fn(&ScrapeCost) -> u64| {
            said.sources.iter().map(|source| of(&source.cost)).sum::<u64>()
        };
        let missed = total(|cost| cost.failed);
        Some(format!("{} / {missed}, {} bytes", total(|cost| cost.pages), total(|cost| cost.bytes)))
    }),
    ("time a page, mean / slowest", "ms", |said| {
        let slowest = said
            .sources
            .iter()
            .max_by(|a, b| a.cost.slowest.get().total_cmp(&b.cost.slowest.get()))?;
        let mean = number(slowest.mean_fetch?.get());
        Some(format!("{mean} / {}", number(slowest.cost.slowest.get())))
    }),
];

const fn of(said: &LevelTelemetry) -> Option<&ServerWindow> {
    said.server.as_ref()
}

fn share(said: &LevelTelemetry, witness: LightWitness) -> Option<String> {
    Some(shown(&said.witnesses.as_ref()?.share_of(witness)?))
}

/// `31 %`, or where its uncertainty shows `31 % (28 % to 34 %)`.
pub(crate) fn shown(told: &WitnessShare) -> String {
    let [low, share, high] = [told.low, told.share, told.high].map(percent);
    // Less than half of a point is no figure of a line.
    match told.high - told.low < 0.005 {
        true => share,
        false => format!("{share} ({low} to {high})"),
    }
}

fn gauge(told: Option<&ToldGauge>, shown: fn(f64) -> String) -> Option<String> {
    let figure = told?.figure;
    let peak = figure.peak.map_or_else(|| "-".to_owned(), shown);
    Some(format!("{} / {peak}", shown(figure.mean)))
}

/// Counters are whole, but for an edge within a load.
fn counter(told: Option<&ToldCounter>) -> Option<String> {
    Some(format!("{:.0}", told?.figure.delta))
}

fn mean(told: Option<&ToldHistogram>) -> Option<String> {
    told?.figure.mean.map(number)
}

/// Between which edges the percentile lies: more a histogram cannot say.
fn bucket(told: Option<&ToldHistogram>) -> Option<String> {
    let holding = told?.figure.holding(99.0)?;
    Some(match (holding.above, holding.up_to) {
        (Some(above), Some(to)) => format!("{} to {}", number(above), number(to)),
        (None, Some(to)) => format!("up to {}", number(to)),
        (above, None) => format!("above {}", number(above.unwrap_or(0.0))),
    })
}

fn gap(gap: Option<LatencyGap>) -> Option<String> {
    let LatencyGap { client, server, gap } = gap?;
    let [client, server, gap] = [client, server, gap].map(|time| number(time.get()));
    Some(format!("{client} / {server} / {gap}"))
}

impl Shown<'_, LevelReport> {
    /// What the server was at, and how far its word is from the client's: a sentence each.
    pub(crate) fn telemetry_sentences(&self) -> Vec<String> {
        let Some(said) = &self.telemetry else { return Vec::new() };
        let all = [server_sentence(said), gap_sentence(said)].into_iter();
        all.chain(witness_sentences(said)).flatten().collect()
    }

    /// All figures by name.
    pub(crate) fn telemetry_figures(&self) -> Vec<(String, String)> {
        let Some(said) = &self.telemetry else { return Vec::new() };
        let shown = |(name, unit, of): TelemetryFigure| {
            let unit = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
            Some((format!("{name}{unit}"), of(said)?))
        };
        FIGURES.into_iter().filter_map(shown).collect()
    }
}

/// `server: running 12.1 (max 16), waiting 0, KV 34 % (peak 51 %), preemptions 0, prefix cache 62 % of queries`.
fn server_sentence(said: &LevelTelemetry) -> Option<String> {
    let server = said.server.as_ref()?;
    let with_peak = |name: &str, told: Option<&ToldGauge>, word: &str, shown: fn(f64) -> String| {
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
        counter(server.preemptions.as_ref()).map(|times| format!("preemptions {times}")),
        server
            .prefix_hit_share()
            .map(|share| format!("prefix cache {} of queries", percent(share))),
        said.joules_per_token.map(|each| format!("{} J a token", number(each.get()))),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!words.is_empty()).then(|| format!("server: {}", words.join(", ")))
}

/// `speed of light: client's throughput 31 %, engine's counters 33 %, forward passes 33 %` and
/// `steps: 1,204, none lost, at 78 % of their bounds; 12 % of the time without one`.
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
            format!("; {} of the time without one", percent(share))
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
