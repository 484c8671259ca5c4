//! Runs to files of other tools.

use fizeau::interop::{ExportSource, ExportedFile, ForeignFormats};
use fizeau::record::RunFolder;

use crate::args::ConvertArgs;
use crate::commands::report::note_cut;
use crate::exit::{Exit, Fail, Named};
use crate::terminal::say::say;

pub(super) fn run(args: &ConvertArgs, format: &str) -> Result<Exit, Fail> {
    let format = ForeignFormats::named(format).named("--to")?;
    let [path] = args.inputs.as_slice() else {
        bail!("--to: name one run at a time");
    };
    if RunFolder::holds_whatif(path) {
        let path = path.display();
        bail!("{path}: several configurations side by side; name one: {path}/configuration-01");
    }
    let source = ExportSource::read(path).map_err(Fail::usage)?;
    source.cut().iter().for_each(|(level, cut)| note_cut(level, Some(*cut)));
    let files = format.export(&source.levels()).map_err(Fail::usage)?;
    for written in ExportedFile::write_all(&files, &args.out).named("--out")? {
        say(written.display())?;
    }
    Ok(Exit::Good)
}
