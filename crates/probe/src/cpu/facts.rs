//! What is known of the processor and its machine before anything is measured.

use std::fs;

use fizeau_core::Bytes;

use super::topology::Topology;
use super::{peak, system};
use crate::device::{ArithmeticUnits, DeviceFacts};
use crate::host::ProbeHost;
use crate::measurement::Dtype;

/// Whether Linux gives huge pages to those who ask.
const HUGE_PAGES: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
/// What Linux says of this process.
const PROCESS: &str = "/proc/self/status";

fn line(path: &str) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

/// The machine, as far as the system tells.
pub(super) fn host() -> ProbeHost {
    let node = line("/proc/sys/kernel/hostname").or_else(|| std::env::var("COMPUTERNAME").ok());
    let mut host = ProbeHost::named(node.unwrap_or_else(|| "this machine".to_owned()));
    host.system = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    host.kernel = line("/proc/sys/kernel/osrelease");
    host.processors = u32::try_from(system::allowed_cpus().len()).ok().filter(|count| *count > 0);
    host.hypervisor = cpuinfo_has_flag("hypervisor").then(|| "a virtual machine".to_owned());
    let governor = line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    let pages = line(HUGE_PAGES);
    let settings = [
        governor.map(|governor| format!("clocks by the governor {governor}")),
        pages.as_deref().and_then(chosen).map(|pages| format!("transparent huge pages: {pages}")),
        (!system::HOLDS_THREADS).then(|| "threads cannot be held to processors here".to_owned()),
    ];
    host.settings = settings.into_iter().flatten().collect();
    host
}

/// Of `always [madvise] never` the one in brackets.
fn chosen(text: &str) -> Option<&str> {
    Some(text.split_once('[')?.1.split_once(']')?.0)
}

fn cpuinfo() -> String {
    fs::read_to_string("/proc/cpuinfo").unwrap_or_default()
}

/// What the first processor says under `name`.
fn first<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let value = |line: &'a str| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then_some(value.trim())
    };
    text.lines().find_map(value)
}

fn cpuinfo_has_flag(flag: &str) -> bool {
    first(&cpuinfo(), "flags").is_some_and(|flags| flags.split_whitespace().any(|has| has == flag))
}

/// The last cache, where nobody says: larger than most.
pub(super) const USUAL_LAST_CACHE: f64 = 64.0 * 1024.0 * 1024.0;

/// What is known of the processor, of which those of `topology` are used.
pub(super) fn device(topology: &Topology) -> DeviceFacts {
    let text = cpuinfo();
    let model = first(&text, "model name").unwrap_or("a processor that the system does not name");
    let mut device = DeviceFacts::new("cpu", model);
    device.memory = system::memory_bytes().map(Bytes::new);
    device.caches.clone_from(&topology.caches);
    device.last_cache = topology.last_caches;
    device.units = units(&text, topology.cores);
    device.unavailable = peak::missing();
    let unknown = [
        (
            device.memory.is_none(),
            "how much memory there is: this system is not asked; a device file needs the data sheet of one",
        ),
        (device.caches.is_empty(), "how large the caches are: the system does not say"),
        (
            !system::HOLDS_THREADS,
            "which thread ran where: this system does not hold threads to processors",
        ),
    ];
    let unknown = unknown.into_iter().filter_map(|(is_unknown, what)| is_unknown.then_some(what));
    device.unavailable.extend(unknown.map(str::to_owned));
    let (system, process) = (line(HUGE_PAGES), line(PROCESS));
    device.unavailable.extend(without_huge_pages(system.as_deref(), process.as_deref()));
    device
}

/// What is said where the system gives no huge pages, whoever asks, or none to this process.
fn without_huge_pages(system: Option<&str>, process: Option<&str>) -> Option<String> {
    let who = if system.and_then(chosen) == Some("never") {
        "this system gives none (transparent_hugepage is `never`)"
    } else if process.and_then(|status| first(status, "THP_enabled")) == Some("0") {
        "this process may have none (THP_enabled is 0 in /proc/self/status)"
    } else {
        return None;
    };
    Some(format!("arrays in huge pages: {who}; those rows lay in small ones"))
}

