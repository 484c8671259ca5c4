//! The quality of the table's data.

use std::collections::HashSet;

use fizeau_roofline::{
    Deployment, Device, KnownModel, MathType, PublishedFigure, System, Topology,
};

#[test]
fn names_are_unique_and_canonical() {
    let mut names = HashSet::new();
    for device in Device::all() {
        let aliases = device.aliases.iter().map(String::as_str);
        for name in std::iter::once(device.name.as_str()).chain(aliases) {
            assert!(names.insert(name), "{name} is used twice");
            let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(name.chars().all(is_plain), "{name} cannot be found");
        }
    }
    let titles: HashSet<&str> = Device::all().iter().map(|device| device.title.as_str()).collect();
    assert_eq!(titles.len(), Device::all().len(), "a title is used twice");
}

/// Each entry a second time, against slips of typing: printed figures are typed from the sources independently of the
/// files, derived ones (halves of what is printed, int8 as fast as fp8, shares of a board) are only repeated. Bandwidth
/// in GB/s, dense rates in TFLOP/s, link in GB/s one direction, power in watts; `-` where there is none.
const SECOND_COPY: &str = "
    name                GiB  GB/s   bf16   fp8    fp4   int8   link  W
    a100-sxm-40          40  1555   312    -      -      624   300   400
    a100-sxm-80          80  2039   312    -      -      624   300   400
    a100-pcie-80         80  1935   312    -      -      624    32   300
    h100-sxm             80  3350   989.5  1979   -     1979   450   700
    h100-pcie            80  2039   819.5  1639   -     1639    64   350
    h100-nvl             94  3938   965.1  1930   -     1930    64   400
    h800-sxm             80  3350   989    1979   -     1979   200   700
    h200-sxm            141  4917   989    1979   -     1979   450   700
    h200-nvl            141  4917   965.1  1930   -     1930    64   600
    h20                  96  4096   148    296    -      296   450   500
    b200-sxm            180  8184  2382    4765  10000  4765   900  1000
    gb200               186  8184  2500    5000  10000  5000   900  1200
    b300-sxm            288  8000  2464    4927  15000  2464   900  1100
    gb300               288  8000  2500    5000  15000  2500   900  1400
    l4                   24   300   121    242    -      242    32    72
    l40s                 48   864   366.5  733    -      733    32   350
    rtx-4090             24  1008   330    661    -      661    32   450
    rtx-5090             32  1792   419    838    1676   838    64   575
    rtx-pro-6000-server  96  1792   504   1008    2015  1008    64   600
    dgx-spark           128   273   125    250    500  250      -    140
    mi250x               64  1638.5 191.5  -      -      191.5 200   280
    mi300x              192  5325  1307    2615   -     2615   448   750
    mi325x              256  6000  1307    2615   -     2615   448  1000
    mi350x              288  8000  2307    4614   9227  4614   537.6 1000
    mi355x              288  8000  2517    5033  10066  5033   537.6 1400
    gaudi2               96  2460   432    865    -    865     262.5 600
    gaudi3              128  3700  1835    1835   -   1835     600  1200
    tpu-v5e              16   859   197    -      -      394   200   -
    tpu-v5p              95  2765   459    -      -      918   600   -
    tpu-v6e              32  1638   918    918    -     1836   400   -
    tpu-v7x             192  7380  2307    4614   -   4614     600   -
    trainium2            96  2900   667    1299   -   1299     640   -
    inferentia2          32   880   190    190    -      380   206.2 -";

#[test]
fn figures_are_those_of_a_second_copy() {
    let lines: Vec<&str> = SECOND_COPY.trim().lines().skip(1).collect();
    assert_eq!(lines.len(), Device::all().len());
    for (line, device) in lines.iter().zip(Device::all()) {
        let (name, figures) = line.trim().split_once(' ').unwrap();
        assert_eq!(device.name, name, "in this order");
        let rate = |math| device.dense_rate(math).map(|rate| rate.get() / 1e12);
        let [bf16, fp8, fp4, int8] = MathType::ALL.map(rate);
        let found = [
            Some(device.memory().get() / 1_073_741_824.0),
            Some(device.memory_bandwidth().get() / 1e9),
            bf16,
            fp8,
            fp4,
            int8,
            device.link().map(|link| link.bandwidth.get() / 1e9),
            device.tdp().map(fizeau_core::Watts::get),
        ];
        for (found, typed) in found.iter().zip(figures.split_whitespace()) {
            let is_same = match (found, typed.parse::<f64>()) {
                (Some(found), Ok(typed)) => (found / typed - 1.0).abs() < 1e-3,
                (None, Err(_)) => typed == "-",
                _ => false,
            };
            assert!(is_same, "{name}: {found:?} and {typed}");
        }
    }
}

