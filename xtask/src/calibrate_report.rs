//! `cargo xtask calibrate-report`: whether measured levels keep to the bound, and how far off a calibration on them is.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::cargo::{self, Metadata};
use crate::process;

/// Draws the residuals; what follows is the folder, and then files of measured levels.
const DRAWN: &str = "--residuals-svg";

/// Builds the report and becomes it; or runs it, and draws its residuals.
pub(crate) fn run(args: &[OsString]) -> Result<ExitCode> {
    let mut report = example("fizeau-roofline", "calibrate_report", None)?;
    let Some((_, drawn)) = args.split_first().filter(|(flag, _)| *flag == DRAWN) else {
        report.args(args);
        return process::become_command(report);
    };
    let Some((folder, measured)) = drawn.split_first() else {
        bail!("{DRAWN}: name the folder that gets the pictures");
    };
    let table = Metadata::read(&["--no-deps"])?.target_directory.join("residuals.csv");
    if !process::succeeds(report.arg("--residuals").arg(&table).args(measured))? {
        bail!("there is no report: see above");
    }
    let mut pictures = example("fizeau-report", "residual_pictures", Some("pictures"))?;
    pictures.arg(&table).arg(folder);
    process::become_command(pictures)
}

/// An example, built.
fn example(package: &str, name: &str, features: Option<&str>) -> Result<Command> {
    let mut words = vec!["--release", "--package", package, "--example", name];
    words.extend(features.into_iter().flat_map(|feature| ["--features", feature]));
    let built = cargo::build(&words)?;
    let built = built.first().with_context(|| format!("cargo built no example named {name}"))?;
    Ok(Command::new(&built.path))
}
