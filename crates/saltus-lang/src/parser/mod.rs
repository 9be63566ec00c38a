//! Tokens to a syntax tree, by recursive descent. Every error of a file is reported in one pass:
//! a statement that does not fit is reported once and skipped, its neighbours and the blocks
//! around it are read as if nothing had happened. Depth and height of the tree are bounded, so
//! neither parsing nor any recursion over the tree can exhaust the stack; time is linear in the
//! length of the text.
//!
//! A line end ends a statement, except inside `()` and `[]` and where the grammar cannot stop
//! (after an operator, a comma, `=`, `:=`, `->`). The cursor shows this as [`Kind::LineEnd`]:
//! [`Parser::here`] sees it, [`Parser::kind`] looks past it.

mod expression;
mod item;
mod message;
mod rule;
mod statement;

pub(crate) use expression::{level, level_of};

use crate::ast::File;
use crate::codes::{TOO_DEEP, UNEXPECTED_TOKEN, UNTERMINATED};
use crate::diagnostic::Diagnostic;
use crate::lexer::{Keyword, Kind, Token, lex};
use saltus_model::Span;

/// How deep brackets, blocks and operators may nest.
pub const MAX_DEPTH: u32 = 256;
/// How high the tree of one expression may grow; a sum of n terms has height n.
pub const MAX_HEIGHT: u32 = 512;

/// Reads a file: its tree, and everything wrong with its syntax, in text order. If there are
/// errors, the tree holds the parts that could be read.
///
/// ```
/// let (file, diagnostics) = saltus_lang::parse(0, "model A { state x = 1; flow { x' = -x } }");
/// assert!(diagnostics.is_empty());
/// assert_eq!(file.items.len(), 1);
///
/// let (_, diagnostics) = saltus_lang::parse(0, "model A { state x = ; flow { x' == -x } }");
/// assert_eq!(diagnostics.len(), 2);
/// ```
pub fn parse(file: u32, text: &str) -> (File, Vec<Diagnostic>) {
    let lexed = lex(file, text);
    let mut parser = Parser {
        text,
        file,
        tokens: lexed.tokens,
        at: 0,
        brackets: 0,
        depth: 0,
        refused: false,
        class_indent: 0,
        automata: 0,
        among_modes: false,
        suspect: None,
        unclosed: false,
        stray: false,
        comment_open: lexed.comment_open,
        reported: None,
        diagnostics: lexed.diagnostics,
    };
    let tree = parser.file();
    let mut diagnostics = parser.diagnostics;
    diagnostics.sort_by_key(|d| d.span.start);
    (tree, diagnostics)
}

/// The statement at hand cannot be read; the reason has been reported.
struct Failed;

type Parsed<T> = Result<T, Failed>;

struct Parser<'t> {
    text: &'t str,
    file: u32,
    tokens: Vec<Token>,
    /// Index of the current token; the last one is [`Kind::End`] and never passed.
    at: usize,
    /// Open `(` and `[` of the current statement: inside, line ends mean nothing.
    brackets: u32,
    depth: u32,
    /// This nest has been reported as too deep.
    refused: bool,
    /// Indentation of the class being read.
    class_indent: u32,
    /// Automata around the current place, and whether modes stand directly here.
    automata: u32,
    among_modes: bool,
    /// The first block of the class whose `}` stands further left than the line that opened it:
    /// where a brace is missing, probably here.
    suspect: Option<(Token, Token)>,
    /// An unclosed block has been reported, the blocks around it end silently.
    unclosed: bool,
    /// The statement before stood outside all classes, and this was reported.
    stray: bool,
    /// A comment takes in the rest of the file.
    comment_open: bool,
    /// Token of the last report, so that one place is reported once.
    reported: Option<usize>,
    diagnostics: Vec<Diagnostic>,
}

