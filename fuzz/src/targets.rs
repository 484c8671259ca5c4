//! Bytes of any kind for everything that reads somebody else's: none may panic, and no split of a stream may change what it comes to.

use std::fmt::Debug;
use std::fs;

use fizeau::core::Stamp;
use fizeau::interop::{ForeignFile, ForeignFormats, InputTable};
use fizeau::record::StoredRun;
use fizeau::roofline::{Calibration, Device, Model};
use fizeau::telemetry::{PageForm, PageLimits, PageParser};
use fizeau::transport::ndjson::NdjsonDecoder;
use fizeau::transport::sse::SseDecoder;
use fizeau::transport::{BodyEnd, KeepText, RawEvent, ReadMark, ReplyReader, Route, read_http1};
use fizeau::workload::{Dataset, ShareGpt, TraceFormat, TraceReader};

/// Server-sent events.
pub fn sse(bytes: &[u8]) {
    in_any_pieces(bytes, |pieces| {
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
}

/// Lines of JSON.
pub fn ndjson(bytes: &[u8]) {
    in_any_pieces(bytes, |pieces| {
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
}

/// Heads and bodies of HTTP/1.1.
pub fn http1(bytes: &[u8]) {
    in_any_pieces(bytes, read_http1);
}

/// Replies of every dialect; the first byte says of which.
pub fn reply(bytes: &[u8]) {
    let Some((which, bytes)) = bytes.split_first() else { return };
    let route = Route::ALL[usize::from(*which) % Route::ALL.len()];
    in_any_pieces(bytes, |pieces| {
        let mut reader = ReplyReader::new(route.dialect(), KeepText::Yes);
        for piece in pieces {
            reader.feed(piece, mark());
        }
        reader.finish(BodyEnd::Whole)
    });
}

/// Other tools' files, as each of the forms that are known, and tables.
pub fn import(bytes: &[u8]) {
    let file = || vec![ForeignFile::new("file.json", bytes)];
    let _ = ForeignFormats::import(file(), None);
    for format in ForeignFormats::all() {
        let _ = ForeignFormats::import(file(), Some(format));
    }
    let _ = InputTable::new("file.csv", bytes.to_vec());
}

/// Pages of metrics, in either form.
pub fn metrics_page(bytes: &[u8]) {
    let limits = PageLimits { line: 1 << 10, series: 100, ..PageLimits::default() };
    for form in [PageForm::Text, PageForm::OpenMetrics] {
        in_any_pieces(bytes, |pieces| {
            let mut parser = PageParser::new(form, limits);
            pieces.iter().try_for_each(|piece| parser.feed(piece))?;
            // As text, since a value that is no number differs from itself.
            parser.finish().map(|page| format!("{page:?}"))
        });
    }
}

/// Forward passes in msgpack: what is read is written and read again.
#[cfg(feature = "telemetry")]
pub fn forward_pass(bytes: &[u8]) {
    use fizeau::telemetry::ForwardPass;
    if let Ok(pass) = ForwardPass::from_msgpack(bytes) {
        assert!(ForwardPass::from_msgpack(&pass.to_msgpack()).is_ok(), "{pass:?}");
    }
}

/// Traces of every form.
pub fn trace(bytes: &[u8]) {
    for format in [TraceFormat::Azure, TraceFormat::BurstGpt, TraceFormat::mooncake()] {
        for record in TraceReader::new("trace", format, bytes).flatten() {
            assert!(record.input.get() > 0 && record.output.get() > 0, "{record:?}");
        }
    }
}

/// Data sets of every form.
pub fn dataset(bytes: &[u8]) {
    let read = [
        Dataset::jsonl("file", bytes),
        Dataset::openai_batch("file", bytes),
        Dataset::sharegpt("file", bytes, &ShareGpt::default()),
    ];
    for dataset in read.into_iter().flatten() {
        assert!(dataset.conversations.iter().all(|conversation| !conversation.turns.is_empty()));
    }
}

/// A model's `config.json`.
pub fn model_config(bytes: &[u8]) {
    let Ok(model) = Model::from_config_json(&String::from_utf8_lossy(bytes)) else { return };
    assert!(model.parameters().streamed <= model.parameters().total);
    assert!(model.kv_bytes_per_token().get().is_finite());
}

/// A device's data sheet, and a calibration.
pub fn device(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(device) = Device::from_toml(&text) {
        assert!(device.memory_bandwidth().get() > 0.0 && device.memory().get() > 0.0);
        let _ = device.doubts();
    }
    let _ = Calibration::from_json(&text);
}

/// The folder of a run, one of whose files is made of the bytes behind the first one, which says which it is. A whole one is
/// known to be read.
pub fn run_folder(bytes: &[u8]) {
    const FILES: [(&str, &[u8]); 4] = [
        ("run.json", include_bytes!("../../fixtures/runs/bench/run.json")),
        ("model-config.json", include_bytes!("../../fixtures/runs/bench/model-config.json")),
        ("summary.json", include_bytes!("../../fixtures/runs/bench/summary.json")),
        ("tapes.jsonl", include_bytes!("../../fixtures/runs/bench/tapes.jsonl")),
    ];
    let Some((which, bytes)) = bytes.split_first() else { return };
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
    if let Err(error) = read {
        assert!(!error.to_string().is_empty());
    }
}

/// Goals, limits, lengths and all other words that a flag may have for a value.
pub fn words(bytes: &[u8]) {
    macro_rules! parse {
        ($($kind:ty),* $(,)?) => {
            |text: &str| { $( let _ = text.parse::<$kind>(); )* }
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
    all(&text);
    #[cfg(feature = "http")]
    let _ = text.parse::<fizeau::sim::http::Faults>();
}

/// That `read` gives the same of the bytes behind the first one in one piece, and in two, of which that byte says where they part.
fn in_any_pieces<T: Debug + PartialEq>(bytes: &[u8], read: impl Fn(&[&[u8]]) -> T) {
    let Some((at, bytes)) = bytes.split_first() else { return };
    let (head, tail) = bytes.split_at(usize::from(*at) % (bytes.len() + 1));
    assert_eq!(read(&[bytes]), read(&[head, tail]));
}

const fn mark() -> ReadMark {
    ReadMark::user(Stamp::EPOCH, 0)
}

fn owned(event: RawEvent<'_>) -> (Vec<u8>, Vec<u8>) {
    (event.data.to_vec(), event.name.to_vec())
}
