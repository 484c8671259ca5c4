//! The program as a process: a file of questions, and one question from the start.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

const LINES: u32 = 200_000;
const RUNS: usize = 50;
/// Clock ticks of `/proc`, the same on every Linux that people use.
const TICKS_PER_S: f64 = 100.0;

pub(crate) fn run(program: &Path) -> Result<()> {
    println!("{:<48} {:>10} {:>10}", "", "measured", "asked");
    let lines = made_up()?;
    let (mut wall, mut cpu) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..3 {
        let before = children_s();
        wall = wall.min(timed(program, &["--points".as_ref(), lines.as_ref()])?.as_secs_f64());
        cpu = cpu.min(children_s().zip(before).map_or(f64::NAN, |(now, then)| now - then));
    }
    let per_s = |seconds: f64| format!("{:.0}", f64::from(LINES) / seconds);
    row("--points, lines/s by the clock, best of 3", &per_s(wall), "200000");
    row("--points, lines/s of processor time", &per_s(cpu), "-");
    fs::remove_file(&lines)?;

    let config = config("llama-3.1-8b");
    let one =
        ["--model-config".as_ref(), config.as_ref(), "--hardware".as_ref(), "h100-sxm".as_ref()];
    let mut times = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        times.push(timed(program, &one)?);
    }
    times.sort_unstable();
    let at = |share: usize| times.get((RUNS - 1) * share / 100).copied().unwrap_or_default();
    let ms = |time: Duration| format!("{:.1}", time.as_secs_f64() * 1e3);
    row("one answer from the start, ms, median of 50", &ms(at(50)), "20");
    row("the same, slowest", &ms(at(100)), "-");
    Ok(())
}

fn row(what: &str, measured: &str, asked: &str) {
    println!("{what:<48} {measured:>10} {asked:>10}");
}

/// Loads of all sizes on six systems, no two lines alike.
fn made_up() -> Result<PathBuf> {
    let systems = [
        ("llama-3.1-8b", "h100-sxm", 1),
        ("llama-3.1-8b", "a100-sxm-80", 2),
        ("llama-3.1-70b", "h200-sxm", 4),
        ("llama-3.1-70b", "mi300x", 8),
        ("gpt-oss-120b", "h200-sxm", 1),
        ("gpt-oss-120b", "b200-sxm", 2),
    ];
    let mut text = String::new();
    for k in 0..LINES {
        let (model, device, ranks) = systems[k as usize % systems.len()];
        writeln!(
            text,
            r#"{{"model_config":{:?},"hardware":"{device}","tp":{ranks},"pp":1,"ep":1,"dp":1,"weights":null,"kv":"bf16","isl":{},"osl":{},"concurrency":{},"cached":{}}}"#,
            config(model),
            256 + k % 4099,
            16 + k % 509,
            1 + k % 251,
            k % 127,
        )?;
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("questions.jsonl");
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

fn config(model: &str) -> PathBuf {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/models");
    Path::new(root).join(model).join("config.json")
}

/// From the start of `fizeau sol` to its end.
fn timed(program: &Path, args: &[&std::ffi::OsStr]) -> Result<Duration> {
    let start = Instant::now();
    let mut command = Command::new(program);
    let status = command.arg("sol").args(args).stdout(Stdio::null()).status();
    let spent = start.elapsed();
    let status = status.with_context(|| format!("cannot run {}", program.display()))?;
    if !status.success() {
        bail!("fizeau sol ended with {status}");
    }
    Ok(spent)
}

/// Processor time of all processes that have ended: the 16th and 17th field of the process's own line.
fn children_s() -> Option<f64> {
    let line = fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is a name in brackets, which may have blanks in it.
    let fields: Vec<&str> = line.rsplit(')').next()?.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field - 3)?.parse::<f64>().ok();
    Some((ticks(16)? + ticks(17)?) / TICKS_PER_S)
}
