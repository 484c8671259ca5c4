//! What looks wrong with a device's figures: the slips that data sheets invite, as rules.
//!
//! Each rule has caught a figure that was once in use somewhere: an L40S with fp8 at 1466 TFLOP/s beside bf16 at
//! 362 (the one with sparsity), a GH200 with bf16 at 1979, an H100 with a link of 900 GB/s (both directions),
//! a server's or a superchip's totals for one device.

mod generations;
mod printed;

use self::generations::GenerationLimits;
use super::quantity::FigureQuantity;
use super::{Device, MathType};

/// Vendors print one figure for one clock and its double for another (Trainium2: 2.6 % apart), or round to whole
/// PFLOP/s (B300's fp4: 3.7 %).
const TOLERANCE: f64 = 0.04;
/// Blackwell Ultra's fp4 is three times its fp8; nobody's is more.
const MOST_STATED: f64 = 3.0;

pub(super) fn of(device: &Device) -> Vec<String> {
    let mut doubts = Vec::new();
    ratios(device, &mut doubts);
    memory(device, &mut doubts);
    balance(device, &mut doubts);
    generations::check(device, &mut doubts);
    doubts.extend(device.cells.iter().filter_map(printed::doubt));
    prices(device, &mut doubts);
    sources(device, &mut doubts);
    doubts
}

/// Half the bits, twice the rate: any other ratio is a figure with sparsity, or one of another accumulator.
fn ratios(device: &Device, doubts: &mut Vec<String>) {
    let rate = |math| device.dense_rate(math).map(fizeau_core::FlopsPerSec::get);
    let bf16 = device.bf16.get();
    for math in [MathType::Fp8, MathType::Int8] {
        let Some(narrow) = rate(math) else { continue };
        let stated = stated(device, math).filter(|ratio| *ratio <= 2.0);
        let (ratio, expected) = (narrow / bf16, stated.unwrap_or(2.0));
        if (ratio / expected - 1.0).abs() > TOLERANCE {
            doubts.push(format!(
                "rates.{} is {ratio:.2} times rates.bf16, where dense rates are {expected:.0} times: is one of \
                 them with sparsity, or with another accumulator?",
                math.name()
            ));
        }
    }
    let wider = [(rate(MathType::Fp8), "fp8", 2.0), (Some(bf16), "bf16", 4.0)];
    let wider = wider.into_iter().find_map(|(rate, name, most)| Some((rate?, name, most)));
    if let (Some(fp4), Some((rate, name, most))) = (rate(MathType::Fp4), wider) {
        let stated = stated(device, MathType::Fp4).filter(|ratio| *ratio <= MOST_STATED);
        let most = stated.unwrap_or(most);
        let ratio = fp4 / rate;
        if ratio > most * (1.0 + TOLERANCE) || ratio < 1.0 - TOLERANCE {
            doubts.push(format!(
                "rates.fp4 is {ratio:.2} times rates.{name}, where dense rates are up to {most:.0} times: is \
                 one of them with sparsity?"
            ));
        }
    }
}

/// What a file says the ratio to the next wider type is.
fn stated(device: &Device, math: MathType) -> Option<f64> {
    device.cell(math.field())?.ratio
}

/// Memory comes in powers of two, whatever the sheet calls its unit.
fn memory(device: &Device, doubts: &mut Vec<String>) {
    const MIB: f64 = 1_048_576.0;
    let (bytes, usable) = (device.memory.get(), device.usable_memory.get());
    if bytes % MIB != 0.0 && bytes % 1e9 == 0.0 {
        let gb = bytes / 1e9;
        doubts.push(format!(
            "memory.capacity is {gb} GB in decimal, {:.1} GiB: chips come in powers of two, so {gb} GiB is likely \
             meant, and a limit computed from less could be beaten",
            bytes / MIB / 1024.0
        ));
    }
    if usable < 0.85 * bytes {
        doubts.push(format!(
            "memory.usable is {:.0} % of memory.capacity: drivers keep less than 15 %",
            100.0 * usable / bytes
        ));
    }
}

/// What holds of any device on which people serve models.
fn balance(device: &Device, doubts: &mut Vec<String>) {
    let (memory, bandwidth) = (device.memory.get(), device.memory_bandwidth.get());
    let bf16 = device.bf16.get();
    let mut within = |value: f64, (least, most): (f64, f64), what: &str| {
        if !(least..=most).contains(&value) {
            let digits = if value < 10.0 { 3 } else { 0 };
            doubts.push(format!("{what}: {value:.digits$}, where {least} to {most} is usual"));
        }
    };
    let whole = memory / bandwidth;
    let what = "memory.capacity over memory.bandwidth, in seconds (bytes or bits, GB or GB/s?)";
    within(whole, (0.005, 2.0), what);
    let what = "rates.bf16 over memory.bandwidth, in FLOP/byte (one device, dense?)";
    within(bf16 / bandwidth, (10.0, 700.0), what);
    if let Some(tdp) = device.tdp {
        within(tdp.get(), (5.0, 2000.0), "power.tdp, in watts of one device");
        let what = "rates.bf16 over power.tdp, in TFLOP/s per watt (one device, dense?)";
        within(bf16 / 1e12 / tdp.get(), (0.05, 3.0), what);
    }
    let wires = [("link.each_way", device.link), ("network.each_way", device.network)];
    for (field, link) in wires.into_iter().filter_map(|(field, link)| Some((field, link?))) {
        let what = format!("{field} over memory.bandwidth (one direction? bytes or bits?)");
        within(link.bandwidth.get() / bandwidth, (0.001, 0.25), &what);
    }
}

fn prices(device: &Device, doubts: &mut Vec<String>) {
    for price in &device.prices {
        let (low, high) = (price.low.get(), price.high.get());
        if low < 0.02 || high > 40.0 || high > 10.0 * low {
            doubts.push(format!(
                "prices: {} asks {low} to {high} dollars for an hour of one device: is it one device's, and one \
                 hour's?",
                price.kind
            ));
        }
    }
}

/// A key of a source that has a slip in it would else pass for a source's name.
fn sources(device: &Device, doubts: &mut Vec<String>) {
    let of_cells = device.cells.iter().map(|cell| (cell.unlisted, cell.field, &cell.source));
    let of_prices = device.prices.iter().map(|price| (price.unlisted, "prices", &price.source));
    for (_, field, source) in of_cells.chain(of_prices).filter(|(unlisted, ..)| *unlisted) {
        doubts.push(format!(
            "{field}: its source \"{source}\" is none of [sources] and has no date: is it misspelt?"
        ));
    }
}

/// `value` is out of what is known of its generation.
fn beyond(
    field: &str,
    value: f64,
    limits: (f64, f64),
    of: (&GenerationLimits, FigureQuantity, &str),
) -> Option<String> {
    let (limits_of, measure, why) = of;
    let (least, most) = limits;
    // A sheet's rounding is no doubt.
    let is_within = value >= least * 0.99 && value <= most * 1.01;
    (!is_within).then(|| {
        let range = if least > 0.0 {
            format!("{} to {}", measure.show(least), measure.show(most))
        } else {
            format!("at most {}", measure.show(most))
        };
        let shown = measure.show(value);
        format!("{field} is {shown}; one device of {} has {range}: {why}", limits_of.generation)
    })
}
