//! Files of one record a line.

use std::io::BufRead;

use super::error::{At, DatasetError, DatasetPlace, Fault, as_text};

/// The sign that some editors put at the start of a file of UTF-8.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Shows each line of `reader` that is not blank to `take`. A byte order mark and either kind of line end are fine.
pub(super) fn each_line(
    name: &str,
    mut reader: impl BufRead,
    mut take: impl FnMut(&str) -> Result<(), Fault>,
) -> Result<(), DatasetError> {
    let mut buffer = Vec::new();
    let mut place = DatasetPlace { line: 0, record: None };
    loop {
        buffer.clear();
        match reader.read_until(b'\n', &mut buffer) {
            Ok(0) => return Ok(()),
            Ok(_) => place.line += 1,
            Err(source) => return Err(DatasetError::Read { name: name.into(), place, source }),
        }
        let mut bytes = buffer.as_slice();
        if place.line == 1 {
            bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        }
        if bytes.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let at = At { name, place, column: 1 };
        as_text(bytes).and_then(&mut take).map_err(|fault| fault.at(at))?;
    }
}
