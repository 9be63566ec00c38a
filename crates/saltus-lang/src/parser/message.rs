//! The words of syntax errors: what was found, and what was probably meant.

use super::{Failed, Parser};
use crate::ast::Name;
use crate::codes::{MISPLACED, RESERVED_WORD};
use crate::diagnostic::Diagnostic;
use crate::lexer::{Keyword, Kind, Token};
use crate::suggest;
use saltus_model::Span;

pub(super) const TRANSITION_HINT: &str =
    "a transition begins with `when`, `at`, `after`, `every`, `on` or `else`";

impl Parser<'_> {
    /// "expected X, found Y" at the current token.
    pub(super) fn unexpected(&self, expected: &str) -> Diagnostic {
        let message = format!("expected {expected}, found {}", self.found());
        let token = self.token();
        let span = match self.here() {
            Kind::LineEnd => Span { file: self.file, start: self.last_end(), end: self.last_end() },
            _ => self.span(token),
        };
        Diagnostic::error(crate::codes::UNEXPECTED_TOKEN, span, message).label(format!("expected {expected}"))
    }

    /// The current token in words.
    fn found(&self) -> String {
        let token = self.token();
        let text = shortened(self.source(token));
        match self.here() {
            Kind::LineEnd => "the end of the line".into(),
            Kind::End => "the end of the file".into(),
            Kind::Keyword(_) => format!("the keyword `{text}`"),
            Kind::Number => format!("the number `{text}`"),
            Kind::Text => format!("the text `{text}`"),
            Kind::Unit => format!("the unit `{text}`"),
            _ => format!("`{text}`"),
        }
    }

    /// A name; `expected` says of what.
    pub(super) fn name(&mut self, expected: &str) -> Result<Name, Failed> {
        match self.here() {
            Kind::Name => {
                let token = self.bump();
                Ok(self.name_of(token))
            }
            Kind::Keyword(keyword) => {
                let report = self.reserved(self.token(), keyword);
                Err(self.report(report))
            }
            _ => Err(self.fail(expected)),
        }
    }

    pub(super) fn name_of(&self, token: Token) -> Name {
        Name { text: self.source(token).into(), span: self.span(token) }
    }

    /// A name on the line after a comma, `->` or the like, where the line may end.
    pub(super) fn name_after_break(&mut self, expected: &str) -> Result<Name, Failed> {
        if self.kind() == Kind::Name {
            let token = self.bump();
            return Ok(self.name_of(token));
        }
        self.name(expected)
    }

    pub(super) fn reserved(&self, token: Token, keyword: Keyword) -> Diagnostic {
        let word = self.source(token);
        Diagnostic::error(RESERVED_WORD, self.span(token), format!("`{word}` cannot be a name"))
            .label("reserved word")
            .hint(format!("the word `{word}` {}; choose another name, such as `{word}1`", keyword.purpose()))
    }

    /// A statement that has no place here.
    pub(super) fn misplaced(&self, token: Token, message: &str, hint: &str) -> Diagnostic {
        Diagnostic::error(MISPLACED, self.span(token), message).label("not here").hint(hint)
    }

    /// Reports a statement that goes on where it should end.
    pub(super) fn report_trailing(&mut self) {
        let expected = "the end of the statement";
        let hint = match self.here() {
            Kind::Name | Kind::Number | Kind::LeftParen | Kind::Keyword(Keyword::If) => {
                "a product is written with `*`; two statements on one line are separated by `;`"
            }
            Kind::RightParen | Kind::RightBracket => "this bracket closes nothing",
            Kind::Equals => {
                "an equation has one `=`; a line that ends in an operator or comma goes on in the next"
            }
            Kind::Becomes => "`:=` stands only in jumps: `when x < 0 { v := 0 }`",
            Kind::LeftBrace => "`{` begins a block and never an expression",
            Kind::Arrow => TRANSITION_HINT,
            Kind::Range => "a range stands in an index or behind `in`: `x[1..3]`, `for i in 1..n`",
            Kind::Text => "a message stands only behind `stop when ...`",
            Kind::Comma => {
                "only names and values that are declared, held or drawn together are separated by commas"
            }
            _ => "a statement ends with its line or with `;`",
        };
        self.fail_with_hint(expected, hint);
    }

    /// Advice for a statement that begins with a word that is no keyword.
    pub(super) fn advice_for_word(&self, word: &str) -> Option<String> {
        if matches!(word, "until" | "plot" | "rtol" | "atol" | "seed" | "policy" | "solver") {
            return Some(format!("`{word}` stands in the `run {{ ... }}` block"));
        }
        similar_keyword(word).map(|keyword| format!("did you mean `{keyword}`?"))
    }
}

/// At most thirty characters of a token, on one line.
fn shortened(text: &str) -> String {
    let mut shown: String = text.chars().take(30).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    shown
}

/// The keyword a word stands for in other languages, or nearly spells.
fn similar_keyword(word: &str) -> Option<&'static str> {
    const ELSEWHERE: &[(&str, &str)] = &[
        ("parameter", "param"),
        ("parameters", "param"),
        ("const", "param"),
        ("constant", "param"),
        ("var", "state"),
        ("variable", "state"),
        ("discrete", "memory"),
        ("equation", "flow"),
        ("equations", "flow"),
        ("location", "mode"),
        ("function", "fn"),
        ("def", "fn"),
        ("class", "component"),
        ("block", "component"),
        ("include", "use"),
        ("inv", "invariant"),
        ("transition", "when"),
        ("edge", "when"),
    ];
    let lower = word.to_lowercase();
    if let Some((_, keyword)) = ELSEWHERE.iter().find(|(other, _)| *other == lower) {
        return Some(keyword);
    }
    // Short words are near to too many keywords.
    if lower.len() < 4 {
        return None;
    }
    suggest::nearest(&lower, Keyword::WORDS.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearly_spelled_keywords_are_found() {
        assert_eq!(similar_keyword("automatn"), Some("automaton"));
        assert_eq!(similar_keyword("Parameter"), Some("param"));
        assert_eq!(similar_keyword("whne"), Some("when"));
        assert_eq!(similar_keyword("fo"), None);
        assert_eq!(similar_keyword("sttae"), Some("state"));
        assert_eq!(similar_keyword("voltage"), None);
    }

    #[test]
    fn keywords_are_reserved_everywhere_and_nothing_else_is() {
        for word in Keyword::WORDS {
            for text in [format!("fn f({word}) = 1"), format!("model A {{ signal {word} }}")] {
                let codes: Vec<_> = crate::parse(0, &text).1.iter().map(|d| d.code).collect();
                assert_eq!(codes, [RESERVED_WORD], "{text}");
            }
        }
        for word in ["until", "plot", "over", "history", "time", "pi", "Real", "array", "sum", "der"] {
            let text = format!("model A {{ signal {word} = 1; {word} = {word} + {word}; hold {word} }}");
            assert_eq!(crate::parse(0, &text).1, [], "{text}");
        }
    }
}
