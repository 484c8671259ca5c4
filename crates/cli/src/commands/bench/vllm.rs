//! What flags of `vllm bench serve` say in flags of ours.

use crate::args::{BenchArgs, SonnetArgs};
use crate::exit::Fail;

/// `args` with vLLM's own flags put into ours.
pub(crate) fn settled(mut args: Box<BenchArgs>) -> Result<Box<BenchArgs>, Fail> {
    refuse_if!(
        args.vllm.lora_assignment.as_deref() == Some("round-robin"),
        "--lora-assignment round-robin: adapters are drawn, one for each session, by the weights of --lora-modules; \
         leave it out"
    );
    refuse_if!(
        args.vllm.random_batch_size.is_some_and(|size| size != 1),
        "--random-batch-size: each request has one prompt; leave the flag out, and raise --max-concurrency instead"
    );
    // vLLM's scripts give the lengths of all data sets, whichever it is.
    if args.level.workload.dataset_name != "sonnet" {
        return Ok(args);
    }
    let SonnetArgs { sonnet_input_len, sonnet_output_len, sonnet_prefix_len } = args.vllm.sonnet;
    let prefix = sonnet_prefix_len.unwrap_or(0);
    if let Some(input) = sonnet_input_len {
        let own = input.checked_sub(prefix).filter(|own| *own > 0).ok_or_else(|| {
            usage!(
                "--sonnet-prefix-len {prefix}: it is a part of --sonnet-input-len {input}, which must be longer")
        })?;
        args.level.workload.lengths.random_input_len = Some(own.to_string());
        args.level.workload.prefix.random_prefix_len = prefix;
    }
    if let Some(output) = sonnet_output_len {
        args.level.workload.lengths.random_output_len = Some(output.to_string());
    }
    Ok(args)
}
