//! The charts of runs as files.

use std::fs;
use std::path::{Path, PathBuf};

use fizeau::record::text::plain;
use fizeau::report::{ChartRun, PictureFormat, Shown};

use super::many::{self, OneRun};
use crate::args::ReportArgs;
use crate::exit::{Exit, Fail, Named};
use crate::terminal::say::say;

/// Writes what `args` ask for; those of several runs lie over each other.
pub(super) fn run(args: &ReportArgs, paths: &[PathBuf]) -> Result<Exit, Fail> {
    let asked =
        [(PictureFormat::Svg, &args.pictures.svg), (PictureFormat::Png, &args.pictures.png)];
    let asked: Vec<(PictureFormat, &Path)> =
        asked.into_iter().filter_map(|(kind, out)| Some((kind, out.as_deref()?))).collect();
    refuse_if!(
        args.export.is_wanted(),
        "--svg and --png go with no flag that writes files for other programs; run the \
         command twice"
    );
    refuse_if!(asked.is_empty(), "--chart: say where it goes: --svg FILE or --png FILE");
    let runs = runs(args, paths)?;
    for (kind, out) in asked {
        match args.pictures.chart() {
            Some(picture) => {
                let file = kind.draw(picture, &runs).map_err(Fail::usage)?;
                write(kind, out, &file)?;
            }
            None => all(kind, out, &runs)?,
        }
    }
    Ok(Exit::Good)
}

/// Each chart that has data, into a folder; what has none is said.
fn all(kind: PictureFormat, out: &Path, runs: &[ChartRun]) -> Result<(), Fail> {
    let (files, reasons) = kind.draw_all(runs);
    let reasons: Vec<String> = reasons.iter().map(ToString::to_string).collect();
    if files.is_empty() {
        let (ending, reasons) = (kind.ending(), reasons.join("; "));
        bail!("--{ending}: no chart has data: {reasons}");
    }
    fs::create_dir_all(out).named(&named(kind, out))?;
    for (name, file) in files {
        write(kind, &out.join(name), &file)?;
    }
    for reason in reasons {
        tell!("note: {}", plain(&reason));
    }
    Ok(())
}

fn write(kind: PictureFormat, path: &Path, file: &[u8]) -> Result<(), Fail> {
    fs::write(path, file).named(&named(kind, path))?;
    say(format!("{}: {}", kind.ending(), path.display()))
}

fn named(kind: PictureFormat, path: &Path) -> String {
    format!("--{} {}", kind.ending(), path.display())
}

/// What is drawn; what is alone needs no name.
fn runs(args: &ReportArgs, paths: &[PathBuf]) -> Result<Vec<ChartRun>, Fail> {
    let runs = many::read(args, paths)?.runs;
    let is_alone = runs.len() == 1;
    let chart = |(name, run): &(String, OneRun)| {
        let name = if is_alone { "" } else { name };
        match run {
            OneRun::Own(report) => ChartRun::of(report, name),
            OneRun::Imported(run) => Shown(run).charts(name),
        }
    };
    Ok(runs.iter().map(chart).collect())
}
