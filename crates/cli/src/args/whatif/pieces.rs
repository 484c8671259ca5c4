//! A command line taken apart: what has several values, and what stands as it is.

use std::ffi::OsString;
use std::slice::Iter;

use crate::exit::Fail;

/// Flags of which several values, separated by commas, are several configurations; each with its other spellings. A value with
/// a colon or an equals sign in it has commas of its own (`uniform:200-300`, `experts=nvfp4,attention=bf16`) and is never a list.
const LISTED: [&[&str]; 39] = [
    &["--model-config"],
    &["--hardware"],
    &["--tp", "--tensor-parallel-size"],
    &["--pp", "--pipeline-parallel-size"],
    &["--ep"],
    &["--dp", "--data-parallel-size"],
    &["--replicas"],
    &["--router"],
    &["--weights"],
    &["--kv", "--kv-cache-dtype"],
    &["--memory-share", "--gpu-memory-utilization"],
    &["--max-num-seqs", "--slots"],
    &["--max-num-batched-tokens", "--chunked-prefill-size"],
    &["--block-size", "--page-size"],
    &["--num-gpu-blocks", "--num-gpu-blocks-override"],
    &["--policy"],
    &["--enable-prefix-caching", "--prefix-cache"],
    &["--no-chunked-prefill", "--no-enable-chunked-prefill"],
    &["--draft"],
    &["--disaggregate"],
    &["--power-limit"],
    &["--random-input-len", "--input-len", "--isl"],
    &["--random-output-len", "--output-len", "--osl"],
    &["--random-prefix-len"],
    &["--max-model-len"],
    &["--request-rate"],
    &["--burstiness"],
    &["--max-concurrency"],
    &["--network-delay"],
    &["--max-waiting", "--max-queued-requests"],
    &["--reserve"],
    &["--bandwidth-efficiency"],
    &["--compute-efficiency"],
    &["--per-step"],
    &["--per-sequence"],
    &["--per-layer"],
    &["--per-collective"],
    &["--seed"],
    &["--engine-seed"],
];

/// Those of them that may stand alone; the value `on` is that.
const SWITCHES: [&str; 3] = ["--enable-prefix-caching", "--no-chunked-prefill", "--reserve"];

/// What `--help` says of several configurations.
pub(crate) fn help() -> String {
    let flags = LISTED.iter().filter_map(|spellings| spellings.first().copied());
    format!(
        "Further flags for one configuration of several that are run side by side: --case \"--tp 8\" --case \"--tp 4 --replicas 2\". \
         Values separated by commas do the same for {}: every combination is a configuration, none is the flag left out, and on the \
         flag alone. Without a load they run at 1, 2, 4, ... 256 in flight. docs/what-if.md has questions with their answers",
        flags.collect::<Vec<_>>().join(", ")
    )
}

/// What stands in a command line.
#[derive(Debug, Clone)]
pub(super) enum Piece {
    /// As it is.
    Word(OsString),
    /// A flag, as it is spelled, and its values, of which each configuration has one.
    Values(String, Vec<String>),
    /// Further arguments, of which each configuration has one set.
    Sets(Vec<String>),
}

impl Piece {
    /// Its values, where it is of that flag, however that is spelled.
    pub(super) fn values_of(&self, of: &str) -> Option<&[String]> {
        match self {
            Self::Values(flag, values) if listed(flag).is_some() && listed(flag) == listed(of) => {
                Some(values)
            }
            _ => None,
        }
    }
}

/// The spelling that stands for all spellings of a flag that may have several values.
fn listed(flag: &str) -> Option<&'static str> {
    LISTED.iter().find(|spellings| spellings.contains(&flag))?.first().copied()
}

/// Takes `arguments` apart. Of a flag that comes twice the last counts, as everywhere. The sets of `--case` come last, so that
/// they count against what stands before them.
///
/// # Errors
/// If a list has a value twice or none between two commas, or a `--case` names a flag that has a list too.
pub(super) fn pieces(arguments: &[OsString]) -> Result<Vec<Piece>, Fail> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut sets = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.to_str().filter(|text| text.starts_with("--")) else {
            pieces.push(Piece::Word(word.clone()));
            continue;
        };
        let (flag, joined) = match text.split_once('=') {
            Some((flag, value)) => (flag, Some(value.to_owned())),
            None => (text, None),
        };
        if flag != "--case" && listed(flag).is_none() {
            pieces.push(Piece::Word(word.clone()));
            continue;
        }
        let alone = || is_switch(flag).then(|| "on".to_owned());
        let value = joined.or_else(|| match flag {
            "--case" => words.next()?.to_str().map(str::to_owned),
            _ => next_value(flag, &mut words),
        });
        match value.or_else(alone) {
            // The reader of the command line says what is missing.
            None => pieces.push(Piece::Word(word.clone())),
            Some(value) if flag == "--case" => sets.push(value),
            Some(value) => {
                pieces.retain(|piece| piece.values_of(flag).is_none());
                pieces.push(Piece::Values(flag.to_owned(), values(flag, &value)?));
            }
        }
    }
    sets.iter().try_for_each(|set| check_set(set, &pieces))?;
    if !sets.is_empty() {
        pieces.push(Piece::Sets(sets));
    }
    Ok(pieces)
}

