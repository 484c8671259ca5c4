//! Whole experiments: prepare, run, evaluate, keep.
