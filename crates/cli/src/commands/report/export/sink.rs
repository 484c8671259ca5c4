//! Standard output, or a file.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::exit::Fail;

/// Where a table goes, line by line.
pub(in crate::commands::report) struct Sink {
    name: String,
    to: Box<dyn Write>,
    /// A reader who has seen enough (`| head`) is nothing to fail over.
    is_shut: bool,
}

/// Whether it is standard output.
pub(super) fn is_screen(file: &Path) -> bool {
    file == Path::new("-")
}

impl Sink {
    pub(in crate::commands::report) fn open(file: &Path) -> Result<Self, Fail> {
        let (name, to): (String, Box<dyn Write>) = if is_screen(file) {
            ("standard output".to_owned(), Box::new(BufWriter::new(io::stdout())))
        } else {
            let (path, file) = create(file)?;
            (path.display().to_string(), Box::new(BufWriter::new(file)))
        };
        Ok(Self { name, to, is_shut: false })
    }

    pub(super) fn write(&mut self, text: &str) -> Result<(), Fail> {
        if self.is_shut {
            return Ok(());
        }
        let written = self.to.write_all(text.as_bytes());
        self.check(written)
    }

    /// Writes what is held back.
    pub(super) fn finish(mut self) -> Result<(), Fail> {
        let flushed = if self.is_shut { Ok(()) } else { self.to.flush() };
        self.check(flushed)
    }

    pub(in crate::commands::report) fn write_whole(mut self, text: &str) -> Result<(), Fail> {
        self.write(text)?;
        self.finish()
    }

    /// Whether nobody reads any more.
    pub(super) const fn is_shut(&self) -> bool {
        self.is_shut
    }

    fn check(&mut self, written: io::Result<()>) -> Result<(), Fail> {
        match written {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.is_shut = true;
                Ok(())
            }
            Err(error) => Err(Fail::broken(format!("{}: {error}", self.name))),
            Ok(()) => Ok(()),
        }
    }
}

/// A new file, in a folder that is made if need be.
pub(super) fn create(path: &Path) -> Result<(PathBuf, File), Fail> {
    let wrong = |error: io::Error| Fail::usage(format!("{}: {error}", path.display()));
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(wrong)?;
    }
    Ok((path.to_owned(), File::create(path).map_err(wrong)?))
}
