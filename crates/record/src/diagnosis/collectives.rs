//! What devices tell each other in a pass, as a step of a waterfall.

use fizeau_core::{Bytes, Millis};
use fizeau_roofline::{Pass, PassCollective, PassTime, System};

use super::level::millis;
use super::waterfall::{SlowdownCause, WaterfallBuilder};

/// Adds what `expected`, the time of `pass`, has of collectives, with each kind's message and whose figures they are; nothing of a
/// device by itself.
pub(super) fn add(
    waterfall: &mut WaterfallBuilder,
    system: &System,
    pass: &Pass,
    expected: &PassTime,
) {
    let links = millis(expected.communication());
    if links.get() <= 0.0 {
        return;
    }
    let told = system.collectives_of(pass);
    let evidence = told.iter().map(one).collect::<Vec<_>>().join("; ");
    let step = waterfall.add(SlowdownCause::Collectives, links, evidence);
    if told.iter().any(|of| of.within.is_some()) {
        // Those that follow from links have no range of their own.
        let off: f64 = told.iter().map(|of| of.time.get() * of.within.unwrap_or(0.0)).sum();
        let off = off * 1e3;
        step.range_ms = Some([links.get() - off, links.get() + off].map(Millis::new));
    }
}

/// `65 all-reduces of 512 KiB among 8, 21.3 us each as measured`.
fn one(of: &PassCollective) -> String {
    let each = of.time.get() / of.times;
    let whose = match of.within {
        Some(_) => "as measured",
        None => "by the links of the data sheet",
    };
    let plural = if of.times > 1.5 { "s" } else { "" };
    format!(
        "{:.0} {}{plural} of {} among {}, {} each {whose}",
        of.times,
        of.collective,
        size(of.bytes),
        of.ranks,
        time(each)
    )
}

fn size(bytes: Bytes) -> String {
    const UNITS: [(f64, &str); 3] =
        [(1_073_741_824.0, "GiB"), (1_048_576.0, "MiB"), (1024.0, "KiB")];
    let bytes = bytes.get();
    let unit = UNITS.into_iter().find(|(unit, _)| bytes >= *unit);
    unit.map_or_else(
        || format!("{bytes:.0} bytes"),
        |(unit, name)| format!("{} {name}", fizeau_core::number::number(bytes / unit)),
    )
}

fn time(seconds: f64) -> String {
    let micros = fizeau_core::number::number(seconds * 1e6);
    let millis = fizeau_core::number::number(seconds * 1e3);
    if seconds < 1e-3 { format!("{micros} us") } else { format!("{millis} ms") }
}

#[cfg(test)]
mod tests {
    use super::{Bytes, size, time};

    #[test]
    fn times_and_sizes_have_the_unit_of_their_size() {
        let times = [0.000_021_3, 0.000_999, 0.001, 0.25].map(time);
        assert_eq!(times, ["21.3 us", "999 us", "1.00 ms", "250 ms"]);
        let sizes = [1023.0, 1024.0, 1_048_575.0, 1_048_576.0, 1_073_741_824.0];
        let shown = ["1023 bytes", "1.00 KiB", "1024 KiB", "1.00 MiB", "1.00 GiB"];
        assert_eq!(sizes.map(|bytes| size(Bytes::new(bytes))), shown);
    }
}
