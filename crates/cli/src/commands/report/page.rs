//! The page of a run.

use std::path::{Path, PathBuf};

use fizeau::interop::with_details;
use fizeau::record::{RunFolder, SweepReport};
use fizeau::report::Shown;

use crate::args::ReportArgs;
use crate::commands::shared::folder;
use crate::exit::Fail;

/// Its name in a run's folder.
pub(crate) const PAGE: &str = "report.html";

/// Writes the page of a run that has just been measured, of what is `known` of it and what its folder has of its tapes.
pub(crate) fn write(folder: &RunFolder, known: &SweepReport) -> Result<(), Fail> {
    let known = with_details(folder.path(), known.clone()).map_err(Fail::broken)?;
    folder.write_text(PAGE, &Shown(&known).page()).map_err(Fail::broken).map(drop)
}

/// Where a page goes that is made of folders that were there before.
pub(super) enum PageLocation {
    /// Where the command line says: it must work.
    Named(PathBuf),
    /// Where pages lie by default: who may not write there has a report without one.
    Usual(PathBuf),
}

impl PageLocation {
    /// `--html`, or else by default.
    pub(super) fn of(html: Option<&Path>, usual: PathBuf) -> Self {
        html.map_or(Self::Usual(usual), |path| Self::Named(path.to_path_buf()))
    }

    /// That of the run in `path`, where the flags ask for a page or for no document in its place.
    pub(super) fn of_run(args: &ReportArgs, path: &Path) -> Option<Self> {
        let is_made = args.html.is_some() || !(args.json || args.markdown);
        is_made.then(|| Self::of(args.html.as_deref(), path.join(PAGE)))
    }

    /// Writes a page. Gives back where it is; none where it could not be written and need not.
    pub(super) fn write(&self, page: &str) -> Result<Option<PathBuf>, Fail> {
        match self {
            Self::Named(path) => {
                folder::write("--html", path, page)?;
                Ok(Some(path.clone()))
            }
            Self::Usual(path) => Ok(match std::fs::write(path, page) {
                Ok(()) => Some(path.clone()),
                Err(error) => {
                    tell!(
                        "note: no page: {}: {error}; --html FILE puts it elsewhere",
                        path.display()
                    );
                    None
                }
            }),
        }
    }
}
