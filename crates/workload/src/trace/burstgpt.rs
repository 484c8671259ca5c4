//! BurstGPT: CSV with seconds since the start of the recording.

use fizeau_core::Nanos;

use super::error::Fault;
use super::number::{count, time};
use super::reader::Row;

pub(super) const COLUMNS: [&str; 3] = ["Timestamp", "Request tokens", "Response tokens"];

pub(super) fn read(fields: [&[u8]; 3]) -> Result<Row, Fault> {
    let ([at, input, output], [stamp, request, response]) = (fields, COLUMNS);
    let tokens = "a whole number of tokens";
    Ok(Row {
        at: time(at, Nanos::from_secs(1))
            .ok_or_else(|| Fault::at(stamp, at, "a number of seconds such as 5 or 5.25"))?,
        input: count(input).ok_or_else(|| Fault::at(request, input, tokens))?,
        output: count(output).ok_or_else(|| Fault::at(response, output, tokens))?,
    })
}
