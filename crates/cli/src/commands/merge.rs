//! `fizeau merge`: one run of the shards of one.

mod check;
mod document;
mod shard;
mod summary;
mod together;

use std::io::BufRead;

use fizeau::core::TapeSink as _;
use fizeau::experiment::ReferenceFiles;
use fizeau::interop::{Detail, Selection, VllmResult, VllmTally};
use fizeau::metrics::{
    GoodputGoals, LevelHistograms, LevelTally, Verdict, WindowChoice, WindowEnd,
};
use fizeau::record::{Asked, LevelReport};
use fizeau::record::{Cut, MergedTapes, RunFolder, StoredTapes};
use fizeau::report::Shown;

use crate::args::{MergeArgs, TrustArgs};
use crate::commands::shared::checklist;
use crate::commands::shared::folder::Claim;
use crate::exit::{Exit, Fail, Named};
use crate::terminal::say::say;
use shard::MeasuredShard;
use together::Axis;

pub(crate) fn run(args: &MergeArgs) -> Result<Exit, Fail> {
    let shards = args.runs.iter().map(|path| MeasuredShard::open(path));
    let shards = shards.collect::<Result<Vec<_>, Fail>>()?;
    let checked = check::check(&shards, args.force)?;
    let axis = Axis::of(&shards, args.force)?;
    let out = Claim::new(&args.out)?;
    let merged = merge(&shards, &axis, checked, out.folder());
    let (report, vllm) = merged.inspect_err(|_| give_back(&out))?;
    say(vllm.block())?;
    say(Shown(&report).block())?;
    report.checklist.iter().try_for_each(|list| checklist::show(list, &TrustArgs::default()))?;
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

/// Writes the folder; tape by tape, so that memory holds what a tally does.
fn merge(
    shards: &[MeasuredShard],
    axis: &Axis,
    checked: check::Checked,
    folder: &RunFolder,
) -> Result<(LevelReport, VllmResult), Fail> {
    let first = shards.first().ok_or_else(|| Fail::usage("RUN: name the shards"))?;
    let asked = summary::asked(shards, checked.shares);
    let document = document::merged(shards, first, &axis.later, &checked, asked);
    folder.write_run(&document).map_err(Fail::broken)?;
    let goals: GoodputGoals = first.document().goodput.join(" ").parse().map_err(|error| {
        Fail::usage(format!("{}: goodput: {error}", first.run.document_path().display()))
    })?;
    let mut tally = tally(first, &goals, asked)?;
    let mut histograms = LevelHistograms::default();
    let mut vllm = VllmTally::new(&Selection::default(), &goals, Detail::Brief);
    let mut sink = folder.tapes().map_err(Fail::broken)?;
    let files = shards.iter().map(|shard| shard.level.tapes().map_err(Fail::usage));
    let files = files.collect::<Result<Vec<_>, Fail>>()?;
    let mut tapes = MergedTapes::new(files.into_iter().zip(axis.later.iter().copied()));
    for tape in &mut tapes {
        let tape = tape.map_err(Fail::usage)?;
        sink.record(&tape).map_err(Fail::broken)?;
        tally.add(&tape);
        histograms.add(&tape);
        vllm.add(&tape);
    }
    sink.flush().map_err(Fail::broken)?;
    drop(sink);
    let found = summary::Found {
        cuts: cuts(shards, &tapes),
        apart: together::apart(&names(shards), &tapes.spans().collect::<Vec<_>>()),
        forced: checked.objections,
        note: axis.note,
    };
    tally.settle();
    let report = summary::report(shards, &tally, asked, found)?;
    folder.write_json("summary.json", &report).map_err(Fail::broken)?;
    let duration = report.summary.throughput.duration.to_nanos().unwrap_or_default();
    folder.write_histograms(&histograms, duration).map_err(Fail::broken)?;
    copy_physics(shards, folder)?;
    Ok((report, vllm.finish(summary::vllm_run(shards, asked))))
}

fn names(shards: &[MeasuredShard]) -> Vec<String> {
    shards.iter().map(MeasuredShard::name).collect()
}

/// What was left over of files that were cut in mid-line; it is said at once, too.
fn cuts<R: BufRead>(shards: &[MeasuredShard], tapes: &MergedTapes<R>) -> Vec<String> {
    let cut = |(shard, file): (&MeasuredShard, &StoredTapes<R>)| {
        let Cut { whole, rest_bytes } = file.cut()?;
        let name = shard.name();
        let text = format!(
            "{name}: tapes.jsonl is cut in mid-line: {whole} tapes are whole, {rest_bytes} bytes left out"
        );
        tell!("note: {text}");
        Some(text)
    };
    shards.iter().zip(tapes.files()).filter_map(cut).collect()
}

/// A tally of nothing, for the goals, the window and the loop of the first shard.
fn tally(first: &MeasuredShard, goals: &GoodputGoals, asked: Asked) -> Result<LevelTally, Fail> {
    let path = first.run.document_path().display();
    let planned = first.plan().and_then(|plan| plan.window.as_ref());
    let end = |name: &str, text: Option<&String>| match text {
        None => Ok(WindowEnd::default()),
        Some(text) => text.parse().named(&format!("{path}: {name}")),
    };
    let window = WindowChoice {
        warmup: end("warmup", planned.map(|window| &window.warmup))?,
        cooldown: end("cooldown", planned.map(|window| &window.cooldown))?,
    };
    let tally = LevelTally::new(goals).with_window(window);
    Ok(if asked.arrivals.is_none() { tally.of_closed_loop() } else { tally })
}

/// The model's config and the device's file, of the first shard that has them.
fn copy_physics(shards: &[MeasuredShard], folder: &RunFolder) -> Result<(), Fail> {
    for name in ReferenceFiles::NAMES {
        for shard in shards {
            if let Some(text) = shard.file(name)? {
                folder.write_text(name, &text).map_err(Fail::broken)?;
                break;
            }
        }
    }
    Ok(())
}
