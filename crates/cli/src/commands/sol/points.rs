//! `--points`: a query a line, an answer a line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};

use fizeau::experiment::{QueryLine, SolQuery, SolQueryError, SolSystems};
use fizeau::record::CalibratedPrediction;
use fizeau::report::{SolError, SolLine};
use fizeau::roofline::Calibration;

use crate::exit::{Exit, Fail, Named};

/// Answers the lines of `path`, or of standard input if that is `-`.
pub(super) fn run(
    path: &str,
    defaults: &SolQuery<'_>,
    calibration: Option<Calibration>,
) -> Result<Exit, Fail> {
    let flag = format!("--points {path}");
    let input: Box<dyn Read> = match path {
        "-" => Box::new(io::stdin()),
        path => Box::new(File::open(path).named(&flag)?),
    };
    let input = BufReader::with_capacity(BUFFER, input);
    let wrong = match answer_all(input, io::stdout().lock(), defaults, SolSystems::new(calibration))
    {
        // A reader who has seen enough is nothing to fail over.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(Exit::Good),
        wrong => wrong.named(&flag)?,
    };
    let Some((number, message)) = wrong.first else {
        return Ok(Exit::Good);
    };
    Err(Fail::usage(format!(
        "{flag}: {} of {} lines could not be answered, the first is line {number}: {message}",
        wrong.bad, wrong.lines
    )))
}

/// Big enough that system calls do not count.
const BUFFER: usize = 1 << 18;

/// What could not be answered.
#[derive(Default)]
struct UnansweredLines {
    lines: u64,
    bad: u64,
    first: Option<(u64, String)>,
}

/// Answers `input` line by line, blank lines aside. Answers leave when there is nothing more to read for now, so that a program
/// may ask, wait for the answer and ask again.
fn answer_all(
    mut input: BufReader<impl Read>,
    mut out: impl Write,
    defaults: &SolQuery<'_>,
    mut systems: SolSystems,
) -> io::Result<UnansweredLines> {
    let mut wrong = UnansweredLines::default();
    let (mut text, mut answers, mut number) = (Vec::new(), Vec::new(), 0);
    while input.read_until(b'\n', &mut text)? > 0 {
        number += 1;
        let line = text.trim_ascii();
        if !line.is_empty() {
            wrong.lines += 1;
            if let Err(message) = answer(line, defaults, &mut systems, &mut answers) {
                SolError { error: &message }.append_to(&mut answers).map_err(io::Error::other)?;
                wrong.bad += 1;
                wrong.first.get_or_insert((number, message));
            }
            answers.push(b'\n');
        }
        if input.buffer().is_empty() || answers.len() >= BUFFER {
            out.write_all(&answers)?;
            out.flush()?;
            answers.clear();
        }
        text.clear();
    }
    out.write_all(&answers)?;
    out.flush()?;
    Ok(wrong)
}

/// Puts the answer to a line behind `answers`, or nothing.
fn answer(
    text: &[u8],
    defaults: &SolQuery<'_>,
    systems: &mut SolSystems,
    answers: &mut Vec<u8>,
) -> Result<(), String> {
    let said = |error: SolQueryError| error.to_string();
    let QueryLine { query, unknown, .. } = defaults.line(text).map_err(said)?;
    let load = query.load.load().map_err(said)?;
    let prepared = systems.get(&query.system).map_err(said)?;
    let predictor = prepared.predictor.as_ref();
    let note = |name: String| format!("{name} is not a field that is known, and is ignored");
    let mut notes: Vec<String> = unknown.into_iter().map(note).collect();
    let answer = prepared.answer(&load).map_err(said)?;
    let predicted = predictor.map(|predictor| predictor.predict(&load));
    let calibrated = predictor.zip(predicted.as_ref());
    let calibrated = calibrated.map(|(predictor, predicted)| {
        notes.extend_from_slice(predictor.warnings());
        CalibratedPrediction { prediction: predicted.as_ref(), scope: predictor.scope() }
    });
    let line = SolLine { answer: &answer, calibrated, notes: &notes };
    line.append_to(answers).map_err(|error| error.to_string())
}
