//! The top level of a file: classes, functions, constants and the files it uses.

use super::{Failed, Parsed, Parser};
use crate::ast::{Class, ClassKind, Declarator, File, Function, Item};
use crate::lexer::{Keyword, Kind};

impl Parser<'_> {
    pub(super) fn file(&mut self) -> File {
        let mut items = Vec::new();
        while self.kind() != Kind::End {
            self.skip_empty_statements();
            if self.kind() == Kind::RightBrace {
                let slip = self
                    .slip(self.token(), "this `}` closes nothing")
                    .label("no `{` is open")
                    .hint("remove it, or look for a `}` too many above");
                self.report(slip);
                self.bump();
            } else if self.kind() != Kind::End {
                let item = self.separated(Self::item);
                self.stray &= item.is_none();
                items.extend(item);
            }
            self.unclosed = false;
        }
        File { items }
    }

    pub(super) fn item(&mut self) -> Parsed<Item> {
        match self.kind() {
            Kind::Keyword(Keyword::Model) => self.class(ClassKind::Model),
            Kind::Keyword(Keyword::Component) => self.class(ClassKind::Component),
            Kind::Keyword(Keyword::Fn) => self.function(),
            Kind::Keyword(Keyword::Use) => self.used_file(),
            Kind::Keyword(Keyword::Param) => {
                self.bump();
                Ok(Item::Params(self.declarators()?))
            }
            Kind::Keyword(
                Keyword::Agent | Keyword::Import | Keyword::Connect | Keyword::Extends | Keyword::Between,
            ) => Err(self.not_yet()),
            Kind::Name => {
                let word = self.source(self.token()).to_string();
                let expected = "`model`, `component`, `fn`, `param` or `use`";
                match self.advice_for_word(&word) {
                    Some(hint) => Err(self.fail_item(expected, &hint)),
                    None => Err(self.fail_stray(expected, "equations and declarations stand inside a model")),
                }
            }
            _ => Err(self.fail_stray(
                "`model`, `component`, `fn`, `param` or `use`",
                "everything else stands inside a model: `model Name { ... }`",
            )),
        }
    }

    /// Reports statements outside all classes, the first of several in a row: they have one cause.
    fn fail_stray(&mut self, expected: &str, hint: &str) -> Failed {
        if std::mem::replace(&mut self.stray, true) { Failed } else { self.fail_item(expected, hint) }
    }

    /// Reports what does not belong at the top level; the token counts, not its line.
    fn fail_item(&mut self, expected: &str, hint: &str) -> Failed {
        let token = self.token();
        let found = self.source(token).to_string();
        let slip = self
            .slip(token, format!("expected {expected}, found `{found}`"))
            .label("not at the top level of a file")
            .hint(hint);
        self.report(slip)
    }

    fn class(&mut self, kind: ClassKind) -> Parsed<Item> {
        let start = self.bump();
        self.class_indent = start.indent;
        self.suspect = None;
        let name = self.name("the name of the class")?;
        let parameters = match self.class_parameters() {
            Err(Failed) if self.skip_to_body() => Vec::new(),
            result => result?,
        };
        if self.here() == Kind::Colon {
            self.stray = true;
            return Err(self.fail_with_hint("`{`", "what belongs to a class stands in braces: `{ ... }`"));
        }
        let body = self.block(Self::statement)?;
        Ok(Item::Class(Class { kind, name, parameters, body, span: self.span_from(start) }))
    }

    fn class_parameters(&mut self) -> Parsed<Vec<Declarator>> {
        let mut parameters = Vec::new();
        if self.here() != Kind::LeftParen {
            return Ok(parameters);
        }
        let open = self.open();
        while self.kind() != Kind::RightParen {
            let name = self.name("the name of a parameter")?;
            parameters.push(self.declarator(name)?);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.close(open, Kind::RightParen, "`,` or `)`")?;
        Ok(parameters)
    }

    /// `fn hit(a, b) = a + b`.
    fn function(&mut self) -> Parsed<Item> {
        let start = self.bump();
        let name = self.name("the name of the function")?;
        if self.here() != Kind::LeftParen {
            return Err(self.fail("`(` and the arguments"));
        }
        let open = self.open();
        let mut arguments = Vec::new();
        while self.kind() != Kind::RightParen {
            arguments.push(self.name("the name of an argument")?);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.close(open, Kind::RightParen, "`,` or `)`")?;
        if !matches!(self.here(), Kind::Equals) {
            return Err(self.fail_with_hint("`=`", "a function is one expression: `fn f(a, b) = a + b`"));
        }
        self.bump();
        let body = self.expr_after_break()?;
        Ok(Item::Function(Function { name, arguments, body, span: self.span_from(start) }))
    }

    /// `use "lib.salt"`.
    fn used_file(&mut self) -> Parsed<Item> {
        let start = self.bump();
        if self.here() != Kind::Text {
            return Err(self.fail_with_hint("the name of a file", "write `use \"lib.salt\"`"));
        }
        let token = self.bump();
        Ok(Item::Use { path: self.text_of(token), span: self.span_from(start) })
    }
}
