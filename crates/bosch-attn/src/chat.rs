//! Chat templates: a conversation as the text that a chat model was trained on.
//!
//! A template is a Jinja program that ships with the model (in `tokenizer_config.json`, `chat_template.jinja` or GGUF
//! metadata). It runs here as transformers runs it (`utils/chat_template_utils.py`): `trim_blocks` and `lstrip_blocks`
//! on, Python's string and dict methods, `raise_exception`, `strftime_now`, `tojson` as Python's `json.dumps`,
//! `{% break %}`, `{% continue %}` and `{% generation %}`. Templates cannot read files, and their running time is
//! limited.

mod date;
mod json;

use std::collections::BTreeMap;
use std::time::SystemTime;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, ErrorKind, Value, context};
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// Instructions that one rendering may run; far above what templates need, and it stops endless ones within seconds.
const FUEL: u64 = 20_000_000;

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks: `system`, `user`, `assistant`, or another word that the template knows.
    pub role: String,
    /// What is said.
    pub content: String,
}

impl Message {
    /// A message of any role.
    pub fn new(role: impl Into<String>, content: impl Into<String>) -> Self {
        Self {
            role: role.into(),
            content: content.into(),
        }
    }

    /// A message of the role `system`: instructions that hold for the whole conversation.
    pub fn system(content: impl Into<String>) -> Self {
        Self::new("system", content)
    }

    /// A message of the role `user`.
    pub fn user(content: impl Into<String>) -> Self {
        Self::new("user", content)
    }

    /// A message of the role `assistant`: the model.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self::new("assistant", content)
    }
}

/// How a rendered conversation ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatEnd {
    /// With the words that open the assistant's turn, so that the model goes on with its answer
    /// (transformers' `add_generation_prompt=True`).
    OpenAnswer,
    /// With the last message.
    LastMessage,
}

/// A model's chat template, ready to render conversations.
#[derive(Debug, Clone)]
pub struct ChatTemplate {
    environment: Environment<'static>,
    origin: String,
    variables: BTreeMap<String, Value>,
}

impl ChatTemplate {
    /// Compiles the Jinja text `source`; `origin` names its file in messages.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] where `source` is not a template, with the line and the reason.
    ///
    /// ```
    /// use bosch_attn::{ChatEnd, ChatTemplate, Message};
    ///
    /// let source = "{% for m in messages %}[{{ m.role }}] {{ m.content | trim }}{{ eos_token }}\n{% endfor %}\
    ///     {% if add_generation_prompt %}[assistant] {% endif %}";
    /// let template = ChatTemplate::new(source, "example")?.with("eos_token", "</s>");
    /// let text = template.render(&[Message::user(" Hi ")], ChatEnd::OpenAnswer)?;
    /// assert_eq!(text, "[user] Hi</s>\n[assistant] ");
    /// # Ok::<(), bosch_attn::Error>(())
    /// ```
    pub fn new(source: &str, origin: impl Into<String>) -> Result<Self, Error> {
        let origin = origin.into();
        let mut environment = environment(&origin)?;
        environment.add_function("strftime_now", |format: &str| {
            date::strftime(SystemTime::now(), format)
        });
        environment
            .add_template_owned("chat", generation_as_block(source))
            .map_err(|error| Error::format(&origin, "a Jinja chat template", explain(&error)))?;
        Ok(Self {
            environment,
            origin,
            variables: BTreeMap::new(),
        })
    }

    /// Gives the template one more variable: `bos_token` and `eos_token`, or what the model's card names
    /// (`enable_thinking`, `tools`, `date_string`). An earlier value of the same name is replaced.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Serialize) -> Self {
        self.variables
            .insert(name.into(), Value::from(Serde(value)));
        self
    }

    /// Fixes the time that `strftime_now` gives (UTC), so that the text depends on no clock. Without it, it is the
    /// time of the rendering.
    #[must_use]
    pub fn at(mut self, time: SystemTime) -> Self {
        self.environment
            .add_function("strftime_now", move |format: &str| {
                date::strftime(time, format)
            });
        self
    }

    /// The text of a conversation.
    ///
    /// Tokenise it with [`Tokenizer::encode`](crate::Tokenizer::encode), which adds no special tokens: the template
    /// writes those that the model wants.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where the template refuses the conversation (`raise_exception`) or cannot be run with it.
    pub fn render(&self, messages: &[Message], end: ChatEnd) -> Result<String, Error> {
        let fixed = context! {
            messages => Value::from(Serde(messages)),
            add_generation_prompt => end == ChatEnd::OpenAnswer,
        };
        let variables = Value::from(self.variables.clone());
        self.environment
            .get_template("chat")
            .and_then(|template| template.render(context! { ..fixed, ..variables }))
            .map_err(|error| self.refusal(&error))
    }

    fn refusal(&self, error: &minijinja::Error) -> Error {
        let expected = format!("a conversation for the chat template of {}", self.origin);
        Error::input("messages", expected, explain(error))
    }
}

