//! What files of other tools have that is easily lost: cells that are no numbers, facts before a banner, failures behind a table.

use fizeau_probe::{
    Dtype, FirstTouch, Operation, ProbeDocument, ProbeRow, Verification, import_measurements,
};

fn document(text: &str) -> ProbeDocument {
    let imported = import_measurements(text.as_bytes(), Some("file.txt")).unwrap();
    ProbeDocument::of_imports([imported], "node").unwrap()
}

fn seen(row: &ProbeRow) -> f64 {
    row.shares.percent_of_best_seen.unwrap_or(f64::NAN)
}

/// Where a rate is missing it follows from what is there, and no time is ever held against a rate.
#[test]
fn a_row_without_its_rate_is_held_against_none_by_its_time() {
    let mixbench = document(
        "mixbench (v0.04)\nDevice: Invented\nExperiment ID, Single Precision ops,,,\n\
         Compute iters, Flops/byte, ex.time,  GFLOPS, GB/sec\n\
         0,      0.250,    0.16,  419.43,1677.72\n1,      0.750,    0.16,  N/A,1677.72\n2,      1.25,    0.16,  N/A, N/A\n",
    );
    let [low, computed, neither] = mixbench.rows.as_slice() else { panic!("{mixbench:?}") };
    let rate = computed.figures.arithmetic.unwrap().typical.get();
    assert!((rate / (0.75 * 1677.72e9) - 1.0).abs() < 1e-9, "{rate}");
    assert_eq!(seen(computed), 100.0);
    assert!((seen(low) - 33.3).abs() < 0.1);
    assert_eq!(neither.shares.percent_of_best_seen, None, "it has a time alone");

    let text = |size: &str| {
        format!(
            "BabelStream\nRunning kernels 100 times\nPrecision: double\n{size}Using CUDA device Invented\n\
             Function    MBytes/sec  Min (sec)   Max         Average\n\
             Copy        3000000.0   0.00100     0.0012      0.0011\nTriad       nan         0.00200     0.0022      0.0021\n"
        )
    };
    let sized = document(&text("Array size: 1500.0 MB (=1.5 GB)\n"));
    let triad = &sized.rows[1];
    let rate = triad.figures.stream.unwrap().peak().get();
    assert!((rate / (3.0 * 1.5e9 / 0.002) - 1.0).abs() < 1e-9, "{rate}");
    assert!((seen(triad) - 75.0).abs() < 1e-6 && triad.measured.notes[0].contains("rounds"));
    assert_eq!(document(&text("")).rows[1].shares.percent_of_best_seen, None);
}

/// What likwid-bench says of its arrays stands before the banner of their run.
#[test]
fn who_touched_arrays_first_is_of_the_run_behind_it() {
    let run = |touch: &str, test: &str| {
        format!(
            "Warning: Sanitizing vector length to a multiple\nInitialization: {touch}\n---\nLIKWID MICRO BENCHMARK\nTest: {test}\n---\n\
             Using 2 threads\nTime:\t1.0 sec\nIterations per thread:\t16\nSize (Byte):\t999999744\n\
             Data volume (Byte):\t15999995904\n"
        )
    };
    let first = run("First thread in domain initializes the whole stream", "stream_avx");
    let second = run("Each thread in domain initializes its own stream chunks", "copy_avx");
    let bare = second.lines().skip(2).map(|line| format!("{line}\n")).collect::<String>();
    let document = document(&(first + &second + &bare));
    let touched = document.rows.iter().map(|row| row.measured.method.first_touch);
    let expected = [Some(FirstTouch::OneThread), Some(FirstTouch::OwnThread), None];
    assert_eq!(touched.collect::<Vec<_>>(), expected);
    let notes = document.rows.iter().map(|row| row.measured.notes.len());
    assert_eq!(notes.collect::<Vec<_>>(), [1, 1, 0]);
}

#[test]
fn lines_of_attention_that_have_no_number_are_left_out_with_a_note() {
    let shape = "s_q=1, mean_sk=4096, h_q=128, h_kv=1, d=576, dv=512, causal=True, varlen=False\n";
    let document = document(&format!(
        "b=128, {shape}0.500 ms, 660 TFLOPS, 1200 GB/s\nb=64, {shape}nan ms, 660 TFLOPS, 3000 GB/s\n"
    ));
    assert_eq!(document.rows.len(), 1);
    assert!(document.notes[0].contains("left out in line 4"), "{:?}", document.notes);
    let note = &document.rows[0].measured.notes[0];
    assert!(note.contains("reports 6.6000e2 TFLOP/s, but its shape and time give"), "{note}");
}

