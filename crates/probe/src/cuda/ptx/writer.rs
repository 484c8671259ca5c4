//! One kernel in the making: registers are declared as they are asked for, so that none is used undeclared.

use std::fmt::{self, Write as _};

/// What a register holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Predicate,
    Word,
    Long,
    Float,
}

fizeau_core::words! {
    Class::of_type {
        Predicate = ".pred", Word = ".b32", Long = ".b64", Float = ".f32",
    }
}

impl Class {
    const ALL: [Self; 4] = [Self::Predicate, Self::Word, Self::Long, Self::Float];

    const fn letter(self) -> char {
        match self {
            Self::Predicate => 'p',
            Self::Word => 'r',
            Self::Long => 'd',
            Self::Float => 'f',
        }
    }
}

/// A register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Register {
    class: Class,
    number: u32,
}

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}{}", self.class.letter(), self.number)
    }
}

/// A place to jump to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Label(u32);

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "$L{}", self.0)
    }
}

/// The type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Passed {
    Long,
    Word,
    Float,
}

/// One kernel in the making.
#[derive(Debug)]
pub(super) struct Writer {
    name: String,
    parameters: Vec<(&'static str, Passed)>,
    body: String,
    registers: [u32; 4],
    labels: u32,
}

impl Writer {
    pub(super) fn new(name: impl Into<String>, parameters: &[(&'static str, Passed)]) -> Self {
        Self {
            name: name.into(),
            parameters: parameters.to_vec(),
            body: String::new(),
            registers: [0; 4],
            labels: 0,
        }
    }

    pub(super) fn register(&mut self, class: Class) -> Register {
        let number = self.registers[class as usize];
        self.registers[class as usize] += 1;
        Register { class, number }
    }

    pub(super) fn registers<const N: usize>(&mut self, class: Class) -> [Register; N] {
        std::array::from_fn(|_| self.register(class))
    }

    /// As many registers as are only known at run time.
    pub(super) fn many(&mut self, class: Class, count: u32) -> Vec<Register> {
        (0..count).map(|_| self.register(class)).collect()
    }

    /// One instruction.
    pub(super) fn put(&mut self, instruction: fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = writeln!(self.body, "    {instruction};");
    }

    pub(super) fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    pub(super) fn place(&mut self, label: Label) {
        // Writing to a string does not fail.
        let _ = writeln!(self.body, "{label}:");
    }

    /// The value of a parameter; an address is made one of global memory.
    pub(super) fn parameter(&mut self, name: &str) -> Register {
        let passed =
            self.parameters.iter().find(|(known, _)| *known == name).map(|(_, passed)| *passed);
        let (class, of_type) = match passed.unwrap_or(Passed::Long) {
            Passed::Long => (Class::Long, "u64"),
            Passed::Word => (Class::Word, "u32"),
            Passed::Float => (Class::Float, "f32"),
        };
        let register = self.register(class);
        self.put(format_args!("ld.param.{of_type} {register}, [{name}]"));
        register
    }

    pub(super) fn address(&mut self, name: &str) -> Register {
        let address = self.parameter(name);
        self.put(format_args!("cvta.to.global.u64 {address}, {address}"));
        address
    }

    /// The number of this thread among all of the grid, and how many there are.
    pub(super) fn thread_of_grid(&mut self) -> (Register, Register) {
        let [thread, block, threads, blocks] = self.registers(Class::Word);
        let [index, all, own] = self.registers(Class::Long);
        self.put(format_args!("mov.u32 {thread}, %tid.x"));
        self.put(format_args!("mov.u32 {block}, %ctaid.x"));
        self.put(format_args!("mov.u32 {threads}, %ntid.x"));
        self.put(format_args!("mov.u32 {blocks}, %nctaid.x"));
        self.put(format_args!("mul.wide.u32 {index}, {block}, {threads}"));
        self.put(format_args!("cvt.u64.u32 {own}, {thread}"));
        self.put(format_args!("add.s64 {index}, {index}, {own}"));
        self.put(format_args!("mul.wide.u32 {all}, {blocks}, {threads}"));
        (index, all)
    }

    /// The text of the kernel.
    pub(super) fn finish(mut self) -> String {
        self.put(format_args!("ret"));
        let parameters: Vec<String> = self
            .parameters
            .iter()
            .map(|(name, passed)| {
                let of_type = match passed {
                    Passed::Long => ".u64",
                    Passed::Word => ".u32",
                    Passed::Float => ".f32",
                };
                format!("    .param {of_type} {name}")
            })
            .collect();
        let mut text =
            format!(".visible .entry {}(\n{}\n)\n{{\n", self.name, parameters.join(",\n"));
        for class in Class::ALL {
            let count = self.registers[class as usize];
            if count > 0 {
                // Writing to a string does not fail.
                let _ =
                    writeln!(text, "    .reg {} %{}<{count}>;", class.of_type(), class.letter());
            }
        }
        text + &self.body + "}\n\n"
    }
}