/// The Jinja environment of transformers.
fn environment(origin: &str) -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()
        .map_err(|error| Error::format(origin, "Jinja's default syntax", explain(&error)))?;
    environment.set_syntax(syntax);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.set_fuel(Some(FUEL));
    environment.add_filter("tojson", json::to_json);
    environment.add_function("raise_exception", |message: String| -> Result<(), _> {
        Err(minijinja::Error::new(ErrorKind::InvalidOperation, message))
    });
    Ok(environment)
}

/// Puts an always-true `if` in place of transformers' `{% generation %}`, which marks the assistant's text for training
/// and renders what is inside.
fn generation_as_block(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(start) = rest.find("{%") {
        let Some(length) = rest[start..].find("%}") else {
            break;
        };
        let tag = &rest[start..start + length + 2];
        let inner = tag.trim_start_matches("{%").trim_end_matches("%}");
        let word = inner.trim_matches(['-', '+', ' ', '\n', '\t']);
        text.push_str(&rest[..start]);
        match word {
            "generation" => text.push_str(&tag.replace("generation", "if true")),
            "endgeneration" => text.push_str(&tag.replace("endgeneration", "endif")),
            _ => text.push_str(tag),
        }
        rest = &rest[start + length + 2..];
    }
    text.push_str(rest);
    text
}

/// The message of a Jinja error with its line, without the name that the template has here.
fn explain(error: &minijinja::Error) -> String {
    let reason = match error.detail() {
        Some(detail) => detail.to_string(),
        None => error.kind().to_string(),
    };
    match error.line() {
        Some(line) => format!("{reason} (line {line} of the template)"),
        None => reason,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn rendered(source: &str) -> String {
        let template = ChatTemplate::new(source, "test").unwrap();
        let messages = [Message::user("Hi")];
        template.render(&messages, ChatEnd::LastMessage).unwrap()
    }

    #[test]
    fn lines_that_hold_only_a_tag_leave_no_trace() {
        let source = "{% for m in messages %}\n    {% if true %}\n{{ m.content }}!\n    {% endif %}\n{% endfor %}\n";
        assert_eq!(rendered(source), "Hi!\n");
    }

    #[test]
    fn python_methods_slices_and_namespaces_work() {
        let source = "{% set ns = namespace(n=0) %}{% for m in messages[::-1] %}{% set ns.n = loop.index0 + 5 %}{% endfor %}\
            {{ ns.n }} {{ 'a<x>b'.split('<x>')[-1] }} {{ ' \\nq'.lstrip('\\n ') }} {{ messages[0].content.startswith('H') }} \
            {{ messages[0].get('tool_calls', 'none') }} {{ none }}";
        assert_eq!(rendered(source), "5 b q True none None");
    }

    #[test]
    fn generation_marks_are_transparent() {
        let source = "a{%- generation -%} b {%- endgeneration %}c{% for i in range(5) %}{% if i == 2 %}{% break %}{% endif %}{{ i }}{% endfor %}";
        assert_eq!(rendered(source), "abc01");
    }

    #[test]
    fn the_time_can_be_fixed() {
        let template = ChatTemplate::new("{{ strftime_now('%d %b %Y') }}", "test").unwrap();
        let template = template.at(SystemTime::UNIX_EPOCH + Duration::from_secs(1_721_952_000));
        let text = template.render(&[], ChatEnd::LastMessage).unwrap();
        assert_eq!(text, "26 Jul 2024");
    }

    #[test]
    fn a_refusal_carries_the_template_s_words() {
        let source = "{% if messages[0].role != 'system' %}\n{{ raise_exception('a system message comes first') }}{% endif %}";
        let template = ChatTemplate::new(source, "model.gguf").unwrap();
        let error = template.render(&[Message::user("Hi")], ChatEnd::LastMessage);
        let text = error.unwrap_err().to_string();
        assert!(
            text.contains("a system message comes first (line 2"),
            "{text}"
        );
        assert!(text.contains("model.gguf"), "{text}");
    }

    #[test]
    fn a_broken_template_names_its_file_and_line() {
        let error = ChatTemplate::new("\n{% if %}", "model.gguf").unwrap_err();
        assert!(matches!(error, Error::Format { .. }));
        let text = error.to_string();
        assert!(
            text.starts_with("model.gguf: ") && text.contains("line 2"),
            "{text}"
        );
    }

    #[test]
    fn a_template_without_end_is_stopped() {
        let source = "{% for a in range(10000) %}{% for b in range(10000) %}{% for c in range(10000) %}{% endfor %}{% endfor %}{% endfor %}";
        let template = ChatTemplate::new(source, "test").unwrap();
        assert!(matches!(
            template.render(&[], ChatEnd::LastMessage),
            Err(Error::Input { .. })
        ));
    }
}
