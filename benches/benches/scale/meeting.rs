//! A meeting of a thousand shards: one of them here, the others in a few further processes, since a process may open some thousand files.

use std::env;
use std::net::{Ipv4Addr, TcpListener};
use std::process::Command;
use std::thread;

use anyhow::{Context as _, Result, ensure};
use fizeau::experiment::{MeetingPoint, ShardGroup, ShardOffer, ShardSpec};
use fizeau::harness::Cancel;
use fizeau::workload::Shard;
use fizeau_benches::{Since, Spent};

/// How many shards there are.
const COUNT: u64 = 1_000;

/// How many of them are in one process.
const IN_ONE: u64 = 250;

/// What tells a process which shards it is, and where they meet: `250 127.0.0.1:5317`.
const SHARDS: &str = "FIZEAU_BENCH_SHARDS";

/// How many shards met, and what that took at the first of them.
pub(crate) fn hold() -> Result<(u64, Spent)> {
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
    let address = format!("127.0.0.1:{port}");
    let program = env::current_exe()?;
    let others = (0..COUNT)
        .step_by(IN_ONE as usize)
        .map(|first| Command::new(&program).env(SHARDS, format!("{first} {address}")).spawn());
    let others = others.collect::<Result<Vec<_>, _>>()?;
    let since = Since::now();
    let group = meet(0, &address)?;
    let spent = since.spent();
    for mut other in others {
        ensure!(other.wait()?.success(), "some shards could not meet");
    }
    drop(group);
    Ok((COUNT, spent))
}

/// Takes part as the shards that this process is told to be; whether it is any.
pub(crate) fn take_part() -> Result<bool> {
    let Ok(words) = env::var(SHARDS) else { return Ok(false) };
    let (first, address) = words.split_once(' ').context("FIRST HOST:PORT")?;
    let first: u64 = first.parse()?;
    let met = thread::scope(|scope| {
        let shards = first.max(1)..COUNT.min(first + IN_ONE);
        let all: Vec<_> = shards.map(|index| scope.spawn(move || meet(index, address))).collect();
        all.into_iter().all(|one| matches!(one.join(), Ok(Ok(_))))
    });
    ensure!(met, "some shards could not meet");
    Ok(true)
}

fn meet(index: u64, address: &str) -> Result<ShardGroup> {
    let meeting = MeetingPoint::Address(address.to_owned());
    let spec = ShardSpec::new(Shard::new(index, COUNT)?, meeting);
    Ok(ShardGroup::meet(&spec, ShardOffer::default(), &Cancel::new())?)
}
