//! Carries PTX out on the host, for tests: the part of the language that the kernels use. An instruction that is not known, a register
//! that is not declared and an address outside memory end the test.

use std::collections::HashMap;

/// Addresses begin here, so that a null pointer is none.
pub(in crate::cuda) const BASE: u64 = 0x1_0000;

#[derive(Debug, Clone)]
enum Operand {
    Register(usize),
    Vector(Vec<usize>),
    Bits(u64),
    Memory(usize, u64),
    Parameter(usize),
    Special(String),
    Label(usize),
}

#[derive(Debug, Clone)]
struct Instruction {
    guard: Option<usize>,
    opcode: Vec<String>,
    operands: Vec<Operand>,
}

/// A kernel that was read.
#[derive(Debug, Clone)]
pub(in crate::cuda) struct Program {
    code: Vec<Instruction>,
    registers: usize,
}

/// Where a thread stands.
struct Thread {
    at: usize,
    registers: Vec<u64>,
    ended: bool,
}

/// Where among blocks and threads one stands.
#[derive(Clone, Copy)]
struct ThreadPosition {
    thread: u32,
    block: (u32, u32),
    threads: u32,
    blocks: (u32, u32),
    clock: u64,
}

fn classes() -> [(&'static str, &'static str); 4] {
    [(".pred", "%p"), (".b32", "%r"), (".b64", "%d"), (".f32", "%f")]
}

