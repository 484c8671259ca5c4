//! Completions and manual pages, of every command there is.

use crate::stand::{Scratch, run};

/// The commands, as the help lists them.
pub(crate) fn commands() -> Vec<String> {
    let help = run(&["--help"]).out;
    let names = help.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
    let names = names.filter(|name| name.chars().all(|c| c.is_ascii_lowercase()));
    names.map(str::to_owned).collect()
}

#[test]
fn each_shell_completes_each_command_and_the_flags_of_it() {
    for shell in ["bash", "zsh", "fish"] {
        let ended = run(&["completions", shell]);
        assert_eq!((ended.code, &*ended.err), (Some(0), ""), "{shell}");
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let words: Vec<&str> = ended.out.split(|c| !is_word(c)).collect();
        for command in commands() {
            assert!(words.contains(&&*command), "{shell}: {command}");
        }
        assert!(ended.out.contains("max-concurrency"), "{shell}");
    }
    assert_eq!(run(&["completions", "cmd"]).code, Some(2));
}

#[test]
fn each_command_has_a_manual_page_with_its_flags() {
    let scratch = Scratch::new("man");
    let folder = scratch.path("man1");
    assert_eq!(run(&["man", "--out", &folder]).code, Some(0));
    let page = |name: &str| std::fs::read_to_string(format!("{folder}/{name}.1")).unwrap();
    assert_eq!(run(&["man"]).out.trim_end(), page("fizeau").trim_end());
    for command in commands() {
        let page = page(&format!("fizeau-{command}"));
        assert!(page.contains(".SH NAME") && page.contains(".SH SYNOPSIS"), "{command}: {page}");
    }
    assert!(page("fizeau-bench").contains("max\\-concurrency"), "{}", page("fizeau-bench"));
    let refused = run(&["man", "--out", "/dev/null/man1"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.err.contains("/dev/null/man1"), "{}", refused.err);
}
