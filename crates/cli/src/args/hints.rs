//! What to type instead of a flag that a command has not: of other tools, of other commands, and of older versions.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Commands, flags that they have not, and what to type. Each flag in the last column is one that these commands have, unless it
/// stands within `...` behind the name of another command. `OPERAND` is whatever is no flag, `TOO_FEW` stands for operands that are missing.
const HINTS: &str = "\
search | --max-concurrency --concurrency --levels | a search chooses its loads itself; use --over concurrency, with --from and --to for the range
search | --rates --request-rate --rate | a search chooses its rates itself; use --from and --to for the range
search | --repeats --refine | a search itself measures again where that is most useful; use --max-runs for more levels
search | --sustain | use --confirm SECONDS for the long level of a search
search | --stop-at-saturation --no-stop | a search stops by its goals (--slo) and not at saturation; leave the flag out
search | --until | a search ends once it knows its answer to --tolerance; use that
search | --resume | a search cannot be resumed; leave the flag out to start again
search | --system | a search is of one system; use --base-url
sweep search | --max-seconds --seconds --benchmark-duration | use --level-seconds SECONDS for each level, or --budget TIME for all of it
bench simulate | --max-seconds --seconds --time --benchmark-duration | use --level-seconds SECONDS
ab | --duration --level-seconds --max-seconds --benchmark-duration | a turn has a number of requests; use --num-prompts N and --rounds N
sweep search | --profile | use --prefer chat, batch or agent for what to put first, or --profile-level N to have the server's profiler run
simulate report | --profile | use --prefer chat, batch or agent for what to put first
bench | --profile | use --profile-level 1, with which the server's own profiler runs while the load is measured
ab | --profile | only bench, sweep and search start the server's profiler; use `fizeau bench --profile-level 1` on each server
report | --slo | the goals are those of the run; use `fizeau plan --from RUN --slo GOALS` for others
bench ab sweep search simulate | --use-beam-search | a beam sends no tokens as they are made, so that there is nothing to time; leave the flag out
ab | --base-url --host --port | an A/B run has two servers; use --a URL and --b URL
ab | --trace-speedup --ignore-trace-times | an A/B run replays no trace; use `fizeau bench` on each server and `fizeau compare`
ab sweep search | --probe-request-rate --probe-input-len --probe-output-len | only `fizeau bench` and `fizeau simulate` have a probe stream; leave the flag out
simulate | --shard | a simulation runs whole; leave the flag out
simulate | --base-url --host --port --model --a --b | a simulation has no server; use --model-config and --hardware for what is simulated, or `fizeau serve` for a server
bench sweep search simulate sol plan report serve | --gpu --device --gpu-type --gpu-name | use --hardware NAME for the device, such as --hardware h100-sxm
sol simulate serve | --quantization --dtype | use --weights FORMAT for how weights are stored, and --kv FORMAT for the key-value cache
sol | --slo | use --goal ttft:500 tpot:30; the speed of light is of one request and has no percentiles
sol | --levels | use --concurrency N, or --curve for all batch sizes
sol | --request-rate --rate --rates | use --concurrency N; a rate needs a queue, which `fizeau simulate` has
serve | --concurrency --max-concurrency | use --max-num-seqs N for how many sequences run at once
serve | --base-url | use --host and --port for the address to listen on
plan report compare merge pareto | --base-url --host --port | nothing is measured here; use `fizeau bench` or `fizeau sweep`
plan | --gpus --num-gpus | use --gpus-per-replica N
bench sweep search | --target --url -u | use --base-url URL
bench sweep search ab simulate | --request-count --max-requests --num-requests | use --num-prompts N
bench simulate | --rate-type | use --request-rate RATE or --max-concurrency N for one load, or `fizeau sweep` for several
sweep | --rate-type | use --levels N,... for requests in flight, and --rates RATE,... for requests per second
bench sweep search ab simulate | --data | use --isl TOKENS and --osl TOKENS for lengths, or --dataset-name and --dataset-path for a data set
bench sweep search ab simulate | --synthetic-input-tokens-mean | use --isl TOKENS
bench sweep search ab simulate | --output-tokens-mean --synthetic-output-tokens-mean | use --osl TOKENS
bench sweep search ab simulate | --synthetic-input-tokens-stddev --output-tokens-stddev | use --random-range-ratio SHARE for a spread of lengths
bench sweep search ab simulate | --warmup-request-count | use --num-warmups N
bench sweep search ab | --streaming | replies always stream; leave the flag out
bench sweep search simulate | --json --output-file --output-path --output-dir --output --artifact-dir | use --out DIR to keep the run, and `fizeau report DIR --json` for its figures
sweep search ab | --save-result --save-detailed --result-dir --result-filename | use --out DIR, which keeps every level; `fizeau convert` writes other tools' formats
report | --out | use --html FILE for the page, or --csv, --parquet and --svg for tables and charts
compare | --html | use `fizeau report A B --html FILE` for the page of several runs
sol | --random-range-ratio | a bound is of one length; use `fizeau simulate` for a spread of lengths
ab | --gpu-hour --price | an A/B run has no prices; use `fizeau plan` with the runs of each server
ab | --server-metrics --no-server-metrics | an A/B run reads no pages of metrics but with --toggle scrape; use `fizeau bench` on each server and `fizeau compare`
ab | --model-config --hardware | an A/B run has no speed of light; use `fizeau bench` on each server and `fizeau compare`
bench ab | --levels --rates | one load is measured; use --max-concurrency N or --request-rate RATE, or `fizeau sweep` for several loads
bench | --budget | use --level-seconds SECONDS
bench sweep search | OPERAND | use --base-url URL for the server, and --model NAME for the model that it serves
ab | OPERAND | use --a URL and --b URL for the two servers
sol simulate serve | OPERAND | use --model-config NAME for the model, and --hardware NAME for the device
watch | OPERAND | use --server-metrics URL for each server
plan | OPERAND | use --from RUN for a stored run
bench ab | --resume | only `fizeau sweep` can go on with a run that was broken off; leave the flag out to start again
compare | TOO_FEW | name the baseline first and then each run to compare with it, such as `fizeau compare main-run new-run`
merge | TOO_FEW | name the folders of all shards, such as `fizeau merge shard-0 shard-1 --out merged`
";

