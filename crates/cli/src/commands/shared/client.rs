//! From arguments to the client that measures.

use fizeau::experiment::ClientSpec;

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
