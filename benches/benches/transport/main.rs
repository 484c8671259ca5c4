//! The client side by side with `wrk`, and both with the server's own record: how true its figures are, and what they
//! cost.
//!
//! All are processes: `fizeau serve` with exact timing on one core, `fizeau bench` or `wrk` on another, in turn. Nothing
//! is asserted: each figure stands beside its bar. `cargo xtask bench transport --help` lists the options. The part
//! `agreement` holds the server's engine against the same engine in virtual time instead.

mod agreement;
mod client;
mod compare;
mod cores;
mod disturbed;
mod figures;
mod floor;
mod folder;
mod process;
mod profile;
mod program;
mod server;
mod shape;
mod table;
mod threads;
mod wrk;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Parser, ValueEnum};

use client::Client;
use cores::{Cores, Priority};
use floor::Floor;
use folder::Scratch;
use shape::{FLAT_OUT, MILLION, STREAMS_256, STREAMS_1000, STREAMS_10000};
use table::Table;
use wrk::Wrk;

#[derive(Debug, Parser)]
#[command(about = "The client side by side with wrk and with the server's own record")]
struct Args {
    /// What to run; by default `1000`, `256`, `flat` and `disturbed`.
    #[arg(value_enum)]
    parts: Vec<Part>,
    /// How often each part is run, Fizeau and wrk in turn.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=3))]
    rounds: u8,
    /// Run a million requests too: minutes, and some gigabytes below `target`.
    #[arg(long)]
    million: bool,
    /// Run server and client at real-time priority, for a machine that is busy with other things too. Needs the right to;
    /// the kernel still pauses them for up to 50 ms in a second where they fill their core.
    #[arg(long)]
    realtime: bool,
    /// Write the figures here as JSON too.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// The client to measure, by default the one that is built from here.
    #[arg(long, value_name = "FILE")]
    client: Option<PathBuf>,
    /// Be the bare loop that the client is held against.
    #[arg(long, hide = true, num_args = 4)]
    floor: Vec<String>,
    /// Cargo says so to every bench.
    #[arg(long, hide = true)]
    bench: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// 1000 streams.
    #[value(name = "1000")]
    Streams1000,
    /// 256 streams.
    #[value(name = "256")]
    Streams256,
    /// 10,000 streams of 10 tokens/s.
    #[value(name = "10000")]
    Streams10000,
    /// The server sends as fast as it can.
    Flat,
    /// 256 streams, and a second program on the client's core.
    #[value(alias = "half")]
    Disturbed,
    /// Two measuring threads against one, with a server simulated in their own process.
    Threads,
    /// Where the client's CPU goes at 1000 streams, by `perf`.
    Profile,
    /// A million requests.
    Million,
    /// The same requests through `fizeau simulate` and over HTTP.
    Agreement,
}

/// What every part needs.
#[derive(Debug)]
struct Stand {
    /// The program that serves.
    fizeau: PathBuf,
    client: Client,
    wrk: Option<Wrk>,
    floor: Floor,
    cores: Cores,
    priority: Priority,
    rounds: u8,
    scratch: Scratch,
}

fn main() -> Result<()> {
    let args = Args::parse();
    if !args.floor.is_empty() {
        return floor::run(&args.floor);
    }
    let Some(cores) = Cores::find()? else {
        println!(
            "transport: not run, since this process may use one core only, and a client that\n\
             shares its core with the server measures nothing of either"
        );
        return Ok(());
    };
    let fizeau = program::build()?;
    let scratch = Scratch::create()?;
    let client = Client::new(args.client.as_ref().unwrap_or(&fizeau), cores.client)?;
    let wrk = Wrk::find(cores.client, &scratch)?;
    println!("transport: {}", cores.describe());
    if wrk.is_none() {
        println!("{}", wrk::MISSING);
    }
    let priority = if args.realtime { Priority::RealTime } else { Priority::Usual };
    let floor = Floor::new(cores.client, &scratch)?;
    let rounds = args.rounds;
    let stand = Stand { fizeau, client, wrk, floor, cores, priority, rounds, scratch };
    let mut tables = Vec::new();
    for part in parts(&args) {
        for table in run(&stand, part)? {
            print!("{}", table.text());
            tables.push(table);
        }
    }
    args.json.map_or(Ok(()), |path| write_json(&path, &tables))
}

fn parts(args: &Args) -> Vec<Part> {
    let mut parts = args.parts.clone();
    if parts.is_empty() {
        parts.extend([Part::Streams1000, Part::Streams256, Part::Flat, Part::Disturbed]);
    }
    if args.million && !parts.contains(&Part::Million) {
        parts.push(Part::Million);
    }
    parts
}

fn run(stand: &Stand, part: Part) -> Result<Vec<Table>> {
    let table = match part {
        Part::Streams1000 => compare::compare(stand, &STREAMS_1000),
        Part::Streams10000 => compare::alone(stand, &STREAMS_10000, stand.rounds),
        Part::Streams256 => compare::compare(stand, &STREAMS_256),
        Part::Flat => compare::compare(stand, &FLAT_OUT),
        Part::Disturbed => return disturbed::compare(stand),
        Part::Threads => threads::compare(),
        Part::Profile => profile::run(stand),
        Part::Million => compare::alone(stand, &MILLION, 1),
        Part::Agreement => return agreement::compare(stand),
    };
    Ok(vec![table?])
}

fn write_json(path: &PathBuf, tables: &[Table]) -> Result<()> {
    let parts: Vec<_> = tables.iter().map(Table::to_json).collect();
    let document = serde_json::json!({ "schema": "fizeau.bench-transport/1", "parts": parts });
    let text = serde_json::to_string_pretty(&document)?;
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