#[test]
fn no_figure_of_the_table_is_in_doubt() {
    for device in Device::all() {
        assert_eq!(device.doubts(), [""; 0], "{}", device.name);
        assert!(device.generation.is_some() && device.vendor.is_some(), "{}", device.name);
        assert!(device.title.starts_with(device.vendor.as_deref().unwrap()), "{}", device.title);
    }
}

#[test]
fn each_figure_has_a_source_and_a_date() {
    let this_century = |date: &str| (2015..2100).contains(&date[..4].parse::<u32>().unwrap());
    for device in Device::all() {
        for cell in device.cells() {
            let (name, field) = (&device.name, cell.field);
            assert!(this_century(cell.date.as_deref().unwrap()), "{name}: {field}");
            assert!(cell.source.len() > 8, "{name}: {field} names a key, {}", cell.source);
        }
        for price in &device.prices {
            assert!(this_century(&price.date), "{}", device.name);
            assert!(price.source.len() > 8 && !price.kind.is_empty(), "{}", device.name);
        }
        assert!(device.cells().any(|cell| !cell.is_unverified), "{}", device.name);
    }
}

/// "80 GB" is 80 x 2^30 bytes; the title has the number, and the cell what the sheet prints.
#[test]
fn memory_is_in_binary_with_the_print_beside_it() {
    for device in Device::all() {
        let gib = device.memory().get() / 1_073_741_824.0;
        assert_eq!(gib.fract(), 0.0, "{}", device.name);
        assert!(device.title.contains(&format!(" {gib} GB")), "{}", device.title);
        let cell = cell(device, "memory.capacity").unwrap();
        assert_eq!(cell.value, format!("{gib} GiB"));
        let printed = cell.printed.as_deref().unwrap();
        assert!(printed.contains("GB") || printed.contains("GiB"), "{}", device.name);
        assert!(device.usable_memory() <= device.memory(), "{}", device.name);
    }
}

/// Where sources disagree a bound takes the figure that it is sound with: the most, or of latencies the least.
#[test]
fn of_a_range_the_sound_end_is_used() {
    let mut ranges = 0;
    for device in Device::all() {
        for cell in device.cells() {
            let Some((least, most)) = cell.range() else { continue };
            ranges += 1;
            let sound = if cell.field.ends_with("latency") { least } else { most };
            assert_eq!(cell.value, sound, "{}: {}", device.name, cell.field);
        }
    }
    assert!(ranges > 10, "{ranges}");
}

/// What is printed of both directions is twice what is used.
#[test]
fn links_are_of_one_direction() {
    let mut halved = 0;
    for device in Device::all() {
        for cell in device.cells().filter(|cell| cell.field.starts_with("link.")) {
            let Some(printed) = cell.printed.as_deref().filter(|text| text.contains("both")) else {
                continue;
            };
            let number = |text: &str| -> f64 {
                let digits = |c: char| !(c.is_ascii_digit() || c == '.');
                text.split(digits).rfind(|word| !word.is_empty()).unwrap().parse().unwrap()
            };
            let (printed_number, used) = (number(printed), number(&cell.value));
            let is_half = [2.0, 2.0 * 8.0, 2.0 / 7.0]
                .iter()
                .any(|times| (printed_number / used / times - 1.0).abs() < 1e-9);
            assert!(is_half, "{}: {used} of \"{printed}\"", device.name);
            halved += 1;
        }
    }
    assert!(halved > 20, "{halved}");
}

#[test]
fn topologies_are_those_of_their_makers() {
    for device in Device::all() {
        let Some(link) = device.link() else {
            assert_eq!(device.name, "dgx-spark");
            continue;
        };
        let name = &device.name;
        let expected = match device.vendor.as_deref().unwrap() {
            "AMD" | "Intel" => "mesh",
            "Google" | "AWS" => "torus",
            _ if name.contains("sxm") || name.starts_with("gb") || name == "h20" => "switch",
            _ if name.contains("nvl") || name.contains("00-pcie") => "bridge",
            _ => "pcie",
        };
        assert_eq!(link.topology.name(), expected, "{name}");
        assert!((0.5e-6..10e-6).contains(&link.latency.get()), "{name}");
        if let Topology::Switch { domain, .. } = link.topology {
            assert_eq!(domain, if name.starts_with("gb") { 72 } else { 8 }, "{name}");
        }
    }
}

/// A bound on weights in 8-bit integers is sound only if the rate of units that are there is not left out.
#[test]
fn devices_with_fp8_units_multiply_integers_as_fast_but_for_cuts() {
    for device in Device::all() {
        let rate = |math| device.dense_rate(math).map(fizeau_core::FlopsPerSec::get);
        // Blackwell Ultra has next to no integer units: engines compute in bf16 there.
        let is_cut = device.generation.as_deref() == Some("blackwell-ultra");
        let least = if is_cut { rate(MathType::Bf16) } else { rate(MathType::Fp8) };
        if let Some(least) = least {
            assert!(rate(MathType::Int8).is_some_and(|int8| int8 >= least), "{}", device.name);
        }
    }
}

