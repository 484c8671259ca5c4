//! One command line with lists in it, as several command lines.

use std::ffi::{OsStr, OsString};

use super::pieces::{Piece, is_switch, pieces, words};
use crate::exit::Fail;

/// What goes with a flag, and goes where it goes.
const DEPENDENT: [(&str, &[&str]); 2] =
    [("--draft", &["--acceptance", "--drafter"]), ("--disaggregate", &["--transfer"])];

/// The most configurations of one command: their figures are read side by side.
const MOST: usize = 256;

/// One configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Case {
    /// What sets it apart: flags without their dashes, and their values.
    pub(crate) settings: Vec<(String, String)>,
    /// The command line that is meant.
    pub(crate) arguments: Vec<OsString>,
}

/// The configurations that `arguments` ask for: every combination of the values of flags that have several, in the order in which
/// they stand, the last one changing fastest. Each `--case ARGUMENTS` is a value of its own: further arguments for one
/// configuration. The value `none` or `off` is as if the flag were not there, and `on` is the flag alone.
///
/// # Errors
/// If they are too many to be read, two are the same, or a list makes no sense.
pub(crate) fn cases(arguments: &[OsString]) -> Result<Vec<Case>, Fail> {
    let pieces = pieces(arguments)?;
    let mut cases = vec![Case { settings: Vec::new(), arguments: Vec::new() }];
    for piece in &pieces {
        let ways = match piece {
            Piece::Word(_) => 1,
            Piece::Values(_, values) | Piece::Sets(values) => values.len(),
        };
        if cases.len() * ways > MOST {
            return Err(Fail::usage(format!(
                "these lists make more than {MOST} configurations: give fewer values, or name those that matter, each by a \
                 --case of its own"
            )));
        }
        let further = |case: &Case| (0..ways).map(|way| case.with(piece, way)).collect::<Vec<_>>();
        cases = cases.iter().flat_map(further).collect();
    }
    for (flag, dependents) in DEPENDENT {
        // Where no configuration has the flag, what goes with it is a slip, of which the parser tells.
        if cases.iter().any(|case| case.has(flag)) {
            cases.iter_mut().for_each(|case| case.leave_out(flag, dependents));
        }
    }
    check(&cases)?;
    Ok(cases)
}

/// Refuses a configuration that comes twice.
fn check(cases: &[Case]) -> Result<(), Fail> {
    for (index, case) in cases.iter().enumerate() {
        if cases.iter().take(index).any(|before| before.arguments == case.arguments) {
            let name = case.name();
            return Err(Fail::usage(format!(
                "configuration {} ({name}) is the same as one before it; leave one of them out",
                index + 1
            )));
        }
    }
    Ok(())
}

impl Case {
    /// What sets it apart, in a line.
    pub(crate) fn name(&self) -> String {
        let settings = self.settings.iter();
        let name = settings.map(|(flag, value)| format!("{flag} {value}").trim_end().to_owned());
        name.collect::<Vec<_>>().join(", ")
    }

    fn with(&self, piece: &Piece, way: usize) -> Self {
        let mut case = self.clone();
        match piece {
            Piece::Word(word) => case.arguments.push(word.clone()),
            Piece::Values(flag, values) => {
                let value = values.get(way).map_or("", String::as_str);
                if values.len() > 1 {
                    let name = flag.trim_start_matches('-').to_owned();
                    case.settings.push((name, value.to_owned()));
                }
                match value {
                    "none" | "off" => {}
                    "on" if is_switch(flag) => case.arguments.push(flag.into()),
                    value => case.arguments.extend([flag.into(), value.into()]),
                }
            }
            Piece::Sets(sets) => {
                let set = sets.get(way).map_or("", String::as_str);
                case.settings.extend(told(set));
                case.arguments.extend(words(set).into_iter().map(OsString::from));
            }
        }
        case
    }

    fn has(&self, flag: &str) -> bool {
        self.arguments.iter().any(|word| is_flag(word, flag))
    }

    /// Takes out what goes with a flag that is not there.
    fn leave_out(&mut self, flag: &str, dependents: &[&str]) {
        if self.has(flag) {
            return;
        }
        for dependent in dependents {
            while let Some(at) = self.arguments.iter().position(|word| is_flag(word, dependent)) {
                let apart = self.arguments.get(at).is_some_and(|word| word == dependent);
                let end = (at + 1 + usize::from(apart)).min(self.arguments.len());
                self.arguments.drain(at..end);
            }
        }
    }
}

