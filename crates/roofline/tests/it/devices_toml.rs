//! Devices from TOML files of one's own.

use fizeau_core::{Bytes, BytesPerSec, Seconds};
use fizeau_roofline::{
    CachedRead, Collective, ContextSpan, Device, KnownModel, MathType, Pass, ReductionSite,
    Topology,
};
use proptest::prelude::*;

use crate::devices_doubts::{changed, device};
use crate::{fixed, single};

const SMALLEST: &str = r#"
name = "mine"

[memory]
capacity = "24 GiB"
bandwidth = "1.008 TB/s"

[rates]
bf16 = "165 TFLOP/s"
"#;

fn error(text: &str) -> String {
    Device::from_toml(text).unwrap_err().to_string()
}

#[test]
fn three_figures_are_enough() {
    let mine = Device::from_toml(SMALLEST).unwrap();
    assert_eq!((&*mine.name, &*mine.title), ("mine", "mine"));
    assert_eq!(mine.memory().get(), 25_769_803_776.0);
    assert_eq!(mine.usable_memory(), mine.memory());
    assert_eq!(mine.memory_bandwidth().get(), 1.008e12);
    assert_eq!(mine.dense_rate(MathType::Bf16).unwrap().get(), 165e12);
    assert_eq!(mine.dense_rate(MathType::Fp8), None);
    assert_eq!((mine.link(), mine.network(), mine.tdp()), (None, None, None));
    assert_eq!(mine.source(), "given by the file");
    assert_eq!(mine.doubts(), [""; 0]);
    let numbers = SMALLEST
        .replace("\"24 GiB\"", "25_769_803_776")
        .replace("\"1.008 TB/s\"", "1008e9")
        .replace("\"165 TFLOP/s\"", "165_000_000_000_000");
    let by_numbers = Device::from_toml(&numbers).unwrap();
    assert_eq!(by_numbers.memory(), mine.memory());
    assert_eq!(by_numbers.memory_bandwidth(), mine.memory_bandwidth());
    assert_eq!(by_numbers.dense_rate(MathType::Bf16), mine.dense_rate(MathType::Bf16));
}

#[test]
fn links_of_every_kind() {
    let with = |link: &str| Device::from_toml(&format!("{SMALLEST}[link]\n{link}"));
    let topology = |link: &str| with(link).unwrap().link().unwrap().topology;
    let each_way = "each_way = \"50 GB/s\"\n";
    assert_eq!(
        topology(&format!("{each_way}topology = \"switch\"\ndevices = 4\nreduces = \"in-switch\"")),
        Topology::Switch { domain: 4, reduces: ReductionSite::InSwitch }
    );
    assert_eq!(
        topology(&format!("{each_way}topology = \"switch\"\ndevices = 4")),
        Topology::Switch { domain: 4, reduces: ReductionSite::AtEndpoints }
    );
    let mesh = format!("{each_way}topology = \"mesh\"\ndevices = 8");
    assert_eq!(topology(&mesh), Topology::Mesh { domain: 8, pair: None });
    let torus = format!("{each_way}topology = \"torus\"\ndimensions = 3");
    assert_eq!(topology(&torus), Topology::Torus { dimensions: 3 });
    assert_eq!(topology(&format!("{each_way}topology = \"pcie\"")), Topology::Pcie);
    let pair = BytesPerSec::new(56e9);
    let bridge = format!("{each_way}topology = \"bridge\"\npair = \"56 GB/s\"");
    assert_eq!(topology(&bridge), Topology::Bridge { pair, cards: 2 });
    let four = format!("{bridge}\ncards = 4");
    assert_eq!(topology(&four), Topology::Bridge { pair, cards: 4 });
    let dies = format!("{mesh}\npair = \"56 GB/s\"");
    assert_eq!(topology(&dies), Topology::Mesh { domain: 8, pair: Some(pair) });
}