/// The units of processors that are known by family and model, or by implementer and part. A processor that is not has none here, and
/// no peak at its clock.
fn units(cpuinfo: &str, cores: u32) -> Vec<ArithmeticUnits> {
    let of =
        |dtype: Dtype, instructions: &str, flops_per_cycle: f64, source: &str| ArithmeticUnits {
            dtype,
            instructions: Some(instructions.to_owned()),
            flops_per_cycle,
            cores,
            source: source.to_owned(),
        };
    // A multiply-add of each element counts as two.
    let of_vectors = |bytes: f64, dtype: Dtype| 2.0 * bytes / dtype.element_bytes();
    if let Some(bytes) = neon_bytes_per_cycle(cpuinfo) {
        let both = [Dtype::F32, Dtype::F64];
        return both.map(|dtype| of(dtype, "neon", of_vectors(bytes, dtype), ARM)).to_vec();
    }
    let number = |name: &str| first(cpuinfo, name)?.parse::<u32>().ok();
    let vendor = first(cpuinfo, "vendor_id").unwrap_or_default();
    let (Some(family), Some(model)) = (number("cpu family"), number("model")) else {
        return Vec::new();
    };
    let Some((widths, source)) = fused_bytes_per_cycle(vendor, (family, model), cpuinfo) else {
        return Vec::new();
    };
    let sets = ["avx512", "avx2"].into_iter().zip(widths);
    let vectors = sets.flat_map(|(set, bytes)| {
        [Dtype::F32, Dtype::F64].map(|dtype| of(dtype, set, of_vectors(bytes, dtype), source))
    });
    // The tiles of a core multiply 16 x 64 bytes with 64 x 16 in 16 cycles.
    let has_tiles = vendor == "GenuineIntel" && matches!(model, 0x8f | 0xcf | 0xad | 0xae);
    let tiles = [(Dtype::Bf16, "amx_bf16", 1024.0), (Dtype::Int8, "amx_int8", 2048.0)];
    // A hypervisor may hide them.
    let flags = first(cpuinfo, "flags").unwrap_or_default();
    let is_offered = |set: &str| flags.split_whitespace().any(|flag| flag == set);
    let tiles = tiles.into_iter().filter(|(_, set, _)| has_tiles && is_offered(set));
    vectors.chain(tiles.map(|(dtype, set, per_cycle)| of(dtype, set, per_cycle, AMX))).collect()
}

const AMX: &str = "Intel, \"64 and IA-32 Architectures Optimization Reference Manual\": a product of two tiles every 16 cycles";
const ARM: &str =
    "Arm, \"Software Optimization Guide\" of the core: its pipelines for multiply-adds of 128 bits";

/// Bytes of vectors that Arm's cores for servers take each cycle for multiply-adds, two or four pipelines of 16.
fn neon_bytes_per_cycle(cpuinfo: &str) -> Option<f64> {
    match (first(cpuinfo, "CPU implementer")?, first(cpuinfo, "CPU part")?) {
        // Neoverse N1 and N2.
        ("0x41", "0xd0c" | "0xd49") => Some(32.0),
        // Neoverse V1 and V2.
        ("0x41", "0xd40" | "0xd4f") => Some(64.0),
        _ => None,
    }
}

/// Bytes of vectors that the units for multiply-adds take each cycle: by AVX-512, and by AVX2, which leaves half of units of 512 bits
/// idle.
fn fused_bytes_per_cycle(
    vendor: &str,
    (family, model): (u32, u32),
    cpuinfo: &str,
) -> Option<([f64; 2], &'static str)> {
    let amd = "AMD, \"Software Optimization Guide\" of the family: two units for multiply-adds";
    let intel = "Intel, \"64 and IA-32 Architectures Optimization Reference Manual\": two units for multiply-adds";
    let [narrow, wide] = [[64.0; 2], [128.0, 64.0]];
    Some(match (vendor, family, model) {
        // Zen 2 to Zen 4: two of 256 bits.
        ("AuthenticAMD", 0x17, 0x30..) | ("AuthenticAMD", 0x19, _) => (narrow, amd),
        // Zen 5: two of 512 bits in servers and desktops.
        ("AuthenticAMD", 0x1a, ..0x20 | 0x40..0x50) => (wide, amd),
        // Skylake-SP and Cascade Lake: two of 512 bits in those whose name says so. Of the others nothing is known: a library may use
        // either width.
        ("GenuineIntel", 6, 0x55) if first(cpuinfo, "model name").is_some_and(has_second_unit) => {
            (wide, intel)
        }
        // Ice Lake-SP, Sapphire, Emerald and Granite Rapids: two of 512 bits.
        ("GenuineIntel", 6, 0x6a | 0x8f | 0xcf | 0xad | 0xae) => (wide, intel),
        // Haswell to Coffee Lake, clients from Ice Lake on: two of 256 bits.
        (
            "GenuineIntel",
            6,
            0x3c | 0x3f | 0x45 | 0x46 | 0x3d | 0x47 | 0x4f | 0x56 | 0x4e | 0x5e | 0x8e | 0x9e
            | 0x97 | 0x9a | 0xb7 | 0xba | 0xbf,
        ) => (narrow, intel),
        _ => return None,
    })
}

