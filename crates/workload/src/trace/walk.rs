//! Going through a trace, as a driver does.

use fizeau_core::{Nanos, Request, RequestId, RequestSource, Scheduled};

use super::prompt::TracePrompt;
use super::reader::{RecordDetail, TraceRecord};
use super::survey::OffsetTracker;
use super::{FileReader, Trace, TraceError, TracePacing, open};
use crate::parts::RequestPhase;
use crate::workload::{SessionNumbers, WalkError};

/// Some requests of a trace, read as they are asked for.
pub(super) struct TraceWalk {
    trace: Trace,
    /// Those to warm up with are as long as those of the trace, without instants, each with a prompt of its own.
    phase: RequestPhase,
    which: SessionNumbers,
    /// The file, and how often it was begun before.
    file: Option<(FileReader, u64)>,
    /// How many requests of the file are behind.
    passed: u64,
    course: OffsetTracker,
    record: TraceRecord,
}

impl TraceWalk {
    pub(super) fn new(trace: Trace, phase: RequestPhase, which: SessionNumbers) -> Self {
        let (course, record) = (OffsetTracker::default(), TraceRecord::default());
        Self { trace, phase, which, file: None, passed: 0, course, record }
    }

    /// Goes to the `row`-th request of the file in its `round`-th reading; `record` is that request then, and what comes
    /// back is when it came after the first. None if it is behind already.
    fn seek(&mut self, round: u64, row: u64) -> Result<Option<Nanos>, TraceError> {
        let mut offset = Nanos::ZERO;
        let mut file = match self.file.take() {
            Some((_, reading)) if reading > round => return Ok(None),
            Some((file, reading)) if reading == round => file,
            _ => {
                (self.passed, self.course) = (0, OffsetTracker::default());
                open(self.trace.spec(), &self.trace.opener)?
            }
        };
        if row < self.passed {
            return Ok(None);
        }
        while self.passed <= row {
            let detail =
                if self.passed == row { RecordDetail::Whole } else { RecordDetail::Outline };
            if !file.read(&mut self.record, detail)? {
                return Err(self.changed("it has fewer requests than before"));
            }
            if self.timed() {
                offset = self.course.place(&self.record, &self.trace.spec().name)?;
            }
            self.passed += 1;
            let seal = self.trace.survey.seal(self.passed);
            if seal.is_some_and(|seal| seal != file.checksum()) {
                return Err(self.changed("its lines are not those that were read before"));
            }
        }
        self.file = Some((file, round));
        Ok(Some(offset + self.trace.survey.period * round))
    }

    fn timed(&self) -> bool {
        self.phase == RequestPhase::Measured && self.trace.spec().pacing != TracePacing::ClosedLoop
    }

    fn changed(&self, how: &str) -> TraceError {
        let message = format!("the file was changed after it was checked: {how}");
        let file = std::sync::Arc::clone(&self.trace.spec().name);
        TraceError::Read { file, line: self.record.line, message }
    }

    /// The next request's number and the reading of the file that it belongs to, with `record` at it, and when it came after the
    /// first.
    pub(super) fn next_record(&mut self) -> Result<Option<(u64, u64, Nanos)>, TraceError> {
        let survey = self.trace.survey;
        let last = match self.phase {
            RequestPhase::Measured => survey.requests.get(),
            RequestPhase::Warmup => u64::MAX,
        };
        let Some(number) = self.which.next().filter(|number| *number < last) else {
            return Ok(None);
        };
        // A warm-up goes over no more of the file than the plan does.
        let rows = survey.rows;
        let (round, row) = (number / rows, number % rows);
        Ok(self.seek(round, row)?.map(|offset| (number, round, offset)))
    }

    fn next(&mut self) -> Result<Option<Scheduled>, TraceError> {
        let Some((number, round, offset)) = self.next_record()? else {
            return Ok(None);
        };
        let (at, which) = match self.phase {
            RequestPhase::Measured => {
                let which = TracePrompt::measured(number, round, &self.record);
                (self.trace.spec().instant(offset), which)
            }
            RequestPhase::Warmup => (None, TracePrompt::warmup(number, &self.record)),
        };
        let (prompt, input_tokens) = self.trace.prompts.make(which);
        let request = Request {
            input_tokens,
            eos: self.trace.spec().eos,
            ..Request::new(RequestId(number), prompt, self.record.output)
        };
        Ok(Some(Scheduled { at, request }))
    }
}

impl RequestSource for TraceWalk {
    type Error = WalkError;

    fn next_request(&mut self) -> Result<Option<Scheduled>, WalkError> {
        self.next().map_err(|error| WalkError::new(error.to_string()))
    }

    fn skip_due(&mut self, end: Nanos) -> Result<u64, WalkError> {
        let mut count = 0;
        while self.timed() {
            let next = self.next_record().map_err(|error| WalkError::new(error.to_string()))?;
            let at = next.and_then(|(.., offset)| self.trace.spec().instant(offset));
            if at.is_none_or(|at| at >= end) {
                break;
            }
            count += 1;
        }
        Ok(count)
    }
}
