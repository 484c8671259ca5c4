//! The patterns that quantisers write for module names: shell patterns, and the part of Python's regular expressions
//! that they use.

use std::str::Chars;

/// A pattern, matched from the start of a name.
#[derive(Debug)]
pub(super) struct Regex(Vec<Vec<Node>>);

#[derive(Debug)]
enum Node {
    Any,
    /// One of these ranges, or none of them.
    Set {
        ranges: Vec<(char, char)>,
        negated: bool,
    },
    Group(Vec<Vec<Self>>),
    /// What follows must match, or must not; nothing is taken.
    Ahead {
        of: Vec<Vec<Self>>,
        negated: bool,
    },
    Repeat {
        node: Box<Self>,
        least: u32,
        most: u32,
    },
    End,
}

/// Steps that one match may take. Real patterns take some hundreds; those that would take for ever match nothing.
const STEPS: u32 = 50_000;
const LONGEST: usize = 400;

impl Regex {
    /// A regular expression as `re.match` takes it: it may end before the name does. None where it is not
    /// understood.
    pub(super) fn expression(text: &str) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let mut parser = Parser(text.chars());
        let alternatives = parser.alternatives()?;
        parser.0.next().is_none().then_some(Self(alternatives))
    }

    /// A shell pattern (`*`, `?`), for a module or for all that is in it.
    pub(super) fn shell(text: &str) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let mut nodes: Vec<Node> = Vec::new();
        for letter in text.chars() {
            nodes.push(match letter {
                '*' => repeat(Node::Any, 0, u32::MAX),
                '?' => Node::Any,
                other => literal(other),
            });
        }
        nodes.push(Node::Group(vec![vec![Node::End], vec![literal('.')]]));
        Some(Self(vec![nodes]))
    }

    /// Whether a name of ASCII letters matches.
    pub(super) fn matches(&self, name: &str) -> bool {
        any_of(&self.0, name.as_bytes(), &mut |_| true, &mut 0)
    }
}

fn literal(letter: char) -> Node {
    Node::Set { ranges: vec![(letter, letter)], negated: false }
}

fn repeat(node: Node, least: u32, most: u32) -> Node {
    Node::Repeat { node: Box::new(node), least, most }
}

/// What is tried with the rest of the name once a part has matched.
type Then<'a> = &'a mut dyn FnMut(&[u8], &mut u32) -> bool;

fn any_of(
    alternatives: &[Vec<Node>],
    rest: &[u8],
    then: &mut dyn FnMut(&[u8]) -> bool,
    steps: &mut u32,
) -> bool {
    alternatives.iter().any(|nodes| sequence(nodes, rest, &mut |rest, _| then(rest), steps))
}

fn sequence(nodes: &[Node], rest: &[u8], then: Then<'_>, steps: &mut u32) -> bool {
    *steps += 1;
    if *steps > STEPS {
        return false;
    }
    let Some((node, after)) = nodes.split_first() else {
        return then(rest, steps);
    };
    match node {
        Node::End => rest.is_empty() && sequence(after, rest, then, steps),
        Node::Any | Node::Set { .. } => match rest.split_first() {
            Some((letter, rest)) if takes(node, char::from(*letter)) => {
                sequence(after, rest, then, steps)
            }
            _ => false,
        },
        Node::Group(alternatives) => alternatives.iter().any(|nodes| {
            sequence(nodes, rest, &mut |rest, steps| sequence(after, rest, then, steps), steps)
        }),
        Node::Ahead { of, negated } => {
            any_of(of, rest, &mut |_| true, steps) != *negated && sequence(after, rest, then, steps)
        }
        Node::Repeat { node, least, most } => {
            repeated((node, *least, *most), after, rest, then, steps)
        }
    }
}

fn repeated(
    (node, least, most): (&Node, u32, u32),
    after: &[Node],
    rest: &[u8],
    then: Then<'_>,
    steps: &mut u32,
) -> bool {
    if least == 0 && sequence(after, rest, then, steps) {
        return true;
    }
    let Some(most) = most.checked_sub(1) else {
        return false;
    };
    let once = std::slice::from_ref(node);
    sequence(
        once,
        rest,
        &mut |left, steps| {
            // What takes nothing would be repeated for ever.
            left.len() < rest.len()
                && repeated((node, least.saturating_sub(1), most), after, left, then, steps)
        },
        steps,
    )
}

fn takes(node: &Node, letter: char) -> bool {
    match node {
        Node::Any => true,
        Node::Set { ranges, negated } => {
            ranges.iter().any(|(from, to)| (*from..=*to).contains(&letter)) != *negated
        }
        _ => false,
    }
}

