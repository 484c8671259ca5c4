//! Decode attention over a cache in pages, as a test of bandwidth: keys and values are read once for all query heads that share them.
//!
//! One warp has one head of keys of one sequence and one part of its pages (split KV); a second kernel combines the parts. A lane has
//! four of the 128 dimensions. The softmax is kept up online, by powers of two.

use super::stream::braced;
use super::writer::{Class, Passed, Register, Writer};
pub(in crate::cuda) use crate::gpu_coverage::{HEAD_DIM, PAGE_TOKENS};

/// Tokens whose keys and values are loaded before the first is used.
const AT_ONCE: u32 = 4;
/// Threads of a block of [`combine`]: a dimension each.
pub(in crate::cuda) const COMBINE_THREADS: u32 = HEAD_DIM;
/// The finite number below all: what no score has come to yet.
const LOWEST: &str = "0fFF7FFFFF";
const ZERO: &str = "0f00000000";

/// What is fixed when a kernel is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cuda) struct PagedDecode {
    /// Heads of keys and values.
    pub(in crate::cuda) kv_heads: u32,
    /// Query heads to each of them.
    pub(in crate::cuda) group: u32,
}

/// One query head of a warp: its query, its running maximum and sum, its weighted values.
struct Head {
    query: [Register; 4],
    highest: Register,
    sum: Register,
    values: [Register; 4],
}

/// Two bf16 of a word as singles.
fn widen(w: &mut Writer, word: Register, into: [Register; 2]) {
    let half = w.register(Class::Word);
    w.put(format_args!("shl.b32 {half}, {word}, 16"));
    w.put(format_args!("mov.b32 {}, {half}", into[0]));
    w.put(format_args!("and.b32 {half}, {word}, 0xffff0000"));
    w.put(format_args!("mov.b32 {}, {half}", into[1]));
}

fn widened(w: &mut Writer, words: [Register; 2]) -> [Register; 4] {
    let four: [Register; 4] = w.registers(Class::Float);
    widen(w, words[0], [four[0], four[1]]);
    widen(w, words[1], [four[2], four[3]]);
    four
}

/// `paged_decode(q, k, v, table, partial, stats, pages, splits, scale)`, a grid of (sequences x heads of keys) by splits, blocks of
/// one warp.
///
/// - `q`: bf16 `[sequence][query head][128]`; `k`, `v`: bf16 `[page][head][16][128]`.
/// - `table`: which page of the cache each page of each sequence is, `[sequence][pages]`.
/// - `partial`: f32 `[sequence and head][split][query head of the group][128]`, not yet divided; `stats`: the maximum (in powers of
///   two) and the sum of each.
/// - `scale` is that of the scores times the binary logarithm of e.
pub(in crate::cuda) fn decode(shape: PagedDecode) -> String {
    let PagedDecode { kv_heads, group } = shape;
    let mut w = Writer::new(
        "paged_decode",
        &[
            ("q", Passed::Long),
            ("k", Passed::Long),
            ("v", Passed::Long),
            ("table", Passed::Long),
            ("partial", Passed::Long),
            ("stats", Passed::Long),
            ("pages", Passed::Word),
            ("splits", Passed::Word),
            ("scale", Passed::Float),
        ],
    );
    let [q, k, v, table] = ["q", "k", "v", "table"].map(|name| w.address(name));
    let [partial, stats] = ["partial", "stats"].map(|name| w.address(name));
    let [pages, splits] = ["pages", "splits"].map(|name| w.parameter(name));
    let scale = w.parameter("scale");
    let [lane, row, split, sequence, kv_head] = w.registers(Class::Word);
    w.put(format_args!("mov.u32 {lane}, %tid.x"));
    w.put(format_args!("mov.u32 {row}, %ctaid.x"));
    w.put(format_args!("mov.u32 {split}, %ctaid.y"));
    w.put(format_args!("div.u32 {sequence}, {row}, {kv_heads}"));
    w.put(format_args!("rem.u32 {kv_head}, {row}, {kv_heads}"));
    // The lane's eight bytes of a row of 128 bf16.
    let [offset, place] = w.registers(Class::Long);
    w.put(format_args!("mul.wide.u32 {offset}, {lane}, 8"));
    w.put(format_args!("mul.wide.u32 {place}, {row}, {}", group * HEAD_DIM * 2));
    w.put(format_args!("add.s64 {place}, {place}, {offset}"));
    w.put(format_args!("add.s64 {place}, {q}, {place}"));
    let heads = (0..group).map(|head| Head::load(&mut w, place, head, scale)).collect();
    let cache = Cache { k, v, table, pages, sequence, kv_head, offset };
    let warp = Warp { lane, row, split, splits, heads };
    warp.read(&mut w, kv_heads, &cache);
    warp.store(&mut w, [partial, stats]);
    w.finish()
}

