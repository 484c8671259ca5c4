//! The same requests to the same engine by both clocks: through `fizeau simulate`, and over HTTP to `fizeau serve`.

use anyhow::Result;

use crate::Stand;
use crate::client::{ClientRun, Summary};
use crate::cores::{Others, Watch};
use crate::server::Server;
use crate::table::{Bar, Table};

/// How far over HTTP may be from virtual time, in per cent.
const APART: f64 = 3.0;

/// What is asked of which engine.
struct Case {
    title: &'static str,
    /// The engine, as both `fizeau serve` and `fizeau simulate` take it.
    engine: &'static [&'static str],
    /// The load, as both `fizeau bench` and `fizeau simulate` take it.
    load: &'static [&'static str],
}

/// Llama-3.1-8B on one H100 gets through about 18 requests a second of 1,024 tokens in and 128 out.
const CASES: [Case; 4] = [
    Case {
        title: "1,024 in, 128 out, Poisson at 13 requests/s",
        engine: &[],
        load: &["--request-rate", "13", "--num-prompts", "400"],
    },
    Case {
        title: "1,024 in, 64 to 192 out, 64 at a time",
        engine: &[],
        load: &[
            "--random-output-len",
            "uniform:64-192",
            "--max-concurrency",
            "64",
            "--num-prompts",
            "640",
        ],
    },
    Case {
        title: "1,024 in, 128 out, Poisson at 10 requests/s, 3 tokens drafted",
        engine: &["--draft", "3", "--acceptance", "0.7"],
        load: &["--request-rate", "10", "--num-prompts", "300"],
    },
    Case {
        title: "768 in of ten kinds and 256 of its own, prefixes kept, 13 requests/s",
        engine: &["--enable-prefix-caching"],
        load: &PREFIXES,
    },
];

/// Prompts that begin alike, as many tokens as elsewhere.
const PREFIXES: [&str; 10] = [
    "--dataset-name",
    "prefix_repetition",
    "--prefix-repetition-prefix-len",
    "768",
    "--prefix-repetition-suffix-len",
    "256",
    "--request-rate",
    "13",
    "--num-prompts",
    "300",
];

/// The way from client to server, which virtual time has to be told of: about what loopback and a client that wakes up take.
/// Beside a step it is short; but what follows the end of a reply comes too late for the step that begins then.
const WAY: [&str; 2] = ["--network-delay", "200us"];

/// What all loads have.
const EACH: [&str; 4] = ["--num-warmups", "0", "--salt", "1"];

struct Round {
    simulated: ClientRun,
    measured: ClientRun,
    others: Others,
    /// How late the server was, in milliseconds; NaN if it does not say.
    lateness: f64,
}

/// One table a case.
pub(crate) fn compare(stand: &Stand) -> Result<Vec<Table>> {
    CASES.iter().map(|case| table(stand, case)).collect()
}

fn table(stand: &Stand, case: &Case) -> Result<Table> {
    let rounds = (0..stand.rounds).map(|_| round(stand, case)).collect::<Result<Vec<_>>>()?;
    let mut table = Table::new(case.title.to_owned());
    let each = |figure: fn(&Round) -> f64| rounds.iter().map(figure);
    table.row("TTFT mean, virtual time, ms", 2, Bar::None, each(|r| ttft(&r.simulated.summary)));
    table.row("TTFT mean, HTTP, ms", 2, Bar::None, each(|r| ttft(&r.measured.summary)));
    table.row("  apart, %", 2, Bar::Within(APART), each(|r| r.apart(ttft)));
    table.row("TPOT mean, virtual time, ms", 3, Bar::None, each(|r| tpot(&r.simulated.summary)));
    table.row("TPOT mean, HTTP, ms", 3, Bar::None, each(|r| tpot(&r.measured.summary)));
    table.row("  apart, %", 2, Bar::Within(APART), each(|r| r.apart(tpot)));
    table.row("output tokens/s, virtual time", 1, Bar::None, each(|r| rate(&r.simulated.summary)));
    table.row("output tokens/s, HTTP", 1, Bar::None, each(|r| rate(&r.measured.summary)));
    table.row("  apart, %", 2, Bar::Within(APART), each(|r| r.apart(rate)));
    table.row("server's own lateness p99, ms", 4, Bar::None, each(|r| r.lateness));
    let percent = |share: fn(&Others) -> f64| rounds.iter().map(move |r| share(&r.others) * 100.0);
    table.row("others on the server's core, %", 0, Bar::None, percent(|others| others.on_server));
    table.row("others on the client's core, %", 0, Bar::None, percent(|others| others.on_client));
    let verdicts = rounds.iter().map(|round| round.measured.summary.validity.verdict.as_str());
    table.words("verdict", None, verdicts);
    Ok(table)
}

fn round(stand: &Stand, case: &Case) -> Result<Round> {
    let Stand { client, priority, scratch, .. } = stand;
    let server = Server::with(&stand.fizeau, stand.cores.server, *priority, case.engine)?;
    let load = [&EACH, case.load].concat();
    let simulated = client.simulate(&[case.engine, &load, &WAY].concat(), *priority, scratch)?;
    let (watch, before) = (Watch::start(stand.cores)?, server.cpu()?);
    let measured = client.bench(&load, *priority, &server.url(), scratch)?;
    let spent = server.cpu()?.saturating_sub(before);
    let others = watch.others(spent, measured.finished.cpu)?;
    let lateness = server.truth()?.lateness_ms.map_or(f64::NAN, |late| late.p99);
    Ok(Round { simulated, measured, others, lateness })
}

impl Round {
    /// How far `figure` over HTTP is from that in virtual time, in per cent.
    fn apart(&self, figure: fn(&Summary) -> f64) -> f64 {
        (figure(&self.measured.summary) / figure(&self.simulated.summary) - 1.0) * 100.0
    }
}

fn ttft(summary: &Summary) -> f64 {
    summary.metrics.ttft_ms.mean.unwrap_or(f64::NAN)
}

fn tpot(summary: &Summary) -> f64 {
    summary.metrics.tpot_ms.mean.unwrap_or(f64::NAN)
}

const fn rate(summary: &Summary) -> f64 {
    summary.throughput.output_tokens_per_s
}
