//! What shards have to know to take part: proved to one another, and never sent.

use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::time::SystemTime;

use sha2::{Digest as _, Sha256};

use super::identity::EnvironmentVariables;

/// What the shards of a run know and nobody else, so that a stranger who reaches the port can neither take part nor pose as shard 0.
/// Each end proves it by the keyed hash of two numbers that were drawn for the occasion. What is said afterwards is not encrypted.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct ShardSecret(Vec<u8>);

pub(super) const SECRET: &str = "FIZEAU_SHARD_SECRET";

/// Who proves that it knows the secret: a proof of the one is none of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProofOf {
    First,
    Other,
}

impl ShardSecret {
    /// That of `FIZEAU_SHARD_SECRET`; where that is not set, nothing that anyone would have to know.
    #[must_use]
    pub fn find(variables: &EnvironmentVariables) -> Self {
        Self(variables.get(SECRET).cloned().unwrap_or_default().into_bytes())
    }

    /// Whether there is anything to be known.
    pub(super) const fn is_needed(&self) -> bool {
        !self.0.is_empty()
    }

    /// The proof by `who`, for the number that it was given and the one that it drew.
    pub(super) fn proof(&self, who: ProofOf, given: &str, drawn: &str) -> String {
        let text = format!("{who:?} {given} {drawn}");
        keyed_hash(&self.0, text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether `proof` is that, looked at in a time that says nothing of where it differs.
    pub(super) fn is_proved(&self, proof: &str, who: ProofOf, given: &str, drawn: &str) -> bool {
        let right = self.proof(who, given, drawn);
        let differing = right.bytes().zip(proof.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
        right.len() == proof.len() && differing == 0
    }
}

impl fmt::Debug for ShardSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ShardSecret")
    }
}

/// A number that nobody can foresee: the keys of the hash are drawn by the system.
pub(super) fn drawn() -> String {
    let half = || RandomState::new().hash_one(SystemTime::now());
    format!("{:016x}{:016x}", half(), half())
}

/// HMAC with SHA-256: RFC 2104.
fn keyed_hash(key: &[u8], text: &[u8]) -> [u8; 32] {
    let mut block = [0; 64];
    let hashed: [u8; 32];
    let key = if key.len() > block.len() {
        hashed = Sha256::digest(key).into();
        &hashed[..]
    } else {
        key
    };
    block.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
    let hash = |pad: u8, text: &[u8]| -> [u8; 32] {
        let padded: Vec<u8> =
            block.iter().map(|byte| byte ^ pad).chain(text.iter().copied()).collect();
        Sha256::digest(&padded).into()
    };
    hash(0x5c, &hash(0x36, text))
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener, TcpStream};
    use std::thread;
    use std::time::Duration;

    use fizeau_harness::Cancel;
    use fizeau_workload::Shard;

    use super::*;
    use crate::shards::link::{TcpHost, Wait};
    use crate::shards::message::{Message, Welcome};
    use crate::{MeetingPoint, ShardError, ShardGroup, ShardOffer, ShardSpec};

    /// RFC 4231, test cases 2 and 6.
    #[test]
    fn the_keyed_hash_is_that_of_the_standard() {
        let hex = |key: &[u8], text: &str| -> String {
            keyed_hash(key, text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
        };
        assert_eq!(
            hex(b"Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(
            hex(&[0xaa; 131], "Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }

    #[test]
    fn a_proof_is_of_one_secret_one_end_and_two_numbers() {
        let of = |text: &str| {
            let variable = (SECRET.to_owned(), text.to_owned());
            ShardSecret::find(&std::iter::once(variable).collect())
        };
        let (secret, none) = (of("s3"), ShardSecret::find(&EnvironmentVariables::default()));
        let proof = secret.proof(ProofOf::Other, "a", "b");
        assert!(secret.is_needed() && secret.is_proved(&proof, ProofOf::Other, "a", "b"));
        assert!(!secret.is_proved(&proof, ProofOf::First, "a", "b"));
        assert!(!secret.is_proved(&proof, ProofOf::Other, "b", "a"));
        assert!(!secret.is_proved(&proof[1..], ProofOf::Other, "a", "b"));
        for other in [&none, &of(""), &of("s4")] {
            assert!(!other.is_proved(&proof, ProofOf::Other, "a", "b"));
        }
        assert!(!none.is_needed() && !format!("{secret:?}").contains("s3"));
        assert!(drawn() != drawn());
    }

    /// A meeting of two at a free port.
    fn of_two() -> (MeetingPoint, String) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        (MeetingPoint::Address(address.clone()), address)
    }

    fn meet(at: &MeetingPoint, index: u64, secret: &str) -> Result<ShardGroup, ShardError> {
        let mut spec = ShardSpec::new(Shard::new(index, 2).unwrap(), at.clone());
        spec.secret = ShardSecret(secret.as_bytes().to_vec());
        ShardGroup::meet(&spec, ShardOffer::default(), &Cancel::new())
    }

    #[test]
    fn who_poses_as_shard_0_and_proves_nothing_is_refused() {
        let (at, address) = of_two();
        thread::scope(|scope| {
            let posing = scope.spawn(|| {
                let host = TcpHost::open(&address).unwrap();
                let wait = Wait::of(Duration::from_secs(20), &Cancel::new());
                let mut link = host.next(&wait).unwrap();
                assert!(matches!(link.receive(&wait), Ok(Message::Hello(_))));
                link.send(&Message::Welcome(Welcome {
                    token: "t".to_owned(),
                    salt: 1,
                    out: "out".into(),
                    is_temporary: true,
                    epoch_unix_ns: 0,
                    wall_clock_error_ns: None,
                    finished: None,
                }))
                .unwrap();
            });
            let refused = meet(&at, 1, "a").unwrap_err();
            let ShardError::Mismatch(why) = &refused else { panic!("{refused}") };
            let text = why.to_string();
            assert!(text.contains("does not prove") && text.contains(SECRET), "{text}");
            posing.join().unwrap();
        });
    }

    #[test]
    fn strangers_who_say_nothing_keep_nobody_waiting() {
        let (at, address) = of_two();
        thread::scope(|scope| {
            let first = scope.spawn(|| meet(&at, 0, "a"));
            // Their greetings together would take longer than shards wait for one another.
            let silent: Vec<TcpStream> = (0..20)
                .map(|_| {
                    let wait = Wait::of(Duration::from_secs(20), &Cancel::new());
                    loop {
                        match TcpStream::connect(&address) {
                            Ok(stream) => break stream,
                            Err(_) => wait.check().unwrap(),
                        }
                    }
                })
                .collect();
            meet(&at, 1, "a").unwrap();
            first.join().unwrap().unwrap();
            drop(silent);
        });
    }

    #[test]
    fn a_stranger_is_told_why_and_keeps_nobody_from_meeting() {
        let (at, _) = of_two();
        thread::scope(|scope| {
            let first = scope.spawn(|| meet(&at, 0, "a"));
            let stranger = meet(&at, 1, "b").unwrap_err();
            let ShardError::Mismatch(why) = &stranger else { panic!("{stranger}") };
            let text = why.to_string();
            assert!(text.contains(SECRET), "{text}");
            meet(&at, 1, "a").unwrap();
            first.join().unwrap().unwrap();
        });
    }
}
