//! Runs to files of other tools.

use std::fs;
use std::path::{Path, PathBuf};

use fizeau::interop::{ExportSource, ExportedFile, ForeignFormats};
use fizeau::record::RunFolder;

use crate::args::ConvertArgs;
use crate::commands::report::note_cut;
use crate::exit::{Exit, Fail, Named};
use crate::terminal::say::say;

pub(super) fn run(args: &ConvertArgs, format: &str) -> Result<Exit, Fail> {
    let format = ForeignFormats::named(format).named("--to")?;
    let [path] = args.inputs.as_slice() else {
        return Err(Fail::usage("--to: name one run at a time"));
    };
    if RunFolder::holds_whatif(path) {
        let path = path.display();
        return Err(Fail::usage(format!(
            "{path}: several configurations side by side; name one: {path}/configuration-01"
        )));
    }
    let source = ExportSource::read(path).map_err(Fail::usage)?;
    source.cut().iter().for_each(|(level, cut)| note_cut(level, Some(*cut)));
    let files = format.export(&source.levels()).map_err(Fail::usage)?;
    for written in place(&files, &args.out)? {
        say(written.display())?;
    }
    Ok(Exit::Good)
}

/// Writes them: a single one to `out` itself unless that is a folder, several into it. Nothing that is there is written over.
fn place(files: &[ExportedFile], out: &Path) -> Result<Vec<PathBuf>, Fail> {
    let is_folder = out.is_dir() || out.to_string_lossy().ends_with('/');
    let paths: Vec<PathBuf> = match files {
        [_] if !is_folder => vec![out.to_owned()],
        files => files.iter().map(|file| out.join(&file.name)).collect(),
    };
    if let Some(taken) = paths.iter().find(|path| path.exists()) {
        let taken = taken.display();
        return Err(Fail::usage(format!("--out: {taken} already exists; name another place")));
    }
    for (path, file) in paths.iter().zip(files) {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).named("--out")?;
        }
        fs::write(path, &file.bytes).named(&format!("--out: {}", path.display()))?;
    }
    Ok(paths)
}
