//! What only this repository as a whole, or the true output of a test runner, can show.

mod closing_lines;
mod layering;
