//! What `-h` shows of a command that has many flags: those that one needs first, a sentence each. `--help` has all of them.

use clap::builder::StyledStr;
use clap::{Arg, Command};

/// The flags that one needs first, where a command has them.
const FIRST: &str = "
    base-url model backend a b over from to search dataset-name random-input-len random-output-len num-prompts levels rates
    max-concurrency request-rate level-seconds rounds budget slo goodput tolerance model-config hardware tp host port out json
    save-result verbose help isl osl context batch goal gpu-hour html as explain svg chart csv markdown metrics fail-on force rate
    headroom spare gpus-per-replica axes maximize minimize knee device seconds threads import
";

/// A command with more flags than this has others too.
const MANY: usize = 20;

/// `command` with a short help, where it has many flags.
pub(super) fn help(command: Command) -> Command {
    if command.get_arguments().count() <= MANY {
        return command;
    }
    let name = command.get_name().to_owned();
    let all = format!("Further flags: `fizeau {name} --help`");
    command.mut_args(first).after_help(all).after_long_help("")
}

/// `arg` as `-h` shows it, if it does.
fn first(arg: Arg) -> Arg {
    let is_named =
        arg.get_long().is_some_and(|long| FIRST.split_whitespace().any(|one| one == long));
    let is_first = is_named || arg.is_positional();
    match arg.get_help().cloned() {
        Some(help) if is_first => {
            let short = first_sentence(&help);
            let arg = if arg.get_long_help().is_none() { arg.long_help(help) } else { arg };
            arg.help(short)
        }
        _ => arg.hide_short_help(true),
    }
}

/// Up to what explains, qualifies or gives examples.
fn first_sentence(help: &StyledStr) -> String {
    let text = help.to_string();
    let end = [". ", "; ", ": ", ", such as"].iter().filter_map(|end| text.find(end)).min();
    text[..end.unwrap_or(text.len())].to_owned()
}
