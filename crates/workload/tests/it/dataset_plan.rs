//! Plans whose prompts are the records of a data set.

use std::collections::HashSet;
use std::num::NonZeroU32;
use std::sync::Arc;

use fizeau_core::{Message, Prompt, Request, RequestId, Role, Tokens};
use fizeau_workload::{
    Conversation, Dataset, DatasetReuse, Plan, PlanSpec, PromptContent, PromptForm, RecordOrder,
    RecordReuse, Salt, Sessions, SpecError, ThinkTime, Turn, Turns,
};
use proptest::prelude::*;

use crate::dataset::{BATCH, Bytewise, CUSTOM};
use crate::{common, ids, spec, text};

/// A data set of `records` records, each saying its number.
fn numbered(records: usize) -> Dataset {
    let turn = |number| Turn::new(Prompt::Text(format!("record {number}")));
    let conversations = (0..records).map(|number| turn(number).into()).collect();
    Dataset { name: "numbers".to_owned(), conversations, dropped: 0 }
}

/// A data set of conversations of so many turns each.
fn conversing(turns: &[usize]) -> Dataset {
    let conversation = |(number, &turns): (usize, &usize)| Conversation {
        turns: (0..turns).map(|turn| Turn::new(Prompt::Text(format!("{number}.{turn}")))).collect(),
    };
    let conversations = turns.iter().enumerate().map(conversation).collect();
    Dataset { name: "talks".to_owned(), conversations, dropped: 0 }
}

const fn content(form: PromptForm, order: RecordOrder, repeat: RecordReuse) -> PromptContent {
    PromptContent::Dataset { form, order, repeat }
}

const AS_GIVEN: PromptContent =
    content(PromptForm::Text, RecordOrder::AsGiven, RecordReuse::Allowed);
const SHUFFLED: PromptContent =
    content(PromptForm::Text, RecordOrder::Shuffled, RecordReuse::Allowed);

fn plan(spec: PlanSpec, dataset: Dataset) -> Plan {
    Plan::builder(spec).dataset(Arc::new(dataset)).build().unwrap()
}

fn complaint(spec: PlanSpec, dataset: Dataset) -> String {
    Plan::builder(spec).dataset(Arc::new(dataset)).build().unwrap_err().to_string()
}

fn requests(plan: &Plan) -> Vec<Request> {
    (0..plan.len().get()).map(|number| plan.request(RequestId(number))).collect()
}

fn texts(plan: &Plan) -> Vec<String> {
    requests(plan).iter().map(|request| text(&request.prompt).to_owned()).collect()
}

proptest! {
    #[test]
    fn a_shuffle_takes_each_record_once_a_round(records in 1_usize..50, rounds in 1_u64..4, seed: u64) {
        let asked = records as u64 * rounds;
        let plan = plan(PlanSpec { content: SHUFFLED, ..spec(asked, seed) }, numbered(records));
        let texts = texts(&plan);
        for round in texts.chunks(records) {
            let distinct: HashSet<&String> = round.iter().collect();
            prop_assert_eq!(distinct.len(), records);
        }
        let wanted = DatasetReuse { records: records as u64, wanted: asked };
        prop_assert_eq!(plan.repeats(), (rounds > 1).then_some(wanted));
    }

    #[test]
    fn warm_up_keeps_clear_of_measured_records(asked in 1_u64..50, spare in 1_u64..50, seed: u64) {
        let records = usize::try_from(asked + spare).unwrap();
        let plan = plan(PlanSpec { content: SHUFFLED, ..spec(asked, seed) }, numbered(records));
        let measured: HashSet<String> = texts(&plan).into_iter().collect();
        for scheduled in plan.warmup(spare) {
            prop_assert!(!measured.contains(text(&scheduled.request.prompt)));
        }
    }

    #[test]
    fn conversations_are_sessions(
        turns in proptest::collection::vec(1_usize..5, 1..8), asked in 1_u64..60, salt in 0_u64..2,
    ) {
        prop_assume!(turns.iter().any(|&turns| turns > 1));
        let base = PlanSpec { content: AS_GIVEN, salt: Salt(salt), ..spec(asked, 0) };
        let plan = plan(base, conversing(&turns));
        let all = (0_usize..).flat_map(|number| {
            let record = number % turns.len();
            (0..turns[record]).map(move |turn| (number, record, turn))
        });
        let mut used = 0;
        for (request, (number, record, turn)) in requests(&plan).iter().zip(all) {
            used = number as u64 + 1;
            prop_assert_eq!((request.session.0, request.turn), (number as u64, turn as u32));
            let (said, own) = (text(&request.prompt), format!("{record}.{turn}"));
            if salt > 0 && turn == 0 {
                prop_assert_eq!(said.split_once('\n').map(|(line, own)| (line.split(' ').count(), own)), Some((8, own.as_str())));
            } else {
                prop_assert_eq!(said, own);
            }
        }
        let records = turns.len() as u64;
        let expected = (used > records).then_some(DatasetReuse { records, wanted: used });
        prop_assert_eq!(plan.repeats(), expected);
    }
}

