//! Bodies that are given whole.

use fizeau_core::{EosRule, Prompt};
use fizeau_transport::{Backend, BodyInput, ExtraBody, PromptKind, RequestError, Route};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::bodies::request;

fn text(
    backend: Backend,
    route: Route,
    given: &str,
    eos: EosRule,
    extra: &str,
) -> Result<String, RequestError> {
    let request = request(Prompt::Body(given.into()), eos);
    let extra = ExtraBody::parse(extra).unwrap();
    let ask = BodyInput { model: "m", request: &request, backend, extra: &extra };
    route.dialect().body(&ask).map(|body| String::from_utf8(body).unwrap())
}

fn body(backend: Backend, given: &Value) -> Value {
    let text = text(backend, backend.route(), &given.to_string(), EosRule::Stop, "{}").unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn what_is_given_goes_out_with_what_makes_it_measurable() {
    let given = json!({
        "model": "theirs", "messages": [{"role": "user", "content": "u"}], "stream": false, "temperature": 0.5,
        "tools": [{"type": "function", "function": {"name": "f"}}], "tool_choice": "auto", "n": 1,
    });
    let mut expected = given.clone();
    expected["model"] = "m".into();
    expected["stream"] = true.into();
    expected["stream_options"] = json!({"include_usage": true, "continuous_usage_stats": true});
    expected["max_completion_tokens"] = 64.into();
    assert_eq!(body(Backend::VllmChat, &given), expected);
    expected["stream_options"] = json!({"include_usage": true});
    assert_eq!(body(Backend::OpenAiChat, &given), expected);
    // Mistral refuses fields that it does not know, and has the older name of the length.
    expected.as_object_mut().unwrap().remove("stream_options");
    expected.as_object_mut().unwrap().remove("max_completion_tokens");
    expected["max_tokens"] = 64.into();
    assert_eq!(body(Backend::Mistral, &given), expected);
}

#[test]
fn values_stay_as_they_stand() {
    // An integer beyond f64, a number's spelling, an escape, spaces.
    let kept = r#""a": {"x": 123456789012345678901234567890, "y": 1.50, "z": "\u0061/\/"}"#;
    let given = format!(r#" {{ {kept}, "prompt": "p" }} "#);
    let text = text(Backend::Vllm, Route::Completions, &given, EosRule::Stop, "{}").unwrap();
    let value = kept.split_once(": ").unwrap().1;
    assert!(text.contains(&format!(r#""a":{value}"#)), "{text}");
}

#[test]
fn the_bodys_own_length_stays() {
    for name in ["max_tokens", "max_completion_tokens"] {
        let sent = body(Backend::VllmChat, &json!({"messages": [], name: 7}));
        let limits = ["max_tokens", "max_completion_tokens"].map(|limit| sent.get(limit));
        assert_eq!(limits.into_iter().flatten().collect::<Vec<_>>(), [7], "{sent}");
        let sent = body(Backend::VllmChat, &json!({"messages": [], name: null}));
        assert_eq!(sent["max_completion_tokens"], 64, "null is none: {sent}");
    }
    let sent = body(Backend::OpenAiResponses, &json!({"input": "i", "max_output_tokens": 7}));
    assert_eq!(sent, json!({"model": "m", "input": "i", "max_output_tokens": 7, "stream": true}));
}

#[test]
fn usage_is_added_to_the_bodys_own_options() {
    let given = json!({"prompt": "p", "stream_options": {"other": 1, "include_usage": false}});
    let options = json!({"other": 1, "include_usage": true, "continuous_usage_stats": true});
    assert_eq!(body(Backend::Vllm, &given)["stream_options"], options);
    let odd = json!({"prompt": "p", "stream_options": 7});
    assert_eq!(body(Backend::OpenAi, &odd)["stream_options"], json!({"include_usage": true}));
}

#[test]
fn the_end_is_ignored_where_the_body_does_not_say() {
    let send = |given: &str, eos| {
        let body = text(Backend::Vllm, Route::Completions, given, eos, "{}").unwrap();
        serde_json::from_str::<Value>(&body).unwrap().get("ignore_eos").cloned()
    };
    assert_eq!(send(r#"{"prompt": "p"}"#, EosRule::Ignore), Some(json!(true)));
    assert_eq!(send(r#"{"prompt": "p"}"#, EosRule::Stop), None);
    let says = r#"{"prompt": "p", "ignore_eos": false}"#;
    assert_eq!(send(says, EosRule::Ignore), Some(json!(false)));
}

#[test]
fn extra_fields_fill_in_what_the_body_does_not_set() {
    let given = r#"{"prompt": "p", "temperature": 1}"#;
    let extra = r#"{"temperature": 0, "top_p": 0.9, "ignore_eos": false}"#;
    let sent = text(Backend::Vllm, Route::Completions, given, EosRule::Ignore, extra).unwrap();
    let sent: Value = serde_json::from_str(&sent).unwrap();
    assert_eq!((&sent["temperature"], &sent["top_p"]), (&json!(1), &json!(0.9)));
    assert_eq!(sent["ignore_eos"], false);
}

#[test]
fn embeddings_take_nothing_but_the_model() {
    let given = json!({"model": "theirs", "input": ["a", "b"], "dimensions": 8});
    let expected = json!({"model": "m", "input": ["a", "b"], "dimensions": 8});
    assert_eq!(body(Backend::OpenAiEmbeddings, &given), expected);
}

#[test]
fn a_nameless_target_leaves_the_bodys_model() {
    let request = request(Prompt::Body(r#"{"model":"theirs","prompt":"p"}"#.into()), EosRule::Stop);
    let extra = ExtraBody::default();
    let ask = BodyInput { model: "", request: &request, backend: Backend::Vllm, extra: &extra };
    let body = Route::Completions.dialect().body(&ask).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&body).unwrap()["model"], "theirs");
}

#[test]
fn bodies_that_cannot_be_sent() {
    let refused =
        |route, given: &str| text(Backend::Vllm, route, given, EosRule::Stop, "{}").unwrap_err();
    for given in ["", "[1]", "7", "{", r#"{"messages": [}"#, r#"{"prompt": "p"} x"#] {
        let error = refused(Route::Completions, given);
        assert!(matches!(error, RequestError::BodyNotAnObject(_)), "{given}: {error:?}");
        assert!(error.to_string().contains("must be a JSON object"), "{error}");
    }
    let several = [
        (r#"{"prompt": "p", "n": 2}"#, "n"),
        (r#"{"prompt": "p", "best_of": 3}"#, "best_of"),
        // Of two of one name servers take the last.
        (r#"{"prompt": "p", "n": 1, "n": 2}"#, "n"),
        (r#"{"prompt": [ "p", "q" ]}"#, "prompt"),
        (r#"{"prompt": [[1], [2]]}"#, "prompt"),
    ];
    for (given, name) in several {
        assert_eq!(refused(Route::Completions, given), RequestError::BodySeveral(name), "{given}");
    }
    let chat = r#"{"messages": []}"#;
    assert_eq!(refused(Route::Completions, chat), RequestError::BodyLacks("prompt"));
    let plain = r#"{"prompt": "p"}"#;
    assert_eq!(refused(Route::Chat, plain), RequestError::BodyLacks("messages"));
    for one in [
        r#"{"prompt": "p", "n": 2, "n": 1}"#,
        r#"{"prompt": ["p"], "n": null}"#,
        r#"{"prompt": [1, 2]}"#,
    ] {
        assert!(text(Backend::Vllm, Route::Completions, one, EosRule::Stop, "{}").is_ok(), "{one}");
    }
}

#[test]
fn bodies_by_route() {
    for backend in Backend::all() {
        let given = r#"{"messages": [], "prompt": "p", "input": "i"}"#;
        let sent = text(backend, backend.route(), given, EosRule::Stop, "{}");
        assert_eq!(sent.is_ok(), backend.route().takes(PromptKind::Body), "{backend}");
        if let Err(error) = sent {
            assert_eq!(error, RequestError::BodyNotTaken(backend));
        }
    }
}

proptest! {
    /// Each name stands in the body once, whatever was given, and what is not ours is unchanged.
    #[test]
    fn no_name_comes_twice(names in prop::collection::btree_set("[a-z_\"\\\\é]{1,8}|stream|model|max_tokens", 0..8)) {
        let mut given = serde_json::Map::from_iter([("prompt".to_owned(), json!("p"))]);
        // A number of replies is looked at.
        given.extend(names.into_iter().filter(|name| name != "n").map(|name| (name, json!({"a": [1, "b"]}))));
        let json = Value::Object(given.clone()).to_string();
        let sent = text(Backend::Vllm, Route::Completions, &json, EosRule::Ignore, "{}").unwrap();
        let fields: Value = serde_json::from_str(&sent).unwrap();
        for (name, value) in &given {
            let ours = ["model", "stream"].contains(&&**name);
            prop_assert_eq!(ours, &fields[name] != value, "{}", name);
            let key = format!(",{}:", Value::from(name.as_str()));
            let count = sent.replacen('{', ",", 1).matches(&key).count();
            prop_assert_eq!(count, 1, "{} in {}", name, sent);
        }
    }
}