/// Where the cache lies, and which part of it a warp reads: the pages of a sequence, of each the head of keys and of that the lane's bytes.
struct Cache {
    k: Register,
    v: Register,
    table: Register,
    pages: Register,
    sequence: Register,
    kv_head: Register,
    offset: Register,
}

/// A warp: its lane, its row among (sequences x heads of keys), its split of so many, and its query heads.
struct Warp {
    lane: Register,
    row: Register,
    split: Register,
    splits: Register,
    heads: Vec<Head>,
}

impl Head {
    /// The query head of that number, whose group begins at `place`, before any token.
    fn load(w: &mut Writer, place: Register, number: u32, scale: Register) -> Self {
        let words: [Register; 2] = w.registers(Class::Word);
        let at = number * HEAD_DIM * 2;
        w.put(format_args!("ld.global.v2.u32 {}, [{place}+{at}]", braced(&words)));
        let query = widened(w, words);
        for of_query in query {
            w.put(format_args!("mul.f32 {of_query}, {of_query}, {scale}"));
        }
        let [highest, sum] = w.registers(Class::Float);
        w.put(format_args!("mov.f32 {highest}, {LOWEST}"));
        w.put(format_args!("mov.f32 {sum}, {ZERO}"));
        let values: [Register; 4] = w.registers(Class::Float);
        for value in values {
            w.put(format_args!("mov.f32 {value}, {ZERO}"));
        }
        Self { query, highest, sum, values }
    }
}

impl Warp {
    /// The first of the pages of its split, and the one behind the last.
    fn pages(&self, w: &mut Writer, pages: Register) -> [Register; 2] {
        let Self { split, splits, .. } = self;
        let [each, page, end] = w.registers(Class::Word);
        w.put(format_args!("add.u32 {each}, {pages}, {splits}"));
        w.put(format_args!("sub.u32 {each}, {each}, 1"));
        w.put(format_args!("div.u32 {each}, {each}, {splits}"));
        w.put(format_args!("mul.lo.u32 {page}, {split}, {each}"));
        w.put(format_args!("add.u32 {end}, {page}, {each}"));
        w.put(format_args!("min.u32 {end}, {end}, {pages}"));
        [page, end]
    }

    /// Takes in the tokens of the pages of its split.
    fn read(&self, w: &mut Writer, kv_heads: u32, cache: &Cache) {
        let Cache { k, v, table, pages, sequence, kv_head, offset } = cache;
        let [page, end] = self.pages(w, *pages);
        let [entry, physical, of_head] = w.registers(Class::Long);
        let of_sequence = w.register(Class::Word);
        w.put(format_args!("mul.lo.u32 {of_sequence}, {sequence}, {pages}"));
        let number = w.register(Class::Word);
        let is_over = w.register(Class::Predicate);
        let (turn, over) = (w.label(), w.label());
        w.place(turn);
        w.put(format_args!("setp.ge.u32 {is_over}, {page}, {end}"));
        w.put(format_args!("@{is_over} bra {over}"));
        w.put(format_args!("add.u32 {number}, {of_sequence}, {page}"));
        w.put(format_args!("mul.wide.u32 {entry}, {number}, 4"));
        w.put(format_args!("add.s64 {entry}, {table}, {entry}"));
        w.put(format_args!("ld.global.u32 {number}, [{entry}]"));
        let head_bytes = PAGE_TOKENS * HEAD_DIM * 2;
        w.put(format_args!("mul.wide.u32 {physical}, {number}, {}", kv_heads * head_bytes));
        w.put(format_args!("mul.wide.u32 {of_head}, {kv_head}, {head_bytes}"));
        w.put(format_args!("add.s64 {physical}, {physical}, {of_head}"));
        w.put(format_args!("add.s64 {physical}, {physical}, {offset}"));
        let [keys, values] = w.registers(Class::Long);
        w.put(format_args!("add.s64 {keys}, {k}, {physical}"));
        w.put(format_args!("add.s64 {values}, {v}, {physical}"));
        for first in (0..PAGE_TOKENS).step_by(AT_ONCE as usize) {
            tokens(w, [keys, values], first * HEAD_DIM * 2, &self.heads);
        }
        w.put(format_args!("add.u32 {page}, {page}, 1"));
        w.put(format_args!("bra {turn}"));
        w.place(over);
    }

