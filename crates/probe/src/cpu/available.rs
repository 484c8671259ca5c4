//! How much memory and how many processors can be had: of the machine, and of each group of processes (cgroup) that this one is in.

use std::fs;
use std::path::{Component, Path, PathBuf};

use super::system::kilobytes;

/// Bytes that can be had without anything being put aside.
pub(super) fn available_bytes() -> Option<f64> {
    below(Path::new("/"))
}

/// The same on a system whose files lie below `root`.
fn below(root: &Path) -> Option<f64> {
    let read = |name: &str| fs::read_to_string(root.join(name)).ok();
    let machine = read("proc/meminfo").and_then(|text| kilobytes(&text, "MemAvailable:"));
    let left = groups(root, "memory").into_iter().filter_map(|folder| left_in(&folder));
    machine.map(|kilobytes| kilobytes * 1024.0).into_iter().chain(left).reduce(f64::min)
}

/// How many processors' time this program may take, by the least quota of its groups; none where there is no quota. It may run on more of
/// them, and then waits for part of the time.
pub(super) fn quota() -> Option<f64> {
    quota_below(Path::new("/"))
}

/// The same on a system whose files lie below `root`.
fn quota_below(root: &Path) -> Option<f64> {
    groups(root, "cpu").into_iter().filter_map(|folder| quota_in(&folder)).reduce(f64::min)
}

/// Where the limits of all groups may lie that have the `controller` and that this program is in, below `root`.
fn groups(root: &Path, controller: &str) -> Vec<PathBuf> {
    let groups = fs::read_to_string(root.join("proc/self/cgroup"));
    let groups = groups.unwrap_or_else(|_| "0::/".to_owned());
    let folders = groups.lines().flat_map(|line| folders(line, controller));
    folders.map(|folder| root.join(folder)).collect()
}

/// Where the limits of a group and of those that it is in may lie; `line` is `0::/a/b`, or `4:memory:/a/b` of the first version. In a
/// container the path may be that of its host, and what it is limited to lies where groups begin.
fn folders(line: &str, controller: &str) -> Vec<PathBuf> {
    let mut fields = line.splitn(3, ':').skip(1);
    let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else {
        return Vec::new();
    };
    let mounts = match controllers {
        "" => ["", "unified"].map(str::to_owned).to_vec(),
        // Several that are mounted as one may have the names of all.
        of if of.split(',').any(|one| one == controller) => {
            [controller, of].map(str::to_owned).to_vec()
        }
        _ => Vec::new(),
    };
    let names = Path::new(path).components().filter(|name| matches!(name, Component::Normal(_)));
    let path: PathBuf = names.collect();
    let within = |mount: &String| {
        let mount = Path::new("sys/fs/cgroup").join(mount);
        path.ancestors().map(|group| mount.join(group)).collect::<Vec<_>>()
    };
    mounts.iter().flat_map(within).collect()
}

/// What is left to a group by its own limit, files that nobody uses counted as free; none where it has no limit.
fn left_in(folder: &Path) -> Option<f64> {
    let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
    // `max` is no number: no limit.
    let number = |name: &str| read(name)?.trim().parse::<f64>().ok();
    let names =
        [("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")];
    let (limit, used) =
        names.into_iter().find_map(|(limit, used)| Some((number(limit)?, number(used)?)))?;
    let stat = read("memory.stat").unwrap_or_default();
    let bytes = |name: &str| {
        let fields = stat.lines().filter_map(|line| line.split_once(' '));
        fields.into_iter().find(|(key, _)| *key == name)?.1.trim().parse::<f64>().ok()
    };
    // The first version has those of the groups within it only in the total.
    let unused = bytes("total_inactive_file").or_else(|| bytes("inactive_file")).unwrap_or(0.0);
    Some((limit - (used - unused).max(0.0)).max(0.0))
}

