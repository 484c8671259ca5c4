//! Tests of difference, effects and answers.

mod goldens;
mod intervals;
mod laws;
mod refusals;
mod requests;
mod rounds;
mod runs;
