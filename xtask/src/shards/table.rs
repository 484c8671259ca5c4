//! `cargo xtask shard-table`: one run by 1, 2, 3 and 8 processes of this machine, side by side. Whatever is counted has to be the same,
//! and medians within noise.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};

use super::free_port;
use super::trial::{BENCH, Running, Server, Summary, WARM_UPS, given_or_built, summary};

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
    let mut one: Option<(Summary, Counts)> = None;
    for count in [1, 2, 3, 8] {
        let (summary, counts) = measure(fizeau, &home, count)?;
        println!("{}", row(count, &summary, &counts));
        let one = one.get_or_insert_with(|| (summary.clone(), counts.clone()));
        ensure!(counts == one.1, "of {count} processes {counts:?}, and of one {:?}", one.1);
        is_alike(count, &summary, &one.0)?;
    }
    println!("shard-table: every count is that of one process, and every median within noise");
    Ok(())
}

/// By how much a median may differ from that of one process, in milliseconds, besides twice what the later of both runs released a median
/// request late. Tails are the machine's, whose cores the server shares: in virtual time, where there is no noise, a test holds all percentiles.
const NOISE_MS: f64 = 10.0;

/// That the medians of `count` processes are those of one, within noise.
fn is_alike(count: usize, summary: &Summary, one: &Summary) -> Result<()> {
    let both = |metric: &str| [summary, one].map(|of| of.figure(&format!("/metrics/{metric}/p50")));
    let [late, late_of_one] = both("send_lateness_ms");
    let noise = NOISE_MS + 2.0 * late.max(late_of_one);
    for metric in ["ttft_ms", "tpot_ms", "e2el_ms"] {
        let [found, known] = both(metric);
        ensure!(
            (found - known).abs() <= noise,
            "median {metric}: {found:.2} of {count} processes and {known:.2} of one differ by more than {noise:.2} ms"
        );
    }
    Ok(())
}

/// What has to be the same, however many processes sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Counts {
    /// The server's log, warm-ups left out.
    answered: u64,
    /// Requests of which a tape was kept, each once.
    ids: BTreeSet<u64>,
    sent: u64,
    completed: u64,
    output_tokens: u64,
    gaps: u64,
}

fn measure(fizeau: &Path, home: &Path, count: usize) -> Result<(Summary, Counts)> {
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
        sent: summary.count("/requests/sent"),
        completed: summary.count("/requests/completed"),
        output_tokens: summary.count("/tokens/output"),
        gaps: summary.count("/metrics/icl_ms/n"),
    };
    Ok((summary, counts))
}

/// The requests of which a run has tapes. That one comes twice is an error.
pub(crate) fn ids(out: &Path) -> Result<BTreeSet<u64>> {
    let path = out.join("tapes.jsonl");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let mut ids = BTreeSet::new();
    for line in text.lines() {
        let tape: serde_json::Value = serde_json::from_str(line)?;
        let id = tape.get("request").and_then(serde_json::Value::as_u64);
        let id = id.with_context(|| format!("{}: a tape without its request", path.display()))?;
        ensure!(ids.insert(id), "{}: request {id} is there twice", path.display());
    }
    Ok(ids)
}

fn row(count: usize, summary: &Summary, counts: &Counts) -> String {
    let Counts { answered, sent, completed, output_tokens, .. } = counts;
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