/// Collectives as they were measured: alpha and beta over a range of sizes.
#[test]
fn collectives_are_read_and_told() {
    let table = "\n[sources]\nprobe = { name = \"a probe\" }\n\n[[collectives]]\nop = \"all-reduce\"\nranks = 8\nfrom = 32768\nto = \"1 MiB\"\n\
        alpha = \"12 us\"\nbeta = 1.5e11\nwithin = 0.04\nsource = \"probe\"\n";
    let text = format!("{SMALLEST}{table}");
    let device = Device::from_toml(&text).unwrap();
    let [line] = device.collectives() else { panic!("{:?}", device.collectives()) };
    assert_eq!((line.collective, line.ranks, &*line.source), (Collective::AllReduce, 8, "a probe"));
    assert_eq!(line.sizes.map(Bytes::get), [32_768.0, 1_048_576.0]);
    assert_eq!((line.latency.get(), line.within), (12e-6, 0.04));
    let time = line.time(Bytes::new(1.5e5)).total().get();
    assert!((time - 13e-6).abs() < 1e-15, "{time}");
    let json = serde_json::to_value(&device).unwrap();
    assert_eq!(json["collectives"][0]["beta_bytes_per_s"], 1.5e11);

    for (from, to, wanted) in [
        (
            "all-reduce",
            "allreduce",
            "line 15: `collectives[1].op` is \"allreduce\"; it must be one of all-reduce, ",
        ),
        (
            "ranks = 8",
            "ranks = 1",
            "line 16: `collectives[1].ranks` is 1; it must be a whole number from 2",
        ),
        (
            "32768",
            "\"2 MiB\"",
            "smallest size is 2097152; it must be a number of bytes, no more than its largest",
        ),
        (
            "alpha = \"12 us\"\nbeta = 1.5e11\n",
            "",
            "latency is 0; it must be above 0 where it has no bandwidth",
        ),
        ("from = 32768\n", "", "`collectives[1].from` is missing"),
    ] {
        let error = error(&text.replace(from, to));
        assert!(error.contains(wanted), "{error}");
    }
}

#[test]
fn a_latency_that_is_not_given_is_marked_as_assumed() {
    let link = "[link]\ntopology = \"pcie\"\neach_way = \"32 GB/s\"\n";
    let assumed = Device::from_toml(&format!("{SMALLEST}{link}")).unwrap();
    let cell = assumed.cells().find(|cell| cell.field == "link.latency").unwrap();
    assert!(cell.is_unverified && cell.source.contains("assumption"), "{cell:?}");
    assert_eq!(assumed.link().unwrap().latency, Seconds::new(3e-6));
    let given = Device::from_toml(&format!("{SMALLEST}{link}latency = \"900 ns\"")).unwrap();
    assert_eq!(given.link().unwrap().latency, Seconds::new(900.0 * 1e-9));
}

