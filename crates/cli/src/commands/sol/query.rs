//! One query, in the words of the command line.

use std::fs::File;
use std::io;
use std::io::{ErrorKind, Read};

use fizeau::experiment::{AnsweredLine, CalibrationChoice, LoadQuery, SolQuery, SolSystems};
use fizeau::report::{SolError, SolLine};

use crate::args::{SolArgs, SolLoadArgs};
use crate::commands::shared::speed;
use crate::exit::{Exit, Fail, Named, unread};

/// What the flags ask of which system.
pub(super) fn of(args: &SolArgs) -> SolQuery<'_> {
    let system = speed::query(&args.system, args.calibration.constants.engine.as_deref());
    SolQuery { system, load: load(&args.load) }
}

/// A context is that of the token which follows a prompt: of two tokens of output it is the second that a step makes.
fn load(args: &SolLoadArgs) -> LoadQuery {
    let own = args.uniform.query();
    let concurrency = args.batch.unwrap_or(own.concurrency);
    match args.context {
        Some(context) => {
            LoadQuery { isl: context.saturating_sub(1), osl: 2, cached: 0, concurrency }
        }
        None => LoadQuery { concurrency, ..own },
    }
}

// `--points`: a query a line, an answer a line.

/// Answers the lines of `path`, or of standard input if that is `-`.
pub(super) fn points(
    path: &str,
    defaults: &SolQuery<'_>,
    calibration: CalibrationChoice,
) -> Result<Exit, Fail> {
    let flag = format!("--points {path}");
    let input: Box<dyn Read> =
        match path {
            "-" => Box::new(io::stdin()),
            path => Box::new(File::open(path).map_err(|error| {
                unread(&flag, "a file of queries, one JSON object a line", &error)
            })?),
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
