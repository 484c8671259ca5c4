//! pmbw.
//!
//! Of <https://github.com/bingmann/pmbw>: a line a point, `RESULT` and then `key=value`, tabs between them, in seconds and bytes.
//! `Scan...` streams over an area, `Perm...` follows a permutation through it.

use fizeau_core::Bytes;

use super::cell;
use super::reading::{NotThis, Reading};
use super::source::Source;
use super::tells::Tells;
use crate::measurement::{ByteConvention, MemoryKernel, Operation, OperationWork, SampleStatistic};

pub(super) fn read(source: &Source) -> Result<Reading<'_>, NotThis> {
    source.must_have("line `RESULT` with `funcname=`", |text| {
        text.starts_with("RESULT\t") && text.contains("\tfuncname=")
    })?;
    let mut reading = Reading::of_lines(source, "pmbw");
    for line in source.lines().filter(|line| line.text.starts_with("RESULT\t")) {
        let value = |key: &str| {
            let mut pairs = line.text.split('\t').filter_map(|pair| pair.split_once('='));
            pairs.find(|(own, _)| *own == key).map(|(_, value)| value.trim())
        };
        let number = |key: &str| cell::number(value(key)?);
        if let Some(version) = value("version") {
            reading.version = Some(version.to_owned());
        }
        if let Some(host) = value("host") {
            reading.node(host);
        }
        let (Some(function), Some(seconds), Some(area)) =
            (value("funcname"), number("time"), number("areasize"))
        else {
            reading.skip(line.number, "`funcname`, `time` or `areasize` is missing or no number");
            continue;
        };
        let threads = value("nthreads").and_then(cell::count);
        let size = Some(Bytes::new(number("testsize").unwrap_or(area)));
        let repeats = value("repeats").and_then(cell::count).filter(|repeats| *repeats > 0);
        let memory = |kernel| Operation::Memory { kernel, stores: None, working_set: size };
        let pass = number("testvol").zip(repeats).map(|(bytes, repeats)| bytes / repeats as f64);
        // A pass over the area, or of a permutation one access of one of the threads.
        let (operation, each, work) = match function {
            _ if function.starts_with("ScanRead") => (memory(MemoryKernel::Read), repeats, pass),
            _ if function.starts_with("ScanWrite") => (memory(MemoryKernel::Write), repeats, pass),
            _ if function.starts_with("PermRead") => {
                let accesses = value("testaccess").and_then(cell::count).zip(threads);
                let each = accesses.map(|(all, threads)| all / threads.max(1));
                (
                    Operation::Latency { working_set: size, path: None },
                    each.filter(|each| *each > 0),
                    None,
                )
            }
            _ => (Operation::Other { name: format!("{function} of {area} bytes") }, repeats, pass),
        };
        let time = each.map(|each| seconds / each as f64);
        let rate = number("bandwidth").filter(|_| work.is_none() && time.is_none());
        let tells = Tells::of(each).seconds(SampleStatistic::Mean, time).bandwidth(
            ByteConvention::Stream,
            SampleStatistic::Mean,
            rate,
        );
        let Some(seen) = reading.measured(line.number, "cpu", operation, tells) else { continue };
        seen.work = work
            .map(|bytes| OperationWork::moved(Bytes::new(bytes), ByteConvention::Stream))
            .unwrap_or_default();
        seen.method.threads = threads.and_then(cell::several);
        seen.method.instructions = Some(function.to_owned());
    }
    Ok(reading)
}