#[test]
fn a_file_tells_of_each_figure_what_it_knows() {
    let text = r#"
        name = "mine"
        title = "My card"
        aliases = ["ours"]
        [sources]
        sheet = { name = "a data sheet", date = "2026-03" }
        [memory]
        capacity = { value = "24 GiB", printed = "24 GB", source = "sheet" }
        usable = { value = "23 GiB", source = "nvidia-smi", date = "2026-11-21" }
        bandwidth = { value = "1 TB/s", range = ["0.9 TB/s", "1 TB/s"], source = "sheet", unverified = true, note = "?" }
        [rates]
        bf16 = "165 TFLOP/s"
        [[prices]]
        low = 1
        source = "sheet"
        date = "2026-04"
        "#;
    let mine = Device::from_toml(text).unwrap();
    assert_eq!((&*mine.title, &*mine.aliases), ("My card", &["ours".to_owned()][..]));
    let cell = |field| mine.cells().find(|cell| cell.field == field).unwrap();
    let capacity = cell("memory.capacity");
    assert_eq!((&*capacity.value, capacity.printed.as_deref()), ("24 GiB", Some("24 GB")));
    assert_eq!((&*capacity.source, capacity.date.as_deref()), ("a data sheet", Some("2026-03")));
    let usable = cell("memory.usable");
    assert_eq!((&*usable.source, usable.date.as_deref()), ("nvidia-smi", Some("2026-11-21")));
    let bandwidth = cell("memory.bandwidth");
    assert_eq!(
        (bandwidth.range(), bandwidth.note.as_deref()),
        (Some(("0.9 TB/s", "1 TB/s")), Some("?"))
    );
    assert!(bandwidth.is_unverified && !usable.is_unverified);
    assert_eq!(cell("rates.bf16").date, None);
    let price = mine.prices.first().unwrap();
    assert_eq!((price.low, &*price.source, &*price.date), (price.high, "a data sheet", "2026-04"));
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let swap = |from, to| error(&changed(SMALLEST, from, to));
    for (message, words) in [
        (error(""), &["`name` is missing"][..]),
        (error("name = "), &["line 1"]),
        (error("{}"), &["line 1"]),
        (swap("capacity = \"24 GiB\"\n", ""), &["`memory.capacity` is missing", "80 GiB"]),
        (swap("[rates]\nbf16", "rates.bf16"), &["line 8", "`memory.rates` is not known"]),
        (
            swap("\"24 GiB\"", "\"24 Gib\""),
            &["line 5", "`memory.capacity` is \"24 Gib\"", "80 GiB"],
        ),
        (swap("\"24 GiB\"", "-24"), &["line 5", "`memory.capacity` is -24"]),
        (swap("\"24 GiB\"", "nan"), &["line 5", "`memory.capacity` is nan"]),
        (swap("\"24 GiB\"", "[24]"), &["line 5", "`memory.capacity` is a list"]),
        (swap("\"1.008 TB/s\"", "\"1.008 TB\""), &["line 6", "`memory.bandwidth`", "3350 GB/s"]),
        (swap("\"165 TFLOP/s\"", "\"165 TFLOPS\""), &["line 9", "`rates.bf16`", "989 TFLOP/s"]),
        (swap("bandwidth", "bandwith"), &["line 6", "`memory.bandwith` is not known", "bandwidth"]),
        (swap("bandwidth", "\"band\\nwidth\""), &["line 6", "`memory.band\\nwidth` is not known"]),
        (swap("\"mine\"", "7"), &["line 2", "`name` is 7"]),
        (swap("\"mine\"", "\" \""), &["line 2", "`name`"]),
        (swap("\"mine\"", "\"mi\\nne\""), &["line 2", "`name`", "a line of text"]),
        (swap("\"mine\"", "\"\\u001b[2J\""), &["line 2", "`name`", "a line of text"]),
        (swap("24 GiB", "1 GiB\"\nusable = \"2 GiB"), &["usable memory", "at most"]),
        (swap("[memory]", "[memory]\nusable = { }"), &["`memory.usable.value` is missing"]),
    ] {
        for word in words {
            assert!(message.contains(word), "{word}: {message}");
        }
        assert!(!message.contains('\n') && message.len() < 250, "{message}");
    }
}

#[test]
fn what_is_wrong_with_links_prices_and_sources_is_named_too() {
    let more = |text: &str| error(&format!("{SMALLEST}{text}"));
    for (message, words) in [
        (
            more("[link]\ntopology = \"ring\""),
            &["line 11", "`link.topology` is \"ring\"", "torus"][..],
        ),
        (more("[link]\neach_way = \"1 GB/s\""), &["`link.topology` is missing"]),
        (more("[link]\ntopology = \"pcie\""), &["`link.each_way` is missing"]),
        (more("[link]\ntopology = \"mesh\"\ndevices = 1"), &["line 12", "`link.devices` is 1"]),
        (more("[link]\ntopology = \"pcie\"\ndevices = 8"), &["`link.devices` is not known"]),
        (more("[link]\ntopology = \"torus\"\ndimensions = 0x3"), &["`link.dimensions`"]),
        (more("[network]\ntopology = \"pcie\""), &["`network.topology` is not known"]),
        (more("[[prices]]\nhigh = 2"), &["`prices[1].low` is missing"]),
        (more("[[prices]]\nlow = \"2 $\""), &["`prices[1].low` is \"2 $\"", "dollars"]),
        (more("[prices]\nlow = 2"), &["`prices` is a table", "[[prices]]"]),
        (more("[[prices]]\nlow = 2\nhigh = 1"), &["lowest price"]),
        (more("[sources]\na = \"b\""), &["`sources.a` is \"b\""]),
        (more("[sources]\na = { name = \"b\", date = \"May\" }"), &["`sources.a.date` is \"May\""]),
        (more("[power]\ntdp = { value = 1, range = [2, 3] }"), &["`power.tdp.range`", "between"]),
    ] {
        for word in words {
            assert!(message.contains(word), "{word}: {message}");
        }
    }
}

