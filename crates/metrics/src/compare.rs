//! Whether two measurements differ, by how much, and what could have been seen at all.
//!
//! The way through: [`Pairs`] where each value of one side has a partner on the other (rounds of an A/B run), [`Sides`]
//! where there is none; their methods are the tests and the effects. [`holm`] corrects for the number of metrics looked
//! at, and [`Answer::of`] says it in a word. [`ComparisonTable`] does all of it for a choice of [`Figure`]s.

mod answer;
mod cliff;
mod detectable;
mod figure;
mod holm;
mod intervals;
mod mann_whitney;
mod noncentral;
mod null;
mod ranks;
mod requests;
mod rounds;
mod samples;
mod shares;
mod standardized;
mod student;
mod t;
mod table;
mod wilcoxon;

pub use answer::Answer;
pub use figure::{Figure, FigureChoice, FigureError, ReplyOutput};
pub use holm::holm;
pub use intervals::IntervalFigure;
pub use requests::{ComparedRequests, Pace, Pairing};
pub use rounds::{RoundFigures, RoundsError};
pub use samples::{Pairs, PairsError, Side, Sides, SidesError};
pub use shares::{Alpha, PValue, Power, ShareError, Smallest};
pub use t::{NoSpread, TTest};
pub use table::{
    Basis, ComparedFigure, ComparisonSettings, ComparisonTable, ComparisonTest, Decision,
    EffectKind, EffectSize, NamedTest, Tested, Untested,
};
pub use wilcoxon::{AllZero, NullLaw, RankTest};
