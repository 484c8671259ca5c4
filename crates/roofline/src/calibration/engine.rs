//! What people call serving engines, and what calibrations call them.

/// What each is called, in small letters and without anything between them; the first is the name that calibrations have.
const SPELLINGS: [&[&str]; 3] =
    [&["vllm"], &["sglang", "sgl"], &["trtllm", "tensorrtllm", "tensorrt"]];

/// The calibrations' name for `name`, however it is written; none of an engine that none ships for.
pub(super) fn canonical(name: &str) -> Option<&'static str> {
    let letters: String =
        name.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_lowercase()).collect();
    let engine = SPELLINGS.iter().find(|spellings| spellings.contains(&letters.as_str()))?;
    engine.first().copied()
}

/// Whether both are one engine, however they are written.
pub(super) fn is_same(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b) || canonical(a).is_some_and(|a| canonical(b) == Some(a))
}

/// The engine that a line in somebody's own words names: of `vLLM 0.17 on 2 H100` that is `vllm`. None where it names none, or several.
pub(super) fn named_in(text: &str) -> Option<&'static str> {
    let is_between = |c: char| c.is_whitespace() || ",;:/=()+@".contains(c);
    // A version may follow without a space: vllm-0.17.
    let name = |word: &str| {
        let end = word.find(|c: char| c.is_ascii_digit()).unwrap_or(word.len());
        canonical(word.get(..end).unwrap_or_default())
    };
    let mut names = text.split(is_between).filter_map(name);
    let first = names.next()?;
    names.all(|name| name == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::{canonical, is_same, named_in};

    #[test]
    fn an_engine_may_be_written_as_people_do() {
        for name in ["trtllm", "TensorRT-LLM", "trt-llm", "TRT LLM", "tensorrt_llm"] {
            assert_eq!(canonical(name), Some("trtllm"), "{name}");
        }
        assert_eq!(canonical("vLLM"), Some("vllm"));
        assert_eq!(canonical("SGLang"), Some("sglang"));
        assert_eq!(canonical("llama.cpp"), None);
        assert!(is_same("Llama.cpp", "llama.cpp") && !is_same("llama.cpp", "vllm"));
    }

    #[test]
    fn a_line_names_an_engine_or_none() {
        let named = [
            ("vLLM 0.17.1 on 2 H100", Some("vllm")),
            ("vllm/vllm-openai:v0.17", Some("vllm")),
            ("vllm-0.17", Some("vllm")),
            ("TensorRT-LLM 1.3, 8 x B200", Some("trtllm")),
            ("my own", None),
            ("vLLM behind what SGLang brings", None),
            ("", None),
        ];
        for (text, engine) in named {
            assert_eq!(named_in(text), engine, "{text}");
        }
    }
}
