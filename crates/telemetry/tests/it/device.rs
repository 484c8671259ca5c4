//! Devices: two GPUs by dcgm-exporter, worked out by hand, and one of AMD's.

use fizeau_core::{Joules, Nanos};
use fizeau_telemetry::{
    ClientWindow, CounterOver, DeviceWindow, History, Page, Reported, ServerWindow,
    TelemetryFinding, ThrottleReason, Window, device_count, findings, power_timelines,
    total_energy,
};

use super::pages::{at, history, instant};

fn devices() -> Vec<DeviceWindow> {
    let history = history(&["dcgm-0.txt", "dcgm-1.txt", "dcgm-2.txt", "dcgm-3.txt"], 10_000);
    DeviceWindow::all(&history, Window::alone(at(5_000), at(25_000)), Nanos::from_secs(10))
}

#[test]
fn energy_is_by_the_counter_with_its_bounds() {
    let devices = devices();
    let uuids: Vec<_> = devices.iter().filter_map(|device| device.device.uuid.as_deref()).collect();
    assert_eq!(uuids, ["GPU-00000000", "GPU-00000001"]);
    let energy = devices[0].energy.as_ref().unwrap().figure;
    assert_eq!((energy.delta, energy.low, energy.high), (1_100.0, 700.0, 1_500.0));
    assert!((total_energy(&devices).unwrap().get() - 2_200.0).abs() < 1e-9);
    assert_eq!(total_energy(&[]), None);
    assert_eq!(total_energy(&[devices[0].clone(), DeviceWindow::default()]), None);
    assert_eq!(devices[0].counted_energy(), Some(Joules::new(1_100.0)));
}

#[test]
fn each_device_counts_once() {
    let devices = devices();
    // The same page twice, and a device that is divided.
    let mut twice = [devices.clone(), devices.clone()].concat();
    twice[0].device.slice = Some("7".to_owned());
    assert_eq!((device_count(&twice), total_energy(&twice)), (2, total_energy(&devices)));
    assert_eq!(TelemetryFinding::other_devices(&devices[..1], 1), None);
    let found = TelemetryFinding::other_devices(&devices, 8).unwrap().to_string();
    assert!(found.starts_with("the metrics pages report 2 devices, but 8 serve"), "{found}");
}

#[test]
fn reasons_of_lowered_clocks_are_shares_of_time() {
    let devices = devices();
    let reasons = devices[1].lowered_clocks.as_ref().unwrap();
    let found: Vec<_> = reasons.iter().map(|(reason, share)| (*reason, *share)).collect();
    assert_eq!(found, [(ThrottleReason::PowerCap, 0.5), (ThrottleReason::HardwareThermal, 0.5)]);
    assert_eq!(devices[1].throttled_share(), Some(0.5));
    for reason in ThrottleReason::ALL {
        assert_eq!(serde_json::to_value(reason).unwrap(), reason.as_str());
    }
    assert_eq!(devices[0].device.host.as_deref(), Some("node1"));
}

#[test]
fn activity_is_a_share_of_cycles() {
    let device = &devices()[0];
    assert_eq!(device.dram_active.as_ref().map(|told| told.figure.mean), Some(0.63));
    assert_eq!(device.compute_clock.as_ref().map(|told| told.figure.mean), Some(1.98e9));
}

#[test]
fn an_exporter_that_looks_seldom_gives_no_energy_of_a_short_level() {
    let history = history(&["dcgm-0.txt", "dcgm-0.txt", "dcgm-1.txt", "dcgm-1.txt"], 1_000);
    let devices =
        DeviceWindow::all(&history, Window::alone(at(500), at(1_500)), Nanos::from_secs(1));
    assert_eq!(devices[0].energy, None);
}

/// 400 W, read every so many milliseconds and asked for once a second; what is known of the energy of a level of so many seconds.
fn energy_read_every(refresh_ms: u64, seconds: u64) -> Option<CounterOver> {
    let mut history = History::new();
    let mut page = |ms: u64| {
        let read = ms - (ms + 170) % refresh_ms;
        let labels = "{gpu=\"0\",UUID=\"GPU-0\"}";
        let text = format!(
            "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{labels} {}\nDCGM_FI_DEV_POWER_USAGE{labels} 400\n",
            400 * read
        );
        history.record(instant(ms), &Page::read(text.as_bytes(), None).unwrap());
    };
    let (from, to) = (100_000, 100_000 + seconds * 1_000);
    (from - 5..to).step_by(1_000).chain([to + 5]).for_each(&mut page);
    let window = Window::alone(at(from), at(to));
    let energy = DeviceWindow::all(&history, window, Nanos::from_secs(2))[0].energy.clone();
    assert_eq!(DeviceWindow::unknown_energy(&history, window).is_none(), energy.is_some());
    energy.map(|told| told.figure)
}

