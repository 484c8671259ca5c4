//! The device that what other tools measured makes.

use fizeau_probe::{MeasuredDevice, ProbeDocument, import_measurements};
use fizeau_roofline::{Deployment, Device, KnownModel, System};

/// What other tools measured says what its figures are, and what nobody measured is the data sheet's, with its own sources.
#[test]
fn an_imported_device_names_the_source_of_each_figure() {
    let products = "Problem,Provider,OperationKind,Operation,Disposition,Status,m,n,k,A,B,C,D,Bytes,Flops,Runtime,GB/s,GFLOPs\n\
         1,CUTLASS,gemm,g1,passed,success,8192,8192,8192,bf16:row,bf16:column,bf16:column,bf16:column,402653184,1099511627776,1.5,250,733007.75\n";
    let memory = "BabelStream\nRunning kernels 100 times\nPrecision: double\nArray size: 2684.4 MB (=2.7 GB)\nUsing CUDA device NVIDIA H100\n\
         Function    MBytes/sec  Min (sec)   Max         Average\nDot       3100000.0    0.001732     0.0018     0.001733\n";
    let mut collectives = String::from(
        "# Collective test starting: all_reduce_perf\n\
         # nThread 1 nGpus 8 minBytes 1 maxBytes 1 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0\n",
    );
    for rank in 0..8 {
        collectives += &format!(
            "#  Rank  {rank} Group  0 Pid  1 on a device  {rank} [0000:0b:00] NVIDIA H100\n"
        );
    }
    collectives +=
        "#       size         count      type   redop    root     time   algbw   busbw  #wrong\n";
    for (size, micros) in [(1_u64 << 20, 23.0), (1 << 21, 26.0), (1 << 22, 31.0), (1 << 23, 42.5)] {
        let rate = size as f64 / micros / 1e3;
        collectives += &format!("{size} 1 float sum -1 {micros} {rate:.2} {:.2} 0\n", rate * 1.75);
    }
    let sheet = Device::named("h100-sxm").unwrap();
    let files = [collectives.as_str(), memory, products];
    let of = |files: &mut dyn Iterator<Item = &&str>| {
        let read = |text: &&str| import_measurements(text.as_bytes(), None).unwrap();
        ProbeDocument::of_imports(files.map(read), "a").unwrap().specified_by(sheet)
    };
    let document = of(&mut files.iter());
    let MeasuredDevice { toml, device, .. } = MeasuredDevice::of(&document, "gpu0").unwrap();
    let source =
        |field: &str| device.cells().find(|cell| cell.field == field).unwrap().source.clone();
    assert!(source("memory.bandwidth").starts_with("fizeau probe"), "{toml}");
    for (field, part) in [
        ("memory.capacity", "data sheet"),
        ("memory.usable", "nvidia-smi"),
        ("link.each_way", "data sheet"),
    ] {
        assert!(source(field).contains(part), "{field}: {toml}");
    }
    assert_eq!(device.prices, sheet.prices, "{toml}");
    assert_eq!(device.usable_memory(), sheet.usable_memory());
    assert!(
        toml.contains(
            "\"the mean of: gemm 8192 x 8192 x 8192 to bf16, bf16; no best is reported\""
        ),
        "{toml}"
    );
    assert!(toml.contains("the best that is reported of: dot, 5 GiB, f64\""), "{toml}");
    assert!(toml.contains("alpha = { value = ") && toml.contains(", range = ["), "{toml}");
    // Whichever file comes first, the device is the one of which it was made, and not the group beside it.
    let reversed = of(&mut files.iter().rev());
    let model = KnownModel::named("llama-3.1-70b").unwrap().model().unwrap();
    let eight = Deployment::SINGLE.with_tensor(8).unwrap();
    let system = System::new(model, device, eight).unwrap();
    for document in [&document, &reversed] {
        assert_eq!(document.facts_of(system.device()).unwrap().name, "gpu0");
        assert_eq!(document.facts_of(sheet).unwrap().name, "gpu0");
    }
    let sheet_alone = system.with_device(sheet.clone());
    assert_eq!(system.notes(), sheet_alone.notes(), "no link is missing");
}