impl Program {
    /// The kernel `entry` of a module.
    pub(in crate::cuda) fn of(module: &str, entry: &str) -> Option<Self> {
        let (_, rest) = module.split_once(&format!(".visible .entry {entry}("))?;
        let (parameters, rest) = rest.split_once(')')?;
        let body = rest.split_once('{')?.1.split_once("\n}")?.0;
        let parameters: Vec<&str> =
            parameters.split(',').filter_map(|line| line.split_whitespace().last()).collect();
        let mut registers = HashMap::new();
        let (mut labels, mut lines) = (HashMap::new(), Vec::new());
        for line in body.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some(declared) = line.strip_prefix(".reg ") {
                let (class, name) = declared.trim_end_matches(';').split_once(' ').unwrap();
                let (letter, count) = name.trim_end_matches('>').split_once('<').unwrap();
                assert!(classes().contains(&(class, letter)), "{line}");
                for number in 0..count.parse::<usize>().unwrap() {
                    registers.insert(format!("{letter}{number}"), registers.len());
                }
            } else if let Some(label) = line.strip_suffix(':') {
                assert!(labels.insert(label.to_owned(), lines.len()).is_none(), "{label} twice");
            } else {
                lines.push(line.strip_suffix(';').unwrap_or_else(|| panic!("no end: {line}")));
            }
        }
        let code = lines.iter().map(|line| {
            let (guard, line) = match line.strip_prefix('@') {
                Some(rest) => {
                    let (name, rest) = rest.split_once(' ').unwrap();
                    (Some(registers[name]), rest)
                }
                None => (None, *line),
            };
            let (opcode, operands) = line.split_once(' ').unwrap_or((line, ""));
            let operand = |text: &str| operand(text, &registers, &parameters, &labels);
            let operands = split(operands).iter().map(|text| operand(text)).collect();
            Instruction { guard, opcode: opcode.split('.').map(str::to_owned).collect(), operands }
        });
        Some(Self { code: code.collect(), registers: registers.len() })
    }

    /// Carries it out over `memory`, block after block. Threads of a warp wait for one another where they exchange words.
    pub(in crate::cuda) fn run(
        &self,
        blocks: (u32, u32),
        threads: u32,
        parameters: &[u64],
        memory: &mut [u8],
    ) {
        for y in 0..blocks.1 {
            for x in 0..blocks.0 {
                for warp in (0..threads).step_by(32) {
                    let lanes = warp..threads.min(warp + 32);
                    let place = |thread| ThreadPosition {
                        thread,
                        block: (x, y),
                        threads,
                        blocks,
                        clock: 0,
                    };
                    self.warp(lanes.map(place).collect(), parameters, memory);
                }
            }
        }
    }

    fn warp(&self, mut places: Vec<ThreadPosition>, parameters: &[u64], memory: &mut [u8]) {
        let thread =
            |_: &ThreadPosition| Thread { at: 0, registers: vec![0; self.registers], ended: false };
        let mut threads: Vec<Thread> = places.iter().map(thread).collect();
        loop {
            for (thread, place) in threads.iter_mut().zip(&mut places) {
                while !thread.ended && self.code[thread.at].opcode[0] != "shfl" {
                    self.step(thread, place, parameters, memory);
                }
            }
            let Some(first) = threads.iter().find(|thread| !thread.ended) else { return };
            let at = first.at;
            assert!(threads.iter().all(|thread| thread.at == at && !thread.ended), "a warp parted");
            let Instruction { opcode, operands, .. } = &self.code[at];
            assert_eq!(opcode.join("."), "shfl.sync.bfly.b32");
            let [Operand::Register(to), Operand::Register(from), Operand::Bits(distance), ..] =
                operands.as_slice()
            else {
                panic!("{operands:?}")
            };
            let words: Vec<u64> = threads.iter().map(|thread| thread.registers[*from]).collect();
            for (lane, thread) in threads.iter_mut().enumerate() {
                thread.registers[*to] = words[lane ^ *distance as usize];
                thread.at += 1;
            }
        }
    }

    fn step(
        &self,
        thread: &mut Thread,
        place: &mut ThreadPosition,
        parameters: &[u64],
        memory: &mut [u8],
    ) {
        let Instruction { guard, opcode, operands } = &self.code[thread.at];
        thread.at += 1;
        place.clock += 1;
        if guard.is_some_and(|guard| thread.registers[guard] == 0) {
            return;
        }
        let words: [&str; 6] = std::array::from_fn(|at| opcode.get(at).map_or("", String::as_str));
        let words = &words[..opcode.len()];
        let value = |at: usize| match &operands[at] {
            Operand::Register(register) => thread.registers[*register],
            Operand::Bits(bits) => *bits,
            Operand::Parameter(number) => parameters[*number],
            Operand::Special(name) => place.of(name),
            other => panic!("{other:?} is no value"),
        };
        match words[0] {
            "ret" => thread.ended = true,
            "bra" => {
                let Operand::Label(to) = operands[0] else { panic!("{operands:?}") };
                thread.at = to;
            }
            "ld" if words[1] == "global" => {
                let Operand::Memory(base, offset) = operands[1] else { panic!("{operands:?}") };
                let to = registers_of(&operands[0]);
                assert!(to.len() == lanes(words));
                let address = thread.registers[base].wrapping_add(offset);
                let width = width(words[words.len() - 1]);
                assert_eq!(address % (width * to.len()) as u64, 0, "not aligned");
                for (lane, register) in to.iter().enumerate() {
                    let at = (address - BASE) as usize + lane * width;
                    let mut bits = [0; 8];
                    bits[..width].copy_from_slice(&memory[at..at + width]);
                    thread.registers[*register] = u64::from_le_bytes(bits);
                }
            }
            "st" => {
                let Operand::Memory(base, offset) = operands[0] else { panic!("{operands:?}") };
                let from = registers_of(&operands[1]);
                assert!(words[1] == "global" && from.len() == lanes(words));
                let address = thread.registers[base].wrapping_add(offset);
                let width = width(words[words.len() - 1]);
                assert_eq!(address % (width * from.len()) as u64, 0, "not aligned");
                for (lane, register) in from.iter().enumerate() {
                    let at = (address - BASE) as usize + lane * width;
                    let bits = thread.registers[*register].to_le_bytes();
                    memory[at..at + width].copy_from_slice(&bits[..width]);
                }
            }
            _ => {
                let inputs: [u64; 3] =
                    std::array::from_fn(
                        |at| if at + 1 < operands.len() { value(at + 1) } else { 0 },
                    );
                let result = compute(words, &inputs);
                let Operand::Register(to) = operands[0] else { panic!("{operands:?}") };
                thread.registers[to] = result;
            }
        }
    }
}

impl ThreadPosition {
    fn of(&self, special: &str) -> u64 {
        match special {
            "%tid.x" => self.thread.into(),
            "%ntid.x" => self.threads.into(),
            "%ctaid.x" => self.block.0.into(),
            "%ctaid.y" => self.block.1.into(),
            "%nctaid.x" => self.blocks.0.into(),
            "%clock64" => self.clock,
            other => panic!("{other} is not known"),
        }
    }
}

