//! Why a file cannot be read.

use std::io;

/// Why a file cannot be read, as a person would say it: `there is no such file`. What the system says is kept where that says more.
#[must_use]
pub fn unreadable(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::IsADirectory => "this is a folder, not a file".to_owned(),
        io::ErrorKind::PermissionDenied => {
            "this file may not be read (permission denied)".to_owned()
        }
        io::ErrorKind::InvalidData => "this file is not text (UTF-8)".to_owned(),
        _ => error.to_string(),
    }
}
