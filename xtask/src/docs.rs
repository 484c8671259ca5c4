//! `cargo xtask docs`: what the pages show of commands and pictures, made anew, and the pages as a book.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::cargo::{self, Metadata};
use crate::{process, tool};

/// The tests that hold what stands in the pages, and write it where they are told to.
const HOLD_PAGES: [&str; 3] = ["deciding::", "watch::screen::", "whatif::"];

/// Writes the pages anew, then builds the book below `target/book`.
///
/// # Errors
/// If a page's command does not run, or mdBook is not installed.
pub(crate) fn run() -> Result<ExitCode> {
    // Before minutes of work: what is missing is said at once.
    tool::MDBOOK.command()?;
    for tests in HOLD_PAGES {
        write_pages(tests)?;
    }
    let (root, book) =
        (cargo::root(), Metadata::read(&["--no-deps"])?.target_directory.join("book"));
    let sources = book.join("docs");
    if sources.exists() {
        fs::remove_dir_all(&sources)?;
    }
    copy(&root.join("docs"), &sources)?;
    fs::copy(root.join("book.toml"), book.join("book.toml"))?;
    tool::MDBOOK.run([Path::new("build"), &book])
}

/// Has the tests whose names begin so write their pages.
fn write_pages(tests: &str) -> Result<()> {
    let mut command = cargo::command();
    command.args(["test", "--quiet", "--package", "fizeau-cli", "--all-features", "--test", "it"]);
    command.args(["--", tests]).env("FIZEAU_WRITE_PAGES", "1");
    match process::count_tests(&mut command)? {
        (false, _) => bail!("a command of a page did not run: see above"),
        // A filter that fits nothing is content with it.
        (true, counts) if counts.passed == 0 => {
            bail!("no test is called {tests}..., so its page was not written")
        }
        (true, _) => Ok(()),
    }
}

/// A folder and all below it; pages lose the links that lead out of the book.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let (path, to) = entry.map(|entry| (entry.path(), to.join(entry.file_name())))?;
        if path.is_dir() {
            copy(&path, &to)?;
        } else if path.extension().is_some_and(|kind| kind == "md") {
            fs::write(to, without_links_out(&fs::read_to_string(&path)?))?;
        } else {
            fs::copy(&path, to)?;
        }
    }
    Ok(())
}

/// `[words](../file)` as `words (file in the repository)`.
fn without_links_out(page: &str) -> String {
    let mut parts = page.split("](../");
    let mut new = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (target, rest) = part.split_once(')').unwrap_or((part, ""));
        if let Some(start) = new.rfind('[') {
            new.remove(start);
        }
        new.push_str(&format!(" (`{target}` in the repository){rest}"));
    }
    new
}

#[cfg(test)]
mod tests {
    use super::without_links_out;

    #[test]
    fn a_link_that_leads_out_of_the_book_is_words() {
        let page = "see [a](b.md), [the file](../c/d.rs) and [more](../e) [f](#g)";
        let book = "see [a](b.md), the file (`c/d.rs` in the repository) and more (`e` in the repository) [f](#g)";
        assert_eq!(without_links_out(page), book);
    }
}