fn is_flag(word: &OsStr, flag: &str) -> bool {
    let rest = word.to_str().and_then(|word| word.strip_prefix(flag));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

/// What the arguments of a `--case` are called: its flags without their dashes, and their values.
fn told(set: &str) -> Vec<(String, String)> {
    let mut told: Vec<(String, String)> = Vec::new();
    for word in words(set) {
        let word = word.as_str();
        match (word.strip_prefix("--"), told.last_mut()) {
            (Some(flag), _) => {
                let (flag, value) = flag.split_once('=').unwrap_or((flag, ""));
                // The last counts.
                told.retain(|(before, _)| before != flag);
                told.push((flag.to_owned(), value.to_owned()));
            }
            (None, Some(last)) if last.1.is_empty() => word.clone_into(&mut last.1),
            (None, Some(last)) => last.1 = format!("{} {word}", last.1),
            (None, None) => {}
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Vec<(String, String)> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        written(cases(&words).unwrap())
    }

    fn written(cases: Vec<Case>) -> Vec<(String, String)> {
        let one = |case: Case| {
            let settings: Vec<String> =
                case.settings.iter().map(|(flag, value)| format!("{flag} {value}")).collect();
            let words: Vec<&str> =
                case.arguments.iter().map(|word| word.to_str().unwrap()).collect();
            (settings.join(", "), words.join(" "))
        };
        cases.into_iter().map(one).collect()
    }

    #[test]
    fn a_line_without_lists_is_itself() {
        for line in [
            "fizeau simulate --tp 2 --weights fp8 --levels 1,2,4 --out f",
            "fizeau simulate --weights experts=nvfp4,attention=bf16 --enable-prefix-caching",
            "fizeau simulate --random-input-len uniform:200-300 --disaggregate 1:2",
            "fizeau simulate --tp",
        ] {
            assert_eq!(of(line), [(String::new(), line.to_owned())]);
        }
    }

    #[test]
    fn lists_are_combined_the_last_changing_fastest() {
        let lines = of("x --tp 1,2 --weights=bf16,fp8 --seed 7");
        let expected = [
            ("tp 1, weights bf16", "x --tp 1 --weights bf16 --seed 7"),
            ("tp 1, weights fp8", "x --tp 1 --weights fp8 --seed 7"),
            ("tp 2, weights bf16", "x --tp 2 --weights bf16 --seed 7"),
            ("tp 2, weights fp8", "x --tp 2 --weights fp8 --seed 7"),
        ];
        assert_eq!(lines, expected.map(|(name, line)| (name.to_owned(), line.to_owned())));
    }

    #[test]
    fn none_takes_the_flag_away_with_what_goes_with_it() {
        let lines = of("x --draft none,3 --acceptance 0.8,0.6 --enable-prefix-caching on,off");
        let lines: Vec<&str> = lines.iter().map(|line| &*line.1).collect();
        assert_eq!(
            lines,
            [
                "x --enable-prefix-caching",
                "x",
                "x --draft 3 --acceptance 0.8,0.6 --enable-prefix-caching",
                "x --draft 3 --acceptance 0.8,0.6",
            ]
        );
        // What belongs to a flag that is not there at all stays, for clap to refuse.
        assert_eq!(of("x --transfer layers")[0].1, "x --transfer layers");
        let lines = of("x --disaggregate none,1:1,2:1 --transfer=layers");
        assert_eq!(lines[0].1, "x");
        assert_eq!(lines[2].1, "x --disaggregate 2:1 --transfer=layers");
    }

    #[test]
    fn each_case_is_a_configuration_of_its_own() {
        let words = ["x", "--case", "--tp 4 --replicas 2", "--weights", "fp8", "--case=--tp 8"];
        let lines = written(cases(&words.map(OsString::from)).unwrap());
        let expected = [
            ("tp 4, replicas 2", "x --weights fp8 --tp 4 --replicas 2"),
            ("tp 8", "x --weights fp8 --tp 8"),
        ];
        assert_eq!(lines, expected.map(|(name, line)| (name.to_owned(), line.to_owned())));
    }

    #[test]
    fn more_than_can_be_read_is_refused() {
        let many = (1..=17).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
        let words = ["x", "--tp", &many, "--pp", &many].map(OsString::from);
        assert!(cases(&words).unwrap_err().message.contains("more than 256 configurations"));
    }
}