fn compute(words: &[&str], inputs: &[u64]) -> u64 {
    let float = |at: usize| f32::from_bits(inputs[at] as u32);
    let bits = |value: f32| u64::from(value.to_bits());
    let word = |at: usize| inputs[at] as u32;
    match words {
        ["mov", _] | ["ld", "param", _] | ["cvta", "to", "global", "u64"] => inputs[0],
        ["cvt", "u64", "u32"] | ["cvt", "u32", "u64"] => inputs[0] & 0xffff_ffff,
        ["mul", "wide", "u32"] => (inputs[0] & 0xffff_ffff) * (inputs[1] & 0xffff_ffff),
        ["mul", "lo", "s64"] => inputs[0].wrapping_mul(inputs[1]),
        ["add", "s64"] => inputs[0].wrapping_add(inputs[1]),
        ["sub", "s64"] => inputs[0].wrapping_sub(inputs[1]),
        ["shl", "b64"] => inputs[0] << inputs[1],
        ["mul", "lo", "u32"] => word(0).wrapping_mul(word(1)).into(),
        ["mad", "lo", "u32"] => word(0).wrapping_mul(word(1)).wrapping_add(word(2)).into(),
        ["add", "u32"] => word(0).wrapping_add(word(1)).into(),
        ["sub", "u32"] => word(0).wrapping_sub(word(1)).into(),
        ["div", "u32"] => (word(0) / word(1)).into(),
        ["rem", "u32"] => (word(0) % word(1)).into(),
        ["min", "u32"] => word(0).min(word(1)).into(),
        ["shl", "b32"] => (word(0) << word(1)).into(),
        ["shr", "u32"] => (word(0) >> word(1)).into(),
        ["xor", "b32"] => (word(0) ^ word(1)).into(),
        ["and", "b32"] => (word(0) & word(1)).into(),
        ["or", "b32"] => (word(0) | word(1)).into(),
        ["setp", "ge", "s64"] => u64::from(inputs[0] as i64 >= inputs[1] as i64),
        ["setp", "lt", "s64"] => u64::from((inputs[0] as i64) < inputs[1] as i64),
        ["setp", "ne", "s64"] => u64::from(inputs[0] != inputs[1]),
        ["setp", "ge", "u64"] => u64::from(inputs[0] >= inputs[1]),
        ["setp", "ge", "u32"] => u64::from(word(0) >= word(1)),
        ["setp", "ne", "u32"] => u64::from(word(0) != word(1)),
        ["add", "f32"] => bits(float(0) + float(1)),
        ["sub", "f32"] => bits(float(0) - float(1)),
        ["mul", "f32"] => bits(float(0) * float(1)),
        ["div", "rn", "f32"] => bits(float(0) / float(1)),
        ["max", "f32"] => bits(float(0).max(float(1))),
        ["fma", "rn", "f32"] => bits(float(0).mul_add(float(1), float(2))),
        ["ex2", "approx", "f32"] => bits(float(0).exp2()),
        other => panic!("{} is not known", other.join(".")),
    }
}

fn lanes(words: &[&str]) -> usize {
    let vector = words.iter().find_map(|word| word.strip_prefix('v'));
    vector.map_or(1, |count| count.parse().unwrap())
}

fn width(of_type: &str) -> usize {
    if of_type.ends_with("64") { 8 } else { 4 }
}

fn registers_of(operand: &Operand) -> &[usize] {
    match operand {
        Operand::Register(one) => std::slice::from_ref(one),
        Operand::Vector(many) => many,
        other => panic!("{other:?} is no register"),
    }
}

/// At commas that are in no braces.
fn split(operands: &str) -> Vec<String> {
    let (mut parts, mut depth) = (vec![String::new()], 0);
    for c in operands.chars() {
        match c {
            ',' if depth == 0 => parts.push(String::new()),
            _ => {
                depth += i32::from(c == '{') - i32::from(c == '}');
                parts.last_mut().unwrap().push(c);
            }
        }
    }
    parts.iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

fn operand(
    text: &str,
    registers: &HashMap<String, usize>,
    parameters: &[&str],
    labels: &HashMap<String, usize>,
) -> Operand {
    let register = |name: &str| {
        *registers.get(name.trim()).unwrap_or_else(|| panic!("{name} is not declared"))
    };
    if let Some(inner) = text.strip_prefix('{') {
        return Operand::Vector(inner.trim_end_matches('}').split(',').map(register).collect());
    }
    if let Some(inner) = text.strip_prefix('[') {
        let inner = inner.trim_end_matches(']');
        if let Some(number) = parameters.iter().position(|known| *known == inner) {
            return Operand::Parameter(number);
        }
        let (base, offset) = inner.split_once('+').unwrap_or((inner, "0"));
        return Operand::Memory(register(base), offset.parse().unwrap());
    }
    if let Some(label) = labels.get(text) {
        return Operand::Label(*label);
    }
    if registers.contains_key(text) {
        return Operand::Register(register(text));
    }
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0f")) {
        return Operand::Bits(u64::from_str_radix(hex, 16).unwrap());
    }
    match text.parse::<u64>() {
        Ok(number) => Operand::Bits(number),
        Err(_) => Operand::Special(text.to_owned()),
    }
}