#[test]
fn orders_keep_their_meaning() {
    let given = plan(PlanSpec { content: AS_GIVEN, ..spec(5, 7) }, numbered(4));
    assert_eq!(texts(&given), ["record 0", "record 1", "record 2", "record 3", "record 0"]);
    let shuffled = |seed, salt| {
        let plan = plan(PlanSpec { content: SHUFFLED, salt, ..spec(4, seed) }, numbered(100));
        let last = |text: &String| text.rsplit('\n').next().unwrap_or_default().to_owned();
        texts(&plan).iter().map(last).collect::<Vec<_>>()
    };
    // This crate's own values, and those of an independent implementation in Python.
    assert_eq!(shuffled(0, Salt::NONE), ["record 21", "record 53", "record 60", "record 19"]);
    assert_ne!(shuffled(0, Salt::NONE), shuffled(1, Salt::NONE));
    assert_eq!(shuffled(0, Salt::NONE), shuffled(0, Salt(9)));
}

#[test]
fn salt_makes_even_repeats_differ_from_the_first_word_on() {
    let salted = |salt| plan(PlanSpec { content: AS_GIVEN, salt, ..spec(300, 0) }, numbered(3));
    assert_eq!(texts(&salted(Salt::NONE)).iter().collect::<HashSet<_>>().len(), 3);
    let (first, second) = (salted(Salt(1)), salted(Salt(2)));
    let warm = first.warmup(300).map(|scheduled| text(&scheduled.request.prompt).to_owned());
    let lines: Vec<String> = texts(&first).into_iter().chain(texts(&second)).chain(warm).collect();
    let openings: HashSet<String> =
        lines.iter().map(|text| text.split_once('\n').unwrap().0.to_owned()).collect();
    assert_eq!(openings.len(), 900);
    assert!(lines.iter().all(|text| text.contains("\nrecord ")));
    assert_eq!(texts(&first), texts(&salted(Salt(1))));
}

#[test]
fn what_a_record_says_goes_before_the_specification() {
    let dataset = Dataset::jsonl("custom.jsonl", CUSTOM.as_bytes()).unwrap();
    let chat = content(PromptForm::Chat, RecordOrder::AsGiven, RecordReuse::Refused);
    let spec = PlanSpec { content: chat, ..spec(9, 0) };
    let plan = plan(spec, dataset.clone());
    let made = requests(&plan);
    let outputs: Vec<u64> = made.iter().map(|request| request.max_output_tokens.get()).collect();
    assert_eq!(outputs, [5, 60, 12, 40, 30, 10, 8, 5, 5]);
    let inputs: Vec<_> = made.iter().map(|request| request.input_tokens.map(Tokens::get)).collect();
    assert_eq!(inputs, [None, None, Some(6), Some(31), None, None, None, None, None]);
    let models: Vec<_> =
        made.iter().map(|request| request.model.as_deref().unwrap_or("")).collect();
    let (a, b, c) = ("adapter-a", "adapter-b", "adapter-c");
    assert_eq!(models, ["", "", b, "", "", a, c, a, ""]);
    assert!(made[4].extra.is_some() && made[8].extra.is_some());
    let user = |text: &str| vec![Message { role: Role::User, content: text.to_owned() }];
    assert_eq!(made[0].prompt, Prompt::Chat(user("Why is the sky blue?")));
    assert_eq!(made[2].prompt, dataset.conversations[2].turns[0].prompt);
}

