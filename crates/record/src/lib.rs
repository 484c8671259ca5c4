//! The folder of a run as typed documents, both ways.
