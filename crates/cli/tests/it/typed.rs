//! What is said of whatever was typed: the flag as it was typed, what is wrong with it, and what to type instead.

use std::collections::BTreeSet;

use crate::stand::run;

/// Each command that there is.
fn commands() -> Vec<String> {
    let script = run(&["completions", "bash"]).out;
    let names = script.lines().filter_map(|line| line.trim().strip_prefix("fizeau,"));
    let names = names.map(|name| name.trim_end_matches(')').to_owned());
    names.filter(|name| name != "help").collect()
}

/// The flags that a command's help has, by each name: on lines of their own, with other names in brackets.
fn flags_of(command: &str) -> BTreeSet<String> {
    let help = run(&[command, "--help"]).out;
    let is_named = |line: &&str| {
        let start = line.trim_start();
        let indent = line.len() - start.len();
        start.starts_with("[alias") || start.starts_with('-') && indent < 8
    };
    help.lines().filter(is_named).flat_map(flags_in).map(str::to_owned).collect()
}

fn flags_in(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "-_".contains(c)));
    words.filter(|word| word.len() > 2 && word.starts_with("--"))
}

#[test]
fn a_word_is_suggested_where_it_is_what_was_meant() {
    for (line, meant) in [
        ("bench --concurency 3", "'--concurrency'"),
        ("bench --conc 3", "'--concurrency'"),
        ("probe membw", "'memory'"),
        ("swep", "'sweep'"),
    ] {
        let said = run(&line.split(' ').collect::<Vec<_>>()).err;
        assert!(said.contains("similar") && said.contains(meant), "{line}: {said}");
    }
    for line in ["bench --ur x", "probe cpu"] {
        let said = run(&line.split(' ').collect::<Vec<_>>()).err;
        assert!(!said.contains("tip:"), "{line}: {said}");
    }
}

/// Flags of other tools and of other commands, each for a flag that is not there, with flags that are.
#[test]
fn each_hint_is_for_a_flag_that_is_not_there_and_names_only_flags_that_are() {
    let rows = include_str!("../../src/args/hints.txt").lines();
    let mut seen = BTreeSet::new();
    for row in rows {
        let [commands, typed, hint] = row.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("{row}: not three columns");
        };
        if commands == "-" {
            continue;
        }
        // Within `...` stands another command.
        let own: String = hint.split('`').step_by(2).collect();
        for command in commands.split(' ') {
            let has = flags_of(command);
            for flag in typed.split(' ') {
                assert!(seen.insert((command, flag)), "{command} {flag}: two hints");
                assert!(!has.contains(flag), "{command} has {flag}");
            }
            flags_in(&own).for_each(|flag| assert!(has.contains(flag), "{command}: {flag}"));
        }
        let command = commands.split(' ').next().unwrap();
        for flag in typed.split(' ').filter(|flag| flag.starts_with('-')) {
            let said = run(&[command, flag]).err;
            assert!(said.contains(&format!("tip: {hint}")), "{command} {flag}: {said}");
        }
    }
}

#[test]
fn what_one_needs_first_of_a_command_with_many_flags_fits_on_a_screen() {
    for command in commands() {
        let short = run(&[&command, "-h"]).out;
        let lines = short.lines().count();
        assert!(!short.contains("Further flags:") || lines <= 60, "{command}: {lines} lines");
    }
}

#[test]
fn each_command_is_in_one_group_of_the_overview() {
    let overview = run(&["--help"]).out;
    for command in commands() {
        let of_it = |line: &&str| {
            line.strip_prefix("  ").is_some_and(|at| at.starts_with(&command))
                && line.trim().split(' ').next() == Some(&command)
        };
        assert_eq!(overview.lines().filter(of_it).count(), 1, "{command}");
    }
}

#[test]
fn a_flag_is_named_as_it_was_typed() {
    let refused = run(&["bench", "--isl", "abc"]).err;
    assert!(refused.starts_with("error: --isl: "), "{refused}");
    let refused = run(&["bench", "--random-input-len", "abc"]).err;
    assert!(refused.starts_with("error: --random-input-len: "), "{refused}");
    let both = run(&["bench", "--isl", "1", "--random-input-len", "2"]).err;
    assert!(both.starts_with("error: --isl 1 and --random-input-len 2 are one flag"), "{both}");
}

/// Each flag once, of the first command that has it.
#[test]
fn each_flag_that_refuses_a_word_names_itself_the_word_and_what_would_be_right() {
    let (mut seen, mut refusals) = (BTreeSet::new(), 0);
    for command in commands() {
        let new = flags_of(&command).into_iter().filter(|flag| seen.insert(flag.clone()));
        for flag in new.collect::<Vec<_>>() {
            let ended = run(&[&command, &format!("{flag}=abc"), "--no-such-flag-either"]);
            assert_eq!(ended.code, Some(2), "{command} {flag}: {ended:?}");
            // It takes that value, or is one of a few words, of which clap tells.
            let takes = ["--no-such-flag-either", "possible values", "unexpected value"];
            if takes.iter().any(|said| ended.err.contains(said)) {
                continue;
            }
            let starts = format!("error: {flag} abc: ");
            assert!(ended.err.starts_with(&starts), "{command} {flag}: {}", ended.err);
            refusals += 1;
            assert!(
                !ended.err.contains(" found in ") && !ended.err.contains("literal"),
                "{ended:?}"
            );
        }
    }
    assert!(refusals > 100, "{refusals}");
}

/// What `--case` says of lists is of flags that there are.
#[test]
fn each_flag_that_takes_several_configurations_is_one_of_simulate() {
    let help = run(&["simulate", "--help"]).out;
    let words: Vec<&str> = help.split_whitespace().collect();
    let text = words.join(" ");
    let (_, lists) = text.split_once("commas do the same for ").unwrap();
    let (lists, _) = lists.split_once(": every combination").unwrap();
    let has = |flag: &str| {
        help.lines().any(|line| line.trim_start().split([' ', ',']).any(|word| word == flag))
    };
    let listed: Vec<&str> = flags_in(lists).collect();
    assert!(listed.len() > 20, "{lists}");
    listed.into_iter().for_each(|flag| assert!(has(flag), "{flag}"));
}