/// The cursor.
impl Parser<'_> {
    fn token(&self) -> Token {
        self.tokens[self.at]
    }

    /// The current token, whatever line it stands on.
    fn kind(&self) -> Kind {
        self.token().kind
    }

    /// The token `n` further on.
    fn ahead(&self, n: usize) -> Token {
        self.tokens[(self.at + n).min(self.tokens.len() - 1)]
    }

    /// The current token as the statement sees it: a line end outside brackets ends it.
    fn here(&self) -> Kind {
        self.seen(self.token())
    }

    /// The token after the current one as the statement sees it.
    fn then(&self) -> Kind {
        self.seen(self.ahead(1))
    }

    fn seen(&self, token: Token) -> Kind {
        match token.kind {
            Kind::End => Kind::End,
            _ if token.first && self.brackets == 0 => Kind::LineEnd,
            kind => kind,
        }
    }

    fn is(&self, keyword: Keyword) -> bool {
        self.here() == Kind::Keyword(keyword)
    }

    fn bump(&mut self) -> Token {
        let token = self.token();
        if token.kind != Kind::End {
            self.at += 1;
        }
        token
    }

    /// Steps over a token of this kind on the current line.
    fn eat(&mut self, kind: Kind) -> bool {
        let found = self.here() == kind;
        if found {
            self.bump();
        }
        found
    }

    fn expect(&mut self, kind: Kind, expected: &str) -> Parsed<Token> {
        if self.here() == kind { Ok(self.bump()) } else { Err(self.fail(expected)) }
    }

    fn span(&self, token: Token) -> Span {
        Span { file: self.file, start: token.start, end: token.end }
    }

    /// From a token to the last one stepped over.
    fn span_from(&self, start: Token) -> Span {
        let end = self.last_end().max(start.start);
        Span { file: self.file, start: start.start, end }
    }

    /// Where the last token stepped over ends.
    fn last_end(&self) -> u32 {
        self.at.checked_sub(1).map_or(0, |last| self.tokens[last].end)
    }

    fn source(&self, token: Token) -> &str {
        &self.text[token.start as usize..token.end as usize]
    }
}

/// Reports.
impl Parser<'_> {
    /// Reports at the current token, unless it was reported before.
    fn report(&mut self, diagnostic: Diagnostic) -> Failed {
        if self.reported != Some(self.at) && self.kind() != Kind::Wrong {
            self.reported = Some(self.at);
            self.diagnostics.push(diagnostic);
        }
        Failed
    }

    /// Reports that something else was expected at the current token.
    fn fail(&mut self, expected: &str) -> Failed {
        let diagnostic = self.unexpected(expected);
        self.report(diagnostic)
    }

    fn fail_with_hint(&mut self, expected: &str, hint: impl Into<String>) -> Failed {
        let diagnostic = self.unexpected(expected).hint(hint);
        self.report(diagnostic)
    }

    /// An error of grammar at a token.
    fn slip(&self, token: Token, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(UNEXPECTED_TOKEN, self.span(token), message)
    }

    /// Goes one level deeper, unless that is too deep.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(self.too_deep());
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        self.refused &= self.depth > MAX_DEPTH / 2;
        result
    }

    fn too_deep(&mut self) -> Failed {
        if std::mem::replace(&mut self.refused, true) {
            return Failed;
        }
        let span = self.span(self.token());
        self.report(
            Diagnostic::error(TOO_DEEP, span, "the nesting is too deep here")
                .label(format!("more than {MAX_DEPTH} levels, or {MAX_HEIGHT} operators in a row"))
                .hint("give parts of it names of their own with `signal`, or use `sum(... for i in 1..n)`"),
        )
    }
}