struct Parser<'a>(Chars<'a>);

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.0.clone().next()
    }

    fn eat(&mut self, text: &str) -> bool {
        match self.0.as_str().strip_prefix(text) {
            Some(rest) => {
                self.0 = rest.chars();
                true
            }
            None => false,
        }
    }

    fn alternatives(&mut self) -> Option<Vec<Vec<Node>>> {
        let mut all = vec![self.sequence()?];
        while self.eat("|") {
            all.push(self.sequence()?);
        }
        Some(all)
    }

    fn sequence(&mut self) -> Option<Vec<Node>> {
        let mut nodes = Vec::new();
        while let Some(next) = self.peek() {
            if next == '|' || next == ')' {
                break;
            }
            // A pattern matches from the start of a name in any case.
            if self.eat("^") {
                continue;
            }
            let node = self.atom()?;
            nodes.push(self.quantified(node)?);
        }
        Some(nodes)
    }

    fn atom(&mut self) -> Option<Node> {
        Some(match self.0.next()? {
            '.' => Node::Any,
            '$' => Node::End,
            '(' => self.group()?,
            '[' => self.set()?,
            '\\' => match self.0.next()? {
                'd' => Node::Set { ranges: vec![('0', '9')], negated: false },
                'w' => {
                    let ranges = vec![('0', '9'), ('a', 'z'), ('A', 'Z'), ('_', '_')];
                    Node::Set { ranges, negated: false }
                }
                'Z' => Node::End,
                letter if letter.is_alphanumeric() => return None,
                letter => literal(letter),
            },
            '*' | '+' | '?' | '{' => return None,
            letter => literal(letter),
        })
    }

    fn group(&mut self) -> Option<Node> {
        let (ahead, negated) = match () {
            () if self.eat("?:") => (false, false),
            () if self.eat("?=") => (true, false),
            () if self.eat("?!") => (true, true),
            () if self.peek() == Some('?') => return None,
            () => (false, false),
        };
        let of = self.alternatives()?;
        if !self.eat(")") {
            return None;
        }
        Some(if ahead { Node::Ahead { of, negated } } else { Node::Group(of) })
    }

    fn set(&mut self) -> Option<Node> {
        let negated = self.eat("^");
        let mut ranges = Vec::new();
        loop {
            let from = match self.0.next()? {
                ']' => return Some(Node::Set { ranges, negated }),
                '\\' => match self.0.next()? {
                    'd' => {
                        ranges.push(('0', '9'));
                        continue;
                    }
                    letter if letter.is_alphanumeric() => return None,
                    letter => letter,
                },
                letter => letter,
            };
            let to = if self.peek() == Some('-') && !self.0.as_str().starts_with("-]") {
                self.0.next();
                self.0.next()?
            } else {
                from
            };
            ranges.push((from, to));
        }
    }

    fn quantified(&mut self, node: Node) -> Option<Node> {
        let (least, most) = match self.peek() {
            Some('*') => (0, u32::MAX),
            Some('+') => (1, u32::MAX),
            Some('?') => (0, 1),
            Some('{') => return None,
            _ => return Some(node),
        };
        self.0.next();
        // Whether it takes much or little first decides what is taken, not whether there is a match.
        self.eat("?");
        Some(repeat(node, least, most))
    }
}

#[cfg(test)]
mod tests {
    use super::Regex;

    #[track_caller]
    fn check(pattern: &str, name: &str, expected: bool) {
        let regex = Regex::expression(pattern).unwrap();
        assert_eq!(regex.matches(name), expected, "{pattern} on {name}");
    }

    #[test]
    fn expressions_match_as_in_python() {
        check(".*self_attn.*", "model.layers.0.self_attn.q_proj", true);
        check(".*mlp.gate$", "model.layers.0.mlp.gate", true);
        check(".*mlp.gate$", "model.layers.0.mlp.gate_proj", false);
        check("mlp", "model.layers.0.mlp", false);
        check(r"model\.layers\.\d+\.mlp\.(gate|up)_proj", "model.layers.12.mlp.up_proj", true);
        check(r"model\.layers\.\d+\.mlp\.(gate|up)_proj", "model.layers.12.mlp.down_proj", false);
        check(r"model.layers.[0-2]\.", "model.layers.3.mlp", false);
        check(r"model.layers.[^3]\.", "model.layers.2.mlp", true);
        check("^(?!.*experts).*", "model.layers.0.mlp.up_proj", true);
        check("^(?!.*experts).*", "model.layers.0.mlp.experts.0.up_proj", false);
        check("a+?b?$", "aaa", true);
        check("(a|ab)c", "abc", true);
    }

    #[test]
    fn what_is_not_understood_is_said() {
        for pattern in ["(", "a)", "[a", "*a", r"\b", "(?P<x>a)", "a{2,3}", &"a".repeat(1000)] {
            assert!(Regex::expression(pattern).is_none(), "{pattern}");
        }
    }

    #[test]
    fn a_pattern_that_would_take_for_ever_matches_nothing() {
        check("(a*)*(a*)*(a*)*b", &"a".repeat(60), false);
    }

    #[test]
    fn shell_patterns_name_a_module_and_all_within() {
        let check = |pattern: &str, name: &str, expected: bool| {
            assert_eq!(Regex::shell(pattern).unwrap().matches(name), expected, "{pattern} {name}");
        };
        check("model.layers.*.self_attn", "model.layers.7.self_attn.q_proj", true);
        check("model.layers.*.mlp.gate", "model.layers.7.mlp.gate_proj", false);
        check("*.mlp.gate", "model.layers.7.mlp.gate", true);
        check("model.layers.1*", "model.layers.12.mlp", true);
    }
}
