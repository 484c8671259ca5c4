//! What is known of queues and of silicon holds for what is simulated.

mod bound;
pub(crate) mod chance;
mod little;
mod queues;
mod zero_load;
