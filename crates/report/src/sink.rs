//! Where reports go.
use fizeau_record::SweepReport;

/// Something that takes a whole report: a page, a table, a file of one's own format.
///
/// A [`SweepReport`] is plain data: its levels with all that was measured, how they stand to each other, what is to be done for
/// the goals, whether to believe it. A run of one level is a sweep of one. What a sink does with it is its own affair. The
/// one of this crate, [`Markdown`](crate::Markdown), does no I/O: it writes into whatever is a [`std::fmt::Write`].
///
/// ```
/// use fizeau_record::SweepReport;
/// use fizeau_report::ReportSink;
///
/// /// Says of each level how fast it was.
/// struct Brief(String);
///
/// impl ReportSink for Brief {
///     type Error = std::fmt::Error;
///     fn report(&mut self, report: &SweepReport) -> Result<(), Self::Error> {
///         use std::fmt::Write;
///         for level in report.levels() {
///             let tokens = level.summary.throughput.output_tokens_per_s.get();
///             writeln!(self.0, "{}: {tokens:.0} tokens/s", level.load)?;
///         }
///         Ok(())
///     }
/// }
/// ```
pub trait ReportSink {
    /// Why a report could not be taken.
    type Error;

    /// Takes a report, whole.
    ///
    /// # Errors
    /// If it cannot be written.
    fn report(&mut self, report: &SweepReport) -> Result<(), Self::Error>;
}

impl<S: ReportSink + ?Sized> ReportSink for &mut S {
    type Error = S::Error;

    fn report(&mut self, report: &SweepReport) -> Result<(), Self::Error> {
        (**self).report(report)
    }
}

impl<S: ReportSink + ?Sized> ReportSink for Box<S> {
    type Error = S::Error;

    fn report(&mut self, report: &SweepReport) -> Result<(), Self::Error> {
        (**self).report(report)
    }
}
