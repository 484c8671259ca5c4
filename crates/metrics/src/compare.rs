//! Whether two measurements differ, by how much, and what could have been seen at all.
//!
//! The way through: [`PairedValues`] where each value of one side has a partner on the other (rounds of an A/B run), [`UnpairedValues`]
//! where there is none; their methods are the tests and the effects. [`holm`] corrects for the number of metrics looked
//! at, and [`ComparisonAnswer::of`] says it in a word. [`ComparisonTable`] does all of it for a choice of [`LevelFigure`]s.

mod answer;
mod cliff;
mod detectable;
mod figure;
mod fisher;
mod holm;
mod intervals;
mod mann_whitney;
mod noncentral;
mod null;
mod ranks;
mod requests;
mod rounds;
mod run_to_run;
mod runs;
mod samples;
mod shares;
mod standard_error;
mod standardized;
mod student;
mod t;
mod table;
mod wilcoxon;

pub use answer::ComparisonAnswer;
pub use figure::{FigureChoice, FigureError, LevelFigure, ReplyOutput};
pub use holm::holm;
pub use intervals::IntervalFigure;
pub use requests::{ComparedRequests, RequestPairing};
pub use rounds::{RoundFigures, RoundsError};
pub use run_to_run::RunToRun;
pub use runs::TooFewRuns;
pub use samples::{
    ComparisonSide, PairedValues, PairedValuesError, UnpairedValues, UnpairedValuesError,
};
pub use shares::{PValue, ShareError, SignificanceLevel, SmallestChange, TestPower};
pub use t::{TTest, ZeroVarianceError};
pub use table::{
    ComparedFigure, ComparisonBasis, ComparisonSettings, ComparisonTable, ComparisonTest,
    EffectKind, EffectSize, FigureDecision, NamedTest, TestFindings, UntestedReason,
};
pub use wilcoxon::{NoDifferenceError, NullLaw, RankTest};
