//! The patterns that quantisers write for module names: shell patterns, and Python's regular expressions.

use regex_lite::{Regex, RegexBuilder};

/// A pattern, matched from the start of a name.
#[derive(Debug)]
pub(super) struct NamePattern(Regex);

const LONGEST: usize = 400;
/// Of a compiled pattern, in bytes. Real ones take a few kilobytes.
const LARGEST: usize = 1 << 17;

impl NamePattern {
    /// A regular expression as `re.match` takes it: it may end before the name does. None where it cannot be read, as
    /// what looks ahead.
    pub(super) fn expression(text: &str) -> Option<Self> {
        Self::compiled(text, &format!("^(?:{})", text.replace(r"\Z", r"\z")))
    }

    /// A shell pattern (`*`, `?`), for a module or for all that is in it.
    pub(super) fn shell(text: &str) -> Option<Self> {
        let mut expression = String::from("^");
        for letter in text.chars() {
            match letter {
                '*' => expression.push_str(".*"),
                '?' => expression.push('.'),
                other => expression.push_str(&regex_lite::escape(other.encode_utf8(&mut [0; 4]))),
            }
        }
        expression.push_str(r"(?:$|\.)");
        Self::compiled(text, &expression)
    }

    fn compiled(text: &str, expression: &str) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        RegexBuilder::new(expression).size_limit(LARGEST).build().ok().map(Self)
    }

    pub(super) fn matches(&self, name: &str) -> bool {
        self.0.is_match(name)
    }
}

#[cfg(test)]
mod tests {
    use super::NamePattern;

    #[track_caller]
    fn check(pattern: &str, name: &str, expected: bool) {
        let regex = NamePattern::expression(pattern).unwrap();
        assert_eq!(regex.matches(name), expected, "{pattern} on {name}");
    }

    #[test]
    fn expressions_match_as_in_python() {
        check(".*self_attn.*", "model.layers.0.self_attn.q_proj", true);
        check(".*mlp.gate$", "model.layers.0.mlp.gate", true);
        check(".*mlp.gate$", "model.layers.0.mlp.gate_proj", false);
        check("mlp", "model.layers.0.mlp", false);
        check("mlp|model", "model.layers.0.mlp", true);
        check(r"model\.layers\.\d+\.mlp\.(gate|up)_proj", "model.layers.12.mlp.up_proj", true);
        check(r"model\.layers\.\d+\.mlp\.(gate|up)_proj", "model.layers.12.mlp.down_proj", false);
        check(r".*mlp\Z", "model.layers.3.mlp", true);
        check(r"model.layers.[^3]\.", "model.layers.2.mlp", true);
    }

    #[test]
    fn what_is_not_understood_is_said() {
        for pattern in
            ["(", "a)", "[a", "*a", "^(?!.*experts).*", &"a".repeat(1000), "(a{999}){999}"]
        {
            assert!(NamePattern::expression(pattern).is_none(), "{pattern}");
        }
    }

    #[test]
    fn shell_patterns_name_a_module_and_all_within() {
        let check = |pattern: &str, name: &str, expected: bool| {
            assert_eq!(
                NamePattern::shell(pattern).unwrap().matches(name),
                expected,
                "{pattern} {name}"
            );
        };
        check("model.layers.*.self_attn", "model.layers.7.self_attn.q_proj", true);
        check("model.layers.*.mlp.gate", "model.layers.7.mlp.gate_proj", false);
        check("*.mlp.gate", "model.layers.7.mlp.gate", true);
        check("model.layers.1*", "model.layers.12.mlp", true);
        check("*[a]*", "model.layers.a", false);
    }
}
