//! Text to tokens. A token knows whether a line ended before it, because a line end may end a
//! statement; the parser decides. What cannot be a token is reported here once, with the
//! spelling that was probably meant, and goes on as that token where the meaning is clear.
//!
//! A unit (`9.81 [m/s^2]`, `x: [m]`, `x: Real [m]`) is one token, because its text follows rules
//! of its own (`%`, `°C`, `µm`).

use crate::codes::{BAD_CHARACTER, BAD_NUMBER, UNEXPECTED_TOKEN, UNTERMINATED};
use crate::diagnostic::Diagnostic;
use saltus_model::Span;

macro_rules! keywords {
    ($($variant:ident = $text:literal, $purpose:literal;)*) => {
        /// A word that cannot be a name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Keyword { $($variant),* }

        impl Keyword {
            /// The keyword a word spells, if it spells one.
            pub(crate) fn of(word: &str) -> Option<Keyword> {
                match word { $($text => Some(Keyword::$variant),)* _ => None }
            }

            /// What the language uses the word for.
            pub(crate) fn purpose(self) -> &'static str {
                match self { $(Keyword::$variant => $purpose),* }
            }

            /// Every keyword as written.
            pub(crate) const WORDS: &'static [&'static str] = &[$($text),*];
        }
    };
}

keywords! {
    Model = "model", "begins a model";
    Component = "component", "begins a component";
    Fn = "fn", "defines a function";
    Use = "use", "brings in another file";
    Param = "param", "declares parameters";
    State = "state", "declares states";
    Memory = "memory", "declares memories";
    Signal = "signal", "declares signals";
    Input = "input", "declares inputs";
    Output = "output", "declares outputs";
    Event = "event", "declares an event input";
    Flow = "flow", "begins a block of equations";
    Automaton = "automaton", "begins an automaton";
    Initial = "initial", "marks the first mode";
    Mode = "mode", "begins a mode";
    When = "when", "begins a guard";
    May = "may", "marks a transition that is not forced";
    Preempt = "preempt", "marks a transition that goes first";
    At = "at", "names a time";
    After = "after", "names a delay";
    Every = "every", "names a period";
    On = "on", "names an event";
    Else = "else", "is part of `if` and of transitions";
    Invariant = "invariant", "states what holds in a mode";
    Domain = "domain", "states where a model exists";
    Stop = "stop", "ends the run";
    Run = "run", "begins the settings of the run";
    For = "for", "begins a family";
    In = "in", "is part of `for`";
    If = "if", "chooses between two values";
    Then = "then", "is part of `if`";
    And = "and", "joins conditions";
    Or = "or", "joins conditions";
    Not = "not", "negates a condition";
    True = "true", "is a truth value";
    False = "false", "is a truth value";
    Hold = "hold", "keeps a state constant";
    Agent = "agent", "is kept for a later part of the language";
    Between = "between", "is kept for a later part of the language";
    Send = "send", "is kept for a later part of the language";
    Spawn = "spawn", "is kept for a later part of the language";
    Remove = "remove", "is kept for a later part of the language";
    Complementary = "complementary", "is kept for a later part of the language";
    Extends = "extends", "is kept for a later part of the language";
    Import = "import", "is kept for a later part of the language";
    Connect = "connect", "is kept for a later part of the language";
    Zeno = "zeno", "is kept for a later part of the language";
    Slide = "slide", "is kept for a later part of the language";
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Name,
    Number,
    Text,
    Unit,
    Keyword(Keyword),
    LeftParen,
    RightParen,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    Comma,
    Semicolon,
    Colon,
    /// `:=`
    Becomes,
    /// `=`
    Equals,
    /// `->`
    Arrow,
    Dot,
    /// `..`
    Range,
    Prime,
    Plus,
    Minus,
    Star,
    Slash,
    Caret,
    DotStar,
    DotSlash,
    DotCaret,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    EqualEqual,
    NotEqual,
    /// Text that is no token; already reported.
    Wrong,
    /// The line ends here, and with it the statement; made by the parser, never by the lexer.
    LineEnd,
    /// The end of the text.
    End,
}

/// A token and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    /// It is the first on its line.
    pub(crate) first: bool,
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// How far its line is indented, in bytes.
    pub(crate) indent: u32,
}

