//! What is known of queues and of silicon holds for what is simulated.

mod bound;
pub(crate) mod chance;
mod expectation;
mod little;
mod queues;
mod zero_load;
