//! The public items of each library, by name: `xtask/public/CRATE.txt`, which changes on purpose only and is written by
//! `cargo xtask tidy --write`.
//!
//! The rule is one of text: a line of `src/` outside tests that begins with `pub` and the word of an item (a function, a type, a
//! trait, a constant, a static, a module), and each exported macro. Fields and re-exports are left out. `unreachable_pub` is
//! denied, so that what says `pub` can be reached by name. An item of an `impl` has the name of its type before it; in which file it
//! stands does not matter to whoever uses it.

use std::collections::BTreeMap;

use super::code::{blanked, for_tests, words};
use super::{File, Finding, Repo};

/// What may stand between `pub` and the word of an item.
const BEFORE: [&str; 4] = ["const", "async", "unsafe", "extern"];
/// A `view` is a struct of `document!`.
const ITEMS: [&str; 10] =
    ["fn", "struct", "view", "enum", "union", "trait", "static", "type", "mod", "macro"];

/// The file that has the names of a crate.
pub(super) fn path(name: &str) -> String {
    format!("xtask/public/{name}.txt")
}

/// Each crate whose items are not those of its file, with a few of the names that differ.
pub(super) fn announced(repo: &Repo) -> Vec<Finding> {
    let differing = |(name, text): (String, String)| {
        let noted = repo.file(&path(&name)).map_or("", |file| file.text.as_str());
        let differences = [lacking(&text, noted), lacking(noted, &text)];
        let [more, gone] = differences.map(|names| listed(&names));
        let message = format!(
            "new: {more}; gone: {gone}: make new ones pub(crate), or `cargo xtask tidy --write`"
        );
        (text != noted).then(|| Finding::new(path(&name), message))
    };
    written(repo).into_iter().filter_map(differing).collect()
}

/// The lines of `all` that `others` has less often.
fn lacking<'a>(all: &'a str, others: &str) -> Vec<&'a str> {
    let mut left: Vec<&str> = others.lines().collect();
    let is_new = |line: &&str| match left.iter().position(|other| other == line) {
        Some(at) => {
            left.swap_remove(at);
            false
        }
        None => true,
    };
    all.lines().filter(is_new).collect()
}

fn listed(names: &[&str]) -> String {
    match names {
        [] => "nothing".to_owned(),
        _ if names.len() > 8 => format!("{} and {} more", names[..8].join(", "), names.len() - 8),
        _ => names.join(", "),
    }
}

/// Each name of a type or a trait that two crates have, so that it says nothing without its path.
pub(super) fn distinct(repo: &Repo) -> Vec<Finding> {
    let mut owners: BTreeMap<String, String> = BTreeMap::new();
    let mut findings = Vec::new();
    for (name, text) in written(repo) {
        for item in text.lines().filter_map(|line| line.split_once(' ')) {
            let ("struct" | "view" | "enum" | "union" | "trait" | "type", item) = item else {
                continue;
            };
            match owners.insert(item.to_owned(), name.clone()) {
                Some(other) if other != name => {
                    findings.push(Finding::new(
                        path(&name),
                        format!("{item} is a name in {other} too"),
                    ));
                }
                _ => {}
            }
        }
    }
    findings
}

/// How many items each crate has.
pub(super) fn numbers(repo: &Repo) -> Vec<Finding> {
    let number = |(name, text): (String, String)| {
        Finding::new(name, format!("{} public items", text.lines().count()))
    };
    written(repo).into_iter().map(number).collect()
}

/// The folders of libraries with the text of their files: a line an item, in order.
pub(super) fn written(repo: &Repo) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in repo.rust_files() {
        let place = file.path.strip_prefix("crates/").and_then(|path| path.split_once('/'));
        let is_library = |(name, rest): &(&str, &str)| *name != "cli" && rest.starts_with("src/");
        if let Some((name, _)) = place.filter(is_library) {
            found.entry(name.to_owned()).or_default().extend(items(file));
        }
    }
    let text = |(name, mut items): (String, Vec<String>)| {
        items.sort_unstable();
        (name, items.iter().map(|item| format!("{item}\n")).collect())
    };
    found.into_iter().map(text).collect()
}