#[test]
fn a_tokenizer_counts_what_is_sent() {
    let tokenizer = Arc::new(Bytewise::new());
    for salt in [Salt::NONE, Salt(5)] {
        for form in [PromptForm::Text, PromptForm::TokenIds] {
            let content = content(form, RecordOrder::AsGiven, RecordReuse::Allowed);
            let spec = PlanSpec { content, salt, ..spec(4, 0) };
            let builder = Plan::builder(spec).dataset(Arc::new(numbered(4)));
            let plan = builder.tokenizer(tokenizer.clone()).build().unwrap();
            for request in requests(&plan) {
                let sent = match form {
                    PromptForm::TokenIds => ids(&request.prompt).len(),
                    _ => text(&request.prompt).len(),
                };
                assert_eq!(request.input_tokens, Some(Tokens::new(sent as u64)));
                assert_eq!(sent > 20, salt == Salt(5));
            }
        }
    }
}

#[test]
fn a_known_length_holds_only_for_the_text_as_it_stood() {
    let turn = Turn { input_tokens: Some(Tokens::new(77)), ..Turn::new(Prompt::Text("a".into())) };
    let dataset = Dataset { name: "one".into(), conversations: vec![turn.into()], dropped: 0 };
    let tokens = |salt| {
        let plan = plan(PlanSpec { content: AS_GIVEN, salt, ..spec(1, 0) }, dataset.clone());
        plan.request(RequestId(0)).input_tokens
    };
    assert_eq!(tokens(Salt::NONE), Some(Tokens::new(77)));
    assert_eq!(tokens(Salt(1)), None);
}