/// A comment, which the syntax tree does not hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comment {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// Everything the lexer finds in a text. `tokens` ends with exactly one [`Kind::End`].
pub(crate) struct Lexed {
    pub(crate) tokens: Vec<Token>,
    pub(crate) comments: Vec<Comment>,
    /// A comment that is not closed takes in the rest of the text.
    pub(crate) comment_open: bool,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Splits a text into tokens.
pub(crate) fn lex(file: u32, text: &str) -> Lexed {
    let mut lexer = Lexer {
        file,
        text,
        at: 0,
        line_start: 0,
        indent: None,
        bars: (0, 0),
        found: Lexed {
            tokens: Vec::new(),
            comments: Vec::new(),
            comment_open: false,
            diagnostics: Vec::new(),
        },
    };
    if text.len() >= u32::MAX as usize {
        let span = Span { file, start: 0, end: 0 };
        lexer.found.diagnostics.push(Diagnostic::error(UNEXPECTED_TOKEN, span, "the file is too large"));
        lexer.at = text.len();
    } else if text.starts_with('\u{feff}') {
        lexer.at = '\u{feff}'.len_utf8();
    }
    while lexer.next_token() {}
    lexer.found
}

/// Whether a name may begin with this character.
pub(crate) fn begins_name(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

/// Whether a name may go on with this character. Superscript digits may not: `x²` looks like a
/// power and must not silently be a name.
pub(crate) fn continues_name(c: char) -> bool {
    begins_name(c) || (c.is_alphanumeric() && !is_superscript(c))
}

fn is_superscript(c: char) -> bool {
    matches!(c, '¹' | '²' | '³' | '⁰' | '⁴'..='⁹')
}

struct Lexer<'t> {
    file: u32,
    text: &'t str,
    at: usize,
    line_start: usize,
    /// Indentation of the current line, known from its first token on.
    indent: Option<u32>,
    /// The start of a line and how many bars of absolute values are open on it.
    bars: (usize, usize),
    found: Lexed,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Steps over the characters that fit.
    fn skip_while(&mut self, fits: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|c| !fits(c)).unwrap_or(rest.len());
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span { file: self.file, start: start as u32, end: end as u32 }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.found.diagnostics.push(diagnostic);
    }

    /// Adds the token from `start` to the current place.
    fn push(&mut self, kind: Kind, start: usize) {
        let first = self.indent.is_none();
        let indent = *self.indent.get_or_insert((start - self.line_start) as u32);
        self.found.tokens.push(Token { kind, first, start: start as u32, end: self.at as u32, indent });
    }

    fn next_token(&mut self) -> bool {
        self.skip_blank();
        let start = self.at;
        let Some(c) = self.peek() else {
            self.push(Kind::End, start);
            return false;
        };
        if begins_name(c) {
            self.word();
        } else if c.is_ascii_digit() {
            self.number();
        } else if c == '"' {
            self.string();
        } else if c == '[' && self.unit_expected() {
            self.unit();
        } else if !self.punctuation() && !self.slip(c) {
            self.bad_characters();
        }
        true
    }

    fn skip_blank(&mut self) {
        while let Some(c) = self.peek() {
            if c == '\n' {
                self.at += 1;
                self.line_start = self.at;
                self.indent = None;
            } else if c.is_whitespace() {
                self.at += c.len_utf8();
            } else if self.rest().starts_with("//") {
                self.line_comment();
            } else if self.rest().starts_with("/*") {
                self.block_comment();
            } else {
                break;
            }
        }
    }

    fn line_comment(&mut self) {
        let start = self.at;
        self.skip_while(|c| c != '\n');
        self.comment(start);
    }

    fn comment(&mut self, start: usize) {
        self.found.comments.push(Comment { start: start as u32, end: self.at as u32 });
    }

    /// Steps over `/* ... */`, nested. A comment over several lines ends its line.
    fn block_comment(&mut self) {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut depth = 0;
        while self.at < bytes.len() {
            match &bytes[self.at..bytes.len().min(self.at + 2)] {
                b"/*" => {
                    depth += 1;
                    self.at += 2;
                }
                b"*/" => {
                    depth -= 1;
                    self.at += 2;
                    if depth == 0 {
                        return self.comment(start);
                    }
                }
                [b'\n', ..] => {
                    self.at += 1;
                    self.line_start = self.at;
                    self.indent = None;
                }
                _ => self.at += 1,
            }
        }
        self.found.comment_open = true;
        let opening = self.span(start, start + 2);
        self.report(
            Diagnostic::error(UNTERMINATED, opening, "this comment is not closed")
                .label("opened here")
                .hint("close it with `*/`; comments may be nested, so each `/*` needs its own `*/`"),
        );
    }

