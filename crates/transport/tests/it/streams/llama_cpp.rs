//! llama.cpp's `/completion`.

use fizeau_core::Channel::{Silent, Visible};
use fizeau_core::FailureClass::{InStreamError, Truncated};
use fizeau_core::Finish::{Length, Stop};
use fizeau_core::TokenSource::ContinuousUsage;
use fizeau_core::TokenSource::TokenIds;
use fizeau_transport::Route::LlamaCppCompletion;

use super::{Case, V, case, event};

fn chunk(text: &str, ids: &str, count: u32) -> String {
    event(&format!(
        r#"{{"index":0,"content":"{text}","tokens":[{ids}],"stop":false,"id_slot":-1,"tokens_predicted":{count},"tokens_evaluated":3}}"#
    ))
}

fn stop(kind: &str, count: u32) -> String {
    event(&format!(
        r#"{{"index":0,"content":"","tokens":[],"stop":true,"stop_type":"{kind}","tokens_predicted":{count},"tokens_evaluated":3,"tokens_cached":6,"truncated":false,"generation_settings":{{"logit_bias":[{{"token":1,"bias":null}}]}},"timings":{{"cache_n":1,"prompt_n":2,"prompt_ms":10.0,"predicted_n":{count},"predicted_ms":90.5,"predicted_per_second":71.1}}}}"#
    ))
}

pub(super) fn good() -> String {
    [chunk("Ga", "11", 1), chunk(" bu", "12", 2), chunk(" zo", "13", 3), stop("limit", 3)].concat()
}

pub(super) fn cases() -> Vec<Case> {
    let progress = event(
        r#"{"index":0,"content":"","tokens":[0],"stop":false,"tokens_predicted":0,"tokens_evaluated":3,"prompt_progress":{"total":3,"cache":0,"processed":3,"time_ms":7}}"#,
    );
    let good_end = (Ok(Length), "Ga bu zo");
    let cases = vec![
        case("28: llama.cpp", good(), &[V, V, V], TokenIds, good_end),
        case(
            "1, 14, 32: llama.cpp, pings, null data and progress are no tokens",
            [":\n\ndata: null\n\n", &progress, ":\n", &progress, &good()].concat(),
            &[V, V, V],
            TokenIds,
            good_end,
        ),
        case(
            "3, 4: llama.cpp, ids not asked for, bytes held back",
            [chunk("Ga", "", 1), chunk("", "", 2), chunk(" éa", "", 5), stop("eos", 6)].concat(),
            &[V, (1, Silent), (3, Visible), (1, Silent)],
            ContinuousUsage,
            (Ok(Stop), "Ga éa"),
        ),
        case(
            "11: llama.cpp, an error",
            [
                chunk("Ga", "11", 1),
                event(r#"{"error":{"code":500,"message":"no","type":"server_error"}}"#),
                stop("limit", 1),
            ]
            .concat(),
            &[V],
            TokenIds,
            (Err(InStreamError), "Ga"),
        ),
        case(
            "13: llama.cpp, no event that stops",
            [chunk("Ga", "11", 1), chunk(" bu", "12", 2)].concat(),
            &[V, V],
            TokenIds,
            (Err(Truncated), "Ga bu"),
        ),
    ];
    cases.into_iter().map(|case| case.on(LlamaCppCompletion)).collect()
}
