//! From arguments to the client that measures.

use fizeau::experiment::{Client, ClientSpec};

use crate::args::ClientArgs;
use crate::exit::{Fail, Named};

/// The client that `args` describe.
pub(crate) fn spec(args: &ClientArgs) -> Result<ClientSpec, Fail> {
    let mut spec = ClientSpec::default();
    spec.threads = args.threads;
    spec.thresholds = args.threshold.join(",").parse().named("--threshold")?;
    spec.threshold_words.clone_from(&args.threshold);
    Ok(spec)
}

/// Says so where a connection for each of `requests` may use up the local ports. No more than a note: whether it does depends
/// on how fast the server answers.
pub(crate) fn note_ports(client: &Client, requests: u64) {
    if let Some(limit) = client.scarce_ports(requests) {
        tell!(
            "note: --new-connection-per-request makes {requests} connections, and a closed one keeps its port for a \
             minute: more than {limit} in a minute will fail"
        );
    }
}

/// Says so where an uncapped run of `requests` may want more connections than there is room for. No more than a note: only a
/// server that falls far behind the rate makes so many.
pub(crate) fn note_backlog(client: &Client, requests: u64) {
    if let Some(least) = client.scarce_connections(requests) {
        tell!(
            "note: should the server fall far behind the rate, there is room for fewer than {least} connections, and \
             this run has {requests} requests; `ulimit -n` makes room, --max-concurrency bounds them"
        );
    }
}
