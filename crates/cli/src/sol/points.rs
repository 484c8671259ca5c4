//! `--points`: a query a line, an answer a line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, ErrorKind, Write};

use fizeau::report::{Answer, SolError, SolLine};

use super::line::{self, Line};
use super::query::Query;
use super::systems::Systems;
use crate::exit::{Exit, Fail, Named};

/// Answers the lines of `path`.
pub(super) fn run(path: &str, defaults: &Query<'_>) -> Result<Exit, Fail> {
    let out = BufWriter::with_capacity(BUFFER, io::stdout().lock());
    let wrong = match path {
        "-" => answer_all(io::stdin().lock(), out, defaults),
        path => {
            let file = File::open(path).named(&format!("--points {path}"))?;
            answer_all(BufReader::with_capacity(BUFFER, file), out, defaults)
        }
    };
    let Wrong { lines, bad, first } = match wrong {
        // A reader who has seen enough is nothing to fail over.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(Exit::Good),
        wrong => wrong.named(&format!("--points {path}"))?,
    };
    let Some((number, message)) = first else {
        return Ok(Exit::Good);
    };
    Err(Fail::usage(format!(
        "{bad} of {lines} lines could not be answered, the first is line {number}: {message}"
    )))
}

/// Big enough that system calls do not count.
const BUFFER: usize = 1 << 18;

/// What could not be answered.
#[derive(Default)]
struct Wrong {
    lines: u64,
    bad: u64,
    first: Option<(u64, String)>,
}

/// Answers `input` line by line, blank lines aside.
fn answer_all(
    mut input: impl BufRead,
    mut out: impl Write,
    defaults: &Query<'_>,
) -> io::Result<Wrong> {
    let mut systems = Systems::default();
    let mut wrong = Wrong::default();
    let (mut text, mut number) = (Vec::new(), 0);
    loop {
        text.clear();
        if input.read_until(b'\n', &mut text)? == 0 {
            break;
        }
        number += 1;
        let text = text.trim_ascii();
        if text.is_empty() {
            continue;
        }
        wrong.lines += 1;
        match answer(text, defaults, &mut systems) {
            Ok((answer, notes)) => {
                SolLine { answer: &answer, notes: &notes }.write_to(&mut out)?;
            }
            Err(message) => {
                SolError { error: &message }.write_to(&mut out)?;
                wrong.bad += 1;
                wrong.first.get_or_insert((number, message));
            }
        }
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(wrong)
}

/// The answer to a line, and notes about the line.
fn answer(
    text: &[u8],
    defaults: &Query<'_>,
    systems: &mut Systems,
) -> Result<(Answer, Vec<String>), String> {
    let Line { query, unknown } = line::parse(text, defaults)?;
    let load = query.load.load()?;
    let system = systems.get(&query.system)?;
    let note = |name: String| format!("{name} is not a field that is known, and is ignored");
    Ok((Answer::of(system, &load), unknown.into_iter().map(note).collect()))
}
