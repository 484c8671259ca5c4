//! Known wrong figures, each of which must raise a doubt that names it.

use fizeau_core::FlopsPerSec;
use fizeau_roofline::{Device, MathType};

/// A file of the table.
macro_rules! device {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/data/devices/", $name, ".toml"))
    };
}
pub(crate) use device;

/// The file with one figure changed.
pub(crate) fn changed(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "{from}");
    text.replace(from, to)
}

/// A GB200 of whose bandwidth all sources say the same.
fn superchip() -> String {
    changed(device!("gb200"), "range = [\"8000 GB/s\", \"8184 GB/s\"]\n", "")
}

fn doubts(text: &str) -> Vec<String> {
    Device::from_toml(text).unwrap().doubts()
}

/// Exactly one thing is wrong, and the doubts name it.
#[track_caller]
fn doubted(text: &str, from: &str, to: &str, field: &str) {
    assert_eq!(doubts(text), [""; 0]);
    let found = doubts(&changed(text, from, to));
    assert!(found.iter().any(|doubt| doubt.starts_with(field)), "{from} -> {to}: {found:?}");
}

#[test]
fn sparse_figures() {
    // In BLIS for months: fp8 with sparsity beside dense bf16.
    doubted(device!("l40s"), r#"fp8 = { value = "733 "#, r#"fp8 = { value = "1466 "#, "rates.fp8");
    // The larger of the two bf16 figures of NVIDIA's sheet.
    doubted(device!("h100-sxm"), r#"value = "989.5 "#, r#"value = "1979 "#, "rates.bf16");
    // The GeForce's "838": sparse, with 16-bit accumulation.
    let sparse = r#"value = "838 TFLOP/s"
printed"#;
    let dense = r#"value = "419 TFLOP/s"
printed"#;
    let geforce = changed(device!("rtx-5090"), r#"range = ["209.5 TFLOP/s", "419 TFLOP/s"]"#, "");
    assert!(geforce.contains(dense));
    doubted(&geforce, dense, sparse, "rates.bf16");
    let fp4 = r#"fp4 = { value = "10000"#;
    doubted(device!("gb200"), fp4, r#"fp4 = { value = "20000"#, "rates.fp4");
}

/// GenZ's GH200 (bf16 1979, which is fp8's), GB200 (4500) and B100 (3500), and a GB200 of 13,400 GB/s in
/// InferSim.
#[test]
fn figures_of_another_type_or_another_device() {
    for (generation, bandwidth, bf16, fp8) in [
        ("hopper", 4000, 1979, 3958),
        ("blackwell", 8000, 4500, 9000),
        ("blackwell", 8000, 3500, 7000),
    ] {
        let text = format!(
            "name = \"wrong\"\ngeneration = \"{generation}\"\n[memory]\ncapacity = \"96 GiB\"\n\
             bandwidth = \"{bandwidth} GB/s\"\n[rates]\nbf16 = \"{bf16} TFLOP/s\"\nfp8 = \"{fp8} TFLOP/s\""
        );
        let found = doubts(&text);
        assert!(found.iter().any(|doubt| doubt.starts_with("rates.bf16")), "{found:?}");
    }
    doubted(&superchip(), r#"value = "8184 GB/s""#, r#"value = "13400 GB/s""#, "memory.bandwidth");
}

#[test]
fn totals_of_boards_and_servers() {
    for (name, text) in [("HGX", device!("h100-sxm")), ("DGX", device!("b200-sxm"))] {
        let device = Device::from_toml(text).unwrap();
        let eight = device.dense_rate(MathType::Bf16).unwrap() * 8.0;
        let found = device.with_rate(MathType::Bf16, eight).unwrap().doubts();
        assert!(found.iter().any(|doubt| doubt.starts_with("rates.bf16")), "{name}: {found:?}");
    }
    let superchip = &superchip();
    doubted(superchip, r#"value = "186 GiB""#, r#"value = "372 GiB""#, "memory.capacity");
    doubted(superchip, r#"value = "8184 GB/s""#, r#"value = "16368 GB/s""#, "memory.bandwidth");
    doubted(superchip, r#"value = "2500 TFLOP/s""#, r#"value = "5000 TFLOP/s""#, "rates.bf16");
    let card = device!("mi250x");
    doubted(card, r#"value = "64 GiB""#, r#"value = "128 GiB""#, "memory.capacity");
    doubted(card, r#"value = "1638.5 GB/s""#, r#"value = "3277 GB/s""#, "memory.bandwidth");
    doubted(card, r#"value = "191.5 TFLOP/s""#, r#"value = "383 TFLOP/s""#, "rates.bf16");
    doubted(device!("h100-sxm"), r#"value = "700 W""#, r#"value = "10.2 kW""#, "power.tdp");
}

#[test]
fn both_directions_of_a_link() {
    for (text, one, both) in [
        (device!("a100-sxm-80"), "300", "600"),
        (device!("h100-sxm"), "450", "900"),
        (device!("b200-sxm"), "900", "1800"),
        (device!("mi300x"), "448", "896"),
    ] {
        let (one, both) = (format!("\"{one} GB/s\""), format!("\"{both} GB/s\""));
        doubted(text, &one, &both, "link.each_way");
    }
    // Bits for bytes.
    doubted(device!("h100-sxm"), "400 Gb/s\"", "4000 GB/s\"", "network.each_way");
}

#[test]
fn decimal_gigabytes_and_other_units() {
    doubted(device!("a100-sxm-80"), r#""80 GiB""#, r#""80 GB""#, "memory.capacity");
    doubted(device!("l4"), r#""300 GB/s""#, r#""300 Gb/s""#, "memory.");
    doubted(device!("l40s"), r#""48.3 GB""#, r#""24 GB""#, "memory.usable");
}

#[test]
fn accumulators_and_ratios_that_are_not_stated() {
    let ultra = device!("gb300");
    doubted(ultra, ", ratio = 3", "", "rates.fp4");
    let fp8 = "ratio = 1\nsource = \"intel\"";
    doubted(device!("gaudi3"), fp8, "source = \"intel\"", "rates.fp8");
    doubted(device!("gb200"), r#"value = "10000 "#, r#"ratio = 4, value = "20000 "#, "rates.fp4");
    doubted(
        device!("l40s"),
        r#"fp8 = { value = "733 "#,
        r#"fp8 = { ratio = 4, value = "1466 "#,
        "rates.fp8",
    );
    let device = Device::named("rtx-4090").unwrap().clone();
    let half = device.with_rate(MathType::Bf16, FlopsPerSec::new(165.2e12)).unwrap();
    assert!(half.doubts()[0].contains("another accumulator"), "{:?}", half.doubts());
}

#[test]
fn prices_of_something_else() {
    doubted(device!("l4"), "high = 0.78", "high = 7800", "prices");
    doubted(device!("h100-sxm"), "low = 6.16", "low = 49.28", "prices");
}

#[test]
fn a_generation_that_nobody_knows() {
    doubted(device!("l4"), r#""ada""#, r#""adda""#, "generation \"adda\" is not known");
    let plain = changed(device!("l4"), "generation = \"ada\"\n", "");
    assert_eq!(doubts(&plain), [""; 0]);
}

/// A device of whose generation nothing is known.
fn plain(more: &str) -> String {
    format!(
        "name = \"new\"\n[memory]\ncapacity = \"80 GiB\"\nbandwidth = \"3350 GB/s\"\n\
         [rates]\nbf16 = \"900 TFLOP/s\"\n{more}"
    )
}

#[test]
fn what_holds_of_any_device_is_held_against_a_new_one() {
    assert_eq!(doubts(&plain("")), [""; 0]);
    for (more, field) in [
        ("fp8 = \"3600 TFLOP/s\"", "rates.fp8"),
        ("fp8 = \"900 TFLOP/s\"", "rates.fp8"),
        ("int8 = \"450 TOP/s\"", "rates.int8"),
        ("fp8 = \"1800 TFLOP/s\"\nfp4 = \"7200 TFLOP/s\"", "rates.fp4"),
        ("fp8 = \"1800 TFLOP/s\"\nfp4 = \"900 TFLOP/s\"", "rates.fp4"),
        ("fp4 = \"7200 TFLOP/s\"", "rates.fp4"),
        ("[power]\ntdp = \"7 kW\"", "power.tdp"),
        ("[power]\ntdp = \"100 W\"", "rates.bf16 over power.tdp"),
        ("[link]\ntopology = \"pcie\"\neach_way = \"900 GB/s\"", "link.each_way"),
        ("[network]\neach_way = \"3200 GB/s\"", "network.each_way"),
        ("[network]\neach_way = \"1 GB/s\"", "network.each_way"),
    ] {
        let found = doubts(&plain(more));
        assert!(found.len() == 1 && found[0].starts_with(field), "{more}: {found:?}");
    }
    for stated in ["fp8 = { value = \"900 TFLOP/s\", ratio = 1 }", "fp4 = \"3600 TFLOP/s\""] {
        assert_eq!(doubts(&plain(stated)), [""; 0], "{stated}");
    }
    let slow = changed(&plain(""), "3350 GB/s", "3350 MB/s");
    assert!(doubts(&slow).iter().any(|doubt| doubt.starts_with("memory.capacity over")));
}

/// On one side of each limit nothing is doubted, and on the other one thing.
#[test]
fn what_is_doubted_ends_where_its_rule_does() {
    let prices = |low: &str, high: &str| {
        format!(
            "[[prices]]\nlow = {low}\nhigh = {high}\nkind = \"x\"\nsource = \"y\"\ndate = \"2026\""
        )
    };
    let fp8 = |rate: u32| format!("fp8 = \"{rate} TFLOP/s\"");
    let fp4 = |rate: u32| format!("fp8 = \"1800 TFLOP/s\"\nfp4 = \"{rate} TFLOP/s\"");
    let stated = |ratio: &str, rate: u32| {
        format!("fp8 = \"1800 TFLOP/s\"\nfp4 = {{ value = \"{rate} TFLOP/s\", ratio = {ratio} }}")
    };
    let link = |each_way: &str| format!("[link]\ntopology = \"pcie\"\neach_way = \"{each_way}\"");
    let power = |watts: &str| format!("[power]\ntdp = \"{watts}\"");
    for (good, bad) in [
        // 1800 TFLOP/s within 4 %, either way.
        (fp8(1865), fp8(1880)),
        (fp8(1735), fp8(1720)),
        (fp4(3730), fp4(3760)),
        (fp4(1735), fp4(1720)),
        (stated("3", 5600), stated("3", 5650)),
        // A ratio that nobody has counts for nothing.
        (stated("2", 3700), stated("3.5", 6300)),
        (prices("0.02", "0.02"), prices("0.019", "0.02")),
        (prices("40", "40"), prices("40", "40.1")),
        (prices("1", "10"), prices("1", "10.1")),
        (link("830 GB/s"), link("840 GB/s")),
        (link("3.4 GB/s"), link("3.3 GB/s")),
        // 900 TFLOP/s at 0.05 to 3 a watt.
        (power("301 W"), power("299 W")),
        (power("2000 W"), power("2001 W")),
    ] {
        assert_eq!(doubts(&plain(&good)), [""; 0], "{good}");
        assert_eq!(doubts(&plain(&bad)).len(), 1, "{bad}: {:?}", doubts(&plain(&bad)));
    }
    // Of a generation: 144 GiB, 1935 to 4917 GB/s and 989.5 TFLOP/s, a hundredth more or less for rounding.
    let hopper = |memory: &str, bandwidth: &str, bf16: &str| {
        let text = plain("").replace("\"new\"", "\"new\"\ngeneration = \"hopper\"");
        let text = changed(&text, "80 GiB", memory);
        doubts(&changed(&changed(&text, "3350 GB/s", bandwidth), "900 TFLOP/s", bf16))
    };
    let first =
        |found: Vec<String>| found.first().map(|doubt| doubt.split(';').next().unwrap().to_owned());
    assert_eq!(first(hopper("145 GiB", "1916 GB/s", "999 TFLOP/s")), None);
    assert_eq!(first(hopper("80 GiB", "4966 GB/s", "900 TFLOP/s")), None);
    for (memory, bandwidth, bf16, said) in [
        ("146 GiB", "3350 GB/s", "900 TFLOP/s", "memory.capacity is 156.77 GB"),
        ("80 GiB", "1915 GB/s", "900 TFLOP/s", "memory.bandwidth is 1.915 TB/s"),
        ("80 GiB", "4967 GB/s", "900 TFLOP/s", "memory.bandwidth is 4.967 TB/s"),
        ("80 GiB", "3350 GB/s", "1000 TFLOP/s", "rates.bf16 is 1 PFLOP/s"),
    ] {
        let found = first(hopper(memory, bandwidth, bf16)).unwrap_or_default();
        assert_eq!(found, said.replace("1 PFLOP/s", "1000 TFLOP/s"));
    }
}

/// Digits where they tell something, and none where not.
#[test]
fn what_is_unusual_is_said_with_its_number() {
    let said = |more: &str| doubts(&plain(more)).remove(0);
    let link = said("[link]\ntopology = \"pcie\"\neach_way = \"900 GB/s\"");
    assert!(link.ends_with(": 0.269, where 0.001 to 0.25 is usual"), "{link}");
    let power = said("[power]\ntdp = \"7 kW\"");
    assert!(power.ends_with(": 7000, where 5 to 2000 is usual"), "{power}");
    let usable = changed(&plain(""), "\"80 GiB\"", "\"80 GiB\"\nusable = \"60 GiB\"");
    assert!(doubts(&usable)[0].starts_with("memory.usable is 75 % of"), "{:?}", doubts(&usable));
    // Neither whole gigabytes nor whole MiB may be a sum of something.
    assert_eq!(doubts(&changed(&plain(""), "80 GiB", "80.5 GB")), [""; 0]);
    let decimal = &doubts(&changed(&plain(""), "80 GiB", "80 GB"))[0];
    assert!(decimal.starts_with("memory.capacity is 80 GB in decimal, 74.5 GiB:"), "{decimal}");
}

#[test]
fn a_print_that_says_it_is_of_something_else() {
    for (more, claim) in [
        (
            "fp8 = { value = \"1800 TFLOP/s\", printed = \"1800 TFLOP/s with sparsity\" }",
            "sparsity",
        ),
        ("fp8 = { value = \"1800 TFLOP/s\", printed = \"1.8 PFLOP/s for two\" }", "for two"),
        ("[power]\ntdp = { value = \"700 W\", printed = \"700 W for eight\" }", "for eight"),
        (
            "[link]\ntopology = \"pcie\"\n\
             each_way = { value = \"128 GB/s\", printed = \"128 GB/s, both directions\" }",
            "both directions",
        ),
    ] {
        let found = doubts(&plain(more));
        assert!(found.len() == 1 && found[0].ends_with(claim), "{more}: {found:?}");
    }
    let dense =
        "fp8 = { value = \"1800 TFLOP/s\", printed = \"1800 TFLOP/s, 3600 with sparsity\" }";
    assert_eq!(doubts(&plain(dense)), [""; 0]);
}

/// It was taken as the name of a source without a date.
#[test]
fn a_misspelt_source() {
    let named = r#"bandwidth = { value = "1008 GB/s", source = "sheet""#;
    doubted(device!("rtx-4090"), named, &named.replace("sheet", "shet"), "memory.bandwidth: its");
    doubted(device!("rtx-4090"), "source = \"runpod\"", "source = \"runpot\"", "prices: its");
    // One that is spelt out is dated.
    let spelt = named.replace("sheet\"", "a page\", date = \"2026\"");
    assert_eq!(doubts(&changed(device!("rtx-4090"), named, &spelt)), [""; 0]);
}
