//! Writing JSON.
//!
//! Values are written as they come, so a report of any size needs no memory. The first error of the
//! writer silences the rest.

use saltus::Fault;
use std::io::Write;

/// A writer of one JSON value.
pub struct Json<W: Write> {
    out: W,
    /// The next value is the first of its object or array.
    first: bool,
    /// The next value belongs to a key.
    keyed: bool,
    broken: bool,
    number: String,
}

impl<W: Write> Json<W> {
    /// Writes to `out`, which should be buffered.
    pub fn new(out: W) -> Self {
        Self { out, first: true, keyed: false, broken: false, number: String::new() }
    }

    fn raw(&mut self, text: &str) {
        if !self.broken {
            self.broken = self.out.write_all(text.as_bytes()).is_err();
        }
    }

    /// A comma between neighbours.
    fn separate(&mut self) {
        if !std::mem::take(&mut self.keyed) && !std::mem::take(&mut self.first) {
            self.raw(",");
        }
    }

    /// The key of the value that follows.
    pub fn key(&mut self, key: &str) -> &mut Self {
        self.text(key);
        self.raw(":");
        self.keyed = true;
        self
    }

    /// An object, whose keys and values `content` writes.
    pub fn object(&mut self, content: impl FnOnce(&mut Self)) {
        self.nested("{", "}", content);
    }

    /// An array, whose values `content` writes.
    pub fn array(&mut self, content: impl FnOnce(&mut Self)) {
        self.nested("[", "]", content);
    }

    fn nested(&mut self, open: &str, close: &str, content: impl FnOnce(&mut Self)) {
        self.separate();
        self.raw(open);
        self.first = true;
        content(self);
        self.first = false;
        self.raw(close);
    }

    /// A text.
    pub fn text(&mut self, text: &str) {
        self.separate();
        self.raw("\"");
        let mut rest = text;
        while let Some(at) = rest.find(|c: char| c == '"' || c == '\\' || c.is_control()) {
            let (plain, special) = rest.split_at(at);
            self.raw(plain);
            let mut characters = special.chars();
            match characters.next() {
                Some('\n') => self.raw("\\n"),
                Some('\t') => self.raw("\\t"),
                Some(c @ ('"' | '\\')) => self.raw(&format!("\\{c}")),
                Some(c) => self.raw(&format!("\\u{:04x}", u32::from(c))),
                None => {}
            }
            rest = characters.as_str();
        }
        self.raw(rest);
        self.raw("\"");
    }

    /// A number in the shortest form that reads back to the same bits; null if it is not finite.
    pub fn number(&mut self, value: f64) {
        if !value.is_finite() {
            return self.null();
        }
        self.separate();
        let mut number = std::mem::take(&mut self.number);
        number.clear();
        saltus::io::csv::write_number(&mut number, value);
        self.raw(&number);
        self.number = number;
    }

    /// A whole number.
    pub fn integer(&mut self, value: u64) {
        self.separate();
        self.raw(&value.to_string());
    }

    /// True or false.
    pub fn boolean(&mut self, value: bool) {
        self.separate();
        self.raw(if value { "true" } else { "false" });
    }

    /// Nothing.
    pub fn null(&mut self) {
        self.separate();
        self.raw("null");
    }

    /// A text, or null.
    pub fn optional_text(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.text(text),
            None => self.null(),
        }
    }

    /// A whole number, or null.
    pub fn optional_integer(&mut self, value: Option<u64>) {
        match value {
            Some(value) => self.integer(value),
            None => self.null(),
        }
    }
}

/// An error or warning.
pub fn fault<W: Write>(j: &mut Json<W>, fault: &Fault) {
    let place = fault.place.as_ref();
    j.object(|j| {
        j.key("code").text(fault.code);
        j.key("message").text(&fault.message);
        j.key("file").optional_text(place.map(|p| p.file.as_str()));
        j.key("line").optional_integer(place.map(|p| p.line.into()));
        j.key("column").optional_integer(place.map(|p| p.column.into()));
        j.key("hint").optional_text(fault.hint.as_deref());
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Json<&mut Vec<u8>>)) -> String {
        let mut out = Vec::new();
        write(&mut Json::new(&mut out));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_are_separated_and_nested() {
        let text = written(|j| {
            j.object(|j| {
                j.key("a").array(|j| {
                    j.integer(1);
                    j.array(|_| {});
                    j.object(|j| j.key("b").null());
                });
                j.key("c").boolean(true);
                j.key("d").optional_text(None);
            })
        });
        assert_eq!(text, r#"{"a":[1,[],{"b":null}],"c":true,"d":null}"#);
    }

    #[test]
    fn texts_are_escaped() {
        let text = "quote \" back \\ line \n tab \t bell \u{7} φ \u{2028} 🎈";
        let read: serde_json::Value = serde_json::from_str(&written(|j| j.text(text))).unwrap();
        assert_eq!(read, text);
    }

    #[test]
    fn numbers_read_back() {
        for value in [0.0, -0.0, 0.1 + 0.2, 1e300, -5e-324, 12.0, 1e16, 123456789.123] {
            let read: f64 = written(|j| j.number(value)).parse().unwrap();
            assert_eq!(read.to_bits(), value.to_bits());
            let json = written(|j| j.number(value));
            assert!(serde_json::from_str::<serde_json::Value>(&json).unwrap().is_number(), "{json}");
        }
        assert_eq!(
            written(|j| j.array(|j| [f64::NAN, f64::INFINITY].into_iter().for_each(|v| j.number(v)))),
            "[null,null]"
        );
    }
}