/// Commands of other tools, and what to type.
const COMMANDS: [(&str, &str); 6] = [
    (
        "whatif",
        "use `fizeau simulate` with several values for a flag, or --case for each configuration",
    ),
    (
        "what-if",
        "use `fizeau simulate` with several values for a flag, or --case for each configuration",
    ),
    ("run", "use `fizeau bench` for one load, or `fizeau sweep` for several"),
    ("benchmark", "use `fizeau bench` for one load, or `fizeau sweep` for several"),
    ("profile", "use `fizeau bench` for one load, or `fizeau sweep` for several"),
    ("analyze", "use `fizeau report DIR` for a stored run"),
];

/// The columns of each row.
fn rows() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    HINTS.lines().filter_map(|row| {
        let (commands, rest) = row.split_once(" | ")?;
        let (flags, hint) = rest.split_once(" | ")?;
        Some((commands, flags, hint))
    })
}

/// `error`, with what to type where `command` has not the flag that was typed, or the flag cannot have that value.
pub(crate) fn explain(error: clap::Error, command: &str) -> clap::Error {
    without_far(hinted(error, command))
}

fn hinted(mut error: clap::Error, command: &str) -> clap::Error {
    if error.kind() == ErrorKind::ValueValidation {
        let all = super::command();
        return super::values::refused(error, all.find_subcommand(command).unwrap_or(&all));
    }
    if error.kind() == ErrorKind::InvalidSubcommand {
        let is_it = |(name, _): &&(&str, &str)| *name == command;
        let hint = COMMANDS.iter().find(is_it).map(|(_, hint)| *hint);
        return match hint {
            Some(hint) => suggesting(error, ContextKind::SuggestedSubcommand, hint),
            None => error,
        };
    }
    let typed = error.get(ContextKind::InvalidArg).map(ToString::to_string).unwrap_or_default();
    let typed = match error.kind() {
        ErrorKind::UnknownArgument if typed.starts_with('-') => typed.as_str(),
        ErrorKind::UnknownArgument => "OPERAND",
        // Of `fizeau bench serve`, where something else stands in place of `serve`.
        ErrorKind::InvalidValue if typed == "[SERVE]" => "OPERAND",
        ErrorKind::TooFewValues => "TOO_FEW",
        _ => return error,
    };
    let Some(hint) = hint(command, typed) else { return error };
    error.remove(ContextKind::ValidValue);
    // It names the flag that looks most alike.
    error.remove(ContextKind::Usage);
    suggesting(error, ContextKind::SuggestedArg, hint)
}

