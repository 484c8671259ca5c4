//! What a later turn of a session is given to read: all that was said before it.

use fizeau_core::{Message, Prompt, Role};

/// The prompt of the turn after `before`, to which the model replied `reply`: what was said, the reply, and what is `new`.
/// Messages follow each other; texts are joined by line ends.
///
/// # Errors
/// What of the prompts cannot be gone on from.
pub(super) fn go_on(before: Prompt, reply: &str, new: Prompt) -> Result<Prompt, &'static str> {
    match (before, new) {
        (Prompt::Chat(mut messages), Prompt::Chat(new)) => {
            messages.push(Message { role: Role::Assistant, content: reply.to_owned() });
            messages.extend(new);
            Ok(Prompt::Chat(messages))
        }
        (Prompt::Text(mut text), Prompt::Text(new)) => {
            for part in [reply, &new] {
                text.push('\n');
                text.push_str(part);
            }
            Ok(Prompt::Text(text))
        }
        (Prompt::TokenIds(_), _) | (_, Prompt::TokenIds(_)) => Err("token ids"),
        (Prompt::Body(_), _) | (_, Prompt::Body(_)) => Err("whole bodies"),
        (Prompt::Chat(_), Prompt::Text(_)) | (Prompt::Text(_), Prompt::Chat(_)) => {
            Err("text and messages in one session")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prompts::user_message;

    #[test]
    fn messages_follow_each_other_and_texts_are_joined_by_line_ends() {
        let text = |text: &str| Prompt::Text(text.to_owned());
        assert_eq!(go_on(text("a"), "b", text("c")), Ok(text("a\nb\nc")));
        let user = |text: &str| user_message(text.to_owned());
        let Ok(Prompt::Chat(messages)) = go_on(user("a"), "b", user("c")) else { panic!() };
        let said: Vec<_> = messages.iter().map(|m| (m.role.as_str(), &*m.content)).collect();
        assert_eq!(said, [("user", "a"), ("assistant", "b"), ("user", "c")]);
    }

    #[test]
    fn what_cannot_be_gone_on_from_is_named() {
        let body = Prompt::Body("{}".into());
        assert_eq!(
            go_on(Prompt::TokenIds(vec![1]), "", Prompt::TokenIds(vec![2])),
            Err("token ids")
        );
        assert_eq!(go_on(body.clone(), "", body), Err("whole bodies"));
    }
}
