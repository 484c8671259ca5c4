//! Bytes of any kind for everything that reads somebody else's: none may panic, and no split of a stream may change what it comes to.
//! Each says whether it took them for good ones, so that a test can tell that its seeds are.

use std::fmt::Debug;
use std::fs;

use fizeau::core::{Outcome, Stamp};
use fizeau::interop::{ForeignFile, ForeignFormats, InputTable};
use fizeau::record::StoredRun;
use fizeau::roofline::{Calibration, Device, Model};
use fizeau::telemetry::{PageForm, PageLimits, PageParser};
use fizeau::transport::ndjson::NdjsonDecoder;
use fizeau::transport::sse::SseDecoder;
use fizeau::transport::{BodyEnd, KeepText, RawEvent, ReadMark, ReplyReader, Route, read_http1};
use fizeau::workload::{Dataset, ShareGpt, TraceFormat, TraceReader};

/// Server-sent events.
pub fn sse(bytes: &[u8]) -> bool {
    let seen = in_any_pieces(bytes, |pieces| {
        let (mut decoder, mut seen) = (SseDecoder::new(1 << 10), Vec::new());
        for piece in pieces {
            let mut events = decoder.feed(piece, mark());
            while let Some(event) = events.next_event() {
                seen.push(event.map(owned));
            }
        }
        seen.extend(decoder.finish().map(|event| Ok(owned(event))));
        seen
    });
    all_good(seen)
}

/// Lines of JSON.
pub fn ndjson(bytes: &[u8]) -> bool {
    let seen = in_any_pieces(bytes, |pieces| {
        let (mut decoder, mut seen) = (NdjsonDecoder::new(1 << 10), Vec::new());
        for piece in pieces {
            let mut lines = decoder.feed(piece, mark());
            while let Some(line) = lines.next_event() {
                seen.push(line.map(owned));
            }
        }
        seen.extend(decoder.finish().map(|line| Ok(owned(line))));
        seen
    });
    all_good(seen)
}

/// Heads and bodies of HTTP/1.1.
pub fn http1(bytes: &[u8]) -> bool {
    matches!(in_any_pieces(bytes, read_http1), Some(Ok(Some(_))))
}

/// Replies of every dialect; the first byte says of which.
pub fn reply(bytes: &[u8]) -> bool {
    let Some((which, bytes)) = bytes.split_first() else { return false };
    let route = Route::ALL[usize::from(*which) % Route::ALL.len()];
    let reply = in_any_pieces(bytes, |pieces| {
        let mut reader = ReplyReader::new(route.dialect(), KeepText::Yes);
        for piece in pieces {
            reader.feed(piece, mark());
        }
        reader.finish(BodyEnd::Whole)
    });
    reply.is_some_and(|reply| matches!(reply.outcome, Outcome::Complete(_)))
}

/// Other tools' files, as each of the forms that are known, and tables.
pub fn import(bytes: &[u8]) -> bool {
    let file = || vec![ForeignFile::new("file.json", bytes)];
    let imported = ForeignFormats::import(file(), None);
    for format in ForeignFormats::all() {
        let _ = ForeignFormats::import(file(), Some(format));
    }
    let _ = InputTable::new("file.csv", bytes.to_vec());
    imported.is_ok()
}

/// Pages of metrics, in each form.
pub fn metrics_page(bytes: &[u8]) -> bool {
    let limits = PageLimits { line: 1 << 10, series: 100, ..PageLimits::default() };
    let read = [PageForm::Text, PageForm::OpenMetrics, PageForm::Iterations].map(|form| {
        in_any_pieces(bytes, |pieces| {
            let mut parser = PageParser::new(form, limits);
            pieces.iter().try_for_each(|piece| parser.feed(piece))?;
            // As text, since a value that is no number differs from itself.
            parser.finish().map(|page| format!("{page:?}"))
        })
    });
    read.iter().any(|page| matches!(page, Some(Ok(_))))
}

/// Forward passes in msgpack: what is read is written and read again.
#[cfg(feature = "telemetry")]
pub fn forward_pass(bytes: &[u8]) -> bool {
    use fizeau::telemetry::ForwardPass;
    let Ok(pass) = ForwardPass::from_msgpack(bytes) else { return false };
    assert!(ForwardPass::from_msgpack(&pass.to_msgpack()).is_ok(), "{pass:?}");
    true
}

/// Traces of every form.
pub fn trace(bytes: &[u8]) -> bool {
    let mut records = 0;
    for format in [TraceFormat::Azure, TraceFormat::BurstGpt, TraceFormat::mooncake()] {
        for record in TraceReader::new("trace", format, bytes).flatten() {
            assert!(record.input.get() > 0 && record.output.get() > 0, "{record:?}");
            records += 1;
        }
    }
    records > 0
}

/// Data sets of every form.
pub fn dataset(bytes: &[u8]) -> bool {
    let read: Vec<_> = [
        Dataset::jsonl("file", bytes),
        Dataset::openai_batch("file", bytes),
        Dataset::sharegpt("file", bytes, &ShareGpt::default()),
    ]
    .into_iter()
    .flatten()
    .collect();
    for dataset in &read {
        assert!(dataset.conversations.iter().all(|conversation| !conversation.turns.is_empty()));
    }
    !read.is_empty()
}