    fn word(&mut self) {
        let start = self.at;
        self.skip_while(continues_name);
        let kind = Keyword::of(&self.text[start..self.at]).map_or(Kind::Name, Kind::Keyword);
        self.push(kind, start);
    }

    fn number(&mut self) {
        let start = self.at;
        let digit = |c: char| c.is_ascii_digit();
        self.skip_while(digit);
        let mut chars = self.rest().chars();
        if chars.next() == Some('.') {
            match chars.next() {
                Some(c) if digit(c) => {
                    self.at += 1;
                    self.skip_while(digit);
                }
                Some('.' | '*' | '/' | '^') => {}
                _ => {
                    self.at += 1;
                    return self.point_without_digits(start);
                }
            }
        }
        if let Some(length) = exponent_length(self.rest()) {
            self.at += length;
        }
        if self.peek().is_some_and(continues_name) {
            return self.number_runs_on(start);
        }
        self.check_size(start);
        self.push(Kind::Number, start);
    }

    fn point_without_digits(&mut self, start: usize) {
        let written = &self.text[start..self.at];
        let hint = format!("write `{written}0`, or `{}` without the point", &written[..written.len() - 1]);
        let span = self.span(start, self.at);
        self.report(
            Diagnostic::error(BAD_NUMBER, span, format!("no digits after the point of `{written}`"))
                .label("digits missing")
                .hint(hint),
        );
        self.push(Kind::Number, start);
    }

    fn number_runs_on(&mut self, start: usize) {
        let number_end = self.at;
        self.skip_while(continues_name);
        let (number, tail) = (&self.text[start..number_end], &self.text[number_end..self.at]);
        let span = self.span(start, self.at);
        let report = if matches!(tail, "e" | "E") {
            Diagnostic::error(BAD_NUMBER, span, format!("the exponent of `{number}{tail}` has no digits"))
                .label("digits missing")
                .hint(format!("write for example `{number}e-3`"))
        } else if tail.starts_with('_') {
            Diagnostic::error(BAD_NUMBER, span, "a number is written without `_`").label("not a number")
        } else {
            Diagnostic::error(BAD_NUMBER, span, format!("the number `{number}` runs into `{tail}`"))
                .label("neither number nor name")
                .hint(if begins_name(tail.chars().next().unwrap_or(' ')) {
                    format!("a product is written with `*`: `{number} * {tail}`; a unit in brackets: `{number} [{tail}]`")
                } else {
                    "names do not begin with a digit".into()
                })
        };
        self.report(report);
        self.push(Kind::Number, start);
    }

    /// Reports a number that no double can hold.
    fn check_size(&mut self, start: usize) {
        let written = &self.text[start..self.at];
        let value: f64 = written.parse().unwrap_or(0.0);
        let mantissa = written.split(['e', 'E']).next().unwrap_or_default();
        let problem = if value.is_infinite() {
            "too large: the largest is about 1.8e308"
        } else if value == 0.0 && mantissa.contains(|c: char| matches!(c, '1'..='9')) {
            "too small to be told from 0: the smallest is about 5e-324"
        } else {
            return;
        };
        let span = self.span(start, self.at);
        self.report(
            Diagnostic::error(BAD_NUMBER, span, format!("this number is {problem}")).label("out of range"),
        );
    }

