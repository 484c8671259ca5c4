//! What sets a run's prompts apart from another's.

use std::hash::{BuildHasher, RandomState};
use std::time::SystemTime;

use fizeau::workload::Salt;

use super::names::Source;
use crate::args::WorkloadArgs;

/// The salt that was asked for, or a fresh one.
pub(crate) fn salt(args: &WorkloadArgs, source: Source) -> Salt {
    match args.salt {
        _ if args.reuse_prompts || source == Source::VllmRandom => Salt::NONE,
        Some(number) => Salt(number),
        None => fresh(),
    }
}

/// The salt of the probes beside a load of `salt`. The draws of vLLM's have none, and probes are not among them.
pub(crate) fn of_probes(args: &WorkloadArgs, salt: Salt) -> Salt {
    match args.salt {
        _ if salt != Salt::NONE || is_reused(args) => salt,
        Some(number) => Salt(number),
        None => fresh(),
    }
}

/// Whether an earlier run's prompts were asked for.
pub(crate) fn is_reused(args: &WorkloadArgs) -> bool {
    args.reuse_prompts || args.salt.map(Salt) == Some(Salt::NONE)
}

/// A number that no earlier run had, but for one chance in four thousand million. It is short enough to be typed.
fn fresh() -> Salt {
    let random = RandomState::new().hash_one(SystemTime::now());
    Salt((random >> 32).max(1))
}

/// What a sweep says of its prompts: each level has a seed of its own.
pub(crate) fn describe_of_levels(args: &WorkloadArgs, salt: Salt) -> String {
    match salt {
        Salt::NONE if !is_reused(args) => {
            "prompts: drawn as vLLM does, from a seed for each level, the same in every run"
                .to_owned()
        }
        _ => describe(args, salt),
    }
}

/// What a run says of its prompts, in one line.
pub(crate) fn describe(args: &WorkloadArgs, salt: Salt) -> String {
    match salt {
        Salt::NONE if is_reused(args) => "prompts: the same in every run with this seed".to_owned(),
        Salt::NONE => "prompts: vLLM's own for this seed, the same in every run".to_owned(),
        Salt(number) if args.salt.is_some() => format!("prompts: those of --salt {number}"),
        Salt(number) => format!("prompts: this run's own (--salt {number} repeats them)"),
    }
}
