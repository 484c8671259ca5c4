//! Tests of the transport from outside: bytes, bodies, and a scripted server on loopback.

#![allow(clippy::unwrap_used, reason = "helpers of tests are not seen to be tests")]

mod backends;
mod bodies;
mod endpoints;
mod failures;
mod gateways;
mod given;
mod h2;
mod heads;
mod http;
mod ingest;
mod lenient_json;
mod natives;
mod ndjson;
mod own;
mod probe;
mod profiler;
mod proxy;
mod relay;
mod repeats;
mod server;
mod size;
mod sse;
mod streams;
mod templates;
mod threads;
#[cfg(feature = "tls")]
mod tls;
mod traps;
mod tunnels;
