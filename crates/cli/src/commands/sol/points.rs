//! `--points`: a query a line, an answer a line.

use std::fs::File;
use std::io::{self, ErrorKind, Read};

use fizeau::experiment::{AnsweredLine, CalibrationChoice, SolQuery, SolSystems};
use fizeau::report::{SolError, SolLine};

use crate::exit::{Exit, Fail, Named};

/// Answers the lines of `path`, or of standard input if that is `-`.
pub(super) fn run(
    path: &str,
    defaults: &SolQuery<'_>,
    calibration: CalibrationChoice,
) -> Result<Exit, Fail> {
    let flag = format!("--points {path}");
    let input: Box<dyn Read> = match path {
        "-" => Box::new(io::stdin()),
        path => Box::new(File::open(path).named(&flag)?),
    };
    let mut systems = SolSystems::new(calibration);
    let wrong = match systems.answer_lines(input, io::stdout().lock(), defaults, write) {
        // A reader who has seen enough is nothing to fail over.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(Exit::Good),
        wrong => wrong.named(&flag)?,
    };
    let Some((number, message)) = wrong.first else {
        return Ok(Exit::Good);
    };
    Err(usage!(
        "{flag}: {} of {} lines could not be answered, the first is line {number}: {message}",
        wrong.bad,
        wrong.lines
    ))
}

/// Puts an answer behind `out`, or why there is none.
fn write(answered: Result<AnsweredLine<'_>, &str>, out: &mut Vec<u8>) -> io::Result<()> {
    let written = match answered {
        Ok(AnsweredLine { answer, calibrated, notes, .. }) => {
            SolLine { answer, calibrated, notes }.append_to(out)
        }
        Err(error) => SolError { error }.append_to(out),
    };
    written.map_err(io::Error::other)
}
