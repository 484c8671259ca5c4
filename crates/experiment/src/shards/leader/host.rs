//! The place at which shard 0 waits: a port of its own, or a folder that all see.

use std::io;

use fizeau_harness::Cancel;

use crate::shards::error::{ShardError, ShardFault};
use crate::shards::follower::Follower;
use crate::shards::link::{FolderHost, Link, LinkError, TcpHost, Wait};
use crate::shards::meeting::MeetingPoint;
use crate::shards::spec::ShardSpec;
use crate::shards::waiting::ShardWaits;
use crate::shards::waits::TWICE;

/// Where shard 0 waits for the others.
#[derive(Debug)]
pub(super) enum Host {
    Tcp(TcpHost),
    Folder(FolderHost),
}

impl Host {
    /// Opens the place where they meet.
    pub(super) fn open(spec: &ShardSpec, token: &str, cancel: &Cancel) -> Result<Self, ShardError> {
        let refused = |at: &str, error: io::Error| {
            let place = format!("shard 0 cannot wait for the others at {at}");
            ShardError::Unusable(ShardFault::at(&place, &error))
        };
        match &spec.meeting {
            MeetingPoint::Address(address) => {
                let is_taken = |error: &io::Error| error.kind() == io::ErrorKind::AddrInUse;
                let mut opened = TcpHost::open(address);
                if opened.as_ref().is_err_and(is_taken) {
                    // Where nobody answers, a connection of somebody else's had the port, and may have given it back.
                    twice(spec, cancel).map_or(Ok(()), Err)?;
                    opened = TcpHost::open(address);
                }
                opened.map(Self::Tcp).map_err(|error| match is_taken(&error) {
                    true => twice(spec, cancel).unwrap_or_else(|| refused(address, error)),
                    false => refused(address, error),
                })
            }
            MeetingPoint::Folder(folder) => {
                let host = FolderHost::open(folder, token).map(Self::Folder);
                host.map_err(|error| refused(&folder.display().to_string(), error))
            }
        }
    }

    /// The next that comes.
    pub(super) fn next(&mut self, wait: &Wait) -> Result<Box<dyn Link>, LinkError> {
        match self {
            Self::Tcp(host) => host.next(wait),
            Self::Folder(host) => host.next(wait),
        }
    }

    /// Refuses whoever comes from now on, in a way that costs nothing while nobody comes.
    pub(super) fn close(&mut self) {
        match self {
            Self::Tcp(host) => host.close(),
            Self::Folder(host) => host.close(),
        }
    }

    /// Whether another shard 0 has opened a meeting in its place.
    pub(super) fn is_displaced(&self) -> bool {
        match self {
            Self::Tcp(_) => false,
            Self::Folder(host) => host.is_displaced(),
        }
    }
}

/// That another shard 0 waits at the place of `spec`, which it is told of too; none where nobody there is one.
pub(super) fn twice(spec: &ShardSpec, cancel: &Cancel) -> Option<ShardError> {
    let spec = ShardSpec { patience: TWICE, ..spec.clone() };
    let refused = Follower::meet(&spec, &ShardWaits::default(), cancel).err();
    refused.filter(|error| matches!(error, ShardError::Mismatch(_)))
}