    /// Stores what its group came to over this split: each lane its values, the first lane the maximum and the sum.
    fn store(&self, w: &mut Writer, [partial, stats]: [Register; 2]) {
        let Self { lane, row, split, splits, heads } = self;
        let group = heads.len() as u32;
        // Where the group's results of this split begin.
        let result = w.register(Class::Word);
        let [at, of_lane] = w.registers(Class::Long);
        w.put(format_args!("mad.lo.u32 {result}, {row}, {splits}, {split}"));
        w.put(format_args!("mul.wide.u32 {at}, {result}, {}", group * HEAD_DIM * 4));
        w.put(format_args!("mul.wide.u32 {of_lane}, {lane}, 16"));
        w.put(format_args!("add.s64 {at}, {at}, {of_lane}"));
        w.put(format_args!("add.s64 {at}, {partial}, {at}"));
        for (number, head) in (0_u32..).zip(heads) {
            let to = number * HEAD_DIM * 4;
            w.put(format_args!("st.global.v4.f32 [{at}+{to}], {}", braced(&head.values)));
        }
        let is_other = w.register(Class::Predicate);
        let end = w.label();
        w.put(format_args!("setp.ne.u32 {is_other}, {lane}, 0"));
        w.put(format_args!("@{is_other} bra {end}"));
        w.put(format_args!("mul.wide.u32 {at}, {result}, {}", group * 8));
        w.put(format_args!("add.s64 {at}, {stats}, {at}"));
        for (number, head) in (0_u32..).zip(heads) {
            let both = braced(&[head.highest, head.sum]);
            w.put(format_args!("st.global.v2.f32 [{at}+{}], {both}", number * 8));
        }
        w.place(end);
    }
}

/// A few tokens of a page: all loads first, then the scores of each query head, then its softmax and values.
fn tokens(w: &mut Writer, [keys, values]: [Register; 2], first: u32, heads: &[Head]) {
    let loaded = |w: &mut Writer, from: Register| -> Vec<[Register; 2]> {
        let load = |token: u32| {
            let words: [Register; 2] = w.registers(Class::Word);
            let at = first + token * HEAD_DIM * 2;
            w.put(format_args!("ld.global.cg.v2.u32 {}, [{from}+{at}]", braced(&words)));
            words
        };
        (0..AT_ONCE).map(load).collect()
    };
    let (keys, values) = (loaded(w, keys), loaded(w, values));
    let keys: Vec<[Register; 4]> = keys.into_iter().map(|words| widened(w, words)).collect();
    let values: Vec<[Register; 4]> = values.into_iter().map(|words| widened(w, words)).collect();
    for head in heads {
        let scores: Vec<Register> = keys.iter().map(|key| score(w, head, key)).collect();
        let [highest, kept] = w.registers(Class::Float);
        w.put(format_args!("mov.f32 {highest}, {}", head.highest));
        for score in &scores {
            w.put(format_args!("max.f32 {highest}, {highest}, {score}"));
        }
        w.put(format_args!("sub.f32 {kept}, {}, {highest}", head.highest));
        w.put(format_args!("ex2.approx.f32 {kept}, {kept}"));
        w.put(format_args!("mov.f32 {}, {highest}", head.highest));
        for kept_of in head.values.iter().chain([&head.sum]) {
            w.put(format_args!("mul.f32 {kept_of}, {kept_of}, {kept}"));
        }
        for (score, value) in scores.iter().zip(&values) {
            w.put(format_args!("sub.f32 {score}, {score}, {highest}"));
            w.put(format_args!("ex2.approx.f32 {score}, {score}"));
            w.put(format_args!("add.f32 {0}, {0}, {score}", head.sum));
            for (of_head, of_token) in head.values.iter().zip(value) {
                w.put(format_args!("fma.rn.f32 {of_head}, {score}, {of_token}, {of_head}"));
            }
        }
    }
}

/// The product of a query and a key, summed over the lanes of the warp: every lane has it.
fn score(w: &mut Writer, head: &Head, key: &[Register; 4]) -> Register {
    let [sum, other] = w.registers(Class::Float);
    w.put(format_args!("mul.f32 {sum}, {}, {}", head.query[0], key[0]));
    for (query, key) in head.query.iter().zip(key).skip(1) {
        w.put(format_args!("fma.rn.f32 {sum}, {query}, {key}, {sum}"));
    }
    for distance in [16, 8, 4, 2, 1] {
        w.put(format_args!("shfl.sync.bfly.b32 {other}, {sum}, {distance}, 31, 0xffffffff"));
        w.put(format_args!("add.f32 {sum}, {sum}, {other}"));
    }
    sum
}

