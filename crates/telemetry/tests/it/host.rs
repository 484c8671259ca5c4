//! The host, from texts of `/proc` written by us.

use fizeau_telemetry::{History, HostReading, HostWindow, Page, Window};
use proptest::prelude::*;

use super::pages::{at, history, instant};

const SNMP: &str = "Ip: Forwarding\nIp: 1\nTcp: RtoAlgorithm OutSegs RetransSegs\nTcp: 1 1000 5\n";

#[test]
fn two_readings_come_to_shares() {
    let meminfo = "MemTotal:       1000 kB\nMemFree: 1 kB\nMemAvailable:    400 kB\n";
    let first =
        HostReading::of_texts("cpu  100 0 0 900 0 0 0 0 0 0\ncpu0 1 1 1 1\n", meminfo, SNMP);
    let later = SNMP.replace("1000 5", "1400 9");
    let last = HostReading::of_texts("cpu  140 0 10 930 10 0 0 10 0 0\n", meminfo, &later);
    let window = HostWindow::between(&first, &last);
    assert_eq!((window.cpu_busy, window.cpu_steal), (Some(0.6), Some(0.1)));
    assert_eq!((window.retransmits, window.retransmit_share), (Some(4), Some(0.01)));
    assert_eq!(window.memory_available.map(fizeau_core::Bytes::get), Some(409_600.0));
}

/// A page of node_exporter's, of two processors that had such ticks together, in hundredths of a second.
fn node(ticks: [u64; 8], available_kb: u64, segments: [u64; 2]) -> Page {
    let modes = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"];
    let mut text = String::new();
    for (mode, ticks) in modes.into_iter().zip(ticks) {
        let halves = [ticks / 2, ticks - ticks / 2];
        for (cpu, own) in halves.into_iter().enumerate() {
            let seconds = own as f64 / 100.0;
            text += &format!("node_cpu_seconds_total{{cpu=\"{cpu}\",mode=\"{mode}\"}} {seconds}\n");
        }
    }
    text += &format!(
        "node_memory_MemAvailable_bytes {}\nnode_memory_MemTotal_bytes {}\n\
         node_netstat_Tcp_OutSegs {}\nnode_netstat_Tcp_RetransSegs {}\n",
        available_kb * 1024,
        1_000_000 * 1024,
        segments[0],
        segments[1]
    );
    Page::read(text.as_bytes(), None).unwrap()
}

fn proc(ticks: [u64; 8], available_kb: u64, segments: [u64; 2]) -> HostReading {
    let ticks = ticks.map(|ticks| ticks.to_string()).join(" ");
    HostReading::of_texts(
        &format!("cpu  {ticks} 0 0\n"),
        &format!("MemTotal: 1000000 kB\nMemAvailable: {available_kb} kB\n"),
        &format!("Tcp: OutSegs RetransSegs\nTcp: {} {}\n", segments[0], segments[1]),
    )
}

proptest! {
    /// A host says the same of itself by its exporter and by its own files.
    #[test]
    fn an_exporter_of_a_host_says_what_its_files_say(
        first in prop::array::uniform8(0_u64..1_000_000), more in prop::array::uniform8(0_u64..10_000),
        available in prop::array::uniform2(0_u64..1_000_000), sent in 1_u64..10_000, again in 0_u64..100,
    ) {
        let last: [u64; 8] = std::array::from_fn(|place| first[place] + more[place]);
        let both = [(first, available[0], [7, 3]), (last, available[1], [7 + sent, 3 + again])];
        let mut history = History::new();
        for (ms, (ticks, available, segments)) in [0, 4_000].into_iter().zip(both) {
            history.record(instant(ms), &node(ticks, available, segments));
        }
        let own = both.map(|(ticks, available, segments)| proc(ticks, available, segments));
        let own = HostWindow::between(&own[0], &own[1]);
        let told = HostWindow::of(&history, Window::within(at(0), at(4_000))).unwrap();
        let is_near = |one: Option<f64>, other: Option<f64>| match (one, other) {
            (Some(one), Some(other)) => (one - other).abs() < 1e-6,
            (None, None) => true,
            _ => false,
        };
        prop_assert!(is_near(told.cpu_busy, own.cpu_busy), "{told:?} {own:?}");
        prop_assert!(is_near(told.cpu_steal, own.cpu_steal), "{told:?} {own:?}");
        prop_assert!(is_near(told.retransmit_share, own.retransmit_share), "{told:?} {own:?}");
        prop_assert_eq!(told.retransmits, own.retransmits);
        prop_assert_eq!(told.memory_available, own.memory_available);
        prop_assert_eq!(told.memory, own.memory);
    }
}

#[test]
fn pages_of_something_else_are_of_no_host() {
    let engine = history(&["vllm-0.txt", "vllm-1.txt"], 1_000);
    assert_eq!(HostWindow::of(&engine, Window::within(at(0), at(1_000))), None);
}

#[test]
fn elsewhere_nothing_is_known() {
    let nothing = HostReading::of_texts("", "", "");
    assert_eq!(nothing, HostReading::default());
    assert_eq!(HostWindow::between(&nothing, &nothing), HostWindow::default());
    // Whatever this system is, asking does no harm.
    let _ = HostReading::now();
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(
        stat in "(cpu )?[0-9 a-z\n]{0,60}", meminfo in "(MemTotal:)?.{0,30}", snmp in "(Tcp: [a-zA-Z0-9 ]{0,20}\n){0,3}",
    ) {
        let reading = HostReading::of_texts(&stat, &meminfo, &snmp);
        let _ = HostWindow::between(&HostReading::default(), &reading);
    }
}