/// Whether a flag may stand alone.
pub(super) fn is_switch(flag: &str) -> bool {
    listed(flag).is_some_and(|flag| SWITCHES.contains(&flag))
}

/// The word behind a flag, unless it is a flag itself; then nothing is taken.
fn next_value(flag: &str, words: &mut Iter<'_, OsString>) -> Option<String> {
    let next = words.as_slice().first()?.to_str()?;
    if next.starts_with("--") && (is_switch(flag) || !next.contains('=')) {
        return None;
    }
    words.next()?.to_str().map(str::to_owned)
}

/// The words of a `--case` as a shell has them: those in quotes are one.
pub(super) fn words(set: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None, None);
    for c in set.chars() {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_with(String::new);
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_with(String::new).push(c),
        }
    }
    words.extend(word);
    words
}

fn values(flag: &str, text: &str) -> Result<Vec<String>, Fail> {
    if text.contains(['=', ':']) && !text.split(',').all(is_ratio) {
        return Ok(vec![text.to_owned()]);
    }
    let values: Vec<String> = text.split(',').map(|value| value.trim().to_owned()).collect();
    for (index, value) in values.iter().enumerate() {
        if value.is_empty() && values.len() > 1 {
            return Err(Fail::usage(format!(
                "{flag} {text}: there is a comma with no value beside it; write none for the flag left out"
            )));
        }
        if values.iter().take(index).any(|before| before == value) {
            return Err(Fail::usage(format!(
                "{flag} {text}: {value} stands there twice; once is enough"
            )));
        }
    }
    Ok(values)
}

/// `P:D`, as --disaggregate has it, or a value without a colon.
fn is_ratio(value: &str) -> bool {
    let number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    match value.split_once(':') {
        Some((prefill, decode)) => number(prefill.trim()) && number(decode.trim()),
        None => !value.contains('='),
    }
}

/// Refuses further arguments for one configuration that would have no say, or no single one.
fn check_set(set: &str, pieces: &[Piece]) -> Result<(), Fail> {
    let words = words(set);
    if let Some(first) = words.first().filter(|first| !first.starts_with("--")) {
        return Err(Fail::usage(format!(
            "--case \"{set}\": {first} belongs to no flag; give flags with their values, such as --case \"--tp 4 --replicas 2\""
        )));
    }
    for word in &words {
        let flag = word.split_once('=').map_or(word.as_str(), |(flag, _)| flag);
        if matches!(flag, "--case" | "--out" | "--slo") {
            return Err(Fail::usage(format!(
                "--case \"{set}\": {flag} is for all configurations together; give it outside of --case"
            )));
        }
        let many = |piece: &Piece| piece.values_of(flag).is_some_and(|values| values.len() > 1);
        if pieces.iter().any(many) {
            return Err(Fail::usage(format!(
                "--case \"{set}\": {flag} has a list of its own on this line; give its values in one of both places"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::{LISTED, SWITCHES, help};
    use crate::args::Cli;

    #[test]
    fn each_flag_has_all_its_spellings() {
        let mut cli = Cli::command();
        let simulate = cli.find_subcommand_mut("simulate").unwrap();
        for spellings in LISTED {
            let spelled = |flag: &str| format!("--{flag}");
            let arg = simulate
                .get_arguments()
                .find(|arg| arg.get_long().map(spelled).as_deref() == Some(spellings[0]));
            let arg = arg.unwrap_or_else(|| panic!("{} is no flag", spellings[0]));
            let mut of: Vec<String> =
                arg.get_all_aliases().unwrap_or_default().into_iter().map(spelled).collect();
            let mut listed = spellings[1..].to_vec();
            of.sort();
            listed.sort_unstable();
            assert_eq!(listed, of, "{}", spellings[0]);
            assert!(help().contains(spellings[0]));
        }
        assert!(
            SWITCHES.iter().all(|switch| LISTED.iter().any(|spellings| spellings[0] == *switch))
        );
    }
}
