//! The program as a process: files of questions, and one question from the start.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

const LINES: u32 = 200_000;
const RUNS: usize = 50;

pub(crate) fn run(program: &Path) -> Result<()> {
    println!("{:<40} {:>10} {:>10} {:>10}", "fizeau sol", "measured", "cpu s", "asked");
    for (what, kinds) in [("one model on one device", 1), ("models and devices of all kinds", 8)] {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("questions.jsonl");
        fs::write(&path, made_up(kinds))?;
        let result = many(program, &path);
        fs::remove_file(&path).ok();
        let (wall, cpu) = result?;
        let rate = f64::from(LINES) / wall.as_secs_f64();
        println!("{:<40} {rate:>10.0} {cpu:>10.2} {:>10}", format!("{what}, lines/s"), 200_000);
    }
    let times = one(program)?;
    let ms = |time: Option<&Duration>| time.map_or(f64::NAN, |time| time.as_secs_f64() * 1e3);
    let (median, slowest) = (ms(times.get(RUNS / 2)), ms(times.last()));
    println!("{:<40} {median:>10.1} {:>10} {:>10}", "start to answer, ms, median of 50", "", 20);
    println!("{:<40} {slowest:>10.1}", "the slowest of them");
    Ok(())
}

/// Lengths follow a walk that no two lines share; of the rest there are `kinds` kinds each, as far as there are so many: some
/// hundred systems.
fn made_up(kinds: usize) -> String {
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
    for _ in 0..LINES {
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
        let mut command = Command::new(program);
        command.args(["sol", "--points", "-"]).stdin(File::open(path)?).stdout(Stdio::null());
        // Some lines of all kinds do not fit, which the exit code says.
        command.stderr(Stdio::null()).status()?;
        let spent = (since.elapsed(), of_children()? - before);
        if best.is_none_or(|best| spent.0 < best.0) {
            best = Some(spent);
        }
    }
    best.context("nothing was measured")
}

/// From the start of the program to its end with the answer, sorted.
fn one(program: &Path) -> Result<Vec<Duration>> {
    let mut times = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let since = Instant::now();
        let mut command = Command::new(program);
        command.args(["sol", "--model-config", "deepseek-v3", "--hardware", "h200-sxm"]);
        command.args(["--tp", "8", "--concurrency", "64"]).stdout(Stdio::null());
        let status = command.status()?;
        times.push(since.elapsed());
        anyhow::ensure!(status.success(), "fizeau sol ended with {status}");
    }
    times.sort_unstable();
    Ok(times)
}

/// Processor seconds of all processes that this one has waited for (Linux).
fn of_children() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // After the name in parentheses; cutime and cstime are fields 16 and 17, in hundredths of a second.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: f64 = fields.skip(13).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    Ok(ticks / 100.0)
}
