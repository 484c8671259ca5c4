//! `cargo xtask tidy`: what must hold of this repository and can be seen without building it.

mod circles;
mod code;
mod crates;
mod dependencies;
mod duplicates;
mod flags;
mod layers;
mod licences;
mod pages;
mod place;
mod public;
mod sources;
mod vendored;

use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::cargo::{self, Metadata};
use crate::process;
pub(crate) use vendored::FONT;

/// One check: what it is called, and what it finds.
type Check = (&'static str, fn(&Repo) -> Vec<Finding>);

const CHECKS: [Check; 22] = [
    ("layers: crates depend downwards", layering),
    ("layers: external packages are the allowed ones", layers::externals),
    ("licences: of every package in the graph", licences::packages),
    ("licences: deny.toml says the same", licences::deny_file),
    ("crates: description, lints, README.md, crate doc", crates::complete),
    ("crates: each says where it sits", place::told),
    ("crates: nothing in a package leads out of it", crates::packaged),
    ("sources: nothing unsafe", sources::nothing_unsafe),
    ("sources: only outer layers read a clock", sources::clocks),
    ("sources: no I/O where a crate does none", sources::no_io),
    ("sources: files are short", sources::short),
    ("sources: nothing left over", sources::leftovers),
    ("sources: no paths of one machine", sources::machine_paths),
    ("sources: no circle among the modules of a crate", circles::none),
    ("sources: libraries name no flag", flags::none),
    ("sources: public items are announced", public::announced),
    ("sources: no two crates have a type of one name", public::distinct),
    ("pages: README.md", pages::readme),
    ("pages: links lead somewhere", pages::links),
    ("pages: the book has each of them", pages::book),
    ("pages: every dependency has its reason", dependencies::explained),
    ("vendored: files are as they were made", vendored::unchanged),
];

/// Runs every check and prints what was found. `written` first writes what follows from the sources: the lists of public items, and
/// what each library says of its place.
///
/// # Errors
/// If the repository cannot be read, or not written.
pub(crate) fn run(written: Written) -> Result<ExitCode> {
    if let Written::Anew = written {
        let repo = Repo::read()?;
        let lists =
            public::written(&repo).into_iter().map(|(name, text)| (public::path(&name), text));
        for (path, text) in lists.chain(place::written(&repo)) {
            let path = repo.root.join(path);
            fs::create_dir_all(path.parent().unwrap_or(&repo.root))?;
            fs::write(&path, text).with_context(|| path.display().to_string())?;
        }
    }
    Ok(if is_clean()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs every check, prints what was found, and says whether that was nothing.
///
/// # Errors
/// If the repository cannot be read.
pub(crate) fn is_clean() -> Result<bool> {
    let repo = Repo::read()?;
    let mut clean = true;
    for (name, check) in CHECKS {
        clean &= show(name, &check(&repo));
    }
    clean &= show("layers: no runtime below the transport", &layers::runtimes(&repo.metadata)?);
    for finding in public::numbers(&repo).into_iter().chain(duplicates::in_the_program()?) {
        println!("note  {finding}");
    }
    Ok(clean)
}

/// What becomes of files that follow from others.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Written {
    Anew,
    Compared,
}

fn show(name: &str, findings: &[Finding]) -> bool {
    println!("{}  {name}", if findings.is_empty() { "ok  " } else { "FAIL" });
    for finding in findings {
        println!("      {finding}");
    }
    findings.is_empty()
}

/// Which crate of ours depends on which, against the map of `docs/architecture.md`.
#[must_use]
pub fn layering(repo: &Repo) -> Vec<Finding> {
    layers::arrows(repo.metadata.ours())
}

/// Something that a check objects to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Where: a file with or without its line, a package.
    pub place: String,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl Finding {
    fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into() }
    }

    /// At a line, counted from 0.
    fn at(file: &File, line: usize, message: impl Into<String>) -> Self {
        Self::new(format!("{}:{}", file.path, line + 1), message)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// The repository as the checks see it: its text files, and what cargo knows.
#[derive(Debug)]
pub struct Repo {
    root: PathBuf,
    files: Vec<File>,
    metadata: Metadata,
}

/// A text file that git tracks or would track.
#[derive(Debug)]
struct File {
    /// From the root, with forward slashes.
    path: String,
    text: String,
}

impl Repo {
    /// Reads this repository, with the dependencies of every feature.
    ///
    /// # Errors
    /// If git cannot list the files or cargo not resolve the workspace.
    pub fn read() -> Result<Self> {
        let root = cargo::root();
        let mut git = Command::new("git");
        git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(&root);
        let listed = process::output_of(&mut git)
            .context("cannot list the files: git is needed, and a clone")?;
        // A file may be tracked and gone, or hold no text: neither is a matter for tidy.
        let read = |path: &str| {
            let text = fs::read_to_string(root.join(path)).ok()?;
            Some(File { path: path.to_owned(), text })
        };
        let files = listed.split('\0').filter_map(read).collect();
        let metadata = Metadata::read(&["--all-features"])?;
        Ok(Self { root, files, metadata })
    }

    fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    fn rust_files(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.path.ends_with(".rs"))
    }
}

#[cfg(test)]
impl File {
    /// A file that is nowhere, for the tests of checks.
    fn of(path: &str, text: impl Into<String>) -> Self {
        Self { path: path.to_owned(), text: text.into() }
    }
}