/// A model's `config.json`.
pub fn model_config(bytes: &[u8]) -> bool {
    let Ok(model) = Model::from_config_json(&String::from_utf8_lossy(bytes)) else { return false };
    assert!(model.parameters().streamed <= model.parameters().total);
    assert!(model.kv_bytes_per_token().get().is_finite());
    true
}

/// A device's data sheet, and a calibration.
pub fn device(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let device = Device::from_toml(&text);
    if let Ok(device) = &device {
        assert!(device.memory_bandwidth().get() > 0.0 && device.memory().get() > 0.0);
        let _ = device.doubts();
    }
    Calibration::from_json(&text).is_ok() || device.is_ok()
}

/// The folder of a run, one of whose files is made of the bytes behind the first one, which says which it is. A whole one is
/// known to be read.
pub fn run_folder(bytes: &[u8]) -> bool {
    // In the order of the names, as the seeds are numbered.
    const FILES: [(&str, &[u8]); 4] = [
        ("model-config.json", include_bytes!("../../fixtures/runs/bench/model-config.json")),
        ("run.json", include_bytes!("../../fixtures/runs/bench/run.json")),
        ("summary.json", include_bytes!("../../fixtures/runs/bench/summary.json")),
        ("tapes.jsonl", include_bytes!("../../fixtures/runs/bench/tapes.jsonl")),
    ];
    let Some((which, bytes)) = bytes.split_first() else { return false };
    let folder = std::env::temp_dir().join(format!("fizeau-fuzz-{}", std::process::id()));
    let write = |(at, (name, whole)): (usize, &(&str, &[u8]))| {
        let content = if at == usize::from(*which) % FILES.len() { bytes } else { *whole };
        fs::write(folder.join(name), content)
    };
    let written =
        fs::create_dir_all(&folder).and_then(|()| FILES.iter().enumerate().try_for_each(write));
    let read = StoredRun::open(&folder).and_then(|run| run.report());
    let _ = fs::remove_dir_all(&folder);
    assert!(written.is_ok(), "the temporary folder cannot be written: {written:?}");
    if let Err(error) = &read {
        assert!(!error.to_string().is_empty());
    }
    read.is_ok()
}

/// Goals, limits, lengths and all other words that a flag may have for a value.
pub fn words(bytes: &[u8]) -> bool {
    macro_rules! parse {
        ($($kind:ty),* $(,)?) => {
            |text: &str| [$( text.parse::<$kind>().is_ok() ),*].contains(&true)
        };
    }
    let all = parse![
        fizeau::core::Nanos,
        fizeau::experiment::BackendChoice,
        fizeau::experiment::DrafterSpec,
        fizeau::experiment::ExtraHeader,
        fizeau::experiment::MeetingPoint,
        fizeau::experiment::NamedUrl,
        fizeau::experiment::StartTime,
        fizeau::experiment::SweepRates,
        fizeau::experiment::TokenizerSpec,
        fizeau::metrics::GoodputGoals,
        fizeau::metrics::LevelFigure,
        fizeau::metrics::Precision,
        fizeau::metrics::RunToRun,
        fizeau::metrics::Slo,
        fizeau::metrics::SmallestChange,
        fizeau::metrics::Thresholds,
        fizeau::metrics::WindowEnd,
        fizeau::record::RequiredChecks,
        fizeau::roofline::Deployment,
        fizeau::roofline::Format,
        fizeau::roofline::InstanceCounts,
        fizeau::roofline::PowerCap,
        fizeau::roofline::ServingGoal,
        fizeau::roofline::WeightChoice,
        fizeau::transport::Backend,
        fizeau::workload::Length,
        fizeau::workload::Lengths,
        fizeau::workload::ModelShare,
        fizeau::workload::PresetLengths,
        fizeau::workload::RangeRatios,
        fizeau::workload::Shard,
        fizeau::workload::ThinkTime,
        fizeau::workload::Turns,
    ];
    let text = String::from_utf8_lossy(bytes);
    #[cfg(feature = "http")]
    let _ = text.parse::<fizeau::sim::http::Faults>();
    all(&text)
}

/// That `read` gives the same of the bytes behind the first one in one piece, and in two, of which that byte says where they part.
/// Gives what it comes to.
fn in_any_pieces<T: Debug + PartialEq>(bytes: &[u8], read: impl Fn(&[&[u8]]) -> T) -> Option<T> {
    let (at, bytes) = bytes.split_first()?;
    let (head, tail) = bytes.split_at(usize::from(*at) % (bytes.len() + 1));
    let whole = read(&[bytes]);
    assert_eq!(whole, read(&[head, tail]));
    Some(whole)
}

fn all_good<T, E>(seen: Option<Vec<Result<T, E>>>) -> bool {
    seen.is_some_and(|seen| !seen.is_empty() && seen.iter().all(Result::is_ok))
}

const fn mark() -> ReadMark {
    ReadMark::user(Stamp::EPOCH, 0)
}

fn owned(event: RawEvent<'_>) -> (Vec<u8>, Vec<u8>) {
    (event.data.to_vec(), event.name.to_vec())
}