/// Whether a processor of the first or second generation of Xeon Scalable has a second unit of 512 bits, by its name. All of Platinum and
/// of Gold 6000 do; of Gold 5000, Silver and Bronze most have one, and of a name that says none of it nothing is known (J. McCalpin,
/// <https://community.intel.com/t5/Software-Tuning-Performance/Calculate-the-Max-Flops-on-Skylake/td-p/1160952>).
fn has_second_unit(name: &str) -> bool {
    let mut words = name.split_whitespace();
    match words.by_ref().find(|word| ["Platinum", "Gold"].contains(word)) {
        Some("Platinum") => true,
        Some(_) => words.next().is_some_and(|number| number.starts_with('6')),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_is_known_by_family_and_model() {
        let text = "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\nmodel name\t: AMD EPYC\n\nvendor_id\t: other\n";
        let per_cycle: Vec<f64> =
            units(text, 1).iter().map(|units| units.flops_per_cycle).collect();
        assert_eq!(per_cycle, [32.0, 16.0, 32.0, 16.0]);
        let wide = text.replace(": 25", ": 26");
        let per_cycle: Vec<f64> =
            units(&wide, 1).iter().map(|units| units.flops_per_cycle).collect();
        assert_eq!(
            per_cycle,
            [64.0, 32.0, 32.0, 16.0],
            "half of each unit where registers are half as wide"
        );
        assert_eq!(first(text, "model"), Some("1"));
        let tiles = "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 207\nflags : fpu amx_bf16 amx_int8\n";
        let of_tiles = |units: &ArithmeticUnits| Some((units.dtype, units.flops_per_cycle));
        let found: Vec<_> = units(tiles, 2).iter().skip(4).filter_map(of_tiles).collect();
        assert_eq!(found, [(Dtype::Bf16, 1024.0), (Dtype::Int8, 2048.0)]);
        assert_eq!(units(&tiles.replace("amx", "no"), 2).len(), 4, "a hypervisor hides them");
        let xeon =
            "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 85\nmodel name : Intel(R) Xeon(R) ";
        let of_set = |name: &str| -> Vec<f64> {
            units(&format!("{xeon}{name}\n"), 1).iter().map(|units| units.flops_per_cycle).collect()
        };
        for name in ["Platinum 8280 CPU @ 2.70GHz", "Gold 6148 CPU @ 2.40GHz"] {
            assert_eq!(of_set(name), [64.0, 32.0, 32.0, 16.0], "{name}");
        }
        for name in
            ["Silver 4114 CPU @ 2.20GHz", "Gold 5118 CPU @ 2.30GHz", "Processor (Skylake, IBRS)"]
        {
            assert!(of_set(name).is_empty(), "{name}");
        }
        let arm = "CPU implementer\t: 0x41\nCPU part\t: 0xd40\n";
        let found: Vec<_> = units(arm, 1).iter().filter_map(of_tiles).collect();
        assert_eq!(found, [(Dtype::F32, 32.0), (Dtype::F64, 16.0)]);
        assert!(units("vendor_id : x\ncpu family : 6\nmodel : 1\n", 1).is_empty());
        assert_eq!(chosen("always [madvise] never"), Some("madvise"));
    }

    #[test]
    fn a_system_without_huge_pages_is_told() {
        let said = without_huge_pages(Some("always madvise [never]"), None).unwrap();
        assert!(said.contains("this system gives none"), "{said}");
        let given = Some("always [madvise] never");
        let said = without_huge_pages(given, Some("Threads:\t1\nTHP_enabled:\t0\n")).unwrap();
        assert!(said.contains("this process may have none"), "{said}");
        assert_eq!(without_huge_pages(given, Some("THP_enabled:\t1\n")), None);
        assert_eq!(without_huge_pages(None, None), None, "who does not say it");
    }
}
