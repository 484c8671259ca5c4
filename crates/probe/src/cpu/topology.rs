//! Which cores and caches processors share, as the system describes them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fizeau_core::Bytes;

/// Where Linux describes its processors.
pub(super) const PROCESSORS: &str = "/sys/devices/system/cpu";

/// What some processors have of cores and caches. Where the system says nothing, each is a core, and there are no caches.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Topology {
    /// The processors, one of each core before the second ones of any.
    pub(super) cpus: Vec<u32>,
    pub(super) cores: u32,
    /// The caches of data that the first of them uses, the nearest first.
    pub(super) caches: Vec<Bytes>,
    /// The last caches of all of them together: one that several share counts once.
    pub(super) last_caches: Option<Bytes>,
}

/// A cache of data.
#[derive(Debug, Clone, PartialEq)]
struct Cache {
    level: u32,
    bytes: f64,
    /// The processors that use it, as the system lists them.
    shared_by: String,
}

impl Topology {
    /// That of `cpus`, by the `folder` that describes processors.
    pub(super) fn of(folder: &Path, cpus: &[u32]) -> Self {
        let of_cpu = |cpu: &u32| folder.join(format!("cpu{cpu}"));
        let mut cores: BTreeMap<String, u32> = BTreeMap::new();
        let mut ranked: Vec<(u32, u32)> = Vec::new();
        for cpu in cpus {
            let siblings = line(&of_cpu(cpu).join("topology/thread_siblings_list"));
            let on_core = cores.entry(siblings.unwrap_or_else(|| cpu.to_string())).or_default();
            ranked.push((*on_core, *cpu));
            *on_core += 1;
        }
        ranked.sort_by_key(|(rank, _)| *rank);
        let caches: Vec<Vec<Cache>> = cpus.iter().map(|cpu| caches(&of_cpu(cpu))).collect();
        let last = caches.iter().filter_map(|own| own.last());
        let last: BTreeMap<(u32, &str), f64> =
            last.map(|cache| ((cache.level, &*cache.shared_by), cache.bytes)).collect();
        let first = caches.first().into_iter().flatten();
        Self {
            cpus: ranked.into_iter().map(|(_, cpu)| cpu).collect(),
            cores: cores.len() as u32,
            caches: first.map(|cache| Bytes::new(cache.bytes)).collect(),
            last_caches: (!last.is_empty()).then(|| Bytes::new(last.values().sum())),
        }
    }
}

fn line(path: &Path) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

/// The caches of data of the processor that `folder` describes, the nearest first.
fn caches(folder: &Path) -> Vec<Cache> {
    let entries = fs::read_dir(folder.join("cache")).into_iter().flatten().flatten();
    let mut caches: Vec<Cache> = entries.filter_map(|entry| cache(&entry.path())).collect();
    caches.sort_by_key(|cache| cache.level);
    caches
}

fn cache(folder: &Path) -> Option<Cache> {
    let read = |name: &str| line(&folder.join(name));
    if read("type")? == "Instruction" {
        return None;
    }
    let kibibytes: f64 = read("size")?.strip_suffix('K')?.parse().ok()?;
    // Where nobody says who shares it, all do.
    let shared_by = read("shared_cpu_list").unwrap_or_default();
    Some(Cache { level: read("level")?.parse().ok()?, bytes: kibibytes * 1024.0, shared_by })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::cpu::fake_tree::FakeTree;

    const MIB: f64 = 1024.0 * 1024.0;

    /// Eight processors on four cores; the last cache is of 32 MiB for every two cores.
    pub(in crate::cpu) fn two_last_caches(name: &str) -> FakeTree {
        let tree = FakeTree::new(name);
        for cpu in 0..8 {
            let core = cpu % 4;
            let siblings = format!("{core},{}", core + 4);
            let pair = if core < 2 { "0-1,4-5" } else { "2-3,6-7" };
            let write = |name: &str, text: &str| tree.write(&format!("cpu{cpu}/{name}"), text);
            write("topology/thread_siblings_list", &siblings);
            let caches = [
                ("1", "Data", "32K", &*siblings),
                ("1", "Instruction", "32K", &*siblings),
                ("2", "Unified", "1024K", &*siblings),
                ("3", "Unified", "32768K", pair),
            ];
            for (index, (level, kind, size, shared)) in caches.into_iter().enumerate() {
                let of = |what: &str| format!("cache/index{index}/{what}");
                write(&of("level"), level);
                write(&of("type"), kind);
                write(&of("size"), size);
                write(&of("shared_cpu_list"), shared);
            }
        }
        tree
    }

    #[test]
    fn last_caches_and_cores_are_counted_once_however_many_share_them() {
        let tree = two_last_caches("shared");
        let all = Topology::of(tree.root(), &[0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(all.caches, [MIB / 32.0, MIB, 32.0 * MIB].map(Bytes::new));
        assert_eq!(all.last_caches, Some(Bytes::new(64.0 * MIB)));
        assert_eq!(all.cores, 4);
        // Of a core's two the second comes after the first ones of all cores, whatever the order of their numbers.
        assert_eq!(Topology::of(tree.root(), &[0, 4, 1, 5]).cpus, [0, 1, 4, 5]);
        let some = Topology::of(tree.root(), &[0, 1, 4]);
        assert_eq!((some.last_caches, some.cores), (Some(Bytes::new(32.0 * MIB)), 2));
    }

    #[test]
    fn a_system_that_says_nothing_has_a_core_for_each_processor() {
        let tree = FakeTree::new("silent");
        let none = Topology::of(tree.root(), &[3, 1]);
        assert_eq!((none.cpus, none.cores), (vec![3, 1], 2));
        assert_eq!((none.caches, none.last_caches), (Vec::new(), None));
        // Caches of which nobody says who shares them are one.
        for cpu in 0..2 {
            for (what, text) in [("level", "3"), ("type", "Unified"), ("size", "1024K")] {
                tree.write(&format!("cpu{cpu}/cache/index0/{what}"), text);
            }
        }
        assert_eq!(Topology::of(tree.root(), &[0, 1]).last_caches, Some(Bytes::new(MIB)));
    }
}
