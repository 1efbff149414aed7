//! Cuts Chinese texts into words as the Python package jieba does.
//!
//!     echo '"我们去了西湖"' | cargo run -p bosch-examples --example segment
//!
//! Each line of standard input is a JSON string and comes back as the list of its words.

use std::io::Write;

use bosch::eval::{parse_json_line, segment};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut output = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lines() {
        let text: String = parse_json_line(&line?)?;
        writeln!(output, "{}", serde_json::to_string(&segment(&text))?)?;
    }
    Ok(output.flush()?)
}
