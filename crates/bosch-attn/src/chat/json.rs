//! `tojson` as transformers defines it for templates: Python's `json.dumps`, nothing escaped for HTML.

use minijinja::value::{Kwargs, ValueKind};
use minijinja::{Error, ErrorKind, Value};

/// Nesting beyond this is refused, as Python refuses its own limit.
const DEPTH: usize = 200;

/// How `json.dumps` was asked to write.
struct Style {
    ascii: bool,
    sort: bool,
    indent: Option<usize>,
    item_separator: String,
    key_separator: String,
}

/// The filter `tojson(ensure_ascii=False, indent=None, separators=None, sort_keys=False)`.
pub(super) fn to_json(value: &Value, options: Kwargs) -> Result<Value, Error> {
    let indent: Option<usize> = options.get("indent")?;
    let separators: Option<Vec<String>> = options.get("separators")?;
    let (item_separator, key_separator) = match separators.as_deref() {
        Some([item, key]) => (item.clone(), key.clone()),
        Some(_) => return Err(invalid("tojson: separators are a pair of strings")),
        None if indent.is_some() => (",".to_string(), ": ".to_string()),
        None => (", ".to_string(), ": ".to_string()),
    };
    let style = Style {
        ascii: options
            .get::<Option<bool>>("ensure_ascii")?
            .unwrap_or(false),
        sort: options.get::<Option<bool>>("sort_keys")?.unwrap_or(false),
        indent,
        item_separator,
        key_separator,
    };
    options.assert_all_used()?;
    let mut text = String::new();
    style.write(value, 0, &mut text)?;
    Ok(Value::from(text))
}

fn invalid(reason: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, reason.into())
}

impl Style {
    fn write(&self, value: &Value, depth: usize, text: &mut String) -> Result<(), Error> {
        if depth > DEPTH {
            return Err(invalid(format!("tojson: nested deeper than {DEPTH}")));
        }
        match value.kind() {
            ValueKind::None => text.push_str("null"),
            ValueKind::Bool => text.push_str(if value.is_true() { "true" } else { "false" }),
            ValueKind::Number => text.push_str(&number(value)),
            ValueKind::String => self.write_string(value.as_str().unwrap_or_default(), text),
            ValueKind::Seq | ValueKind::Iterable => self.write_list(value, depth, text)?,
            ValueKind::Map => self.write_map(value, depth, text)?,
            kind => return Err(invalid(format!("tojson: {kind} is not JSON"))),
        }
        Ok(())
    }

    fn write_list(&self, list: &Value, depth: usize, text: &mut String) -> Result<(), Error> {
        text.push('[');
        let mut empty = true;
        for item in list.try_iter()? {
            self.start_item(&mut empty, depth, text);
            self.write(&item, depth + 1, text)?;
        }
        self.close(empty, depth, ']', text);
        Ok(())
    }

    fn write_map(&self, map: &Value, depth: usize, text: &mut String) -> Result<(), Error> {
        let mut keys: Vec<Value> = map.try_iter()?.collect();
        if self.sort {
            keys.sort();
        }
        text.push('{');
        let mut empty = true;
        for key in keys {
            self.start_item(&mut empty, depth, text);
            self.write_key(&key, text)?;
            text.push_str(&self.key_separator);
            self.write(&map.get_item(&key)?, depth + 1, text)?;
        }
        self.close(empty, depth, '}', text);
        Ok(())
    }

    fn write_key(&self, key: &Value, text: &mut String) -> Result<(), Error> {
        let name = match key.kind() {
            ValueKind::String => key.as_str().unwrap_or_default().to_string(),
            ValueKind::None => "null".to_string(),
            ValueKind::Bool => key.is_true().to_string(),
            ValueKind::Number => number(key),
            kind => return Err(invalid(format!("tojson: {kind} is not a key of JSON"))),
        };
        self.write_string(&name, text);
        Ok(())
    }

    fn start_item(&self, empty: &mut bool, depth: usize, text: &mut String) {
        if !std::mem::replace(empty, false) {
            text.push_str(&self.item_separator);
        }
        self.new_line(depth + 1, text);
    }

    fn close(&self, empty: bool, depth: usize, bracket: char, text: &mut String) {
        if !empty {
            self.new_line(depth, text);
        }
        text.push(bracket);
    }