/// What a group may take of processors' time, in processors; none where it has no quota. The kernel's `Documentation/admin-guide/cgroup-v2.rst`
/// and `Documentation/scheduler/sched-bwc.rst`: time in a period, both in microseconds, and `max` or -1 for no quota.
fn quota_in(folder: &Path) -> Option<f64> {
    let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let text = match read("cpu.max") {
        Some(both) => both,
        None => format!("{} {}", read("cpu.cfs_quota_us")?, read("cpu.cfs_period_us")?),
    };
    let mut numbers = text.split_whitespace().map(str::parse::<f64>);
    let (time, period) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    (time > 0.0 && period > 0.0).then(|| time / period)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::fake_tree::FakeTree;

    fn tree(name: &str, files: &[(&str, &str)]) -> FakeTree {
        let tree = FakeTree::new(name);
        tree.write("proc/meminfo", "MemTotal: 20000000 kB\nMemAvailable: 16000000 kB");
        files.iter().for_each(|(path, text)| tree.write(path, text));
        tree
    }

    #[test]
    fn the_least_limit_on_the_way_up_counts_and_unused_files_are_free() {
        let tree = tree(
            "groups",
            &[
                ("proc/self/cgroup", "0::/pod/box"),
                ("sys/fs/cgroup/pod/box/memory.max", "max"),
                ("sys/fs/cgroup/pod/box/memory.current", "1000000000"),
                ("sys/fs/cgroup/pod/memory.max", "4000000000"),
                ("sys/fs/cgroup/pod/memory.current", "3000000000"),
                ("sys/fs/cgroup/pod/memory.stat", "anon 500000000\ninactive_file 2500000000"),
            ],
        );
        assert_eq!(below(tree.root()), Some(3.5e9));
        tree.write("sys/fs/cgroup/pod/box/memory.max", "1200000000");
        assert_eq!(below(tree.root()), Some(2e8));
    }

    #[test]
    fn groups_of_the_first_version_have_limits_too() {
        let limit = "sys/fs/cgroup/memory/job/memory.limit_in_bytes";
        let tree = tree(
            "first-version",
            &[
                ("proc/self/cgroup", "9:name=systemd:/\n4:cpuset,memory:/job/step\n0::/"),
                (limit, "2000000000"),
                ("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "1500000000"),
                (
                    "sys/fs/cgroup/memory/job/memory.stat",
                    "inactive_file 0\ntotal_inactive_file 700000000",
                ),
            ],
        );
        assert_eq!(below(tree.root()), Some(1.2e9));
        // How a group without a limit says so.
        tree.write(limit, "9223372036854771712");
        assert_eq!(below(tree.root()), Some(1.6384e10));
    }

    #[test]
    fn the_least_quota_on_the_way_up_counts_in_either_version() {
        let tree = tree(
            "quotas",
            &[
                ("proc/self/cgroup", "5:cpu,cpuacct:/job\n0::/pod/box"),
                ("sys/fs/cgroup/pod/box/cpu.max", "max 100000"),
            ],
        );
        assert_eq!(quota_below(tree.root()), None);
        tree.write("sys/fs/cgroup/pod/cpu.max", "250000 100000");
        assert_eq!(quota_below(tree.root()), Some(2.5));
        for (quota, found) in [("150000", 1.5), ("-1", 2.5)] {
            tree.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", quota);
            tree.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000");
            assert_eq!(quota_below(tree.root()), Some(found));
        }
    }

    #[test]
    fn a_container_that_is_called_as_on_its_host_has_its_limit_where_groups_begin() {
        let limit = [("memory.max", "3000000000"), ("memory.current", "1000000000")];
        let tree = tree("host-path", &[("proc/self/cgroup", "0::/../host/pod")]);
        assert_eq!(below(tree.root()), Some(1.6384e10));
        for (name, text) in limit {
            tree.write(&format!("sys/fs/cgroup/{name}"), text);
        }
        assert_eq!(below(tree.root()), Some(2e9));
        let silent = FakeTree::new("nothing");
        assert_eq!(below(silent.root()), None);
    }
}
