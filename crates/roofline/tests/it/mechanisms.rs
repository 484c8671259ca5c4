//! What stands on the passes of a system: speculation, chunks, roles, prices, power, curves, inverse queries.

mod chunking;
mod cost;
mod curve;
mod disaggregation;
mod energy;
mod inverse;
mod ownership;
mod pipelines;
mod speculation;
