//! fizeau