#[test]
fn energy_is_known_of_an_exporter_that_looks_now_and_then() {
    for (refresh, seconds) in [(100, 20), (500, 20), (1_000, 60), (5_000, 60), (30_000, 600)] {
        let told = energy_read_every(refresh, seconds);
        let told = told.unwrap_or_else(|| panic!("every {refresh} ms for {seconds} s"));
        let energy = 400.0 * seconds as f64;
        assert!(told.low <= told.delta && told.delta <= told.high, "{told:?}");
        let width = 400.0 * 2.0 * (refresh as f64 / 1e3 + 1.0);
        assert!(told.low <= energy + 400.0 && energy - 400.0 <= told.high, "{told:?}");
        assert!(told.high - told.low <= width, "{refresh}: {told:?}");
        assert!((told.delta - energy).abs() <= 401.0, "{refresh}: {told:?} {energy}");
    }
    assert_eq!(energy_read_every(30_000, 20), None);
}

#[test]
fn amd_tells_the_clock_of_the_whole() {
    let history = history(&["amd.txt", "amd.txt"], 1_000);
    let devices = DeviceWindow::all(&history, Window::alone(at(0), at(1_000)), Nanos::from_secs(1));
    assert_eq!(devices.len(), 1);
    assert_eq!(devices[0].compute_clock.as_ref().map(|told| told.figure.mean), Some(1.533e9));
    assert_eq!(devices[0].power.as_ref().map(|told| told.figure.mean), Some(748.0));
    assert_eq!(devices[0].lowered_clocks, None);
}

/// Of two counters of heat either may be the one that grows.
#[test]
fn amd_tells_what_held_clocks_down() {
    let names = ["ppt", "socket_thermal", "hbm_thermal"];
    for grown in [None, Some(0), Some(1), Some(2)] {
        let mut history = History::new();
        for ms in [0, 1_000, 2_000] {
            let line = |(number, name)| {
                let value = if grown == Some(number) { ms } else { 7 };
                format!("gpu_violation_{name}_residency_accumulated{{gpu_id=\"0\"}} {value}\n")
            };
            let text: String = names.into_iter().enumerate().map(line).collect();
            let text = text + "gpu_package_power{gpu_id=\"0\"} 700\n";
            history.record(instant(ms), &Page::read(text.as_bytes(), None).unwrap());
        }
        let window = Window::alone(at(0), at(2_000));
        let devices = DeviceWindow::all(&history, window, Nanos::from_secs(1));
        let is = |told: &Option<Reported<CounterOver>>| {
            told.as_ref().is_some_and(|told| told.figure.delta > 0.0)
        };
        let told = (is(&devices[0].power_throttled), is(&devices[0].thermal_throttled));
        assert_eq!(told, (grown == Some(0), matches!(grown, Some(1 | 2))), "{grown:?}");
        let found = findings(
            &ClientWindow::default(),
            &ServerWindow::default(),
            &devices,
            Nanos::from_secs(1),
        );
        let throttled =
            |one: &TelemetryFinding| matches!(one, TelemetryFinding::Throttled { share: None, .. });
        assert_eq!(found.iter().any(throttled), grown.is_some(), "{found:?}");
    }
}

#[test]
fn power_over_time_has_each_device_once() {
    let pages = ["dcgm-0.txt", "dcgm-1.txt", "dcgm-2.txt", "dcgm-3.txt"];
    let (history, window) = (history(&pages, 10_000), Window::alone(at(5_000), at(25_000)));
    let drawn = power_timelines([&history, &history], window);
    assert_eq!(drawn.len(), 2);
    let devices = DeviceWindow::all(&history, window, Nanos::from_secs(10));
    for (points, device) in drawn.iter().zip(&devices) {
        let times: Vec<f64> = points.iter().map(|point| point.at_ms.get()).collect();
        assert_eq!(times, [5_000.0, 15_000.0]);
        let mean = points.iter().map(|point| point.value).sum::<f64>() / points.len() as f64;
        assert_eq!(Some(mean), device.power.as_ref().map(|told| told.figure.mean));
    }
    assert!(power_timelines([], window).is_empty());
}

#[test]
fn devices_are_written_and_read() {
    let devices = devices();
    let text = serde_json::to_string(&devices).unwrap();
    assert_eq!(serde_json::from_str::<Vec<DeviceWindow>>(&text).unwrap(), devices);
}
