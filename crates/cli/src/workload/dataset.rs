//! From a file to a data set.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

use fizeau::core::Tokens;
use fizeau::workload::{Conversation, Dataset, Length, Lengths, ShareGpt, Take, TextCodec};

use super::lengths::Nominal;
use super::names::Records;
use crate::args::WorkloadArgs;
use crate::exit::{Fail, Named};

/// Reads the file that the flags name.
pub(super) fn read(
    args: &WorkloadArgs,
    format: Records,
    tokenizer: Option<&dyn TextCodec>,
) -> Result<Arc<Dataset>, Fail> {
    let path = args.data.dataset_path.as_deref().unwrap_or_else(|| Path::new(""));
    let (name, reader) = open(path)?;
    let output = output(args, format)?;
    let dataset = match format {
        Records::Custom => Dataset::jsonl(&name, reader),
        Records::OpenAiBatch => Dataset::openai_batch(&name, reader),
        Records::ShareGpt => {
            let take = match args.sessions.multi_turn {
                true => Take::Conversation,
                false => Take::FirstExchange,
            };
            Dataset::sharegpt(&name, reader, &ShareGpt { take, codec: tokenizer, output })
        }
    };
    let dataset = dataset.named("--dataset-path")?;
    Ok(Arc::new(match output {
        Some(output) => dataset.with_output(output),
        None => dataset,
    }))
}

/// The file at `path`, and its name for messages and the record.
pub(super) fn open(path: &Path) -> Result<(String, BufReader<File>), Fail> {
    let file = File::open(path).named(&format!("--dataset-path {}", path.display()))?;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    Ok((name, BufReader::with_capacity(1 << 16, file)))
}

/// The output tokens of every request, where a flag says so.
fn output(args: &WorkloadArgs, format: Records) -> Result<Option<Tokens>, Fail> {
    let (flag, tokens) = match format {
        Records::ShareGpt => {
            let tokens =
                args.data.sharegpt_output_len.map(|n| i64::try_from(n).unwrap_or(i64::MAX));
            ("--sharegpt-output-len", tokens)
        }
        Records::Custom | Records::OpenAiBatch => {
            ("--custom-output-len", args.data.custom_output_len.filter(|&tokens| tokens != -1))
        }
    };
    match tokens {
        None => Ok(None),
        Some(tokens) => match u64::try_from(tokens) {
            Ok(tokens @ 1..) if tokens <= Length::MAX.get() => Ok(Some(Tokens::new(tokens))),
            _ => Err(Fail::usage(format!("{flag} {tokens}: give at least 1 token"))),
        },
    }
}

/// The lengths of records that do not say theirs.
pub(super) fn lengths(nominal: Nominal<'_>) -> Result<Lengths, Fail> {
    let (flag, text) = nominal.output;
    // The prompt has its own length; 1 stands for it.
    Ok(Lengths::Independent {
        input: Length::Fixed(Tokens::new(1)),
        output: text.parse().named(flag)?,
    })
}

/// How many requests a data set has.
pub(super) fn requests(dataset: &Dataset) -> u64 {
    let turns = |conversation: &Conversation| conversation.turns.len() as u64;
    dataset.conversations.iter().map(turns).sum()
}