/// The items of a file, each as its word and its name.
fn items(file: &File) -> Vec<String> {
    let code = blanked(&file.text);
    let tests = for_tests(&code);
    let lines: Vec<&str> = code.lines().collect();
    // The `impl` that a line stands in, and how far that is indented.
    let (mut within, mut found) = (None::<(usize, String)>, Vec::new());
    for (number, line) in lines.iter().enumerate().filter(|(number, _)| !tests.has(*number)) {
        let (inner, indent) = (line.trim_start(), line.len() - line.trim_start().len());
        let goes_on = inner.is_empty() || inner.starts_with("where") || inner.starts_with('{');
        if !goes_on && within.as_ref().is_some_and(|(at, _)| indent <= *at) {
            within = None;
        }
        if inner.starts_with("impl") {
            within = Some((indent, of_impl(&lines[number..])));
        }
        let next = lines.get(number + 1).copied().unwrap_or_default();
        let Some((word, name)) = item(inner, next) else { continue };
        let owner = within.as_ref().map_or(String::new(), |(_, owner)| format!("{owner}::"));
        found.push(format!("{word} {owner}{name}"));
    }
    found
}

/// The type that an `impl` is of.
fn of_impl(lines: &[&str]) -> String {
    let head: String = lines.iter().take(4).flat_map(|line| [*line, " "]).collect();
    let head = head.split('{').next().unwrap_or_default();
    let head = head.split(" where ").next().unwrap_or_default();
    let head = match head.split_once(" for ") {
        Some((_, head)) => head.to_owned(),
        None => without_generics(head.trim_start().trim_start_matches("impl")),
    };
    let name = head.split('<').next().unwrap_or_default().trim();
    name.rsplit("::").next().unwrap_or_default().to_owned()
}

/// What follows the first pair of angle brackets, if the text begins with one.
fn without_generics(text: &str) -> String {
    let mut depth = 0_usize;
    let end = text.char_indices().find(|(_, c)| {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    });
    match end {
        Some((at, '>')) => text[at + 1..].to_owned(),
        _ => text.to_owned(),
    }
}

/// The word and the name of the public item that a line begins.
fn item<'a>(line: &'a str, next: &'a str) -> Option<(&'a str, &'a str)> {
    let Some(item) = line.strip_prefix("pub ") else {
        let name = || words(next).nth(1).unwrap_or_default();
        return line.starts_with("#[macro_export]").then(|| ("macro", name()));
    };
    let mut after = words(item).skip_while(|word| BEFORE.contains(word));
    let word = after.next()?;
    if ITEMS.contains(&word) {
        return Some((word, after.next()?));
    }
    // A constant has a name where a function would have `fn`.
    item.starts_with("const ").then_some(("const", word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_count_and_fields_and_tests_do_not() {
        let text = "impl B for E {}\npub struct A {\n    pub field: u8,\n}\nimpl<'a, T: B<u8>> c::A<'a, T>\nwhere\n    T: C,\n{\n    pub const fn f() {}\n    pub const C: u8 = 1;\n    pub(crate) fn g() {}\n}\n\
                    pub use b::B;\npub fn free() {}\n#[macro_export]\nmacro_rules! m { () => {} }\n#[cfg(test)]\nmod tests {\n    pub fn h() {}\n}\n// pub fn i\n";
        assert_eq!(
            items(&File::of("a.rs", text)),
            ["struct A", "fn A::f", "const A::C", "fn free", "macro m"]
        );
        assert_eq!(of_impl(&["impl<T> Deref for D<T> {"]), "D");
    }

    #[test]
    fn what_is_new_and_what_is_gone_is_named() {
        assert_eq!(lacking("fn a\nfn a\nfn b\n", "fn a\nfn c\n"), ["fn a", "fn b"]);
        assert_eq!(listed(&["x"; 9]), "x, x, x, x, x, x, x, x and 1 more");
    }
}