proptest! {
    #![proptest_config(fixed())]

    /// Whatever is written in the place of a figure, there is a device or one line that says what is wrong.
    #[test]
    fn no_text_does_harm(value in "\\PC{0,40}", at in 0_usize..200, cut in 0_usize..200) {
        for text in [
            changed(SMALLEST, "\"24 GiB\"", &value),
            changed(SMALLEST, "24 GiB", &value),
            format!("{}{value}{}", &SMALLEST[..at.min(cut).min(SMALLEST.len())], &SMALLEST[cut.min(SMALLEST.len())..]),
        ] {
            match Device::from_toml(&text) {
                Ok(device) => {
                    prop_assert!(device.memory().get() > 0.0 && device.memory().get().is_finite());
                    let _ = device.doubts();
                }
                Err(error) => prop_assert!(!error.to_string().contains('\n'), "{error}"),
            }
        }
    }

    /// A figure means the same with its unit and without.
    #[test]
    fn units_are_only_another_spelling(gib in 1_u32..1024, gb_per_s in 1_u32..20_000) {
        let text = changed(SMALLEST, "24 GiB", &format!("{gib} GiB"));
        let with_units = Device::from_toml(&changed(&text, "1.008 TB/s", &format!("{gb_per_s} GB/s"))).unwrap();
        let text = changed(SMALLEST, "\"24 GiB\"", &(u64::from(gib) << 30).to_string());
        let numbers = changed(&text, "\"1.008 TB/s\"", &format!("{gb_per_s}e9"));
        let numbers = Device::from_toml(&numbers).unwrap();
        prop_assert_eq!(with_units.memory(), numbers.memory());
        prop_assert_eq!(with_units.memory_bandwidth(), numbers.memory_bandwidth());
    }
}

#[test]
fn a_file_of_the_table_is_a_pattern_for_ones_own() {
    let mine = changed(device!("h100-sxm"), "name = \"h100-sxm\"", "name = \"mine\"");
    let mine = Device::from_toml(&mine).unwrap();
    let known = Device::named("h100-sxm").unwrap();
    assert_eq!(mine.cells().collect::<Vec<_>>(), known.cells().collect::<Vec<_>>());
    assert_eq!((mine.link(), &mine.prices), (known.link(), &known.prices));
}

