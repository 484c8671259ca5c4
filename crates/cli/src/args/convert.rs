//! `fizeau convert`.

use std::path::PathBuf;

use clap::Args;
use fizeau::interop::ForeignFormats;

#[derive(Debug, Args)]
#[command(after_long_help = after_help())]
pub(crate) struct ConvertArgs {
    /// Files of other tools, or folders that hold them. With --to the folder of a run.
    #[arg(required = true, value_name = "FILE|DIR")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Where the run goes that they make; of several models or settings a folder for each is made in it. With --to the file, or
    /// a folder for files.
    #[arg(long, value_name = "DIR|FILE")]
    pub(crate) out: PathBuf,
    /// The form of all files; by default each is looked at.
    #[arg(long, value_name = "FORMAT", conflicts_with = "to")]
    pub(crate) from: Option<String>,
    /// Write a run in this form of another tool.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) to: Option<String>,
}

/// The formats, from the table that defines them.
fn after_help() -> String {
    let mut text = "Formats:\n".to_owned();
    for format in ForeignFormats::all() {
        text.push_str(&format!("  {:<15} {}\n", format.key(), format.about()));
    }
    text.push_str(
        "\nWhat a file says is taken as a figure of ours only where its definition is ours. Where it has what each request did, \
         the run has tapes, and everything can be computed again; else `fizeau report` says what is not known.",
    );
    text
}
