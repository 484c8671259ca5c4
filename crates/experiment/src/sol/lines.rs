//! Queries line by line, each answered as it comes.

use std::io::{self, BufRead as _, BufReader, Read, Write};

use fizeau_record::CalibratedPrediction;
use fizeau_roofline::LoadAnalysis;

use super::{QueryLine, SolQuery, SolQueryError, SolSystems};

/// Big enough that system calls do not count.
const BUFFER: usize = 1 << 18;

/// The answer to a line.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct AnsweredLine<'a> {
    /// The answer.
    pub answer: &'a LoadAnalysis,
    /// What a calibration predicts, if there is one.
    pub calibrated: Option<CalibratedPrediction<'a>>,
    /// What was wrong with the query beside what the answer warns of.
    pub notes: &'a [String],
}

/// What could not be answered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct UnansweredLines {
    /// How many lines there were, blank ones aside.
    pub lines: u64,
    /// How many of them could not be answered.
    pub bad: u64,
    /// The number of the first, from 1, and why.
    pub first: Option<(u64, String)>,
}

impl SolSystems {
    /// Answers `input` line by line, blank lines aside: `write` puts each answer, or why there is none, behind what goes to `out`. Answers
    /// leave when there is nothing more to read for now, so that a program may ask, wait for the answer and ask again.
    ///
    /// # Errors
    /// If a line cannot be read or an answer cannot be written.
    pub fn answer_lines(
        &mut self,
        input: impl Read,
        mut out: impl Write,
        defaults: &SolQuery<'_>,
        mut write: impl FnMut(Result<AnsweredLine<'_>, &str>, &mut Vec<u8>) -> io::Result<()>,
    ) -> io::Result<UnansweredLines> {
        let mut input = BufReader::with_capacity(BUFFER, input);
        let mut wrong = UnansweredLines::default();
        let (mut text, mut answers, mut number) = (Vec::new(), Vec::new(), 0);
        while input.read_until(b'\n', &mut text)? > 0 {
            number += 1;
            let line = text.trim_ascii();
            if !line.is_empty() {
                wrong.lines += 1;
                let written =
                    self.answer_line(line, defaults, |line| write(Ok(line), &mut answers));
                match written {
                    Ok(written) => written?,
                    Err(SolQueryError(why)) => {
                        write(Err(&why), &mut answers)?;
                        wrong.bad += 1;
                        wrong.first.get_or_insert((number, why));
                    }
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

    /// What `with` makes of the answer to a line.
    fn answer_line<T>(
        &mut self,
        line: &[u8],
        defaults: &SolQuery<'_>,
        with: impl FnOnce(AnsweredLine<'_>) -> T,
    ) -> Result<T, SolQueryError> {
        let QueryLine { query, unknown, .. } = defaults.line(line)?;
        let load = query.load.load()?;
        let prepared = self.get(&query.system)?;
        let predictor = prepared.predictor.as_ref();
        let note = |name: String| format!("{name} is not a known field and is ignored");
        let mut notes: Vec<String> = unknown.into_iter().map(note).collect();
        let answer = prepared.answer(&load)?;
        let predicted = predictor.map(|predictor| predictor.predict(&load));
        let calibrated = predictor.zip(predicted.as_ref()).map(|(predictor, predicted)| {
            notes.extend_from_slice(predictor.warnings());
            CalibratedPrediction { prediction: predicted.as_ref(), scope: predictor.scope() }
        });
        Ok(with(AnsweredLine { answer: &answer, calibrated, notes: &notes }))
    }
}