/// A product of which the table has the sizes is one, whichever routine made it.
#[test]
fn products_are_products_whatever_their_routine_is_called() {
    let document = document(
        "routine,median_time,std_time,tflops,tb_per_sec,m,n,k,batch_size\n\
         gemm_fp8_nt_groupwise,0.5,0.01,nan,0.1,4096,4096,4096,\nbmm_bf16,0.5,0.01,500,0.1,4096,4096,4096,2\n",
    );
    let found = document.rows.iter().map(|row| {
        assert!(row.figures.arithmetic.is_some(), "{row:?}");
        let Operation::Gemm { shape, .. } = &row.measured.operation else { panic!("{row:?}") };
        (row.measured.dtype, shape.batch)
    });
    let expected = [(Some(Dtype::Fp8E4m3), 1), (Some(Dtype::Bf16), 2)];
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

/// A tool that says behind its table that results are wrong is believed, in text and in a document.
#[test]
fn a_failure_without_a_row_makes_all_rows_wrong() {
    let table = "# nccl-tests version 2.19.6\n# Collective test starting: all_reduce_perf\n\
         # nThread 1 nGpus 2 minBytes 1 maxBytes 1 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0\n\
         #       size         count      type   redop    root     time   algbw   busbw  #wrong\n\
         1048576           262144     float     sum      -1    10.00    104.8    104.8       0\n";
    let json = |key: &str, okay: &str| {
        format!(
            r#"{{"version": 3, "start_time": "now", "args": ["all_reduce_perf"], "config": {{"ngpus": 2}}, "results": [
                {{"size": 1048576, "type": "float", "out_of_place": {{"time": 10.0, "alg_bw": 104.8, "bus_bw": 104.8, "nwrong": 0}}}}],
                "{key}": {{"count": 0, "okay": "{okay}"}}}}"#
        )
    };
    for (text, is_wrong) in [
        (format!("{table}# Out of bounds values : 0 OK\n# Bitwise mismatches : 0 OK\n"), false),
        (format!("{table}# Out of bounds values : 0 OK\n# Bitwise mismatches : 3 FAILED\n"), true),
        (json("out_of_bounds", "true"), false),
        (json("out_of_bounds", "false"), true),
        (json("bitwise_mismatches", "true"), false),
        (json("bitwise_mismatches", "false"), true),
    ] {
        let document = document(&text);
        let is_bad = matches!(document.rows[0].measured.verification, Verification::Wrong { .. });
        assert_eq!((document.rows.len(), is_bad), (1, is_wrong), "{text}");
        assert_eq!(document.notes.iter().any(|note| note.contains("the tool reports")), is_wrong);
    }
}

/// A copy within a GPU reads and writes its memory, one between two of them goes over its link: each is held against that, and
/// only against copies of its own kind.
#[test]
fn copies_are_held_against_what_they_go_through() {
    let text = |local: f64, between: f64| {
        format!(
            "nvbandwidth Version: v0.8\nDevice 0: Invented (0)\nDevice 1: Invented (1)\n\
             Running device_local_copy.\nmemcpy local GPU(column) bandwidth (GB/s)\n           0\n 0   {local}\n\nSUM device_local_copy 1\n\n\
             Running device_to_device_memcpy_read_ce.\nmemcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)\n           0         1\n\
             \x200       N/A    {between}\n 1    391.00      N/A\n\nSUM device_to_device_memcpy_read_ce 781.00\n\n\
             Running host_to_device_memcpy_ce.\nmemcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n           0\n 0     55.50\n\n\
             SUM host_to_device_memcpy_ce 55.50\n"
        )
    };
    let sheet = fizeau_roofline::Device::named("h100-sxm").unwrap();
    let of = |local, between| document(&text(local, between)).specified_by(sheet);
    let possible = of(1600.0, 390.0);
    let shares: Vec<Option<f64>> =
        possible.rows.iter().map(|row| row.shares.percent_of_specification).collect();
    let is_near = |share: Option<f64>, of: f64| (share.unwrap() - of).abs() < 0.1;
    assert!(is_near(shares[0], 100.0 * 3200.0 / 3350.0), "{shares:?}");
    assert!(is_near(shares[1], 100.0 * 390.0 / 450.0), "{shares:?}");
    let host = possible.rows.last().unwrap();
    assert_eq!((host.shares.percent_of_specification, seen(host)), (None, 100.0));
    assert!(possible.rows.iter().all(|row| row.objections.is_empty()), "{possible:?}");
    let impossible = of(3200.0, 500.0);
    let verdicts = impossible.rows.iter().map(|row| row.objections.len());
    assert_eq!(verdicts.collect::<Vec<_>>(), [1, 1, 0, 0]);
}
