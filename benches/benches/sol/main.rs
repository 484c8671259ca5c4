//! `fizeau sol`, as a process: how many queries of a file it answers a second, and how long one takes from start to answer.
//!
//! `cargo xtask bench sol`, or with the number of lines after it. The file is made up, and written to the target folder and taken
//! away again: models, devices, degrees, formats and lengths vary from line to line, so that some thousand systems are prepared.

#[path = "../transport/program.rs"]
mod program;

use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

fn main() -> Result<()> {
    let lines = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(200_000);
    let program = program::build()?;
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target"));
    println!("{:<40} {:>10} {:>10} {:>12}", "fizeau sol", "seconds", "cpu s", "lines/s");
    for (what, kinds) in [("--points, one model on one device", 1), ("--points, all kinds", 8)] {
        let path = folder.join("sol-bench.jsonl");
        std::fs::write(&path, made_up(lines, kinds))?;
        let result = many(&program, &path);
        std::fs::remove_file(&path).ok();
        let (wall, cpu) = result?;
        let rate = lines as f64 / wall.as_secs_f64();
        println!("{what:<40} {:>10.3} {cpu:>10.2} {rate:>12.0}", wall.as_secs_f64());
    }
    println!("{:<40} {:>10.4}", "start to answer, best of 20", one(&program)?.as_secs_f64());
    Ok(())
}

/// The lengths follow a walk that no two lines share; of the rest there are `kinds` kinds each, as far as there are so many.
fn made_up(lines: u64, kinds: usize) -> String {
    let models = ["llama-3.1-8b", "qwen3-8b", "qwen3-30b-a3b", "gpt-oss-20b"];
    let devices = ["h100-sxm", "h200-sxm", "b200-sxm", "mi300x", "a100-sxm-80"];
    let degrees = [1, 2, 4];
    let formats = ["null", "\"fp8\""];
    let mut text = String::new();
    let mut state = 1_u64;
    let mut next = |below: usize| {
        // Knuth's MMIX generator; its upper bits are good enough to pick a kind.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as usize) % below.max(1)
    };
    for _ in 0..lines {
        let mut pick = |of: usize| next(of.min(kinds));
        let (model, device) = (models[pick(models.len())], devices[pick(devices.len())]);
        let (tp, weights) = (degrees[pick(degrees.len())], formats[pick(formats.len())]);
        let kv = formats[pick(formats.len())];
        let (isl, osl, concurrency) = (128 + next(8_000), 16 + next(2_000), 1 + next(256));
        let _ = writeln!(
            text,
            r#"{{"model_config": "{model}", "hardware": "{device}", "tp": {tp}, "pp": 1, "ep": 1, "dp": 1, "weights": {weights}, "kv": {kv}, "isl": {isl}, "osl": {osl}, "concurrency": {concurrency}, "cached": 0}}"#
        );
    }
    text
}

/// What all lines take, by the clock and of a processor: the best of three.
fn many(program: &Path, path: &Path) -> Result<(Duration, f64)> {
    let mut best: Option<(Duration, f64)> = None;
    for _ in 0..3 {
        let (since, before) = (Instant::now(), of_children()?);
        let points = Stdio::from(File::open(path)?);
        let mut command = Command::new(program);
        command.args(["sol", "--points", "-"]).stdin(points).stdout(Stdio::null());
        // Some lines of all kinds do not fit, which the exit code says.
        command.stderr(Stdio::null()).status()?;
        let spent = (since.elapsed(), of_children()? - before);
        if best.is_none_or(|best| spent.0 < best.0) {
            best = Some(spent);
        }
    }
    best.context("nothing was measured")
}

fn one(program: &Path) -> Result<Duration> {
    let mut best = Duration::MAX;
    for _ in 0..20 {
        let since = Instant::now();
        let mut command = Command::new(program);
        command.args(["sol", "--model-config", "deepseek-v3", "--hardware", "h200-sxm"]);
        command.args(["--tp", "8", "--concurrency", "64"]).stdout(Stdio::null());
        command.status()?;
        best = best.min(since.elapsed());
    }
    Ok(best)
}

/// Processor seconds of all processes that this one has waited for (Linux).
fn of_children() -> Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // After the name in parentheses; cutime and cstime are fields 16 and 17, in hundredths of a second.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: f64 = fields.skip(13).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    Ok(ticks / 100.0)
}
