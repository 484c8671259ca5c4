//! The protocol that a browser is driven by: commands and events as JSON over a web socket
//! (<https://chromedevtools.github.io/devtools-protocol/>).

use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Message, WebSocket};

/// A browser that hangs fails the test instead of holding it.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection to the browser.
pub(super) struct Wire {
    socket: WebSocket<TcpStream>,
    next: u64,
    /// Everything that it told unasked.
    pub(super) events: Vec<Value>,
}

impl Wire {
    pub(super) fn connect(address: &str) -> Self {
        let host = address.strip_prefix("ws://").unwrap().split('/').next().unwrap();
        let stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        // The picture of a whole page, or the page on paper, comes as one message.
        let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
        let client = tungstenite::client::client_with_config(address, stream, Some(config));
        let (socket, _) = client.unwrap();
        Self { socket, next: 0, events: Vec::new() }
    }

    /// Sends a command to the browser, or to one of its tabs, and waits for the answer.
    pub(super) fn call(&mut self, session: Option<&str>, method: &str, params: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        let mut command = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            command["sessionId"] = session.into();
        }
        self.socket.send(Message::text(command.to_string())).unwrap();
        loop {
            let mut message = self.read();
            if message["id"] == id {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].take();
            }
            self.events.push(message);
        }
    }

    /// Waits for an event that `is_it`, whether it came already or comes yet.
    pub(super) fn wait(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        if let Some(found) = self.events.iter().find(|event| is_it(event)) {
            return found.clone();
        }
        loop {
            let message = self.read();
            self.events.push(message.clone());
            if is_it(&message) {
                return message;
            }
        }
    }

    fn read(&mut self) -> Value {
        loop {
            let message = self
                .socket
                .read()
                .unwrap_or_else(|error| panic!("the browser does not answer: {error}"));
            if let Message::Text(text) = message {
                return serde_json::from_str(&text).unwrap();
            }
        }
    }
}