    fn new_line(&self, depth: usize, text: &mut String) {
        if let Some(indent) = self.indent {
            text.push('\n');
            text.extend(std::iter::repeat_n(' ', indent.min(64) * depth));
        }
    }

    fn write_string(&self, string: &str, text: &mut String) {
        text.push('"');
        for character in string.chars() {
            match character {
                '"' => text.push_str("\\\""),
                '\\' => text.push_str("\\\\"),
                '\n' => text.push_str("\\n"),
                '\r' => text.push_str("\\r"),
                '\t' => text.push_str("\\t"),
                '\u{8}' => text.push_str("\\b"),
                '\u{c}' => text.push_str("\\f"),
                plain if plain >= ' ' && (plain <= '~' || !self.ascii) => text.push(plain),
                other => {
                    for unit in other.encode_utf16(&mut [0; 2]) {
                        text.push_str(&format!("\\u{unit:04x}"));
                    }
                }
            }
        }
        text.push('"');
    }
}

/// A number as Python's `repr` writes it.
fn number(value: &Value) -> String {
    if value.is_integer() {
        return value.to_string();
    }
    let Ok(float) = f64::try_from(value.clone()) else {
        return value.to_string();
    };
    if float.is_nan() {
        return "NaN".to_string();
    }
    if float.is_infinite() {
        return if float > 0.0 { "Infinity" } else { "-Infinity" }.to_string();
    }
    // Rust and Python change to exponents at the same sizes; Python writes a sign and two digits.
    let text = format!("{float:?}");
    match text.split_once('e') {
        None => text,
        Some((mantissa, exponent)) => {
            let (sign, digits) = match exponent.strip_prefix('-') {
                Some(digits) => ('-', digits),
                None => ('+', exponent),
            };
            format!("{mantissa}e{sign}{digits:0>2}")
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::chat::{ChatEnd, ChatTemplate};

    fn rendered(expression: &str) -> Result<String, crate::Error> {
        let template = ChatTemplate::new(&format!("{{{{ {expression} }}}}"), "test")?;
        let value = serde_json::json!({"s": "é<&'\"\\\n\u{1}\u{7f}🙂", "l": [1, 2.0, null, true], "e": {}, "f": []});
        template.with("v", value).render(&[], ChatEnd::LastMessage)
    }

    #[test]
    fn json_is_written_as_python_writes_it() {
        // Python: json.dumps({"e": {}, "f": [], "l": [1, 2.0, None, True], "s": "é<&'\"\\\n\x01\x7f🙂"}, ensure_ascii=False)
        let plain = "{\"e\": {}, \"f\": [], \"l\": [1, 2.0, null, true], \"s\": \"é<&'\\\"\\\\\\n\\u0001\u{7f}🙂\"}";
        assert_eq!(rendered("v | tojson").unwrap(), plain);
        assert_eq!(
            rendered("v.l | tojson(indent=2)").unwrap(),
            "[\n  1,\n  2.0,\n  null,\n  true\n]"
        );
        assert_eq!(
            rendered("v.l | tojson(separators=(',', ':'))").unwrap(),
            "[1,2.0,null,true]"
        );
        assert_eq!(
            rendered("'é\u{7f}🙂' | tojson(ensure_ascii=true)").unwrap(),
            "\"\\u00e9\\u007f\\ud83d\\ude42\""
        );
    }

    #[test]
    fn maps_keep_their_order_unless_sorted() {
        assert_eq!(
            rendered("{'b': 1, 'a': {2: none}} | tojson").unwrap(),
            "{\"b\": 1, \"a\": {\"2\": null}}"
        );
        assert_eq!(
            rendered("{'b': 1, 'a': 2} | tojson(sort_keys=true)").unwrap(),
            "{\"a\": 2, \"b\": 1}"
        );
    }

    #[test]
    fn numbers_are_written_as_python_s_repr() {
        assert_eq!(
            rendered("[0.1, 1e16, 1e15, 0.0001, 0.00001, -2.5e-10, 1e100] | tojson").unwrap(),
            "[0.1, 1e+16, 1000000000000000.0, 0.0001, 1e-05, -2.5e-10, 1e+100]"
        );
    }

    #[test]
    fn what_json_cannot_hold_is_an_error() {
        assert!(rendered("missing | tojson").is_err());
        assert!(rendered("v | tojson(indents=2)").is_err());
        assert!(rendered("v | tojson(separators=(1, 2, 3))").is_err());
    }
}
