//! Who has come to shard 0, and whether it is one of ours.

use std::time::Duration;

use fizeau_harness::Cancel;
use fizeau_workload::Shard;

use super::{Peer, version};
use crate::shards::error::ShardError;
use crate::shards::link::{Link, LinkError, Wait};
use crate::shards::message::{Hello, Message};
use crate::shards::secret::{ProofOf, SECRET, ShardSecret, drawn};
use crate::shards::spec::ShardSpec;

/// How long one that has come may take to say who it is.
const GREETING: Duration = Duration::from_secs(5);

/// Whether who has come knows the secret of the run, after shard 0 has proved that it does. One that drew no number is of an earlier
/// version, which proves nothing.
fn knows_secret(
    link: &mut dyn Link,
    secret: &ShardSecret,
    theirs: &str,
    cancel: &Cancel,
) -> Result<bool, LinkError> {
    if theirs.is_empty() {
        return Ok(!secret.is_needed());
    }
    let drawn = drawn();
    let proof = secret.proof(ProofOf::First, theirs, &drawn);
    link.send(&Message::Challenge { drawn: drawn.clone(), proof })?;
    Ok(match link.receive(&Wait::of(GREETING, cancel))? {
        Message::Proof { proof } => secret.is_proved(&proof, ProofOf::Other, &drawn, theirs),
        _ => false,
    })
}

/// Who it is that has come; none for nobody of ours.
pub(super) fn greet(
    mut link: Box<dyn Link>,
    peers: &[Peer],
    spec: &ShardSpec,
    cancel: &Cancel,
) -> Result<Option<Peer>, ShardError> {
    let own = spec.shard;
    let hello = match link.receive(&Wait::of(GREETING, cancel)) {
        Ok(Message::Hello(hello)) => hello,
        Err(LinkError::CalledOff) => return Err(ShardError::CalledOff),
        Ok(_) | Err(_) => return Ok(None),
    };
    let Hello { version: theirs, index, count, host, drawn } = hello;
    let refused = |text: String| Err(ShardError::Mismatch(text));
    let name = format!("shard {index}/{count} on {host}");
    match knows_secret(&mut *link, &spec.secret, &drawn, cancel) {
        Ok(true) => {}
        Err(LinkError::CalledOff) => return Err(ShardError::CalledOff),
        Err(_) => return Ok(None),
        Ok(false) => {
            let text =
                format!("{name} has another secret than shard 0: give all the same {SECRET}");
            // Whoever is gone need not be told.
            let _ = link.send(&Message::Refused(ShardError::Mismatch(text)));
            return Ok(None);
        }
    }
    let objection = if theirs != version() {
        Some(format!("{name} is {theirs}, and shard 0 is {}", version()))
    } else if count != own.count().get() {
        Some(format!("{name} is one of {count}, and shard 0 one of {}", own.count()))
    } else if index == 0 || peers.iter().any(|peer| peer.shard.index() == index) {
        Some(format!("shard {index}/{count} is there twice: {host} is the second"))
    } else {
        None
    };
    if let Some(text) = objection {
        let error = ShardError::Mismatch(text.clone());
        // All are told below; this one is none of them yet.
        let _ = link.send(&Message::Refused(error));
        return refused(text);
    }
    let shard = Shard::new(index, count);
    let shard = shard.map_err(|error| ShardError::Mismatch(format!("{name}: {error}")))?;
    Ok(Some(Peer { shard, host, link, reading: None }))
}