/// What no published figure was found for, or one without its direction; nobody publishes latencies. All else was held against two sources.
#[test]
fn what_is_unverified_is_known() {
    let flagged = Device::all().iter().flat_map(|device| {
        let cells =
            device.cells().filter(|cell| cell.is_unverified && !cell.field.ends_with("latency"));
        cells.map(|cell| format!("{} {}", device.name, cell.field))
    });
    let mut flagged: Vec<String> = flagged.collect();
    flagged.sort();
    assert_eq!(
        flagged,
        [
            "dgx-spark rates.bf16",
            "dgx-spark rates.fp8",
            "dgx-spark rates.int8",
            "gaudi2 rates.int8",
            "gaudi3 rates.int8",
            "h20 network.each_way",
            "h200-nvl memory.usable",
            "h800-sxm memory.usable",
            "h800-sxm power.tdp",
            "h800-sxm rates.int8",
            "inferentia2 link.each_way",
            "mi250x link.pair",
            "mi325x network.each_way",
            "mi350x network.each_way",
            "mi355x network.each_way",
            "tpu-v7x rates.int8",
            "trainium2 rates.int8",
        ]
    );
}

/// Names of sources that nobody can look up.
#[test]
fn what_only_custom_says_is_unverified() {
    for device in Device::all() {
        let cells = device.cells().map(|cell| (&cell.source, cell.is_unverified));
        let prices = device.prices.iter().map(|price| (&price.source, price.is_unverified));
        for (source, is_unverified) in cells.chain(prices) {
            let is_weak = ["commonly", "a guide", "derived"].iter().any(|w| source.contains(w));
            assert!(is_unverified || !is_weak, "{}: {source}", device.name);
        }
    }
}

#[test]
fn what_is_expected_of_a_rate_is_the_least_that_is_given() {
    let rates = |name, math| {
        let device = Device::named(name).unwrap();
        let tera = |rate: Option<fizeau_core::FlopsPerSec>| rate.unwrap().get() / 1e12;
        (tera(device.usual_rate(math)), tera(device.dense_rate(math)))
    };
    assert_eq!(rates("b300", MathType::Int8), (154.0, 2464.0));
    assert_eq!(rates("gb300", MathType::Int8), (165.0, 2500.0));
    assert_eq!(rates("rtx-4090", MathType::Bf16), (165.2, 330.3));
    assert_eq!(rates("gaudi2", MathType::Int8), (432.0, 865.0));
    assert_eq!(rates("h100-sxm", MathType::Fp8), (1979.0, 1979.0));
    assert_eq!(Device::named("a100").unwrap().usual_rate(MathType::Fp8), None);
}

/// A bound is made of the best that a probe saw, an expectation of what it typically saw; and a memory that is faster is so in both.
#[test]
fn what_is_expected_of_a_measured_memory_is_the_low_end_of_its_range() {
    let text = "name = \"a\"\n[sources]\nprobe = { name = \"fizeau probe 0.1.0 on vm\" }\n[memory]\ncapacity = 64e9\n\
                bandwidth = { value = 40186241922.0, range = [33609017245.0, 40186241922.0], source = \"probe\" }\n\
                [rates]\nbf16 = { value = 200484343185.0, range = [191271696234.0, 200484343185.0], source = \"probe\" }\n";
    let device = Device::from_toml(text).unwrap();
    assert_eq!(device.usual_bandwidth().get(), 33_609_017_245.0);
    let model = KnownModel::named("qwen3-0.6b").unwrap().model().unwrap();
    let system = System::new(model, device, Deployment::SINGLE).unwrap();
    let said = system.notes().join("\n");
    assert!(said.contains("its bf16 rate is 0.19 to 0.20 TFLOP/s; the bound uses"), "{said}");
    assert!(said.contains("its memory is read at 33.6 to 40.2 GB/s; the bound uses"), "{said}");
    let faster = system.with_bandwidth(2.0).unwrap();
    let [usual, best] = [Device::usual_bandwidth, Device::memory_bandwidth]
        .map(|rate| rate(faster.device()).get() / rate(system.device()).get());
    assert!((usual - 2.0).abs() < 1e-9 && (best - 2.0).abs() < 1e-9, "{usual} {best}");
    // Two figures that are printed differ in how they are counted.
    let printed = Device::named("h200-sxm").unwrap();
    assert_eq!(printed.usual_bandwidth(), printed.memory_bandwidth());
}

fn cell<'a>(device: &'a Device, field: &str) -> Option<&'a PublishedFigure> {
    device.cells().find(|cell| cell.field == field)
}

#[test]
fn every_file_is_a_device_of_the_table() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/data/devices");
    let files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    for file in &files {
        let read = Device::from_toml(&std::fs::read_to_string(file).unwrap());
        assert!(read.is_ok(), "{}: {}", file.display(), read.unwrap_err());
    }
    assert_eq!(files.len(), Device::all().len());
}
