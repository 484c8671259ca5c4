//! `fizeau merge`: one run of the shards of one.

use fizeau::interop::{VllmDetail, VllmRun, VllmSelection, VllmTally};
use fizeau::record::{MergeError, MergedRun, MissingShards, ShardMerge, SweepReport};
use fizeau::report::Shown;

use crate::args::MergeArgs;
use crate::commands::shared::checklist;
use crate::commands::shared::folder;
use crate::exit::{Exit, Fail};
use crate::terminal::say::say;

pub(crate) fn run(args: &MergeArgs) -> Result<Exit, Fail> {
    if args.runs.len() < 2 && !args.allow_missing_shards {
        return Err(usage!(
            "RUN: name the folders of at least 2 shards, or of one with --allow-missing-shards"
        ));
    }
    args.runs.iter().try_for_each(|path| folder::refuse_file(path))?;
    let forced_by = args.force.then_some("--force");
    let mut note = |text: &str| tell!("note: {text}");
    let missing = match args.allow_missing_shards {
        true => MissingShards::Allowed,
        false => MissingShards::Refused,
    };
    let merge = ShardMerge::of(&args.runs, forced_by, missing, &mut note).map_err(refused)?;
    let goals = merge.goals().map_err(refused)?;
    let out = folder::claim(&args.out)?;
    let mut vllm = VllmTally::new(&VllmSelection::default(), &goals, VllmDetail::Totals);
    let merged = merge.write(&out, |tape| vllm.add(tape), &mut note);
    let MergedRun { report, setup, cap, slo, .. } = merged.map_err(refused)?;
    let asked = VllmRun::of(&setup, &report.requested, None, cap);
    let asked = VllmRun { request_rate: report.load.into(), ..asked };
    say(vllm.finish(asked).block())?;
    let trust = &args.trust;
    let run = SweepReport::new(setup, vec![report.clone()], slo);
    say(Shown(&report).block_with(&run, trust.output.verbosity()))?;
    report.checklist.iter().try_for_each(|list| checklist::show(list, trust))?;
    say(format!("{} runs merged: {}", merge.count(), out.path().display()))?;
    let exit = Exit::missed(!run.passes_alone());
    let list = report.checklist.iter();
    Ok(list.fold(exit, |exit, list| checklist::enforce(list, trust, exit)))
}

/// Why runs cannot be merged, and by which flag they can.
fn refused(error: MergeError) -> Fail {
    match error {
        MergeError::NoShards => usage!("RUN: {error}"),
        MergeError::Folder(error) => Fail::broken(error),
        MergeError::SharesMissing { .. } => {
            usage!("{error}\n--allow-missing-shards merges those that are here")
        }
        error if error.can_be_forced() => {
            let error = error.to_string();
            let text = error.replace("is all of the plan:", "is all of the plan (no --shard):");
            let shards = match text.contains("(no --shard)") {
                true => {
                    "\nRuns of `fizeau bench --shard I/N`, one for each I from 0, can be merged."
                }
                false => "",
            };
            usage!("{text}{shards}\n--force merges them anyway")
        }
        error => Fail::usage(error),
    }
}
