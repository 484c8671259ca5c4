//! What is run, and the bars that stand beside the figures.

/// How long prompts and replies are, in tokens.
pub(crate) const TOKENS: u64 = 250;

/// A number of streams against a server with a certain timing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) streams: u64,
    pub(crate) ttft_ms: u64,
    pub(crate) itl_ms: u64,
    /// Requests of Fizeau's run, per stream.
    pub(crate) per_stream: u64,
    pub(crate) bars: Bars,
}

/// The most that each figure may be; none where nothing was set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bars {
    /// TTFT p99: client less server, in milliseconds, either way.
    pub(crate) ttft_apart: Option<f64>,
    /// ITL p99: client less server, in milliseconds, either way.
    pub(crate) itl_apart: Option<f64>,
    /// Send lateness p99 in milliseconds; with it, the verdict must be valid.
    pub(crate) lateness: Option<f64>,
    /// CPU seconds per million tokens.
    pub(crate) cpu: Option<f64>,
    /// The same, over wrk's.
    pub(crate) cpu_ratio: Option<f64>,
    /// The same, over that of a bare loop.
    pub(crate) floor_ratio: Option<f64>,
    /// Peak resident memory in megabytes.
    pub(crate) peak: Option<f64>,
}

const NO_BARS: Bars = Bars {
    ttft_apart: None,
    itl_apart: None,
    lateness: None,
    cpu: None,
    cpu_ratio: None,
    floor_ratio: None,
    peak: None,
};

pub(crate) const STREAMS_1000: Shape = Shape {
    streams: 1_000,
    ttft_ms: 50,
    itl_ms: 10,
    per_stream: 4,
    bars: Bars {
        ttft_apart: Some(0.5),
        itl_apart: Some(0.05),
        lateness: Some(1.0),
        cpu_ratio: Some(1.0),
        floor_ratio: Some(1.15),
        peak: Some(56.0),
        ..NO_BARS
    },
};

pub(crate) const STREAMS_256: Shape = Shape {
    streams: 256,
    ttft_ms: 50,
    itl_ms: 5,
    per_stream: 8,
    bars: Bars {
        ttft_apart: Some(0.5),
        itl_apart: Some(0.05),
        cpu_ratio: Some(1.0),
        floor_ratio: Some(1.15),
        ..NO_BARS
    },
};

/// As many as a client may have open, each at a person's pace.
pub(crate) const STREAMS_10000: Shape = Shape {
    streams: 10_000,
    ttft_ms: 50,
    itl_ms: 100,
    per_stream: 1,
    bars: Bars { lateness: Some(10.0), peak: Some(250.0), ..NO_BARS },
};

/// The server sends as fast as it can.
pub(crate) const FLAT_OUT: Shape = Shape {
    streams: 64,
    ttft_ms: 0,
    itl_ms: 0,
    per_stream: 125,
    bars: Bars { cpu: Some(0.35), ..NO_BARS },
};

/// The same, long enough to see whether memory grows with the number of requests.
pub(crate) const MILLION: Shape = Shape {
    per_stream: 1_000_000 / FLAT_OUT.streams,
    bars: Bars { peak: Some(120.0), ..NO_BARS },
    ..FLAT_OUT
};

impl Shape {
    pub(crate) const fn requests(&self) -> u64 {
        self.streams * self.per_stream
    }

    /// Whether tokens leave at instants of their own, so that the server's record says when each had to come.
    pub(crate) const fn is_paced(&self) -> bool {
        self.itl_ms > 0
    }

    /// What the shape is, in a line.
    pub(crate) fn describe(&self) -> String {
        let Self { streams, ttft_ms, itl_ms, .. } = self;
        let requests = self.requests();
        let pace = if self.is_paced() {
            format!("TTFT {ttft_ms} ms, ITL {itl_ms} ms")
        } else {
            "flat out".to_owned()
        };
        format!("{streams} streams, {pace}, {requests} requests, {TOKENS} in, {TOKENS} out")
    }
}
