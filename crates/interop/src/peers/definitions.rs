//! The tables of definitions. Sources: the tools' own code in the versions of
//! [`Peer::version`](super::Peer::version).

mod latency;
mod load;
mod run;

use super::{Definition, Peer};

pub(super) use latency::{E2EL, ITL, TPOT, TTFT};
pub(super) use load::{CONCURRENCY, GOODPUT, THROUGHPUT};
pub(super) use run::{DURATION, FAILURES, PERCENTILES, TOKENS};

/// Name, rule and difference of each tool, in the order of [`Peer::ALL`].
type Rows = [(&'static str, &'static str, &'static str); 11];

const fn table(rows: &Rows) -> [Definition; 11] {
    let blank = Definition { peer: Peer::VllmPython, name: "", rule: "", differs: "" };
    let mut table = [blank; 11];
    let mut i = 0;
    while i < table.len() {
        let (name, rule, differs) = rows[i];
        table[i] = Definition { peer: Peer::ALL[i], name, rule, differs };
        i += 1;
    }
    table
}