/// `error` without what looks alike to clap alone, for which the same letters anywhere will do.
fn without_far(mut error: clap::Error) -> clap::Error {
    for (typed, alike) in [
        (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        (ContextKind::InvalidValue, ContextKind::SuggestedValue),
        (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand),
    ] {
        let typed = error.get(typed).map(ToString::to_string).unwrap_or_default();
        let is_far = |word: &String| !is_near(&typed, word);
        let all_far = match error.get(alike) {
            Some(ContextValue::String(word)) => is_far(word),
            Some(ContextValue::Strings(words)) => words.iter().all(is_far),
            _ => false,
        };
        if all_far {
            error.remove(alike);
            // It names the flag that looks most alike.
            error.remove(ContextKind::Usage);
        }
    }
    error
}

/// Whether one word begins with the other, or both begin and end alike over half of the longer one.
fn is_near(typed: &str, suggested: &str) -> bool {
    let [typed, suggested] = [typed, suggested].map(|word| word.trim_start_matches('-').as_bytes());
    let alike = |(a, b): &(&u8, &u8)| a == b;
    let ahead = typed.iter().zip(suggested).take_while(alike).count();
    let shorter = typed.len().min(suggested.len());
    let behind = typed.iter().rev().zip(suggested.iter().rev()).take_while(alike).count();
    let both = ahead + behind.min(shorter - ahead);
    ahead == shorter || 2 * both >= typed.len().max(suggested.len())
}

/// `error` with `hint` in place of what looks most alike.
fn suggesting(mut error: clap::Error, alike: ContextKind, hint: &'static str) -> clap::Error {
    error.remove(alike);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint.into()]));
    error
}

fn hint(command: &str, typed: &str) -> Option<&'static str> {
    let has = |words: &str, word: &str| words.split(' ').any(|one| one == word);
    let is_it =
        |(commands, flags, _): &(&str, &str, &str)| has(commands, command) && has(flags, typed);
    rows().find(is_it).map(|(_, _, hint)| hint)
}

#[cfg(test)]
mod tests {
    use clap::Command;

    use super::*;

    fn has(command: &Command, flag: &str) -> bool {
        let name = flag.trim_start_matches("--");
        let is_it = |arg: &clap::Arg| {
            let aliases = arg.get_all_aliases().unwrap_or_default();
            arg.get_long() == Some(name) || aliases.contains(&name)
        };
        command.get_arguments().any(is_it)
    }

    /// The flags of `hint` outside of `...`.
    fn flags(hint: &str) -> impl Iterator<Item = &str> {
        let own = hint.split('`').step_by(2).flat_map(str::split_whitespace);
        let own = own.filter(|word| word.trim_start_matches('(').starts_with("--"));
        own.map(|word| word.trim_matches(|c: char| "(),;:.".contains(c)))
    }

    #[test]
    fn a_word_is_suggested_where_it_is_what_was_meant() {
        for (typed, meant) in [
            ("--concurency", "--concurrency"),
            ("--conc", "--concurrency"),
            ("membw", "memory"),
            ("swep", "sweep"),
        ] {
            assert!(is_near(typed, meant), "{typed} {meant}");
        }
        for (typed, other) in [("--ur", "--burst"), ("cpu", "compute")] {
            assert!(!is_near(typed, other), "{typed} {other}");
        }
    }

    #[test]
    fn each_hint_is_for_a_flag_that_is_not_there_and_names_only_flags_that_are() {
        let cli = crate::args::command();
        assert_eq!(rows().count(), HINTS.lines().count());
        for (commands, typed, hint) in rows() {
            for name in commands.split(' ') {
                let command = cli.find_subcommand(name).unwrap_or_else(|| panic!("{name}"));
                for flag in typed.split(' ') {
                    assert!(!has(command, flag), "{name} has {flag}");
                    assert_eq!(super::hint(name, flag), Some(hint), "{name} {flag}: two hints");
                }
                for flag in flags(hint) {
                    assert!(has(command, flag), "{name} has no {flag}: {hint}");
                }
            }
        }
    }
}
