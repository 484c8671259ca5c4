//! The names that exporters of devices and hosts use.

use super::entry::VocabularyEntry;
use super::exporter::Exporter::{self, Amd, Dcgm, Node, Nvml};
use super::meaning::MetricMeaning::{self, *};

const fn entry(
    name: &'static str,
    meaning: MetricMeaning,
    exporter: Exporter,
    scale: f64,
) -> VocabularyEntry {
    VocabularyEntry { name, meaning, exporter, scale }
}

const PERCENT: f64 = 0.01;
const MEBI: f64 = 1_048_576.0;
const MEGA: f64 = 1e6;
const MICRO: f64 = 1e-6;
const MILLI: f64 = 1e-3;

pub(super) const DEVICES: &[VocabularyEntry] = &[
    entry("DCGM_FI_DEV_POWER_USAGE", Power, Dcgm, 1.0),
    entry("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", Energy, Dcgm, MILLI),
    entry("DCGM_FI_DEV_SM_CLOCK", ComputeClock, Dcgm, MEGA),
    entry("DCGM_FI_DEV_MEM_CLOCK", MemoryClock, Dcgm, MEGA),
    entry("DCGM_FI_DEV_CLOCKS_EVENT_REASONS", ThrottleReasons, Dcgm, 1.0),
    // The name before 3.3.
    entry("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", ThrottleReasons, Dcgm, 1.0),
    // In microseconds by the exporter's own list, in nanoseconds by newer headers of DCGM: only whether they grew is sure.
    entry("DCGM_FI_DEV_POWER_VIOLATION", PowerThrottled, Dcgm, 1.0),
    entry("DCGM_FI_DEV_THERMAL_VIOLATION", ThermalThrottled, Dcgm, 1.0),
    entry("DCGM_FI_DEV_GPU_UTIL", Utilization, Dcgm, PERCENT),
    entry("DCGM_FI_DEV_MEM_COPY_UTIL", MemoryCopyUtilization, Dcgm, PERCENT),
    entry("DCGM_FI_PROF_DRAM_ACTIVE", DramActive, Dcgm, 1.0),
    entry("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", TensorActive, Dcgm, 1.0),
    entry("DCGM_FI_PROF_SM_ACTIVE", SmActive, Dcgm, 1.0),
    entry("DCGM_FI_DEV_FB_USED", MemoryUsed, Dcgm, MEBI),
    entry("DCGM_FI_DEV_FB_FREE", MemoryFree, Dcgm, MEBI),
    entry("DCGM_FI_DEV_GPU_TEMP", Temperature, Dcgm, 1.0),
    entry("DCGM_FI_DEV_MEMORY_TEMP", MemoryTemperature, Dcgm, 1.0),
    // ---
    // Functions of NVIDIA's nvml.h, in its units.
    entry("nvml_power_usage", Power, Nvml, MILLI),
    entry("nvml_total_energy_consumption", Energy, Nvml, MILLI),
    entry("nvml_clock_sm", ComputeClock, Nvml, MEGA),
    entry("nvml_clock_mem", MemoryClock, Nvml, MEGA),
    entry("nvml_clocks_event_reasons", ThrottleReasons, Nvml, 1.0),
    entry("nvml_utilization_gpu", Utilization, Nvml, PERCENT),
    entry("nvml_utilization_memory", MemoryCopyUtilization, Nvml, PERCENT),
    entry("nvml_gpm_dram_bw_util", DramActive, Nvml, PERCENT),
    entry("nvml_gpm_any_tensor_util", TensorActive, Nvml, PERCENT),
    entry("nvml_gpm_sm_util", SmActive, Nvml, PERCENT),
    entry("nvml_memory_used", MemoryUsed, Nvml, 1.0),
    entry("nvml_memory_free", MemoryFree, Nvml, 1.0),
    entry("nvml_temperature", Temperature, Nvml, 1.0),
    // ---
    entry("gpu_package_power", Power, Amd, 1.0),
    entry("gpu_energy_consumed", Energy, Amd, MICRO),
    // The label clock_type says whose clock.
    entry("gpu_clock", ComputeClock, Amd, MEGA),
    // Of ROCm's device-metrics-exporter; in its documents without a unit, so that only whether they grew is sure.
    entry("gpu_violation_ppt_residency_accumulated", PowerThrottled, Amd, 1.0),
    entry("gpu_violation_socket_thermal_residency_accumulated", ThermalThrottled, Amd, 1.0),
    entry("gpu_violation_hbm_thermal_residency_accumulated", ThermalThrottled, Amd, 1.0),
    entry("gpu_gfx_activity", Utilization, Amd, PERCENT),
    entry("gpu_umc_activity", DramActive, Amd, PERCENT),
    entry("gpu_prof_tensor_active_percent", TensorActive, Amd, PERCENT),
    entry("gpu_used_vram", MemoryUsed, Amd, MEBI),
    entry("gpu_free_vram", MemoryFree, Amd, MEBI),
    entry("gpu_junction_temperature", Temperature, Amd, 1.0),
    entry("gpu_memory_temperature", MemoryTemperature, Amd, 1.0),
    // ---
    entry("node_cpu_seconds", HostCpu, Node, 1.0),
    entry("node_memory_MemAvailable_bytes", HostMemoryAvailable, Node, 1.0),
    entry("node_memory_MemTotal_bytes", HostMemory, Node, 1.0),
    entry("node_netstat_Tcp_OutSegs", TcpSegments, Node, 1.0),
    entry("node_netstat_Tcp_RetransSegs", TcpRetransmits, Node, 1.0),
];
