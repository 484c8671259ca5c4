//! The tables of an answer.

use fizeau_roofline::{Binding, Figures, PassTime};

use super::grid::Grid;
use super::quantity::{bytes, row};
use super::{SolScope, SolView};
use crate::number::{number, percent};

/// What lies where on the fullest device.
pub(super) fn memory(view: &SolView<'_>) -> Vec<String> {
    let answer = view.answer;
    let of = answer.memory;
    let groups = view.system.deployment();
    let groups = f64::from(groups.attention_groups()) * f64::from(groups.replicas());
    let room = match answer.max_batch {
        Some(most) => format!("room for {most} at once on all devices"),
        None => "no limit to the sequences".to_owned(),
    };
    let sequences = format!(
        "{} sequences, {} each",
        number(answer.running_batch / groups),
        bytes(of.sequence.get())
    );
    let mut grid = Grid::new(&["GB of a device", "", "", ""]).with_notes();
    for (name, part, note) in [
        ("weights", of.weights, String::new()),
        ("cache", of.cache, sequences),
        ("free", of.free, room),
        ("kept back", of.reserve, String::new()),
        ("whole", of.total, String::new()),
    ] {
        let share = percent(part.get() / of.total.get());
        grid.row([name.to_owned(), format!("{:.2}", part.get() / 1e9), share, note]);
    }
    grid.lines()
}

/// The figures, each way of reckoning in a column of its own.
pub(super) fn figures(view: &SolView<'_>) -> Vec<String> {
    let ways = [("bound", &view.answer.bound), ("expected", &view.answer.expected)];
    let mut grid = Grid::new(&["", ways[0].0, ways[1].0]);
    let devices = view.system.deployment().devices() as f64;
    let mut add = |name: &str, of: &dyn Fn(&Figures) -> f64| {
        grid.row(row(name, ways.iter().map(|way| of(way.1))));
    };
    let is_whole = view.scope == SolScope::Requests;
    if is_whole {
        add("TTFT of a lone prompt, ms", &|figures| figures.ttft.get() * 1e3);
    }
    add("TPOT, ms", &|figures| figures.tpot.get() * 1e3);
    if is_whole {
        add("E2EL, ms", &|figures| figures.e2el.get() * 1e3);
    }
    add("output tokens/s of a user", &|figures| 1.0 / figures.tpot.get());
    add("output tokens/s", &|figures| figures.output_tokens_per_s.get());
    if devices > 1.0 {
        add("output tokens/s of a device", &|figures| figures.output_tokens_per_s.get() / devices);
    }
    if is_whole {
        add("requests/s", &|figures| figures.requests_per_s.get());
    }
    grid.lines()
}

/// What the passes take, resource by resource.
pub(super) fn passes(view: &SolView<'_>) -> Vec<String> {
    let (system, load, batch) = (view.system, view.load, view.answer.running_batch);
    let step = [system.bound_decode(load, batch), system.expected_decode(load, batch)];
    let prompt = system.prefill_pass(load);
    let prompt = [system.bound_pass(&prompt), system.expected_pass(&prompt)];
    let passes: Vec<(&str, [PassTime; 2])> = match view.scope {
        SolScope::Requests => vec![("prefill", prompt), ("decode", step)],
        SolScope::Step => vec![("decode", step)],
    };
    let mut heads = vec!["ms of a pass".to_owned()];
    for (name, _) in &passes {
        heads.extend([format!("{name} bound"), "expected".to_owned(), "share".to_owned()]);
    }
    let mut grid = Grid::default();
    grid.row(heads);
    for part in PARTS {
        let values: Vec<[f64; 2]> = passes.iter().map(|pass| part.of(&pass.1)).collect();
        if values.iter().flatten().all(|value| *value == 0.0) {
            continue;
        }
        let mut cells = vec![part.name.to_owned()];
        for ((_, [_, expected]), values) in passes.iter().zip(values) {
            cells.extend(row("", values.into_iter()).into_iter().skip(1));
            cells.push(percent(values[1] / 1e3 / expected.total.get()));
        }
        grid.row(cells);
    }
    let mut lines = grid.lines();
    lines.push("In the bound parts overlap and the longest resource counts; in the expected they".to_owned());
    lines.push("add up: each operator by the resource that it waits for.".to_owned());
    lines
}

/// A part of a pass: in the bound the time that it would take by itself, in the expectation the time that waits for it.
struct Part {
    name: &'static str,
    bound: fn(&PassTime) -> f64,
    expected: fn(&Binding) -> f64,
}

impl Part {
    fn of(&self, [bound, expected]: &[PassTime; 2]) -> [f64; 2] {
        [(self.bound)(bound) * 1e3, (self.expected)(&expected.binding) * 1e3]
    }
}

const PARTS: [Part; 7] = [
    Part {
        name: "weights",
        bound: |pass| pass.weights.get(),
        expected: |part| part.weights.get(),
    },
    Part {
        name: "cache and state",
        bound: |pass| pass.cache.get(),
        expected: |part| part.cache.get(),
    },
    Part {
        name: "activations",
        bound: |pass| pass.activations.get(),
        expected: |part| part.activations.get(),
    },
    Part {
        name: "arithmetic",
        bound: |pass| pass.arithmetic().get(),
        expected: |part| part.compute.get(),
    },
    Part { name: "links: bytes", bound: |pass| pass.link.get(), expected: |part| part.link.get() },
    Part { name: "links: hops", bound: |pass| pass.hops.get(), expected: |part| part.hops.get() },
    Part {
        name: "whole pass",
        bound: |pass| pass.total.get(),
        expected: |part| part.total().get(),
    },
];
