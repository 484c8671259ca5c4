//! `cargo xtask shard-table`: one run by 1, 2, 3 and 8 processes of this machine, side by side. Whatever is counted has to be the same,
//! and percentiles within noise.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::free_port;
use super::trial::{
    BENCH, REPLY_TOKENS, Running, Server, Summary, WARM_UPS, given_or_built, summary,
};

/// How many requests a run has.
const REQUESTS: u64 = 600;

const HEAD: &str = "| shards | sent | completed | output tokens | in the server's log | TTFT p50, p99 (ms) | E2EL p50, p99 (ms) | requests/s | began within |\n\
                    | --- | --- | --- | --- | --- | --- | --- | --- | --- |";

/// Measures and prints a row for each number of processes. `fizeau` is the program, where one is built.
pub(crate) fn run(fizeau: Option<PathBuf>) -> Result<ExitCode> {
    hold(&given_or_built(fizeau)?)?;
    Ok(ExitCode::SUCCESS)
}

/// The same with the program `fizeau`. What does not hold is an error.
pub(crate) fn hold(fizeau: &Path) -> Result<()> {
    let home = std::path::absolute("target/shards")?;
    fs::create_dir_all(&home)?;
    println!("{HEAD}");
    let mut one: Option<Measured> = None;
    for count in [1, 2, 3, 8] {
        let found = measure(fizeau, &home, count)?;
        println!("{}", row(count, &found));
        let Some(one) = &one else {
            one = Some(found);
            continue;
        };
        let (counts, as_one) = (&found.counts, &one.counts);
        ensure!(counts == as_one, "of {count} processes {counts:?}, and of one {as_one:?}");
        is_alike(count, &found, one)?;
    }
    println!("shard-table: every count is that of one process, and every percentile within noise");
    Ok(())
}

/// What one run came to.
struct Measured {
    summary: Summary,
    counts: Counts,
    /// How late its clients sent and read, and its server handed over, 99th percentiles one after the other.
    late_p99_ms: f64,
}

/// By how much a figure may differ from that of one process, in milliseconds, besides twice what the later of both runs recorded of its own
/// lateness. In virtual time, where there is no noise, a test holds all percentiles.
const NOISE_MS: f64 = 10.0;

/// That the medians of `count` processes are those of one, by how late both released a median request; and the tails, by how late in the
/// tail the clients and the server of both were.
fn is_alike(count: usize, many: &Measured, one: &Measured) -> Result<()> {
    let both = |path: &str| [many, one].map(|of| of.summary.figure(path));
    let noise = |late: [f64; 2]| NOISE_MS + 2.0 * late[0].max(late[1]);
    let of_median = noise(both("/metrics/send_lateness_ms/p50"));
    let of_tail = noise([many, one].map(|of| of.late_p99_ms));
    for metric in ["ttft_ms", "tpot_ms", "e2el_ms"] {
        for (statistic, noise) in [("p50", of_median), ("p90", of_tail), ("p99", of_tail)] {
            let [found, known] = both(&format!("/metrics/{metric}/{statistic}"));
            let noise = if metric == "tpot_ms" { of_tokens(noise, known) } else { noise };
            ensure!(
                (found - known).abs() <= noise,
                "{statistic} of {metric}: {found:.2} of {count} processes and {known:.2} of one differ by more than {noise:.2} ms"
            );
        }
    }
    Ok(())
}

/// By how much a time per output token may differ that is `known_ms` of one process, where a whole reply may by `noise_ms`: a token has its
/// share of that, and whatever the noise, twice as long or no time at all is no noise.
fn of_tokens(noise_ms: f64, known_ms: f64) -> f64 {
    (noise_ms / (REPLY_TOKENS - 1) as f64).min(0.9 * known_ms)
}

/// What has to be the same, however many processes sent it.
#[derive(Debug, PartialEq, Eq)]
struct Counts {
    /// The server's log, warm-ups left out.
    answered: u64,
    /// Requests of which a tape was kept, each once.
    ids: BTreeSet<u64>,
    /// What the summary counts.
    counted: BTreeMap<String, Value>,
}

fn measure(fizeau: &Path, home: &Path, count: usize) -> Result<Measured> {
    let out = home.join(count.to_string());
    // What an earlier run left.
    let _ = fs::remove_dir_all(&out);
    let server = Server::start(fizeau, home)?;
    let meeting = format!("127.0.0.1:{}", free_port()?);
    let start = |index: usize| {
        let mut command = Command::new(fizeau);
        command.args(BENCH.split_whitespace()).arg("--out").arg(&out);
        command.args(["--num-prompts", &REQUESTS.to_string(), "--base-url", &server.url()]);
        command.env("FIZEAU_SHARD_INDEX", index.to_string());
        command.env("FIZEAU_SHARD_COUNT", count.to_string()).env("FIZEAU_RENDEZVOUS", &meeting);
        Running::start(&format!("shard-{index}-of-{count}"), command, home)
    };
    for shard in &mut (0..count).map(start).collect::<Result<Vec<_>>>()? {
        let code = shard.ends()?;
        ensure!(code == Some(0), "{} ended with {code:?}: {}", shard.name, shard.said()?);
    }
    let summary = summary(&out)?;
    let counts = Counts {
        answered: server.answered()?.saturating_sub(WARM_UPS),
        ids: ids(&out)?,
        counted: summary.counts(),
    };
    let of_client = ["send_lateness_ms", "read_lag_ms"];
    let of_client = of_client.map(|late| summary.figure(&format!("/metrics/{late}/p99")));
    // Without the kernel's stamps nobody knows when what was read had come.
    let of_client = of_client.into_iter().filter(|late| late.is_finite()).sum::<f64>();
    let late_p99_ms = of_client + server.lateness_p99_ms()?;
    Ok(Measured { summary, counts, late_p99_ms })
}

/// The requests of which a run has tapes. That one comes twice is an error.
pub(crate) fn ids(out: &Path) -> Result<BTreeSet<u64>> {
    let path = out.join("tapes.jsonl");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let mut ids = BTreeSet::new();
    for line in text.lines() {
        let tape: Value = serde_json::from_str(line)?;
        let id = tape.get("request").and_then(Value::as_u64);
        let id = id.with_context(|| format!("{}: a tape without its request", path.display()))?;
        ensure!(ids.insert(id), "{}: request {id} is there twice", path.display());
    }
    Ok(ids)
}

fn row(count: usize, Measured { summary, counts, .. }: &Measured) -> String {
    let answered = counts.answered;
    let [sent, completed, output_tokens] =
        ["/requests/sent", "/requests/completed", "/tokens/output"].map(|path| summary.count(path));
    let pair = |metric: &str| {
        let of = |which: &str| summary.figure(&format!("/metrics/{metric}/{which}"));
        format!("{:.1}, {:.1}", of("p50"), of("p99"))
    };
    let (ttft, e2el) = (pair("ttft_ms"), pair("e2el_ms"));
    let rate = summary.figure("/throughput/requests_per_s");
    let skew = if count == 1 { String::new() } else { summary.skew() };
    format!(
        "| {count} | {sent} | {completed} | {output_tokens} | {answered} | {ttft} | {e2el} | {rate:.2} | {skew} |"
    )
}

#[cfg(test)]
mod tests {
    use super::of_tokens;

    #[test]
    fn twice_the_time_of_a_token_is_no_noise() {
        assert!(of_tokens(10.0, 2.0) < 0.7, "a fifteenth of what a reply may be off");
        assert!(of_tokens(1e6, 2.0) < 2.0, "however busy the machine");
    }
}
