//! What tools print otherwise than their newest version does, or print beside it: forms of their sources, figures of our own.

use fizeau_probe::{
    Dtype, ImportedMeasurements, Measurement, Operation, ProbeDocument, ProbeFigures,
    import_measurements,
};

use super::import::fixtures;

fn read(text: &str) -> ImportedMeasurements {
    import_measurements(text.as_bytes(), Some("file.txt")).unwrap()
}

fn fixture(wanted: &str) -> ImportedMeasurements {
    let (name, content) = fixtures().into_iter().find(|(name, _)| name == wanted).unwrap();
    import_measurements(&content, Some(&name)).unwrap()
}

fn keys(imported: &ImportedMeasurements) -> Vec<String> {
    imported.measurements.iter().map(Measurement::key).collect()
}

fn teraflops(seen: &Measurement) -> Option<f64> {
    let rate = ProbeFigures::of(seen).arithmetic?.typical.get();
    Some((rate / 1e12).round())
}

/// `srun -l` pads the number of a task to the width of the last one, and what the job's script prints has none.
#[test]
fn labels_of_tasks_are_padded_and_the_script_has_none() {
    let rank = |rank: u32| {
        format!("#  Rank {rank:2} Group 0 Pid {rank} on h{} device 0 [0x18] GPU\n", rank / 8)
    };
    let table = "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n\
        8388608 2097152 float sum -1 215.3 38.96 73.04 0 180.0 46.60 87.38 0\n";
    let bare: String = "# Collective test starting: all_reduce_perf\n".to_owned()
        + &(0..16).map(rank).collect::<String>()
        + table;
    let whole = read(&bare);
    assert_eq!(whole.measurements.len(), 2);
    for label in ["0: ", " 0: ", "  0: "] {
        let labelled: String = bare.lines().map(|line| format!("{label}{line}\n")).collect();
        assert_eq!(read(&labelled).measurements, whole.measurements, "{label:?}");
        let with_script = format!("Running on h0,h1\n{labelled}");
        assert_eq!(read(&with_script).measurements, whole.measurements, "{label:?}");
    }
}

/// Of a batch each product has all rows; of groups of `k` each has all rows and columns, and a part of the sum.
#[test]
fn products_of_batches_and_of_sums_in_groups_are_whole() {
    let imported = fixture("deep-gemm.txt");
    let [.., fp8, fp4, batch, unknown] = imported.measurements.as_slice() else { panic!() };
    let grouped = "gpu0: gemm 4 x 4096 x 7168 x 2048 to f32";
    assert_eq!(fp8.key(), format!("{grouped}, fp8_e4m3"));
    assert_eq!(fp4.key(), format!("{grouped}, mxfp4"));
    assert_eq!([fp8, fp4].map(teraflops), [Some(1203.0), Some(2405.0)]);
    assert_eq!(batch.key(), "gpu0: gemm 16 x 1024 x 1024 x 4096 to bf16, bf16");
    assert_eq!((unknown.dtype, teraflops(batch)), (None, Some(687.0)));
    let differs = |seen: &&Measurement| seen.notes.iter().any(|note| note.contains("give"));
    assert_eq!(imported.measurements.iter().find(differs), None);
}

/// Before version 0.3 a copy engine's matrix of both directions is of one of them, a kernel's of both. The name of a test says which way
/// bytes go, whatever the arrow above its matrix does.
#[test]
fn copies_go_the_way_that_their_test_says() {
    let imported = fixture("nvbandwidth-old.txt");
    let expected = [
        "gpu0: copy gpu0 to gpu1, copy_engine_write",
        "gpu1: copy gpu1 to gpu0, copy_engine_write",
        "gpu1: copy gpu1 to gpu0, measured one way, copy_engine_read, both ways",
        "gpu0: copy gpu0 to gpu1, measured one way, copy_engine_read, both ways",
        "gpu0: copy host to gpu0, all at once, copy_engine, both ways",
        "gpu1: copy host to gpu1, all at once, copy_engine, both ways",
        "gpu0: copy gpu0 to all gpus, copy_engine_read",
        "gpu1: copy gpu1 to all gpus, copy_engine_read",
        "gpu1: copy gpu1 to gpu0, kernel_read, both ways",
        "gpu0: copy gpu0 to gpu1, kernel_read, both ways",
    ];
    assert_eq!(keys(&imported), expected);
    assert_eq!(imported.notes, Vec::<String>::new(), "no device copies to itself");
    let document = ProbeDocument::of_imports([imported], "node").unwrap();
    let sheet = fizeau_roofline::Device::named("h100-sxm").unwrap();
    let rows = document.specified_by(sheet).rows;
    let share = |row: usize| rows[row].shares.percent_of_specification.map(f64::round);
    // Of 450 GB/s one way, and of 900 both.
    assert_eq!([share(0), share(2), share(8)], [Some(40.0), Some(38.0), Some(33.0)]);
    // Both directions of newer versions are of the pair.
    let newer = keys(&fixture("nvbandwidth.txt"));
    assert!(newer.contains(&"gpu0: copy gpu0 to gpu1, kernel_read, both ways".to_owned()));
    assert!(newer.contains(&"gpu1: copy gpu1 to gpu0, copy_engine_read".to_owned()));
}

