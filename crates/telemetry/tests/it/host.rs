//! The host, from texts of `/proc` written by us.

use fizeau_telemetry::{HostReading, HostWindow};
use proptest::prelude::*;

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
