//! Standard output, or a file.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::exit::Fail;

/// Where a table goes.
pub(in crate::commands::report) struct Sink {
    name: String,
    to: Box<dyn Write>,
}

/// Whether it is standard output.
pub(super) fn is_screen(file: &Path) -> bool {
    file == Path::new("-")
}

impl Sink {
    pub(in crate::commands::report) fn open(file: &Path) -> Result<Self, Fail> {
        let (name, to): (String, Box<dyn Write>) = if is_screen(file) {
            ("standard output".to_owned(), Box::new(io::stdout()))
        } else {
            let (path, file) = create(file)?;
            (path.display().to_string(), Box::new(file))
        };
        Ok(Self { name, to: Box::new(BufWriter::new(to)) })
    }

    /// Writes a line, and what is before it when it suits. A reader who has seen enough (`| head`) is nothing to fail over.
    pub(super) fn line(&mut self, line: &str) -> Result<(), Fail> {
        let written = writeln!(self.to, "{line}");
        self.written(written)
    }

    /// Writes `text` and all before it.
    pub(in crate::commands::report) fn write_whole(mut self, text: &str) -> Result<(), Fail> {
        let written = self.to.write_all(text.as_bytes()).and_then(|()| self.to.flush());
        self.written(written)
    }

    fn written(&self, written: io::Result<()>) -> Result<(), Fail> {
        match written {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(broken!("{}: {error}", self.name))
            }
            _ => Ok(()),
        }
    }
}

/// A new file, in a folder that is made if need be.
pub(super) fn create(path: &Path) -> Result<(PathBuf, File), Fail> {
    let wrong = |error: io::Error| usage!("{}: {error}", path.display());
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(wrong)?;
    }
    Ok((path.to_owned(), File::create(path).map_err(wrong)?))
}
