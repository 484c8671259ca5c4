//! From a file to a data set.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use fizeau::core::Tokens;
use fizeau::workload::{Conversation, Dataset, Length, Lengths, ShareGpt, Take, TextCodec};

use serde::Serialize;

use super::lengths::Nominal;
use super::names::Records;
use crate::args::WorkloadArgs;
use crate::exit::{Fail, Named};

/// The file of a data set, for the record.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct DataFile {
    /// The format, as `--dataset-name` has it.
    name: String,
    /// As it was given.
    path: String,
    /// Of its bytes, as they were read.
    checksum: String,
    /// Whether whole conversations were taken, by `--multi-turn`.
    multi_turn: bool,
    /// What a flag set all outputs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output_tokens: Option<Tokens>,
}

/// Reads the file that the flags name.
pub(super) fn read(
    args: &WorkloadArgs,
    format: Records,
    tokenizer: Option<&dyn TextCodec>,
) -> Result<(Arc<Dataset>, DataFile), Fail> {
    let path = args.data.dataset_path.as_deref().unwrap_or_else(|| Path::new(""));
    let (name, file) = open(path)?;
    let mut reader = BufReader::with_capacity(BUFFER, Sum::of(file));
    let output = output(args, format)?;
    let dataset = match format {
        Records::Custom => Dataset::jsonl(&name, &mut reader),
        Records::OpenAiBatch => Dataset::openai_batch(&name, &mut reader),
        Records::ShareGpt => {
            let take = match args.sessions.multi_turn {
                true => Take::Conversation,
                false => Take::FirstExchange,
            };
            Dataset::sharegpt(&name, &mut reader, &ShareGpt { take, codec: tokenizer, output })
        }
    };
    let dataset = dataset.named("--dataset-path")?;
    let file = DataFile {
        name: args.dataset_name.clone(),
        path: path.to_string_lossy().into_owned(),
        checksum: format!("{:016x}", reader.get_ref().sum),
        multi_turn: args.sessions.multi_turn,
        output_tokens: output,
    };
    let dataset = match output {
        Some(output) => dataset.with_output(output),
        None => dataset,
    };
    Ok((Arc::new(dataset), file))
}

/// FNV-1a of 64 bits over all bytes that pass (Fowler, Noll, Vo: draft-eastlake-fnv).
struct Sum {
    file: File,
    sum: u64,
}

impl Sum {
    const fn of(file: File) -> Self {
        Self { file, sum: 0xcbf2_9ce4_8422_2325 }
    }
}

impl Read for Sum {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        let add = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        self.sum = buffer.iter().take(read).fold(self.sum, add);
        Ok(read)
    }
}

const BUFFER: usize = 1 << 16;

/// The file at `path`, and its name for messages and the record.
pub(super) fn open(path: &Path) -> Result<(String, File), Fail> {
    let file = File::open(path).named(&format!("--dataset-path {}", path.display()))?;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    Ok((name, file))
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
