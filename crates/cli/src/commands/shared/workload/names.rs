//! The data sets by name.

use fizeau::experiment::PromptSource;

use crate::args::WorkloadArgs;
use crate::exit::Fail;

/// Where prompts come from, with what no flag says as by default.
pub(super) fn source(args: &WorkloadArgs) -> Result<PromptSource, Fail> {
    let name = &args.dataset_name;
    let path = args.data.dataset_path.clone().unwrap_or_default();
    PromptSource::named(name, path).ok_or_else(|| {
        let known = PromptSource::names();
        usage!("--dataset-name {name}: {}; there are {known}", instead(name))
    })
}

/// Why there is no data set of that name, and what to take for those that vLLM has.
fn instead(name: &str) -> &'static str {
    match name {
        "hf" => {
            "nothing is downloaded; export the data set as JSON lines that have a `prompt` each, and take --dataset-name custom \
             --dataset-path FILE"
        }
        "random-mm" => {
            "no images are made up; write requests that have some as JSON lines, whole bodies, and take --dataset-name \
             openai-batch --dataset-path FILE"
        }
        _ => "this data set is not known",
    }
}