/// `paged_combine(partial, stats, out, splits)`: a block a query head, a thread a dimension; `out` is f32 `[sequence][query head][128]`.
pub(in crate::cuda) fn combine(shape: PagedDecode) -> String {
    let group = shape.group;
    let mut w = Writer::new(
        "paged_combine",
        &[
            ("partial", Passed::Long),
            ("stats", Passed::Long),
            ("out", Passed::Long),
            ("splits", Passed::Word),
        ],
    );
    let [partial, stats, out] = ["partial", "stats", "out"].map(|name| w.address(name));
    let splits = w.parameter("splits");
    let [dim, head, row, of_group, first] = w.registers(Class::Word);
    w.put(format_args!("mov.u32 {dim}, %tid.x"));
    w.put(format_args!("mov.u32 {head}, %ctaid.x"));
    w.put(format_args!("div.u32 {row}, {head}, {group}"));
    w.put(format_args!("rem.u32 {of_group}, {head}, {group}"));
    // The first split's place of this head among places of (split, head of the group).
    w.put(format_args!("mul.lo.u32 {first}, {row}, {splits}"));
    w.put(format_args!("mad.lo.u32 {first}, {first}, {group}, {of_group}"));
    let [stat, value, of_dim] = w.registers(Class::Long);
    w.put(format_args!("mul.wide.u32 {stat}, {first}, 8"));
    w.put(format_args!("add.s64 {stat}, {stats}, {stat}"));
    w.put(format_args!("mul.wide.u32 {value}, {first}, {}", HEAD_DIM * 4));
    w.put(format_args!("mul.wide.u32 {of_dim}, {dim}, 4"));
    w.put(format_args!("add.s64 {value}, {value}, {of_dim}"));
    w.put(format_args!("add.s64 {value}, {partial}, {value}"));
    let [highest, sum, total] = w.registers(Class::Float);
    w.put(format_args!("mov.f32 {highest}, {LOWEST}"));
    w.put(format_args!("mov.f32 {sum}, {ZERO}"));
    w.put(format_args!("mov.f32 {total}, {ZERO}"));
    let goes_on = w.register(Class::Predicate);
    let turn = w.label();
    w.place(turn);
    add_split(&mut w, [stat, value], [highest, sum, total]);
    w.put(format_args!("add.s64 {stat}, {stat}, {}", group * 8));
    w.put(format_args!("add.s64 {value}, {value}, {}", group * HEAD_DIM * 4));
    w.put(format_args!("sub.u32 {splits}, {splits}, 1"));
    w.put(format_args!("setp.ne.u32 {goes_on}, {splits}, 0"));
    w.put(format_args!("@{goes_on} bra {turn}"));
    w.put(format_args!("div.rn.f32 {total}, {total}, {sum}"));
    w.put(format_args!("mul.wide.u32 {value}, {head}, {}", HEAD_DIM * 4));
    w.put(format_args!("add.s64 {value}, {value}, {of_dim}"));
    w.put(format_args!("add.s64 {value}, {out}, {value}"));
    w.put(format_args!("st.global.f32 [{value}], {total}"));
    w.finish()
}

/// Adds the split whose maximum and sum are at `stat` and whose value is at `value` to what the splits before it came to.
fn add_split(w: &mut Writer, [stat, value]: [Register; 2], [highest, sum, total]: [Register; 3]) {
    let [part_highest, part_sum, part] = w.registers(Class::Float);
    let [next, kept] = w.registers(Class::Float);
    w.put(format_args!("ld.global.v2.f32 {}, [{stat}]", braced(&[part_highest, part_sum])));
    w.put(format_args!("ld.global.f32 {part}, [{value}]"));
    w.put(format_args!("max.f32 {next}, {highest}, {part_highest}"));
    w.put(format_args!("sub.f32 {kept}, {highest}, {next}"));
    w.put(format_args!("ex2.approx.f32 {kept}, {kept}"));
    w.put(format_args!("mul.f32 {sum}, {sum}, {kept}"));
    w.put(format_args!("mul.f32 {total}, {total}, {kept}"));
    w.put(format_args!("sub.f32 {kept}, {part_highest}, {next}"));
    w.put(format_args!("ex2.approx.f32 {kept}, {kept}"));
    w.put(format_args!("fma.rn.f32 {sum}, {part_sum}, {kept}, {sum}"));
    w.put(format_args!("fma.rn.f32 {total}, {part}, {kept}, {total}"));
    w.put(format_args!("mov.f32 {highest}, {next}"));
}
