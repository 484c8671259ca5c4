//! What a run says of its prompts.

use fizeau::experiment::PromptSalt;
use fizeau::workload::Salt;

/// What a sweep says of its prompts: each level has a seed of its own.
pub(crate) fn describe_of_levels(asked: PromptSalt, salt: Salt) -> String {
    match salt {
        Salt::NONE if !asked.is_reused() => {
            "prompts: drawn as vLLM does, from a seed for each level, the same in every run"
                .to_owned()
        }
        _ => describe(asked, salt),
    }
}

/// What a run says of its prompts, in one line.
pub(crate) fn describe(asked: PromptSalt, salt: Salt) -> String {
    match (salt, asked) {
        (Salt::NONE, _) if asked.is_reused() => {
            "prompts: the same in every run with this seed".to_owned()
        }
        (Salt::NONE, _) => "prompts: vLLM's own for this seed, the same in every run".to_owned(),
        (Salt(number), PromptSalt::Given(_)) => format!("prompts: those of --salt {number}"),
        (Salt(number), _) => format!("prompts: this run's own (--salt {number} repeats them)"),
    }
}
