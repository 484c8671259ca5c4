//! The processes of a server: those of the process group that it leads.

use std::fs;
use std::process::Command;

use crate::process;

/// The command lines of the processes in the group of that number that still run. A zombie has none.
pub(crate) fn command_lines(group: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir("/proc") else { return of_ps(group) };
    let of = |folder: &std::path::Path| {
        let stat = fs::read_to_string(folder.join("stat")).ok()?;
        (group_in(&stat)? == group).then_some(())?;
        let line = fs::read(folder.join("cmdline")).ok()?;
        Some(String::from_utf8_lossy(&line).into_owned()).filter(|line| !line.is_empty())
    };
    entries.filter_map(|entry| of(&entry.ok()?.path())).collect()
}

/// The group in a line of `/proc/PID/stat`: the third word behind the name, which may itself have spaces and brackets (proc(5)).
fn group_in(stat: &str) -> Option<&str> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(2)
}

/// The same where there is no `/proc`.
fn of_ps(group: &str) -> Vec<String> {
    let listed = process::output_of(Command::new("ps").args(["-A", "-o", "pgid=,args="]));
    let of = |line: &str| {
        let (its, command_line) = line.trim().split_once(' ')?;
        // The name of a zombie stands in brackets.
        (its == group && !command_line.trim_start().starts_with('('))
            .then(|| command_line.to_owned())
    };
    listed.unwrap_or_default().lines().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_is_found_behind_any_name() {
        assert_eq!(group_in("7 (a) b (c)) S 1 42 7 0 -1"), Some("42"));
        assert_eq!(group_in("7 (sh"), None);
    }

    #[test]
    fn a_process_is_in_its_group() {
        let Ok(stat) = fs::read_to_string("/proc/self/stat") else { return };
        let group = group_in(&stat).unwrap();
        let own = std::env::args().next().unwrap();
        assert!(command_lines(group).iter().any(|line| line.starts_with(&own)));
    }
}
