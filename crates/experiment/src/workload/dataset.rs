//! From a file to a data set.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use fizeau_core::Tokens;
use fizeau_workload::{Conversation, Dataset, ShareGpt, TextCodec};
use serde::Serialize;

use super::{RecordFormat, RecordsSource};
use crate::input::{Blame, InputError, InputField, unreadable};

/// The file of a data set, for the record.
#[derive(Debug, Clone, Serialize)]
pub struct DataFile {
    /// The format.
    name: String,
    /// As it was given.
    path: String,
    /// Of its bytes, as they were read.
    checksum: String,
    /// Whether whole conversations were taken.
    multi_turn: bool,
    /// What all outputs were set to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output_tokens: Option<Tokens>,
}

/// Reads the file of `source`; `tokenizer` counts what it does not.
pub(super) fn read(
    source: &RecordsSource,
    tokenizer: Option<&dyn TextCodec>,
) -> Result<(Arc<Dataset>, DataFile), InputError> {
    let (name, file) = open(&source.path)?;
    let mut reader = BufReader::with_capacity(BUFFER, FnvHash::of(file));
    let output = source.output;
    let dataset = match source.format {
        RecordFormat::Custom => Dataset::jsonl(&name, &mut reader),
        RecordFormat::OpenAiBatch => Dataset::openai_batch(&name, &mut reader),
        RecordFormat::ShareGpt(take) => {
            Dataset::sharegpt(&name, &mut reader, &ShareGpt { take, codec: tokenizer, output })
        }
    };
    let dataset = dataset.blame(InputField::DatasetPath)?;
    let file = DataFile {
        name: source.format.name().to_owned(),
        path: source.path.to_string_lossy().into_owned(),
        checksum: format!("{:016x}", reader.get_ref().sum),
        multi_turn: source.format.takes_conversations(),
        output_tokens: output,
    };
    let dataset = match output {
        Some(output) => dataset.with_output(output),
        None => dataset,
    };
    Ok((Arc::new(dataset), file))
}

/// FNV-1a of 64 bits over all bytes that pass (Fowler, Noll, Vo: draft-eastlake-fnv).
struct FnvHash {
    file: File,
    sum: u64,
}

impl FnvHash {
    const fn of(file: File) -> Self {
        Self { file, sum: 0xcbf2_9ce4_8422_2325 }
    }
}

impl Read for FnvHash {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        let add = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        self.sum = buffer.iter().take(read).fold(self.sum, add);
        Ok(read)
    }
}

const BUFFER: usize = 1 << 16;

/// The file at `path`, and its name for messages and the record.
pub(super) fn open(path: &Path) -> Result<(String, File), InputError> {
    let file =
        File::open(path).map_err(|error| unreadable(InputField::DatasetPath, path, &error))?;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    Ok((name, file))
}

/// How many requests a data set has.
pub(super) fn requests(dataset: &Dataset) -> u64 {
    let turns = |conversation: &Conversation| conversation.turns.len() as u64;
    dataset.conversations.iter().map(turns).sum()
}
