//! The three parts of a message.

use super::frames;
use super::record::{ForwardPass, ForwardPassError};

/// Sequence and pass of a message.
pub(super) fn read(parts: &[Vec<u8>]) -> Result<(u64, ForwardPass), ForwardPassError> {
    let [_topic, sequence, map] = parts else { return Err(ForwardPassError::Parts(parts.len())) };
    let number = <[u8; 8]>::try_from(sequence.as_slice());
    let number = number.map_err(|_| ForwardPassError::Sequence(sequence.len()))?;
    Ok((u64::from_be_bytes(number), ForwardPass::from_msgpack(map)?))
}

/// The bytes of a message.
pub(super) fn write(sequence: u64, pass: &ForwardPass) -> Vec<u8> {
    frames::message(&[b"", &sequence.to_be_bytes(), &pass.to_msgpack()])
}