#[test]
fn units_are_told_apart_and_shown_as_they_suit() {
    let with = |old: &str, new: &str| Device::from_toml(&SMALLEST.replace(old, new));
    let memory = |text: &str| with("24 GiB", text).map(|device| device.memory().get());
    assert_eq!(memory("80 GB"), Ok(80e9));
    assert_eq!(memory("80GiB"), Ok(80.0 * 1_073_741_824.0));
    for wrong in
        ["80", "GB", "", "80 GBit", "80 gb", "-80 GB", "0 GB", "8.0.0 GB", "1e9 B", "80 GB/s"]
    {
        assert!(memory(wrong).is_err(), "{wrong}");
    }
    let bandwidth = |text: &str| with("1.008 TB/s", text).map(|of| of.memory_bandwidth().get());
    assert_eq!([bandwidth("3.35 TB/s"), bandwidth("400 Gb/s")], [Ok(3.35e12), Ok(50e9)]);
    let rate = |text: &str| {
        with("165 TFLOP/s", text).map(|of| of.dense_rate(MathType::Bf16).unwrap().get())
    };
    assert_eq!([rate(" 989.5 TFLOP/s "), rate("154 TOP/s")], [Ok(989.5e12), Ok(154e12)]);
    let power = Device::from_toml(&format!("{SMALLEST}[power]\ntdp = \"1.4 kW\"")).unwrap();
    assert_eq!(power.tdp().unwrap().get(), 1400.0);

    // Numbers are shown in the unit that suits them.
    let plain = "name = \"mine\"\n[memory]\ncapacity = 24e9\nbandwidth = 3.35e12\n[rates]\nbf16 = 989.5e12\n[power]\ntdp = 700\n\
                 [link]\ntopology = \"pcie\"\neach_way = 50e9\nlatency = 2e-6";
    let plain = Device::from_toml(plain).unwrap();
    let shown: Vec<&str> = plain.cells().map(|cell| cell.value.as_str()).collect();
    for value in ["24 GB", "3.35 TB/s", "989.5 TFLOP/s", "700 W", "2 us"] {
        assert!(shown.contains(&value), "{value} in {shown:?}");
    }
}

/// A small model's weights stay in caches from step to step: its bound reads them at what was seen of arrays of their size.
#[test]
fn weights_that_caches_hold_are_read_at_their_rate() {
    let cached = |rows: &str| SMALLEST.replace("[rates]", &format!("{rows}\n[rates]"));
    let row = |size: &str, rate: &str| {
        format!("[[memory.cached]]\nworking_set = \"{size}\"\nbandwidth = \"{rate}\"\n")
    };
    let both = Device::from_toml(&cached(&format!(
        "{}{}",
        row("4 GiB", "2 TB/s"),
        row("1 MiB", "9 TB/s")
    )))
    .unwrap();
    assert_eq!(both.cached_reads().len(), 2);
    // 1.19 GB of weights are more than the smaller size and less than the larger.
    let model = || KnownModel::named("qwen3-0.6b").unwrap().model().unwrap();
    let step = |device: &Device| {
        single(model(), device).bound_pass(&Pass::decode(1.0, ContextSpan::at(0.0))).weights.get()
    };
    let memory = step(&Device::from_toml(SMALLEST).unwrap());
    assert!((memory / step(&both) - 9.0 / 1.008).abs() < 1e-9);
    let system = single(model(), &both);
    let note = "caches of mine hold part of the weights from step to step: they are read at up to 9000 GB/s, memory at 1008 GB/s";
    assert!(system.notes().iter().any(|told| told == note), "{:?}", system.notes());
    // A system made of a system's device reads as it does; one with twice the bandwidth twice as fast.
    let twice = system.with_bandwidth(2.0).unwrap();
    assert_eq!(twice.device().memory_bandwidth().get(), 18e12);
    let refused = error(&cached(&row("1 MiB", "fast")));
    assert!(refused.contains("`memory.cached[1].bandwidth` is \"fast\""), "{refused}");
}

proptest! {
    #![proptest_config(fixed())]

    /// More of a working set is never read faster, and never slower than memory.
    #[test]
    fn larger_working_sets_are_never_read_faster(
        reads in prop::collection::vec((1.0_f64..1e10, 1e9_f64..1e13), 0..6), sizes in prop::array::uniform2(1.0_f64..1e11),
    ) {
        let mut device = Device::from_toml(SMALLEST).unwrap();
        for (size, rate) in reads {
            let read = CachedRead { working_set: Bytes::new(size), bandwidth: BytesPerSec::new(rate) };
            device = device.with_cached_read(read).unwrap();
        }
        let rate = |size: f64| device.read_bandwidth(Bytes::new(size)).get();
        let [less, more] = [sizes[0].min(sizes[1]), sizes[0].max(sizes[1])];
        prop_assert!(rate(less) >= rate(more) && rate(more) >= 1.008e12);
    }
}
