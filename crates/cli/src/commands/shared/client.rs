//! From arguments to the client that measures.

use fizeau::experiment::ClientSpec;
use fizeau::record::SweepReport;

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

/// Says by which flags a client gets more room that came near to what it can do: by threads where its machine has cores for them.
pub(crate) fn tell_need(report: &SweepReport, args: &ClientArgs) -> Result<(), Fail> {
    let Some(need) = report.client_need(&spec(args)?.thresholds) else { return Ok(()) };
    let (threads, shards) = (need.threads_each(), need.shards());
    match report.setup().host.cores {
        Some(cores) if threads <= cores => {
            let each = if need.clients > 1 { " in each shard" } else { "" };
            tell!("a busy client: --threads {threads}{each} gives it room")
        }
        _ => tell!(
            "a busy client, on a machine without cores for {threads} threads: start {shards} shards on as many machines, as by \
             `srun -N{shards}`, or each with --shard I/{shards} --rendezvous HOST:PORT"
        ),
    }
    Ok(())
}