#[test]
fn whole_bodies_are_salted_in_their_first_text_and_nowhere_else() {
    let batch = Dataset::openai_batch("b.jsonl", BATCH.as_bytes()).unwrap();
    let of = |salt| plan(PlanSpec { content: AS_GIVEN, salt, ..spec(3, 0) }, batch.clone());
    let body = |request: &Request| match &request.prompt {
        Prompt::Body(body) => body.to_string(),
        other => panic!("{other:?}"),
    };
    for (request, record) in requests(&of(Salt::NONE)).iter().zip(&batch.conversations) {
        assert_eq!(request.prompt, record.turns[0].prompt);
    }
    let mut lines = HashSet::new();
    for (plain, salted) in requests(&of(Salt::NONE)).iter().zip(requests(&of(Salt(3)))) {
        let (plain, salted) = (body(plain), body(&salted));
        let at = plain.find(r#""content": ""#).unwrap() + r#""content": ""#.len();
        let line = salted[at..].split_once("\\n").unwrap().0;
        assert_eq!(salted, format!("{}{line}\\n{}", &plain[..at], &plain[at..]));
        assert_eq!(line.split(' ').count(), 8);
        lines.insert(line.to_owned());
    }
    assert_eq!(lines.len(), 3);
    assert_eq!(of(Salt(3)).request(RequestId(1)).max_output_tokens, Tokens::new(128));
}

/// A data set of bodies.
fn bodies(bodies: &[&str]) -> Dataset {
    let turn = |body: &&str| Turn::new(Prompt::Body((*body).into())).into();
    let conversations = bodies.iter().map(turn).collect();
    Dataset { name: "bodies".to_owned(), conversations, dropped: 0 }
}

/// The bodies of `dataset`, as they are sent with a salt.
fn salted_bodies(dataset: &Dataset) -> Vec<String> {
    let asked = dataset.conversations.len() as u64;
    let spec = PlanSpec { content: AS_GIVEN, salt: Salt(3), ..spec(asked, 0) };
    let sent = requests(&plan(spec, dataset.clone())).into_iter().map(|request| request.prompt);
    sent.map(|prompt| match prompt {
        Prompt::Body(body) => body.to_string(),
        other => panic!("{other:?}"),
    })
    .collect()
}

#[test]
fn a_line_goes_before_what_the_model_reads_first() {
    // The line comes where the `|` is.
    let cases = [
        r#"{"prompt": "|Hi"}"#,
        r#"{"input":"|x", "n": 1}"#,
        r#"{"messages": [{"role": "system", "content": "|\u00e9"}, {"content": "y"}]}"#,
        // Of two the last counts.
        r#"{"prompt": "a", "prompt": "|b"}"#,
    ];
    let plain = cases.map(|body| body.replace('|', ""));
    let dataset = bodies(&plain.each_ref().map(String::as_str));
    assert_eq!(dataset.unsalted(), 0);
    for (body, salted) in cases.into_iter().zip(salted_bodies(&dataset)) {
        let (before, behind) = body.split_once('|').unwrap();
        let line = salted.strip_prefix(before).unwrap().strip_suffix(behind).unwrap();
        assert_eq!(
            line.strip_suffix("\\n").map(|line| line.split(' ').count()),
            Some(8),
            "{salted}"
        );
    }
    let parts = r#"{"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]}"#;
    let bare = [parts, r#"{"prompt": [1, 2]}"#, r#"{"messages": []}"#, "{}", "[", ""];
    let dataset = bodies(&bare);
    assert_eq!(dataset.unsalted(), 6);
    assert_eq!(salted_bodies(&dataset), bare);
}

#[test]
fn each_name_of_the_length_is_set_where_the_body_has_one() {
    let cases = [
        (
            r#"{"max_tokens": 200, "prompt": "x", "max_completion_tokens":1}"#,
            r#"{"max_tokens": 7, "prompt": "x", "max_completion_tokens":7}"#,
        ),
        (r#"{"max_tokens": null}"#, r#"{"max_tokens": null}"#),
    ];
    let set = bodies(&cases.map(|(body, _)| body)).with_output(Tokens::new(7));
    for (record, (_, expected)) in set.conversations.iter().zip(cases) {
        assert_eq!(record.turns[0].prompt, Prompt::Body(expected.into()));
        assert_eq!(record.turns[0].output_tokens, Some(Tokens::new(7)));
    }
}

#[test]
fn token_ids_are_salted_with_ids_that_the_data_set_has() {
    let turn = |ids: &[u32]| Turn::new(Prompt::TokenIds(ids.to_vec())).into();
    let conversations = vec![turn(&[7, 90, 11]), turn(&[90, 4])];
    let dataset = Dataset { name: "ids".into(), conversations, dropped: 0 };
    let of = |salt| plan(PlanSpec { content: AS_GIVEN, salt, ..spec(40, 0) }, dataset.clone());
    assert_eq!(ids(&of(Salt::NONE).request(RequestId(0)).prompt), [7, 90, 11]);
    let salted = of(Salt(2));
    let warm = salted.warmup(40).map(|scheduled| scheduled.request);
    let mut fronts = HashSet::new();
    for request in requests(&salted).into_iter().chain(warm) {
        let all = ids(&request.prompt).to_vec();
        assert_eq!(request.input_tokens, Some(Tokens::new(all.len() as u64)));
        assert!(all.iter().all(|id| [4, 7, 11, 90].contains(id)));
        // 32 symbols of 4 tell all 64-bit numbers apart.
        assert!(matches!(&all[32..], [7, 90, 11] | [90, 4]), "{all:?}");
        fronts.insert(all[..32].to_vec());
    }
    assert_eq!(fronts.len(), 80);
}

#[test]
fn what_the_data_set_says_of_a_length_holds_in_a_chat_too() {
    let turn = Turn { input_tokens: Some(Tokens::new(77)), ..Turn::new(Prompt::Text("a".into())) };
    let dataset = Dataset { name: "one".into(), conversations: vec![turn.into()], dropped: 0 };
    let content = content(PromptForm::Chat, RecordOrder::AsGiven, RecordReuse::Allowed);
    let plan = plan(PlanSpec { content, salt: Salt::NONE, ..spec(1, 0) }, dataset);
    assert_eq!(plan.request(RequestId(0)).input_tokens, Some(Tokens::new(77)));
}

#[test]
fn sessions_of_records_that_stand_alone_take_one_record_a_turn() {
    let turns = Turns::Fixed(NonZeroU32::new(3).unwrap());
    let sessions = Some(Sessions { turns, think: ThinkTime::None });
    let spec = PlanSpec { content: AS_GIVEN, sessions, ..spec(6, 0) };
    let plan = plan(spec.clone(), numbered(6));
    let numbers: Vec<String> = (0..6).map(|number| format!("record {number}")).collect();
    assert_eq!(texts(&plan), numbers);
    assert_eq!(plan.request(RequestId(4)).session.0, 1);
    let batch = Dataset::openai_batch("b.jsonl", BATCH.as_bytes()).unwrap();
    assert!(complaint(spec, batch).contains("a conversation cannot be carried on in token ids"));
}

#[test]
fn a_set_that_is_too_small_is_refused_where_it_must_not_repeat() {
    let refused = content(PromptForm::Text, RecordOrder::Shuffled, RecordReuse::Refused);
    let asking = |requests| PlanSpec { content: refused.clone(), ..spec(requests, 0) };
    assert_eq!(plan(asking(10), numbered(10)).repeats(), None);
    let line = "the data set numbers has 10 records, and the requests need 11 (a conversation is one record): \
                send fewer requests, or let records repeat";
    assert_eq!(complaint(asking(11), numbered(10)), line);
    // Six turns of ten are two conversations and a part of the third.
    assert!(plan(asking(6), conversing(&[3, 3, 3])).repeats().is_none());
    assert!(
        complaint(asking(10), conversing(&[3, 3, 3]))
            .contains("has 3 records, and the requests need 4")
    );
    let note = plan(PlanSpec { content: AS_GIVEN, ..spec(25, 0) }, numbered(10)).repeats().unwrap();
    let line = "25 records are asked for and the data set has 10: each is used up to 3 times";
    assert_eq!(note.to_string(), line);
}

#[test]
fn sets_that_do_not_go_with_the_rest() {
    let given = PlanSpec { content: AS_GIVEN, ..spec(1, 0) };
    assert_eq!(Plan::new(given.clone()).unwrap_err(), SpecError::NoDataset);
    assert!(complaint(given.clone(), numbered(0)).ends_with("it has no records"));
    assert!(complaint(given.clone(), conversing(&[2, 0])).ends_with("a record has no turns"));
    let prefixed = PlanSpec { prefix: common(5), ..given.clone() };
    assert!(complaint(prefixed, numbered(1)).contains("a shared prefix cannot be put before"));
    let content = content(PromptForm::TokenIds, RecordOrder::AsGiven, RecordReuse::Allowed);
    let as_ids = PlanSpec { content, ..given.clone() };
    assert!(complaint(as_ids, numbered(1)).contains("token ids needs a tokenizer"));
    let mixed = "{\"prompt\": \"a\"}\n{\"messages\": [{\"role\": \"user\", \"content\": \"b\"}]}";
    let mixed = Dataset::jsonl("mixed.jsonl", mixed.as_bytes()).unwrap();
    let turns = Turns::Fixed(NonZeroU32::new(2).unwrap());
    let sessions = Some(Sessions { turns, think: ThinkTime::None });
    let talking = PlanSpec { sessions, ..given.clone() };
    assert!(complaint(talking, mixed.clone()).contains("partly messages and partly text"));
    assert_eq!(
        plan(PlanSpec { requests: 2.try_into().unwrap(), ..given.clone() }, mixed).len().get(),
        2
    );
    let custom = Dataset::jsonl("custom.jsonl", CUSTOM.as_bytes()).unwrap();
    assert!(complaint(given, custom).contains("partly messages and partly text"));
}
