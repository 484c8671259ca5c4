//! A device from the text of its TOML file.

mod collectives;
mod figure;
mod linked;
mod section;

use fizeau_core::{Bytes, BytesPerSec, FlopsPerSec, UsdPerHour, Watts};
use toml::de::DeTable;

use self::figure::Sources;
use self::section::{Section, line_of};
use super::quantity::FigureQuantity;
use super::{CachedRead, Device, DeviceError, MathType, Price, PublishedFigure, names};

/// The device that `text` describes.
pub(super) fn device(text: &str) -> Result<Device, DeviceError> {
    let table = DeTable::parse(text).map_err(|error| syntax(text, &error))?;
    let root = Section::root(text, table.get_ref());
    root.only(&[
        "name",
        "title",
        "vendor",
        "generation",
        "aliases",
        "note",
        "data_sheet",
        "sources",
        "memory",
        "rates",
        "link",
        "network",
        "collectives",
        "power",
        "prices",
    ])?;
    let name = root.needed_text("name", "a short name such as \"my-card\"")?;
    let sources = Sources::read(&root)?;
    let mut device = silicon(&root, &sources, name)?;
    if let Some(title) = root.text("title")? {
        device.title = title.to_owned();
    }
    device.vendor = root.text("vendor")?.map(str::to_owned);
    device.generation = root.text("generation")?.map(str::to_owned);
    device.aliases = root.texts("aliases")?;
    device.note = root.text("note")?.map(str::to_owned);
    device.data_sheet = root.text("data_sheet")?.map(str::to_owned);
    if let Some(name) = &device.data_sheet {
        names::find(name).map_err(|error| DeviceError(format!("data_sheet: {error}")))?;
    }
    power(&root, &sources, &mut device)?;
    linked::read(&root, &sources, &mut device)?;
    for section in &root.each("collectives")? {
        device = device.with_collective(collectives::read(section, &sources)?)?;
    }
    device.prices =
        root.each("prices")?.iter().map(|price| rent(price, &sources)).collect::<Result<_, _>>()?;
    Ok(device)
}

fn syntax(text: &str, error: &toml::de::Error) -> DeviceError {
    let at = error.span().map_or(0, |span| span.start);
    let message = error.message().lines().collect::<Vec<_>>().join(", ");
    DeviceError(format!("line {}: {message}", line_of(text, at)))
}

/// Memory and rates: what every device has.
fn silicon(root: &Section<'_>, sources: &Sources<'_>, name: &str) -> Result<Device, DeviceError> {
    let memory = root.needed_table("memory")?;
    memory.only(&["capacity", "usable", "bandwidth", "cached"])?;
    let rates = root.needed_table("rates")?;
    rates.only(&["bf16", "fp8", "fp4", "int8"])?;
    let capacity = sources.needed(&memory, "memory.capacity", FigureQuantity::Memory)?;
    let bandwidth = sources.needed(&memory, "memory.bandwidth", FigureQuantity::Bandwidth)?;
    let bf16 = sources.needed(&rates, "rates.bf16", FigureQuantity::Rate)?;
    let mut device = Device::new(
        name,
        Bytes::new(capacity.number),
        BytesPerSec::new(bandwidth.number),
        FlopsPerSec::new(bf16.number),
    )?;
    device.cells = vec![capacity];
    if let Some(usable) = sources.cell(&memory, "memory.usable", FigureQuantity::Memory)? {
        device = device.with_usable_memory(Bytes::new(usable.number))?;
        device.put(usable);
    }
    device.cells.extend([bandwidth, bf16]);
    for section in &memory.each("cached")? {
        device = device.with_cached_read(cached_read(section, sources)?)?;
    }
    for math in [MathType::Fp8, MathType::Fp4, MathType::Int8] {
        if let Some(rate) = sources.cell(&rates, math.field(), FigureQuantity::Rate)? {
            device.set_rate(math, FlopsPerSec::new(rate.number));
            device.cells.push(rate);
        }
    }
    Ok(device)
}

/// A size that caches hold, and how fast it is read.
fn cached_read(section: &Section<'_>, sources: &Sources<'_>) -> Result<CachedRead, DeviceError> {
    section.only(&["working_set", "bandwidth"])?;
    let size = sources.needed(section, "cached.working_set", FigureQuantity::Memory)?;
    let rate = sources.needed(section, "cached.bandwidth", FigureQuantity::Bandwidth)?;
    Ok(CachedRead {
        working_set: Bytes::new(size.number),
        bandwidth: BytesPerSec::new(rate.number),
    })
}

fn power(
    root: &Section<'_>,
    sources: &Sources<'_>,
    device: &mut Device,
) -> Result<(), DeviceError> {
    let Some(power) = root.table("power")? else {
        return Ok(());
    };
    power.only(&["tdp"])?;
    let tdp: PublishedFigure = sources.needed(&power, "power.tdp", FigureQuantity::Power)?;
    device.tdp = Some(Watts::new(tdp.number));
    device.cells.push(tdp);
    Ok(())
}

fn rent(section: &Section<'_>, sources: &Sources<'_>) -> Result<Price, DeviceError> {
    section.only(&["low", "high", "kind", "source", "date", "unverified", "note"])?;
    let low = section.needed_number("low", "US dollars an hour for one device")?;
    let high = section.number("high", "US dollars an hour for one device")?.unwrap_or(low);
    let kind = section.text("kind")?.unwrap_or("a price");
    let (source, date) = sources.of(section)?;
    let date = date.unwrap_or_default();
    let (low, high) = (UsdPerHour::new(low), UsdPerHour::new(high));
    let mut price = Price::new(low, high, kind, source, date)?;
    price.unlisted = sources.lack(section)?;
    price.is_unverified = section.flag("unverified")?;
    price.note = section.text("note")?.map(str::to_owned);
    Ok(price)
}
