//! Any text as a chat template: an error, or a text.
#![no_main]

use bosch_attn::{ChatEnd, ChatTemplate, Message};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|source: &str| {
    if let Ok(template) = ChatTemplate::new(source, "template") {
        let messages = [
            Message::system("s"),
            Message::user("u"),
            Message::assistant("a"),
        ];
        let _ = template.render(&messages, ChatEnd::OpenAnswer);
    }
});