    fn string(&mut self) {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek() {
                Some('"') => {
                    self.at += 1;
                    break;
                }
                Some('\\') => self.escape(),
                Some(c) if c != '\n' => self.at += c.len_utf8(),
                _ => {
                    let span = self.span(start, self.at);
                    self.report(
                        Diagnostic::error(UNTERMINATED, span, "this text is not closed")
                            .label("begins here")
                            .hint("close it with `\"` on the same line"),
                    );
                    break;
                }
            }
        }
        self.push(Kind::Text, start);
    }

    fn escape(&mut self) {
        let start = self.at;
        self.at += 1;
        let Some(c) = self.peek().filter(|&c| c != '\n') else { return };
        self.at += c.len_utf8();
        if unescaped(c).is_none() {
            let span = self.span(start, self.at);
            self.report(
                Diagnostic::error(BAD_CHARACTER, span, format!("`\\{c}` means nothing in a text"))
                    .label("unknown escape")
                    .hint("write `\\\\` for a backslash; also known are `\\\"`, `\\n`, `\\r` and `\\t`; paths may be written with `/`"),
            );
        }
    }

    /// Whether a bracket here holds a unit: behind a number, behind `:`, or behind `: Real` and
    /// its like, on the same line.
    fn unit_expected(&self) -> bool {
        let Some((last, before)) = self.found.tokens.split_last() else { return false };
        self.indent.is_some()
            && match last.kind {
                Kind::Number | Kind::Colon => true,
                Kind::Name => {
                    before.last().is_some_and(|t| t.kind == Kind::Colon)
                        && is_sort(&self.text[last.start as usize..last.end as usize])
                }
                _ => false,
            }
    }

    fn unit(&mut self) {
        let start = self.at;
        self.at += 1;
        self.skip_while(|c| !matches!(c, '[' | ']' | '\n'));
        if self.peek() != Some(']') {
            let span = self.span(start, self.at);
            self.report(
                Diagnostic::error(UNTERMINATED, span, "this unit is not closed")
                    .label("begins here")
                    .hint("close it with `]` on the same line"),
            );
            return self.push(Kind::Wrong, start);
        }
        self.at += 1;
        if self.text[start + 1..self.at - 1].trim().is_empty() {
            let span = self.span(start, self.at);
            self.report(
                Diagnostic::error(UNEXPECTED_TOKEN, span, "expected a unit between the brackets")
                    .label("empty")
                    .hint("write for example `[m/s]`, or leave the brackets out"),
            );
            return self.push(Kind::Wrong, start);
        }
        self.push(Kind::Unit, start);
    }

    fn punctuation(&mut self) -> bool {
        let mut bytes = self.rest().bytes();
        let (first, second) = (bytes.next().unwrap_or(0), bytes.next().unwrap_or(0));
        if first == b'.' && second.is_ascii_digit() {
            self.point_first();
            return true;
        }
        let Some((kind, length)) = punctuation_of(first, second) else { return false };
        let start = self.at;
        self.at += length;
        self.push(kind, start);
        true
    }

    /// Reports `.5`, and `x.5`, which is neither a number nor a part of `x`.
    fn point_first(&mut self) {
        let start = self.at;
        self.at += 1;
        self.skip_while(continues_name);
        let digits = &self.text[start + 1..self.at];
        let span = self.span(start, self.at);
        let behind_operand = self.found.tokens.last().is_some_and(|last| {
            last.end as usize == start
                && matches!(last.kind, Kind::Name | Kind::RightBracket | Kind::RightParen | Kind::Prime)
        });
        if behind_operand {
            self.report(
                Diagnostic::error(BAD_NUMBER, span, "expected a name after `.`")
                    .label("not a name")
                    .hint(format!("elements of an array are read with brackets: `x[{digits}]`")),
            );
            return self.push(Kind::Wrong, start);
        }
        let last = self.found.tokens.last();
        if last.is_some_and(|last| last.end as usize == start && last.kind == Kind::Number) {
            let report = Diagnostic::error(BAD_NUMBER, span, "a number has one point").label("another point");
            self.report(report);
            return self.push(Kind::Wrong, start);
        }
        self.report(
            Diagnostic::error(BAD_NUMBER, span, "a number needs a digit before its point")
                .label("digit missing")
                .hint(format!("write `0.{digits}`")),
        );
        self.push(Kind::Number, start);
    }

    /// A known slip: reported with what is written instead, and read as what was meant.
    fn slip(&mut self, c: char) -> bool {
        let start = self.at;
        if c == '#' {
            self.skip_while(|c| c != '\n');
            let span = self.span(start, start + 1);
            self.report(
                Diagnostic::error(BAD_CHARACTER, span, "`#` has no meaning here")
                    .label("not a comment")
                    .hint("comments begin with `//`"),
            );
            return true;
        }
        if c == '|' && self.bar() {
            return true;
        }
        let Some(slip) = SLIPS.iter().find(|slip| self.rest().starts_with(slip.text)) else { return false };
        self.at += slip.text.len();
        let span = self.span(start, self.at);
        self.report(
            Diagnostic::error(BAD_CHARACTER, span, format!("`{}` has no meaning here", slip.text))
                .label("not an operator")
                .hint(slip.hint),
        );
        self.push(slip.meant, start);
        true
    }

    /// A bar of an absolute value: the pair is reported once and read as parentheses.
    fn bar(&mut self) -> bool {
        let (start, line) = (self.at, self.rest().lines().next().unwrap_or(""));
        if self.bars.0 != self.line_start {
            self.bars = (self.line_start, 0);
        }
        let behind_operand = self.found.tokens.last().is_some_and(|last| {
            last.start as usize >= self.line_start
                && matches!(
                    last.kind,
                    Kind::Name
                        | Kind::Number
                        | Kind::Unit
                        | Kind::RightBracket
                        | Kind::RightParen
                        | Kind::Prime
                        | Kind::Keyword(Keyword::True | Keyword::False)
                )
        });
        if behind_operand {
            if self.bars.1 == 0 {
                return false;
            }
            self.bars.1 -= 1;
            self.at += 1;
            self.push(Kind::RightParen, start);
            return true;
        }
        let Some(length) = line[1..].find('|').filter(|length| *length > 0) else { return false };
        let span = self.span(start, start + length + 2);
        self.report(
            Diagnostic::error(BAD_CHARACTER, span, "bars do not stand for the absolute value")
                .label("not an expression")
                .hint("write `abs(...)`"),
        );
        self.bars.1 += 1;
        self.at += 1;
        self.push(Kind::LeftParen, start);
        true
    }

    /// Reports a run of meaningless characters once.
    fn bad_characters(&mut self) {
        let start = self.at;
        self.skip_while(|c| {
            !(c.is_whitespace() || c.is_ascii_punctuation() && c != '$' && c != '@' || continues_name(c))
        });
        if self.at == start
            && let Some(repeated) = self.peek()
        {
            self.skip_while(|c| c == repeated);
        }
        let written = &self.text[start..self.at];
        let first = written.chars().next().unwrap_or(' ');
        let shown = if first.is_control() { first.escape_unicode().to_string() } else { first.to_string() };
        let span = self.span(start, self.at);
        let mut report =
            Diagnostic::error(BAD_CHARACTER, span, format!("the character `{shown}` has no meaning here"))
                .label("unknown");
        if is_superscript(first) {
            report = report.hint("a power is written with `^`: `x^2`");
        } else if matches!(first, '“' | '”' | '„' | '‘') {
            report = report.hint("texts stand in straight quotes: `\"...\"`");
        }
        self.report(report);
        self.push(Kind::Wrong, start);
    }
}

