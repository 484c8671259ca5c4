//! What an engine says of each of its forward passes, as vLLM, SGLang and Dynamo publish it: msgpack over ZeroMQ.
//!
//! A message has three parts: an empty topic, the sequence number as eight bytes, the highest first, and a map. Publishers drop what a
//! slow subscriber does not take, so that losses are counted by the sequence.
//!
//! ZMTP 3.0 is specified in ZeroMQ's RFC 23, the map by Dynamo's `ForwardPassMetrics`.

#[cfg(feature = "forward-pass")]
mod frames;
mod line;
#[cfg(feature = "forward-pass")]
mod message;
#[cfg(feature = "forward-pass")]
mod publisher;
mod received;
mod record;
#[cfg(feature = "forward-pass")]
mod subscriber;

pub use line::ForwardPassLine;
#[cfg(feature = "forward-pass")]
pub use publisher::ForwardPassPublisher;
pub use received::ForwardPasses;
pub use record::{ForwardPass, ForwardPassError, QueuedWork, ScheduledWork};
#[cfg(feature = "forward-pass")]
pub use subscriber::{ForwardPassSubscriber, SubscribeError};
