//! How many public items each crate has: a number that grows on purpose only.
//!
//! The rule is one of text: a line of `src/` outside tests that begins with `pub` and the word of an item (a function, a type, a
//! trait, a constant, a static, a module), and each exported macro. Fields and re-exports are not counted. `unreachable_pub` is
//! denied, so that what says `pub` can be reached by name.

use std::collections::BTreeMap;

use anyhow::{Context, Result};

use super::code::{blanked, for_tests, words};
use super::{File, Finding, Repo};

/// The numbers that are agreed on.
const NOTED: &str = "xtask/public-items.toml";

/// What may stand between `pub` and the word of an item.
const BEFORE: [&str; 4] = ["const", "async", "unsafe", "extern"];
/// A `view` is a struct of `document!`.
const ITEMS: [&str; 10] =
    ["fn", "struct", "view", "enum", "union", "trait", "static", "type", "mod", "macro"];

/// Crates with more items than the file notes.
pub(super) fn announced(repo: &Repo) -> Vec<Finding> {
    let noted = match noted(repo) {
        Ok(noted) => noted,
        Err(error) => return vec![Finding::new(NOTED, format!("{error:#}"))],
    };
    let grown = |(name, found): (String, usize)| {
        let before = noted.get(&name).copied().unwrap_or(0);
        let message = format!(
            "has {found} public items, and {before} are noted: make some of them pub(crate), or note the number in {NOTED}"
        );
        (found > before).then(|| Finding::new(name, message))
    };
    counted(repo).into_iter().filter_map(grown).collect()
}

/// The number of each crate, and where the file notes a greater one.
pub(super) fn numbers(repo: &Repo) -> Vec<Finding> {
    let noted = noted(repo).unwrap_or_default();
    let number = |(name, found): (String, usize)| {
        let before = noted.get(&name).copied().unwrap_or(found);
        let less = match found < before {
            true => format!(", {} fewer than noted: update {NOTED}", before - found),
            false => String::new(),
        };
        Finding::new(name, format!("{found} public items{less}"))
    };
    counted(repo).into_iter().map(number).collect()
}

fn noted(repo: &Repo) -> Result<BTreeMap<String, usize>> {
    let file = repo.file(NOTED).context("is missing")?;
    toml::from_str(&file.text).context("is no table of numbers")
}

/// The folders of libraries with their numbers of items.
fn counted(repo: &Repo) -> BTreeMap<String, usize> {
    let mut counted = BTreeMap::new();
    for file in repo.rust_files() {
        let place = file.path.strip_prefix("crates/").and_then(|path| path.split_once('/'));
        if let Some((name, _)) =
            place.filter(|(name, rest)| *name != "cli" && rest.starts_with("src/"))
        {
            *counted.entry(name.to_owned()).or_default() += items(file);
        }
    }
    counted
}

fn items(file: &File) -> usize {
    let code = blanked(&file.text);
    let tests = for_tests(&code);
    let lines = code.lines().enumerate().filter(|(number, _)| !tests.has(*number));
    lines.filter(|(_, line)| is_public(line.trim_start())).count()
}

fn is_public(line: &str) -> bool {
    let Some(item) = line.strip_prefix("pub ") else {
        return line.starts_with("#[macro_export]");
    };
    let mut words = words(item).skip_while(|word| BEFORE.contains(word));
    // A constant has a name where a function would have `fn`.
    words.next().is_some_and(|word| ITEMS.contains(&word)) || item.starts_with("const ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_count_and_fields_and_tests_do_not() {
        let text = "pub struct A {\n    pub field: u8,\n}\nimpl A {\n    pub const fn f() {}\n    pub const C: u8 = 1;\n    pub(crate) fn g() {}\n}\n\
                    pub use b::B;\n#[macro_export]\nmacro_rules! m { () => {} }\n#[cfg(test)]\nmod tests {\n    pub fn h() {}\n}\n// pub fn i\n";
        assert_eq!(items(&File::of("a.rs", text)), 4);
    }
}