/// Length of the exponent a text begins with: `e-3`, `E5`.
fn exponent_length(text: &str) -> Option<usize> {
    let after = text.strip_prefix(['e', 'E'])?;
    let unsigned = after.strip_prefix(['+', '-']).unwrap_or(after);
    let digits = unsigned.find(|c: char| !c.is_ascii_digit()).unwrap_or(unsigned.len());
    (digits > 0).then(|| text.len() - unsigned.len() + digits)
}

/// Whether a word names a sort of value.
pub(crate) fn is_sort(word: &str) -> bool {
    matches!(word, "Real" | "Integer" | "Boolean")
}

/// The character an escape in a text stands for.
pub(crate) fn unescaped(c: char) -> Option<char> {
    match c {
        '"' | '\\' => Some(c),
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        _ => None,
    }
}

/// The punctuation that two bytes begin with, and its length; none if they are a slip.
fn punctuation_of(first: u8, second: u8) -> Option<(Kind, usize)> {
    let long = match (first, second) {
        (b':', b'=') => Kind::Becomes,
        (b'-', b'>') => Kind::Arrow,
        (b'.', b'.') => Kind::Range,
        (b'.', b'*') => Kind::DotStar,
        (b'.', b'/') => Kind::DotSlash,
        (b'.', b'^') => Kind::DotCaret,
        (b'<', b'=') => Kind::LessEqual,
        (b'>', b'=') => Kind::GreaterEqual,
        (b'=', b'=') => Kind::EqualEqual,
        (b'!', b'=') => Kind::NotEqual,
        (b'*', b'*' | b'=') | (b'<', b'>') | (b'=', b'<' | b'>') | (b'+' | b'-' | b'/', b'=') => return None,
        _ => return single_punctuation(first).map(|kind| (kind, 1)),
    };
    Some((long, 2))
}

