//! What each target of the fuzzing begins with: good inputs, in the form that the target reads.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// A target.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target {
    /// Its name: that of its function, its file and its place in the manifest.
    pub(crate) name: &'static str,
    /// The folder of the repository that has good inputs for it.
    folder: &'static str,
    /// How the names of these end, if not all files there are some.
    ends: &'static [&'static str],
    /// What the target reads before the input itself.
    before: Before,
}

/// What a target reads before the input itself.
#[derive(Debug, Clone, Copy)]
enum Before {
    Nothing,
    /// Where the bytes are cut in two.
    Cut,
    /// Which of the folder's files it is, in the order of their names.
    Which,
    /// Which it is, then where the bytes are cut.
    WhichAndCut,
}

use Before::{Cut, Nothing, Which, WhichAndCut};

const fn own(name: &'static str, folder: &'static str, before: Before) -> Target {
    Target { name, folder, ends: &[], before }
}

const fn found(
    name: &'static str,
    folder: &'static str,
    ends: &'static [&'static str],
    before: Before,
) -> Target {
    Target { name, folder, ends, before }
}

/// Every target.
pub(crate) const TARGETS: [Target; 13] = [
    own("sse", "fuzz/seeds/sse", Cut),
    own("ndjson", "fuzz/seeds/ndjson", Cut),
    own("http1", "fuzz/seeds/http1", Cut),
    own("reply", "fuzz/seeds/reply", WhichAndCut),
    found("import", "fixtures/foreign", &["json", "jsonl", "csv"], Nothing),
    found("metrics_page", "fixtures/telemetry", &["txt", "json"], Cut),
    own("forward_pass", "fuzz/seeds/forward_pass", Nothing),
    found("trace", "fixtures/workload", &["csv", "mooncake.jsonl"], Nothing),
    found("dataset", "fixtures/workload/datasets", &["json", "jsonl"], Nothing),
    found("model_config", "fixtures/configs", &["json"], Nothing),
    found("device", "crates/roofline/data/devices", &["toml"], Nothing),
    found(
        "run_folder",
        "fixtures/runs/bench",
        &["config.json", "run.json", "summary.json", "tapes.jsonl"],
        Which,
    ),
    own("words", "fuzz/seeds/words", Nothing),
];

/// More bytes than any seed has, so that none is cut.
pub(crate) const LONGEST: usize = 40_000;

impl Target {
    /// Its seeds: names, and bytes as the target reads them.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub(crate) fn seeds(&self, root: &Path) -> io::Result<Vec<(String, Vec<u8>)>> {
        let mut files = Vec::new();
        list(&root.join(self.folder), &mut files)?;
        files.retain(|path| {
            let name = path.to_string_lossy();
            // What a test expects of the pages lies beside them.
            let is_input = !name.ends_with("/read.txt");
            is_input && (self.ends.is_empty() || self.ends.iter().any(|end| name.ends_with(end)))
        });
        files.sort();
        let seeds = (0..).zip(files).map(|(number, path)| {
            let mut bytes: Vec<u8> = match self.before {
                Nothing => vec![],
                Cut => vec![16],
                Which => vec![number],
                WhichAndCut => vec![number, 16],
            };
            bytes.extend(fs::read(&path)?);
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            Ok((format!("seed-{number:02}-{name}"), bytes))
        });
        seeds
            .filter(|seed| seed.as_ref().map_or(true, |(_, bytes)| bytes.len() <= LONGEST))
            .collect()
    }
}

/// The files of a folder, and of those within it.
fn list(folder: &Path, into: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { list(&path, into)? } else { into.push(path) }
    }
    Ok(())
}
