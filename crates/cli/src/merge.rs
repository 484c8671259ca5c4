//! `fizeau merge`: one run of the shards of one.

mod check;
mod document;
mod shard;
mod summary;

use std::path::Path;

use fizeau::core::{Nanos, Stamp, TapeSink as _};
use fizeau::harness::{MergedTapes, RunFolder};
use fizeau::metrics::{
    GoodputGoals, LevelHistograms, LevelTally, Verdict, WindowChoice, WindowEnd,
};
use fizeau::report::{Asked, Detail, LevelReport, Selection, VllmResult, VllmTally};

use crate::args::MergeArgs;
use crate::exit::{Exit, Fail, Named};
use crate::folder::Claim;
use crate::say::say;
use shard::MeasuredShard;

pub(crate) fn run(args: &MergeArgs) -> Result<Exit, Fail> {
    let shards = args.runs.iter().map(|path| MeasuredShard::open(path));
    let shards = shards.collect::<Result<Vec<_>, Fail>>()?;
    let shares = check::check(&shards, args.force)?;
    let later = later(&shards)?;
    let out = Claim::new(&args.out)?;
    let merged = merge(&shards, &later, shares, out.folder());
    let (report, vllm) = merged.inspect_err(|_| give_back(&out))?;
    say(vllm.block())?;
    say(report.block())?;
    say(format!("{} runs merged: {}", shards.len(), out.folder().path().display()))?;
    Ok(match report.validity.verdict {
        Verdict::Invalid => Exit::Missed,
        Verdict::Suspect | Verdict::Valid => Exit::Good,
    })
}

/// Removes what was written: half a merge is no run.
fn give_back(out: &Claim) {
    for name in ["run.json", "tapes.jsonl", "summary.json"] {
        // What is not there need not go.
        let _ = std::fs::remove_file(out.folder().path().join(name));
    }
    out.give_back();
}

/// By how much each shard's stamps are to be put later, so that all count from one epoch: the earliest.
fn later(shards: &[MeasuredShard]) -> Result<Vec<Nanos>, Fail> {
    let epochs: Option<Vec<u64>> = shards.iter().map(MeasuredShard::epoch_unix_ns).collect();
    if let Some(epochs) = epochs {
        let first = epochs.iter().copied().min().unwrap_or_default();
        return Ok(epochs.iter().map(|epoch| Nanos::from_nanos(epoch - first)).collect());
    }
    eprintln!(
        "note: not every run says when its clock began (epoch_unix_ns): they are put together as if their first requests \
         had been released at one instant"
    );
    let first: Vec<Stamp> =
        shards.iter().map(MeasuredShard::first_release).collect::<Result<_, Fail>>()?;
    let last = first.iter().copied().max().unwrap_or(Stamp::EPOCH);
    Ok(first.iter().map(|first| last.saturating_since(*first)).collect())
}

/// Writes the folder; tape by tape, so that memory holds what a tally does.
fn merge(
    shards: &[MeasuredShard],
    later: &[Nanos],
    shares: check::Shares,
    folder: &RunFolder,
) -> Result<(LevelReport, VllmResult), Fail> {
    let first = shards.first().ok_or_else(|| Fail::usage("RUN: name the shards"))?;
    let asked = summary::asked(shards, shares);
    let document = document::merged(shards, later, shares, asked)?;
    folder.write_json("run.json", &document).map_err(Fail::broken)?;
    let goals: GoodputGoals =
        first.record().texts("goodput").join(" ").parse().map_err(|error| {
            Fail::usage(format!("{}: goodput: {error}", first.run.document().display()))
        })?;
    let mut tally = tally(first, &goals, asked)?;
    let mut histograms = LevelHistograms::default();
    let mut vllm = VllmTally::new(&Selection::default(), &goals, Detail::Brief);
    let mut sink = folder.tapes().map_err(Fail::broken)?;
    let files = shards.iter().map(|shard| shard.level.tapes().map_err(Fail::usage));
    let files = files.collect::<Result<Vec<_>, Fail>>()?;
    let mut tapes = MergedTapes::new(files.into_iter().zip(later.iter().copied()));
    for tape in &mut tapes {
        let tape = tape.map_err(Fail::usage)?;
        sink.record(&tape).map_err(Fail::broken)?;
        tally.add(&tape);
        histograms.add(&tape);
        vllm.add(&tape);
    }
    sink.flush().map_err(Fail::broken)?;
    drop(sink);
    let mut is_cut = false;
    for (shard, file) in shards.iter().zip(tapes.files()) {
        if let Some(cut) = file.cut() {
            is_cut = true;
            eprintln!(
                "note: {}: cut in mid-line: {} tapes are whole, and the {} bytes after them were left out",
                shard.name(),
                cut.whole,
                cut.rest_bytes
            );
        }
    }
    let report = summary::report(shards, &tally, asked, is_cut)?;
    folder.write_json("summary.json", &report).map_err(Fail::broken)?;
    let duration = report.summary.throughput.duration.to_nanos().unwrap_or_default();
    folder.write_histograms(&histograms, duration).map_err(Fail::broken)?;
    copy_config(first, folder)?;
    Ok((report, vllm.finish(summary::vllm_run(shards))))
}

/// A tally of nothing, for the goals, the window and the loop of the first shard.
fn tally(first: &MeasuredShard, goals: &GoodputGoals, asked: Asked) -> Result<LevelTally, Fail> {
    let end = |name: &str| match first.record().text(&format!("levels[0].window.{name}")) {
        None => Ok(WindowEnd::default()),
        Some(text) => text.parse().named(&format!("{}: {name}", first.run.document().display())),
    };
    let window = WindowChoice { warmup: end("warmup")?, cooldown: end("cooldown")? };
    let tally = LevelTally::new(goals).with_window(window);
    Ok(if asked.arrivals.is_none() { tally.of_closed_loop() } else { tally })
}

/// The model's config, where the first shard has it.
fn copy_config(first: &MeasuredShard, folder: &RunFolder) -> Result<(), Fail> {
    let path =
        first.run.document().parent().unwrap_or_else(|| Path::new("")).join("model-config.json");
    if !path.is_file() {
        return Ok(());
    }
    let text = std::fs::read_to_string(&path).named(&path.display().to_string())?;
    folder.write_text("model-config.json", &text).map(drop).map_err(Fail::broken)
}