/// Kernels on a device's own memory are measures of it: version 0.10 has them by load and store and by the tensor memory accelerator.
#[test]
fn kernels_on_a_devices_own_memory_are_held_against_it() {
    let test = |name: &str, value: f64| {
        format!(
            "Running {name}.\nlocal GPU(column) bandwidth (GB/s)\n           0\n 0   {value}\n\nSUM {name} {value}\n\n"
        )
    };
    let text = [
        ("device_local_copy", 1000.0),
        ("device_local_copy_sm", 1400.0),
        ("device_local_copy_tma", 1500.0),
        ("device_local_read_sm", 3000.0),
        ("device_local_write_sm", 2900.0),
    ]
    .map(|(name, value)| test(name, value));
    let head = "nvbandwidth Version: v0.10.0\nCUDA Driver Version (API): 13.3 (13030)\n";
    let imported = read(&(head.to_owned() + &text.concat()));
    assert_eq!(imported.settings, ["CUDA Driver Version (API): 13.3 (13030)"]);
    let expected = [
        "gpu0: copy gpu0 to gpu0, copy_engine",
        "gpu0: copy",
        "gpu0: copy",
        "gpu0: read",
        "gpu0: write",
    ];
    assert_eq!(keys(&imported), expected);
    assert_eq!(imported.measurements[2].method.instructions.as_deref(), Some("tma"));
    let document = ProbeDocument::of_imports([imported], "node").unwrap();
    let sheet = fizeau_roofline::Device::named("h100-sxm").unwrap();
    let rows = document.specified_by(sheet).rows;
    let shares = rows.iter().map(|row| row.shares.percent_of_specification.map(f64::round));
    let of = |rate: f64| Some((100.0 * rate / 3350.0).round());
    assert_eq!(
        shares.collect::<Vec<_>>(),
        [of(2000.0), of(2800.0), of(3000.0), of(3000.0), of(2900.0)]
    );
}

#[test]
fn sums_without_their_matrices_say_why_there_is_no_row() {
    let text = "SUM host_to_device_memcpy_ce 845.90\nSUM device_to_host_memcpy_ce 773.99\n";
    let said = import_measurements(text.as_bytes(), None).unwrap_err().to_string();
    assert!(said.contains("import the whole output, with the matrices"), "{said}");
}

/// A file of rccl-tests: two processes with four GPUs each are eight ranks.
#[test]
fn files_of_rccl_tests_are_read() {
    for name in ["rccl-tests-file.json", "rccl-tests-file.csv"] {
        let imported = fixture(name);
        let expected = [
            "gpu0-7: all_reduce, 8 ranks, 1 GiB, out of place, bf16",
            "gpu0-7: all_reduce, 8 ranks, 1 GiB, in place, bf16",
        ];
        assert_eq!(
            (imported.tool.as_str(), keys(&imported)),
            ("rccl-tests", expected.map(str::to_owned).to_vec())
        );
        let buses = imported.measurements.iter().map(|seen| ProbeFigures::of(seen).bus);
        let buses: Vec<f64> = buses.map(|bus| (bus.unwrap().typical.get() / 1e9).round()).collect();
        assert_eq!(buses, [700.0, 684.0], "{name}");
    }
    // Without MPI there is one process, and its GPUs are the ranks.
    let alone = read(
        "numCycle,collective,gpus,size,type,redop,inplace,time,algbw,busbw,#wrong\n\
         0,\"AlltoAll\",4,1048576,\"float\",\"none\",0,20.0,52.4288,39.3216,\"2\"\n",
    );
    assert_eq!(keys(&alone), ["gpu0-3: all_to_all, 4 ranks, 1 MiB, out of place, f32"]);
    assert!(format!("{:?}", alone.measurements[0].verification).contains("2 elements are wrong"));
}

