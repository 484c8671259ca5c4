//! `cargo xtask bench`: the benches, which no test ever runs.

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;

use crate::{cargo, process, real_engine};

/// Becomes `cargo bench`, for all benches, or for those that `args` choose; `real-engine` is no bench of that kind, since it starts an
/// engine.
pub(crate) fn run(args: &[OsString]) -> Result<ExitCode> {
    if let [first, rest @ ..] = args
        && first == "real-engine"
    {
        return real_engine::run(rest);
    }
    let mut command = cargo::command();
    command.args(["bench", "--package", "fizeau-benches"]);
    let (bench, rest) = chosen(args);
    if let Some(bench) = bench {
        command.args(["--bench", bench]);
    }
    command.arg("--").args(rest);
    process::become_command(command)
}

/// The bench that is meant, and what to tell it: `agreement` (of `transport`), `false-alarms`, `pareto`, `probe`, `scale`, `search`, `sim`, `sol`, `tapes`, `telemetry`, `trace` and `transport` are benches of their own;
/// anything else is a filter, and those only criterion knows.
fn chosen(args: &[OsString]) -> (Option<&'static str>, &[OsString]) {
    match args {
        [] => (None, args),
        // A part of that one, with its cores and its programs.
        [first, ..] if first == "agreement" => (Some("transport"), args),
        [first, rest @ ..] if first == "false-alarms" => (Some("false_alarms"), rest),
        [first, rest @ ..] if first == "pareto" => (Some("pareto"), rest),
        [first, rest @ ..] if first == "probe" => (Some("probe"), rest),
        [first, rest @ ..] if first == "scale" => (Some("scale"), rest),
        [first, rest @ ..] if first == "search" => (Some("search"), rest),
        [first, rest @ ..] if first == "sim" => (Some("sim"), rest),
        [first, rest @ ..] if first == "sol" => (Some("sol"), rest),
        [first, rest @ ..] if first == "tapes" => (Some("tapes"), rest),
        [first, rest @ ..] if first == "telemetry" => (Some("telemetry"), rest),
        [first, rest @ ..] if first == "trace" => (Some("trace"), rest),
        [first, rest @ ..] if first == "transport" => (Some("transport"), rest),
        _ => (Some("hot_paths"), args),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_goes_to_criterion_and_options_to_the_bench_that_has_them() {
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        assert_eq!(chosen(&[]), (None, &[][..]));
        assert_eq!(chosen(&words(&["pareto"])), (Some("pareto"), &[][..]));
        assert_eq!(chosen(&words(&["probe", "5"])), (Some("probe"), &words(&["5"])[..]));
        assert_eq!(chosen(&words(&["search", "truth"])), (Some("search"), &words(&["truth"])[..]));
        assert_eq!(chosen(&words(&["sim"])), (Some("sim"), &[][..]));
        assert_eq!(chosen(&words(&["sol"])), (Some("sol"), &[][..]));
        assert_eq!(chosen(&words(&["tapes"])), (Some("tapes"), &[][..]));
        assert_eq!(chosen(&words(&["telemetry"])), (Some("telemetry"), &[][..]));
        assert_eq!(chosen(&words(&["trace"])), (Some("trace"), &[][..]));
        assert_eq!(chosen(&words(&["reply"])), (Some("hot_paths"), &words(&["reply"])[..]));
        let agreement = words(&["agreement", "--rounds", "1"]);
        assert_eq!(chosen(&agreement), (Some("transport"), &agreement[..]));
        let transport = words(&["transport", "256", "--rounds", "1"]);
        assert_eq!(chosen(&transport), (Some("transport"), &transport[1..]));
    }
}