/// Blocks and recovery.
impl Parser<'_> {
    /// Reads `{ element; element ... }`. A faulty element is reported and left out.
    fn block<T>(&mut self, element: fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let open = self.open_brace()?;
        let brackets = std::mem::take(&mut self.brackets);
        let elements = self.deeper(|p| Ok(p.elements(open, element)));
        self.brackets = brackets;
        if elements.is_err() {
            self.skip_block();
        }
        elements
    }

    fn elements<T>(&mut self, open: Token, element: fn(&mut Self) -> Parsed<T>) -> Vec<T> {
        let mut elements = Vec::new();
        loop {
            self.skip_empty_statements();
            if self.kind() == Kind::RightBrace {
                let close = self.bump();
                if close.first && close.indent < open.indent && self.suspect.is_none() {
                    self.suspect = Some((open, close));
                }
                return elements;
            }
            if self.kind() == Kind::End || self.at_next_class() {
                self.report_unclosed(open);
                return elements;
            }
            if self.at_next_mode(open) {
                self.report_unclosed(open);
                self.unclosed = false;
                return elements;
            }
            elements.extend(self.separated(element));
        }
    }

    /// Reads one element and what separates it from the next.
    fn separated<T>(&mut self, element: fn(&mut Self) -> Parsed<T>) -> Option<T> {
        let start = self.at;
        let read = element(self).ok();
        let ended = matches!(self.here(), Kind::LineEnd | Kind::Semicolon | Kind::RightBrace | Kind::End);
        if read.is_some() && !ended {
            self.report_trailing();
        }
        if read.is_none() || !ended {
            self.recover(start);
        }
        if self.kind() == Kind::Semicolon {
            self.bump();
        }
        read
    }

    fn skip_empty_statements(&mut self) {
        if self.kind() != Kind::Semicolon {
            return;
        }
        let slip = self
            .slip(self.token(), "there is no statement before this `;`")
            .label("empty statement")
            .hint("one `;` between two statements is enough, and a line end needs none");
        self.report(slip);
        while self.kind() == Kind::Semicolon {
            self.bump();
        }
    }

    fn open_brace(&mut self) -> Parsed<Token> {
        if self.kind() != Kind::LeftBrace {
            return Err(self.fail("`{`"));
        }
        if self.here() == Kind::LineEnd {
            let end = Span { file: self.file, start: self.last_end(), end: self.last_end() };
            let slip = self
                .slip(self.token(), "`{` must stand on the line that it belongs to")
                .label("on a line of its own")
                .related(end, "the statement ends with this line")
                .hint("move `{` to the end of the line before");
            self.report(slip);
        }
        Ok(self.bump())
    }

    /// At a class that begins where the class being read should have ended.
    fn at_next_class(&self) -> bool {
        let token = self.token();
        token.first
            && token.indent <= self.class_indent
            && matches!(
                token.kind,
                Kind::Keyword(Keyword::Model | Keyword::Component | Keyword::Fn | Keyword::Use)
            )
    }

    /// Inside a mode, at a mode that stands beside it: only a missing `}` explains that, and the
    /// blocks around are whole.
    fn at_next_mode(&self, open: Token) -> bool {
        let token = self.token();
        self.automata > 0
            && !self.among_modes
            && token.first
            && token.indent <= open.indent
            && matches!(token.kind, Kind::Keyword(Keyword::Mode | Keyword::Initial))
    }

    fn report_unclosed(&mut self, innermost: Token) {
        let end = self.token();
        let in_comment = self.comment_open && end.kind == Kind::End;
        if std::mem::replace(&mut self.unclosed, true) || in_comment {
            return;
        }
        let found = if end.kind == Kind::End { "the file ends here" } else { "the next part begins here" };
        let (open, close) =
            self.suspect.take().map_or((innermost, None), |(open, close)| (open, Some(close)));
        let mut report = Diagnostic::error(UNTERMINATED, self.span(open), "this `{` is not closed")
            .label("opened here")
            .hint("add the missing `}`");
        if let Some(close) = close {
            report = report.related(self.span(close), "this `}` stands further left than the line it closes");
        }
        self.diagnostics.push(report.related(self.span(end), found));
    }

    /// Skips the rest of a faulty statement: to its `;`, to the `}` of the block around it, or to
    /// the next line; with brackets open, to the next line that looks like a statement.
    fn recover(&mut self, start: usize) {
        if self.at == start {
            self.skip_token();
        }
        loop {
            match self.kind() {
                Kind::End | Kind::RightBrace => break,
                Kind::Semicolon if self.brackets == 0 => break,
                Kind::LeftBrace => {}
                _ if self.token().first && (self.brackets == 0 || self.begins_statement()) => break,
                _ => {}
            }
            self.skip_token();
        }
        self.brackets = 0;
    }

    /// Steps over a token, or over a whole block.
    fn skip_token(&mut self) {
        match self.bump().kind {
            Kind::LeftBrace => self.skip_block(),
            Kind::LeftParen | Kind::LeftBracket => self.brackets += 1,
            Kind::RightParen | Kind::RightBracket => self.brackets = self.brackets.saturating_sub(1),
            _ => {}
        }
    }

    /// Steps over a block whose `{` has been read.
    fn skip_block(&mut self) {
        let mut open = 1;
        while open > 0 && self.kind() != Kind::End && !self.at_next_class() {
            match self.bump().kind {
                Kind::LeftBrace => open += 1,
                Kind::RightBrace => open -= 1,
                _ => {}
            }
        }
    }

    fn begins_statement(&self) -> bool {
        match self.kind() {
            Kind::Keyword(keyword) => !matches!(
                keyword,
                Keyword::If
                    | Keyword::Then
                    | Keyword::Else
                    | Keyword::And
                    | Keyword::Or
                    | Keyword::Not
                    | Keyword::In
                    | Keyword::For
                    | Keyword::True
                    | Keyword::False
            ),
            Kind::Name => {
                matches!(self.ahead(1).kind, Kind::Equals | Kind::Prime | Kind::Becomes | Kind::Colon)
            }
            _ => false,
        }
    }

    /// After an error in the head of a statement: moves on to the `->` or `{` of the same
    /// statement, so that its body is still read. False if there is none.
    fn skip_to_body(&mut self) -> bool {
        while !matches!(self.kind(), Kind::Arrow | Kind::LeftBrace) {
            if matches!(self.kind(), Kind::End | Kind::Semicolon | Kind::RightBrace) || self.token().first {
                return false;
            }
            self.bump();
        }
        self.brackets = 0;
        true
    }
}
