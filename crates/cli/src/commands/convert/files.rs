//! The files that are named, or lie in folders that are.

use std::path::{Path, PathBuf};

use crate::exit::{Fail, Named};

/// A file, read whole.
pub(super) struct File {
    /// Its path, with `/` between folders.
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
    /// Whether it was named itself, and so must be of a known form.
    pub(super) is_named: bool,
}

/// How deep folders are looked into.
const DEPTH: usize = 8;

/// What is in a folder, but of no kind that a result has, is passed over.
const KINDS: [&str; 3] = ["json", "jsonl", "csv"];

pub(super) fn read(inputs: &[PathBuf]) -> Result<Vec<File>, Fail> {
    let mut files = Vec::new();
    for input in inputs {
        if input.is_dir() {
            let before = files.len();
            within(input, 0, &mut files)?;
            if files.len() == before {
                return Err(Fail::usage(format!(
                    "{}: no file in it ends in .json, .jsonl or .csv",
                    input.display()
                )));
            }
        } else {
            files.push(file(input, true)?);
        }
    }
    Ok(files)
}

fn file(path: &Path, is_named: bool) -> Result<File, Fail> {
    let name = path.to_string_lossy().replace('\\', "/");
    let bytes = std::fs::read(path).named(&name)?;
    Ok(File { name, bytes, is_named })
}

fn within(folder: &Path, depth: usize, files: &mut Vec<File>) -> Result<(), Fail> {
    let name = folder.display().to_string();
    if folder.join("run.json").is_file() {
        return Err(Fail::usage(format!(
            "{name}: a run of Fizeau's own; --to FORMAT writes it in the form of another tool"
        )));
    }
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder).named(&name)? {
        entries.push(entry.named(&name)?.path());
    }
    entries.sort();
    for path in entries {
        // What a system puts beside files, such as macOS's `._NAME`.
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')) {
            continue;
        }
        let kind = path.extension().map(|kind| kind.to_string_lossy().to_lowercase());
        if path.is_dir() && depth < DEPTH {
            within(&path, depth + 1, files)?;
        } else if path.is_file() && kind.is_some_and(|kind| KINDS.contains(&kind.as_str())) {
            files.push(file(&path, false)?);
        }
    }
    Ok(())
}
