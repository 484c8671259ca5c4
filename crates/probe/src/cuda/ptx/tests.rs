//! The kernels, carried out on the host by [`interpret`](super::interpret), against what they are said to do.

use proptest::prelude::*;

use super::interpret::{BASE, Program};
use super::*;
use crate::measurement::MemoryKernel;

fn f32s(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|word| f32::from_le_bytes(word.try_into().unwrap())).collect()
}

fn bytes(words: impl IntoIterator<Item = u32>) -> Vec<u8> {
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

proptest! {
    /// Every setting, any grid, any length that is whole vectors: nothing is left out, nothing done twice, nothing beyond the end.
    #[test]
    fn kernels_stream_over_every_element_once(
        at in 0_usize..12, vectors in 1_u64..300, blocks in 1_u32..4, threads in 1_u32..9, passes in 1_u64..3,
    ) {
        let setting = LoadSetting::all().nth(at).unwrap();
        let elements = (vectors * u64::from(setting.lanes())) as usize;
        let b: Vec<u32> = (0..elements as u64).map(|index| Fill::F32.word(index)).collect();
        let c: Vec<u32> = (0..elements as u64).map(|index| Fill::F32.seeded(2).word(index)).collect();
        let workers = (blocks * threads) as usize;
        // The target is followed by words that must stay, and has room for the sums of all threads.
        let target = elements.max(workers).next_multiple_of(4) + 4;
        let array = (4 * elements).next_multiple_of(16);
        for kernel in stream::KERNELS {
            let mut memory = bytes(std::iter::repeat_n(0x5555_5555, target));
            for array_of in [&b, &c] {
                let start = memory.len();
                memory.extend(bytes(array_of.iter().copied()));
                memory.resize(start + array, 0);
            }
            let starts = [0, 4 * target, 4 * target + array].map(|offset| BASE + offset as u64);
            let text = module([stream(kernel, setting)]);
            let program = Program::of(&text, &setting.entry(kernel)).unwrap();
            program.run((blocks, 1), threads, &[starts[0], starts[1], starts[2], vectors, passes], &mut memory);
            let written = f32s(&memory[..4 * target]);
            let (b, c): (Vec<f32>, Vec<f32>) =
                b.iter().zip(&c).map(|(b, c)| (f32::from_bits(*b), f32::from_bits(*c))).unzip();
            let untouched = f32::from_bits(0x5555_5555);
            if kernel == MemoryKernel::Read {
                for (worker, sum) in written[..workers].iter().enumerate() {
                    let lanes = setting.lanes() as usize;
                    let mine = b.chunks(lanes).skip(worker).step_by(workers).flatten();
                    let expected = passes as f32 * mine.sum::<f32>();
                    prop_assert!((sum - expected).abs() <= 1e-4 * expected, "{} {}", sum, expected);
                }
                prop_assert!(written[workers..].iter().all(|word| *word == untouched));
                continue;
            }
            for (index, value) in written[..elements].iter().enumerate() {
                let expected = match kernel {
                    MemoryKernel::Write => CONSTANT,
                    MemoryKernel::Copy => b[index],
                    _ => c[index].mul_add(CONSTANT, b[index]),
                };
                prop_assert_eq!(*value, expected);
            }
            prop_assert!(written[elements..].iter().all(|word| *word == untouched));
        }
    }

    #[test]
    fn fills_are_the_same_on_both_sides(words in 0_u64..200, blocks in 1_u32..4, threads in 1_u32..9, seed in any::<u32>()) {
        let rule = Fill::BF16.seeded(seed);
        let mut memory = vec![0; 4 * words as usize + 4];
        let given = [BASE, words, rule.random.into(), rule.fixed.into(), seed.into()];
        Program::of(&module([fill()]), "fill").unwrap().run((blocks, 1), threads, &given, &mut memory);
        prop_assert_eq!(memory, bytes((0..words).map(|index| rule.word(index)).chain([0])));
    }

}

proptest! {
    // Each is millions of instructions.
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Against the definition: scores, softmax and values in double precision over pages in any order, in any number of splits.
    #[test]
    fn paged_decode_is_attention(
        group in prop::sample::select(vec![1_u32, 4, 7]), kv_heads in 1_u32..3, sequences in 1_u32..3, pages in 1_u32..5,
        splits in 1_u32..4, seed in any::<u32>(),
    ) {
        let shape = PagedDecode { kv_heads, group };
        let case = Case::of(shape, (sequences, pages, splits), seed);
        let given = case.computed();
        let expected = case.expected();
        for (given, expected) in given.iter().zip(&expected) {
            prop_assert!((f64::from(*given) - expected).abs() < 1e-4, "{} {}", given, expected);
        }
        prop_assert_eq!(given.len(), expected.len());
    }
}

/// One attention: where its arrays lie, and what is in them.
struct Case {
    shape: PagedDecode,
    sequences: u32,
    pages: u32,
    splits: u32,
    q: Vec<u32>,
    k: Vec<u32>,
    v: Vec<u32>,
    table: Vec<u32>,
}

impl Case {
    fn of(shape: PagedDecode, (sequences, pages, splits): (u32, u32, u32), seed: u32) -> Self {
        let words = |elements: u32, seed: u32| {
            (0..u64::from(elements / 2)).map(|at| Fill::BF16.seeded(seed).word(at)).collect()
        };
        let cache = sequences * pages * shape.kv_heads * PAGE_TOKENS * HEAD_DIM;
        // Pages from the last to the first.
        let table = (0..sequences * pages).rev().collect();
        Self {
            shape,
            sequences,
            pages,
            splits,
            q: words(sequences * shape.kv_heads * shape.group * HEAD_DIM, seed),
            k: words(cache, seed ^ 1),
            v: words(cache, seed ^ 2),
            table,
        }
    }

    fn rows(&self) -> u32 {
        self.sequences * self.shape.kv_heads
    }

    fn computed(&self) -> Vec<f32> {
        let heads = self.rows() * self.shape.group;
        let lengths = [
            (heads * self.splits * HEAD_DIM) as usize,
            (heads * self.splits * 2) as usize,
            (heads * HEAD_DIM) as usize,
        ];
        let (mut memory, mut starts) = (Vec::new(), Vec::new());
        for array in [&self.q, &self.k, &self.v, &self.table] {
            starts.push(BASE + memory.len() as u64);
            memory.extend(bytes(array.iter().copied()));
            memory.resize(memory.len().next_multiple_of(16), 0);
        }
        for length in lengths {
            starts.push(BASE + memory.len() as u64);
            memory.resize((memory.len() + 4 * length).next_multiple_of(16), 0xff);
        }
        let text = module([attention_decode(self.shape), attention_combine(self.shape)]);
        let scale = (std::f32::consts::LOG2_E * SCALE).to_bits();
        let mut given = starts[..6].to_vec();
        given.extend([self.pages, self.splits, scale].map(u64::from));
        let decode = Program::of(&text, "paged_decode").unwrap();
        decode.run((self.rows(), self.splits), 32, &given, &mut memory);
        let given = [starts[4], starts[5], starts[6], self.splits.into()];
        let combine = Program::of(&text, "paged_combine").unwrap();
        combine.run((heads, 1), COMBINE_THREADS, &given, &mut memory);
        let out = (starts[6] - BASE) as usize;
        f32s(&memory[out..out + 4 * lengths[2]])
    }

    fn expected(&self) -> Vec<f64> {
        let PagedDecode { kv_heads, group } = self.shape;
        let at = |words: &[u32], index: u32| {
            let word = words[index as usize / 2];
            let half = if index.is_multiple_of(2) { word << 16 } else { word & 0xffff_0000 };
            f64::from(f32::from_bits(half))
        };
        let mut out = Vec::new();
        for head in 0..self.rows() * group {
            let (sequence, kv_head) = (head / group / kv_heads, head / group % kv_heads);
            let row = |token: u32| {
                let page = self.table[(sequence * self.pages + token / PAGE_TOKENS) as usize];
                ((page * kv_heads + kv_head) * PAGE_TOKENS + token % PAGE_TOKENS) * HEAD_DIM
            };
            let tokens = 0..self.pages * PAGE_TOKENS;
            let score = |token: u32| {
                let dims = 0..HEAD_DIM;
                let of = |d: u32| at(&self.q, head * HEAD_DIM + d) * at(&self.k, row(token) + d);
                dims.map(of).sum::<f64>() * f64::from(SCALE)
            };
            let scores: Vec<f64> = tokens.clone().map(score).collect();
            let highest = scores.iter().copied().fold(f64::MIN, f64::max);
            let weights: Vec<f64> = scores.iter().map(|score| (score - highest).exp()).collect();
            let sum: f64 = weights.iter().sum();
            out.extend((0..HEAD_DIM).map(|d| {
                let weighted = tokens
                    .clone()
                    .zip(&weights)
                    .map(|(token, weight)| weight * at(&self.v, row(token) + d));
                weighted.sum::<f64>() / sum
            }));
        }
        out
    }
}

/// One over the square root of 128.
const SCALE: f32 = 0.088_388_35;

/// And the next launch goes on from there.
#[test]
fn a_chase_arrives_where_its_pointers_lead() {
    // Each line's first word leads three lines on, around 16 lines of 128 bytes.
    let mut memory = vec![0; 17 * 128];
    for line in 0..16_u64 {
        let next = BASE + (line + 3) % 16 * 128;
        memory[line as usize * 128..][..8].copy_from_slice(&next.to_le_bytes());
    }
    memory[16 * 128..][..8].copy_from_slice(&BASE.to_le_bytes());
    let program = Program::of(&module([chase()]), "chase").unwrap();
    let mut turns = 0;
    for more in [5, 2] {
        program.run((1, 1), 1, &[BASE + 16 * 128, more], &mut memory);
        turns += more;
        let end = u64::from_le_bytes(memory[16 * 128..][..8].try_into().unwrap());
        assert_eq!(end, BASE + (turns * CHASE_HOPS * 3) % 16 * 128);
    }
}

#[test]
fn waiting_waits_for_as_many_cycles_as_it_is_told() {
    let mut memory = vec![0; 8];
    Program::of(&module([spin()]), "spin").unwrap().run((1, 1), 1, &[BASE, 1000], &mut memory);
    let waited = u64::from_le_bytes(memory.try_into().unwrap());
    assert!((1000..1100).contains(&waited), "{waited}");
}

/// Every entry of every module can be read: registers declared, labels once, each instruction known and ended.
#[test]
fn every_kernel_is_well_formed() {
    let mut entries = 0;
    for (name, text) in all() {
        assert!(text.starts_with(HEADER) && text.is_ascii(), "{name}");
        assert_eq!(text.matches('{').count(), text.matches('}').count(), "{name}");
        for entry in text.split(".visible .entry ").skip(1) {
            let entry = entry.split('(').next().unwrap();
            assert!(Program::of(&text, entry).is_some(), "{name}: {entry}");
            assert_eq!(text.matches(&format!(".entry {entry}(")).count(), 1, "{entry}");
            entries += 1;
        }
    }
    assert_eq!(entries, 4 * 12 + 4 + 16 * 2);
}
