//! `fizeau convert`.

use std::path::PathBuf;

use clap::Args;
use fizeau::interop::ForeignFormats;

#[derive(Debug, Args)]
#[command(after_long_help = after_help())]
pub(crate) struct ConvertArgs {
    /// Files of other tools, or folders that hold them. With --to, the folder of a run.
    #[arg(required = true, value_name = "FILE|DIR")]
    pub(crate) inputs: Vec<PathBuf>,
    /// The folder that the run is written to; several models or settings each get a folder inside it. With --to, the file to write, or
    /// a folder for the files.
    #[arg(long, value_name = "DIR|FILE")]
    pub(crate) out: PathBuf,
    /// The format of all files; by default it is recognised for each file.
    #[arg(long, value_name = "FORMAT", conflicts_with = "to")]
    pub(crate) from: Option<String>,
    /// Write a run in this format of another tool.
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
        "\nA figure of a file is taken over only if both tools define it alike. If the file has the events of each request, the \
         run has tapes, and everything can be computed again; otherwise `fizeau report` says what is not known.",
    );
    text
}
