//! Who has come to shard 0, and whether it is one of ours.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use fizeau_harness::Cancel;
use fizeau_workload::Shard;

use super::host::{Host, twice};
use super::{Peer, version};
use crate::shards::error::{ShardError, ShardFault, ShardMismatch};
use crate::shards::link::{Link, LinkError, Wait};
use crate::shards::message::{Hello, Message};
use crate::shards::secret::{ProofOf, ShardSecret, drawn};
use crate::shards::spec::ShardSpec;
use crate::shards::waits::GREETING;

/// How many may be at it at a time; others wait for their turn.
const MOST_AT_ONCE: usize = 256;

/// How often it is looked whether one of them has said who it is, while nobody comes.
const LOOK: Duration = Duration::from_millis(5);

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

/// One that has come, said who it is, and knows the secret of the run.
struct Guest {
    hello: Hello,
    link: Box<dyn Link>,
}

/// Who it is that has come; none for nobody of ours.
fn introduce(mut link: Box<dyn Link>, secret: &ShardSecret, cancel: &Cancel) -> Option<Guest> {
    let Ok(Message::Hello(hello)) = link.receive(&Wait::of(GREETING, cancel)) else { return None };
    let is_known = knows_secret(&mut *link, secret, &hello.drawn, cancel).ok()?;
    if !is_known {
        let error = ShardMismatch::Secret { shard: hello.name(), other: "shard 0".to_owned() };
        // Whoever is gone need not be told.
        let _ = link.send(&Message::Refused(ShardError::Mismatch(error)));
        return None;
    }
    Some(Guest { hello, link })
}

/// The shard that `hello` is, unless something is against it that it takes part with those that are there.
fn admitted(hello: &Hello, peers: &[Peer], own: Shard) -> Result<Shard, ShardMismatch> {
    let Hello { version: theirs, index, count, host, .. } = hello;
    let (shard, expected) = (hello.name(), own.count().get());
    if *theirs != version() {
        let (version, expected) = (theirs.clone(), version());
        Err(ShardMismatch::Version { shard, version, expected })
    } else if *count != expected {
        Err(ShardMismatch::Count { shard, count: *count, expected })
    } else if *index == 0 || peers.iter().any(|peer| peer.shard.index() == *index) {
        let (shard, host) = (format!("{index}/{count}"), Some(host.clone()));
        Err(ShardMismatch::Twice { shard, host })
    } else {
        Shard::new(*index, *count).map_err(|error| ShardMismatch::Number { shard, error })
    }
}

/// Who has come so far.
#[derive(Default)]
pub(super) struct Arrivals {
    pub(super) peers: Vec<Peer>,
    /// How many came that are no shards of this run: they said nothing that is understood, or did not know its secret.
    pub(super) strangers: u64,
}

impl Arrivals {
    fn admit(&mut self, guest: Option<Guest>, own: Shard) -> Result<(), ShardError> {
        let Some(Guest { hello, mut link }) = guest else {
            self.strangers += 1;
            return Ok(());
        };
        let shard = admitted(&hello, &self.peers, own).map_err(|error| {
            let error = ShardError::Mismatch(error);
            // All are told by who called; this one is none of them yet.
            let _ = link.send(&Message::Refused(error.clone()));
            error
        })?;
        self.peers.push(Peer { shard, host: hello.host, link, reading: None });
        Ok(())
    }

    /// Waits for `others` shards, each of which says who it is while more of them come: one that says nothing keeps nobody
    /// waiting. Whoever came by the end of the patience is kept.
    pub(super) fn of(
        &mut self,
        host: &mut Host,
        others: u64,
        spec: &ShardSpec,
        cancel: &Cancel,
    ) -> Result<(), ShardError> {
        let wait = Wait::of(spec.patience.into(), cancel);
        let over = Cancel::new();
        let (said, came) = mpsc::channel();
        thread::scope(|scope| {
            let _stop = ThrownAtEnd(&over);
            let mut under_way = 0;
            loop {
                while let Ok(guest) = came.try_recv() {
                    under_way -= 1;
                    self.admit(guest, spec.shard)?;
                }
                if self.peers.len() as u64 == others {
                    return Ok(());
                }
                match wait.check() {
                    Ok(()) => {}
                    Err(LinkError::CalledOff) => return Err(ShardError::CalledOff),
                    Err(_) => return Ok(()),
                }
                if under_way == MOST_AT_ONCE {
                    thread::sleep(LOOK);
                    continue;
                }
                let link = match host.next(&Wait::of(LOOK, cancel)) {
                    Ok(link) => link,
                    Err(LinkError::Silent { .. }) if host.is_displaced() => {
                        let shard = spec.shard.to_string();
                        let error = ShardMismatch::Twice { shard, host: None };
                        return Err(twice(spec, cancel).unwrap_or(ShardError::Mismatch(error)));
                    }
                    Err(LinkError::Silent { .. }) => continue,
                    Err(error) => {
                        let fault = ShardFault::at("the place where shards meet", &error);
                        return Err(ShardError::Unusable(fault));
                    }
                };
                let (said, over) = (said.clone(), &over);
                let greet = move || {
                    // Whoever no longer listens has met all the others.
                    let _ = said.send(introduce(link, &spec.secret, over));
                };
                let begun = thread::Builder::new().spawn_scoped(scope, greet);
                begun.map_err(|error| ShardError::Unusable(ShardFault::at("shard 0", &error)))?;
                under_way += 1;
            }
        })
    }
}

/// Calls off what is still under way: nobody waits for a stranger once all are there.
struct ThrownAtEnd<'a>(&'a Cancel);

impl Drop for ThrownAtEnd<'_> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