fn single_punctuation(byte: u8) -> Option<Kind> {
    Some(match byte {
        b'(' => Kind::LeftParen,
        b')' => Kind::RightParen,
        b'[' => Kind::LeftBracket,
        b']' => Kind::RightBracket,
        b'{' => Kind::LeftBrace,
        b'}' => Kind::RightBrace,
        b',' => Kind::Comma,
        b';' => Kind::Semicolon,
        b':' => Kind::Colon,
        b'=' => Kind::Equals,
        b'.' => Kind::Dot,
        b'\'' => Kind::Prime,
        b'+' => Kind::Plus,
        b'-' => Kind::Minus,
        b'*' => Kind::Star,
        b'/' => Kind::Slash,
        b'^' => Kind::Caret,
        b'<' => Kind::Less,
        b'>' => Kind::Greater,
        _ => return None,
    })
}

struct Slip {
    text: &'static str,
    meant: Kind,
    hint: &'static str,
}

const fn slip(text: &'static str, meant: Kind, hint: &'static str) -> Slip {
    Slip { text, meant, hint }
}

const STEP_HINT: &str = "write the new value in full: `x := x + 1`";

/// Spellings from other languages and from typesetting; longer ones first.
const SLIPS: &[Slip] = &[
    slip("&&", Kind::Keyword(Keyword::And), "conditions are joined with `and`"),
    slip("||", Kind::Keyword(Keyword::Or), "conditions are joined with `or`"),
    slip("**", Kind::Caret, "a power is written with `^`"),
    slip("<>", Kind::NotEqual, "inequality is written `!=`"),
    slip("~=", Kind::NotEqual, "inequality is written `!=`"),
    slip("=<", Kind::LessEqual, "at most is written `<=`"),
    slip("=>", Kind::Wrong, "at least is written `>=`, a transition `-> Mode`"),
    slip("+=", Kind::Wrong, STEP_HINT),
    slip("-=", Kind::Wrong, STEP_HINT),
    slip("*=", Kind::Wrong, STEP_HINT),
    slip("/=", Kind::Wrong, STEP_HINT),
    slip("!", Kind::Keyword(Keyword::Not), "a condition is negated with `not`"),
    slip("~", Kind::Keyword(Keyword::Not), "a condition is negated with `not`"),
    slip("&", Kind::Keyword(Keyword::And), "conditions are joined with `and`"),
    slip("|", Kind::Keyword(Keyword::Or), "conditions are joined with `or`"),
    slip("%", Kind::Wrong, "the remainder is `mod(a, b)`; comments begin with `//`"),
    slip("?", Kind::Wrong, "a choice is written `if c then a else b`"),
    slip("\\", Kind::Wrong, "a line goes on after an operator or comma, or inside brackets"),
    slip("−", Kind::Minus, "write the plain `-`"),
    slip("–", Kind::Minus, "write the plain `-`"),
    slip("×", Kind::Star, "a product is written with `*`"),
    slip("·", Kind::Star, "a product is written with `*`"),
    slip("⋅", Kind::Star, "a product is written with `*`"),
    slip("÷", Kind::Slash, "a quotient is written with `/`"),
    slip("≤", Kind::LessEqual, "at most is written `<=`"),
    slip("√", Kind::Wrong, "a square root is written `sqrt(x)`"),
    slip("＝", Kind::Equals, "write the plain `=`"),
    slip("≥", Kind::GreaterEqual, "at least is written `>=`"),
    slip("≠", Kind::NotEqual, "inequality is written `!=`"),
    slip("→", Kind::Arrow, "a transition is written `-> Mode`"),
    slip("≔", Kind::Becomes, "an assignment is written `x := ...`"),
    slip("′", Kind::Prime, "a derivative is written with the plain `'`"),
    slip("’", Kind::Prime, "a derivative is written with the plain `'`"),
];