/// `--max_bandwidth` and `--idle_latency` of Intel's checker print a part of what it prints by itself.
#[test]
fn parts_of_the_memory_latency_checker_are_read() {
    let maxima = "Intel(R) Memory Latency Checker - v3.9\n\
        Measuring idle latencies (in ns)...\n\t\tNuma node\nNuma node\t     0\n       0\t  81.0\n\n\
        Measuring Maximum Memory Bandwidths for the system\n\
        ALL Reads        :      178000.5\n3:1 Reads-Writes :      168000.5\n";
    let imported = read(maxima);
    let expected = [
        "cpu: load latency cores of node 0 to memory of node 0",
        "cpu: read",
        "cpu: traffic of 3:1 Reads-Writes",
    ];
    assert_eq!(keys(&imported), expected);
    let idle = "Intel(R) Memory Latency Checker - v3.11b\nCommand line parameters: --idle_latency -b1024\n\n\
        Using buffer size of 1.000MiB\n*** So, enabling random access for latency measurements\n\
        Each iteration took 19.0 base frequency clocks (\t10.0\tns)\n";
    let imported = read(idle);
    assert_eq!(
        (keys(&imported), imported.version.as_deref()),
        (vec!["cpu: load latency, 1 MiB".to_owned()], Some("3.11b"))
    );
    let time = ProbeFigures::of(&imported.measurements[0]).time.unwrap().typical.get();
    assert!((time - 10e-6).abs() < 1e-12, "{time}");
    assert_eq!(imported.measurements[0].notes, ["addresses at random"]);
}

/// Of FlashMLA's tests one prints a figure a line, and one times gradients beside.
#[test]
fn figures_on_lines_of_their_own_are_of_one_attention() {
    let imported = fixture("flash-mla.txt");
    let [.., sparse, forward, backward] = imported.measurements.as_slice() else { panic!() };
    assert!(
        sparse.key().starts_with("gpu0: sparse attention, s_q=2, s_kv=16384"),
        "{}",
        sparse.key()
    );
    assert!(sparse.key().contains("b=32, is_varlen=True"), "{}", sparse.key());
    let figures = ProbeFigures::of(sparse);
    assert_eq!(figures.time.unwrap().typical.get(), 0.1, "the whole time, of no part");
    assert_eq!((teraflops(sparse), figures.stream.unwrap().typical.get()), (Some(46.0), 8e11));
    let Operation::Attention { shape, .. } = &forward.operation else { panic!("{forward:?}") };
    assert_eq!((shape.batch, shape.query_heads, shape.kv_len), (2, 16, 8192));
    assert_eq!(teraflops(forward), Some(1374.0));
    assert!(backward.key().starts_with("gpu0: gradients of attention"), "{}", backward.key());
}

/// hipblaslt-bench of ROCm 6.0 has the type of the result alone.
#[test]
fn a_product_without_the_type_of_its_operands_is_one() {
    let imported = read(
        "hipBLASLt version: 600\n\
         [0]transA,transB,grouped_gemm,batch_count,m,n,k,alpha,lda,stride_a,beta,ldb,stride_b,ldc,stride_c,ldd,stride_d,d_type,compute_type,activation_type,bias_vector,hipblaslt-Gflops,us\n\
         N,N,0,1,1024,2048,512,1,1024,524288,0,512,1048576,1024,2097152,1024,2097152,fp16_r,f32_r,none,0, 107374.2, 20\n",
    );
    let [seen] = imported.measurements.as_slice() else { panic!("{imported:?}") };
    assert_eq!(seen.key(), "gpu0: gemm 2048 x 1024 x 512 to f16");
    assert_eq!((seen.dtype, teraflops(seen)), (None::<Dtype>, Some(107.0)));
    assert_eq!(seen.work.bytes.stream, None);
    assert!(seen.notes.contains(&"the tool does not report the type of operands".to_owned()));
}
