//! Tests of the transport from outside: bytes, bodies, and a scripted server on loopback.

#![allow(clippy::unwrap_used, reason = "helpers of tests are not seen to be tests")]

mod backends;
mod bodies;
mod failures;
mod http;
mod natives;
mod ndjson;
mod probe;
mod server;
mod sse;
mod streams;
mod traps;
