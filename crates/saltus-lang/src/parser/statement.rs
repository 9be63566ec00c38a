//! The statements of classes, modes and flow blocks.

use super::expression::unreadable;
use super::message::TRANSITION_HINT;
use super::{Failed, Parsed, Parser};
use crate::ast::{
    Comparison, DeclarationKind, Declarator, Expr, ExprKind, Mode, Name, RunSetting, Statement, StatementKind,
};
use crate::codes::RESERVED_WORD;
use crate::diagnostic::Diagnostic;
use crate::lexer::{Keyword, Kind, is_sort};
use crate::units;
use saltus_model::Span;

impl Parser<'_> {
    pub(super) fn statement(&mut self) -> Parsed<Statement> {
        let start = self.token();
        let kind = match start.kind {
            Kind::Keyword(keyword) => self.keyword_statement(keyword)?,
            Kind::Name if self.then() == Kind::Colon => self.instance()?,
            _ => self.equation()?,
        };
        Ok(Statement { kind, span: self.span_from(start) })
    }

    fn keyword_statement(&mut self, keyword: Keyword) -> Parsed<StatementKind> {
        self.refuse_as_name(keyword)?;
        let token = self.token();
        match keyword {
            Keyword::Param => self.declare(DeclarationKind::Param),
            Keyword::State => self.declare(DeclarationKind::State),
            Keyword::Memory => self.declare(DeclarationKind::Memory),
            Keyword::Signal => self.declare(DeclarationKind::Signal),
            Keyword::Input => self.declare(DeclarationKind::Input),
            Keyword::Output => self.declare(DeclarationKind::Output),
            Keyword::Event => self.event(),
            Keyword::Flow => {
                self.bump();
                if self.kind() != Kind::LeftBrace {
                    return Err(self.fail_with_hint("`{`", "equations stand in braces: `flow { x' = v }`"));
                }
                Ok(StatementKind::Flow(self.block(Self::statement)?))
            }
            Keyword::Hold => {
                self.bump();
                Ok(StatementKind::Hold(self.expr_list()?))
            }
            Keyword::For => {
                let (variable, from, to) = self.for_head()?;
                Ok(StatementKind::For { variable, from, to, body: self.block(Self::statement)? })
            }
            Keyword::Automaton => self.automaton(),
            Keyword::When
            | Keyword::May
            | Keyword::Preempt
            | Keyword::At
            | Keyword::After
            | Keyword::Every
            | Keyword::On
            | Keyword::Else => Ok(StatementKind::Rule(self.rule()?)),
            Keyword::Invariant => {
                self.bump();
                Ok(StatementKind::Invariant(self.condition()?))
            }
            Keyword::Domain => {
                self.bump();
                Ok(StatementKind::Domain(self.condition()?))
            }
            Keyword::Stop => self.stop(),
            Keyword::Run => {
                self.bump();
                Ok(StatementKind::Run(self.block(Self::setting)?))
            }
            Keyword::Mode | Keyword::Initial => {
                let report = self.misplaced(
                    token,
                    "a mode stands inside an automaton",
                    "write `automaton { initial mode A { ... } mode B { ... } }`",
                );
                self.diagnostics.push(report);
                self.mode()?;
                Err(Failed)
            }
            Keyword::Model | Keyword::Component | Keyword::Fn | Keyword::Use => {
                let report = self.misplaced(
                    token,
                    "this stands at the top level of a file, not inside a class",
                    "move it out of the braces; a `}` may be missing before it",
                );
                self.diagnostics.push(report);
                let class_indent = self.class_indent;
                let result = self.item();
                self.class_indent = class_indent;
                result.and(Err(Failed))
            }
            Keyword::If | Keyword::Not | Keyword::True | Keyword::False => self.equation(),
            Keyword::Then | Keyword::In | Keyword::And | Keyword::Or => Err(self.no_statement()),
            Keyword::Agent
            | Keyword::Between
            | Keyword::Send
            | Keyword::Spawn
            | Keyword::Remove
            | Keyword::Complementary
            | Keyword::Extends
            | Keyword::Import
            | Keyword::Connect
            | Keyword::Zeno
            | Keyword::Slide => Err(self.not_yet()),
        }
    }

    /// Reports a keyword used as the name of a variable: `state = 3`, `flow' = 1`.
    pub(super) fn refuse_as_name(&mut self, keyword: Keyword) -> Parsed<()> {
        let names_variable =
            matches!(self.then(), Kind::Equals | Kind::Becomes | Kind::Prime | Kind::Dot | Kind::Colon);
        if !names_variable || matches!(keyword, Keyword::True | Keyword::False) {
            return Ok(());
        }
        let report = self.reserved(self.token(), keyword);
        Err(self.report(report))
    }

    /// Reports a statement that begins with a word reserved for later.
    pub(super) fn not_yet(&mut self) -> Failed {
        let token = self.token();
        let word = self.source(token);
        let message = format!("`{word}` is kept for a later part of the language");
        let mut report =
            Diagnostic::error(RESERVED_WORD, self.span(token), message).label("not a statement yet");
        if token.kind == Kind::Keyword(Keyword::Import) {
            report = report.hint("other files are brought in with `use \"file.salt\"`");
        }
        self.report(report)
    }

    /// Reports a token that begins no statement.
    fn no_statement(&mut self) -> Failed {
        let token = self.token();
        let found = self.source(token).to_string();
        let message = format!("expected a statement, found `{found}`");
        let mut slip = self.slip(token, message).label("expected a statement");
        slip.hint = match token.kind {
            Kind::LeftBrace => Some("a block belongs to `flow`, `mode`, `when`, `for`, `run`, ...".into()),
            Kind::RightParen | Kind::RightBracket => Some("this bracket closes nothing".into()),
            Kind::Arrow => Some(TRANSITION_HINT.into()),
            _ if token.first => Some(
                "a line end ends a statement; to go on, put the operator or comma at the end of the line before"
                    .into(),
            ),
            _ => None,
        };
        self.report(slip)
    }

    fn declare(&mut self, kind: DeclarationKind) -> Parsed<StatementKind> {
        self.bump();
        Ok(StatementKind::Declare(kind, self.declarators()?))
    }

    /// `x[3]: [m] = 10, y`.
    pub(super) fn declarators(&mut self) -> Parsed<Vec<Declarator>> {
        let first = self.name("a name")?;
        let mut list = vec![self.declarator(first)?];
        while self.eat(Kind::Comma) {
            if self.here() == Kind::Number {
                return Err(self.fail_with_hint("a name", "a fraction is written with a point: `0.5`"));
            }
            let name = self.name_after_break("a name")?;
            list.push(self.declarator(name)?);
        }
        Ok(list)
    }

    /// What stands behind the name of a declared variable.
    pub(super) fn declarator(&mut self, name: Name) -> Parsed<Declarator> {
        let sizes = self.sizes()?;
        let (mut sort, mut unit) = (None, None);
        if self.eat(Kind::Colon) {
            if self.here() == Kind::Name && is_sort(self.source(self.token())) {
                sort = Some(self.name("a sort")?);
            } else if self.here() != Kind::Unit {
                let expected = "`Real`, `Integer`, `Boolean` or a unit such as `[m/s]`";
                let word = self.source(self.token());
                if self.here() == Kind::Name && units::parse(word).is_ok() {
                    let hint = format!("a unit stands in brackets: `[{word}]`");
                    return Err(self.fail_with_hint(expected, hint));
                }
                return Err(self.fail(expected));
            }
            unit = (self.here() == Kind::Unit).then(|| self.unit());
        }
        let value = self.declared_value()?;
        let span = Span { file: self.file, start: name.span.start, end: self.last_end() };
        Ok(Declarator { name, sizes, sort, unit, value, span })
    }

    fn declared_value(&mut self) -> Parsed<Option<Expr>> {
        match self.here() {
            Kind::Equals => {}
            Kind::Becomes | Kind::EqualEqual => {
                let slip = self
                    .slip(self.token(), "a declared value follows `=`")
                    .label("expected `=`")
                    .hint("`:=` stands only in jumps, `==` only in conditions");
                self.report(slip);
            }
            _ => return Ok(None),
        }
        self.bump();
        self.expr_after_break().map(Some)
    }

    /// `[3]`, `[2, 3]` or nothing.
    fn sizes(&mut self) -> Parsed<Vec<Expr>> {
        let mut sizes = Vec::new();
        if self.here() != Kind::LeftBracket {
            return Ok(sizes);
        }
        let open = self.open();
        loop {
            sizes.push(self.expr_after_break()?);
            if !self.eat(Kind::Comma) || self.kind() == Kind::RightBracket {
                break;
            }
        }
        self.close(open, Kind::RightBracket, "`,` or `]`")?;
        Ok(sizes)
    }

    /// `event press at 20, 45`.
    fn event(&mut self) -> Parsed<StatementKind> {
        self.bump();
        let name = self.name("the name of an event")?;
        let times = if self.eat(Kind::Keyword(Keyword::At)) { self.expr_list()? } else { Vec::new() };
        Ok(StatementKind::Event { name, times })
    }

    /// `rooms: Thermostat[3](lo = 18)`.
    fn instance(&mut self) -> Parsed<StatementKind> {
        let name = self.name_after_break("a name")?;
        self.bump();
        if self.here() == Kind::Unit || is_sort(self.source(self.token())) {
            let written = &name.text;
            let hint = format!(
                "a variable is declared with its kind: `state {written}: ...`, `signal {written}: ...`"
            );
            return Err(self.fail_with_hint("the name of a component", hint));
        }
        if self.here() == Kind::Equals {
            return Err(self.fail_with_hint("the name of a component", "`:=` is written without a blank"));
        }
        let class = self.name("the name of a component")?;
        let sizes = self.sizes()?;
        let arguments = if self.here() == Kind::LeftParen { self.named_arguments()? } else { Vec::new() };
        Ok(StatementKind::Instance { name, class, sizes, arguments })
    }

    fn named_arguments(&mut self) -> Parsed<Vec<(Name, Expr)>> {
        let open = self.open();
        let mut arguments = Vec::new();
        while self.kind() != Kind::RightParen {
            if !matches!(self.then(), Kind::Equals) && self.kind() != Kind::End {
                let hint = "the parameters of a component are given by name: `Thermostat(lo = 18)`";
                return Err(self.fail_with_hint("a named argument", hint));
            }
            let name = self.name("a named argument")?;
            self.bump();
            arguments.push((name, self.expr_after_break()?));
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.close(open, Kind::RightParen, "`,` or `)`")?;
        Ok(arguments)
    }

    /// `lhs = rhs`.
    fn equation(&mut self) -> Parsed<StatementKind> {
        self.check_begins_expression()?;
        let start = self.at;
        let lhs = self.expr_after_break()?;
        match self.here() {
            Kind::Equals => {}
            Kind::Becomes => {
                let slip = self
                    .slip(self.token(), "an equation is written with `=`")
                    .label("expected `=`")
                    .hint("`:=` stands only in jumps: `when x < 0 { v := 0 }`");
                self.report(slip);
            }
            _ => return self.no_equation(start, lhs),
        }
        self.bump();
        Ok(StatementKind::Equation { lhs, rhs: self.expr_after_break()? })
    }

    fn check_begins_expression(&mut self) -> Parsed<()> {
        match self.kind() {
            Kind::Name
            | Kind::Number
            | Kind::Text
            | Kind::Minus
            | Kind::LeftParen
            | Kind::LeftBracket
            | Kind::Keyword(_) => Ok(()),
            _ => Err(self.no_statement()),
        }
    }

    /// Reports an expression that no `=` follows; `a == b` is read as the equation it means.
    fn no_equation(&mut self, start: usize, lhs: Expr) -> Parsed<StatementKind> {
        let first = self.tokens[start];
        let (lhs, rhs) = match sides_of_equality(lhs) {
            Ok(sides) => sides,
            Err(lhs) => return Err(self.fail_no_equation(first.kind, &lhs)),
        };
        let report = Diagnostic::error(
            crate::codes::UNEXPECTED_TOKEN,
            lhs.span.to(rhs.span),
            "an equation is written with `=`",
        )
        .label("this is a condition")
        .hint("`==` compares two values in a condition");
        self.diagnostics.push(report);
        Ok(StatementKind::Equation { lhs, rhs })
    }

    fn fail_no_equation(&mut self, first: Kind, lhs: &Expr) -> Failed {
        let same_line = !matches!(self.here(), Kind::LineEnd | Kind::End | Kind::Semicolon);
        let hint = match &lhs.kind {
            ExprKind::Name(word) if self.here() == Kind::Name && word.starts_with(char::is_uppercase) => {
                Some(format!("an instance is written `{}: {word}`", self.source(self.token())))
            }
            ExprKind::Name(word) if same_line => Some(self.advice_for_word(word).unwrap_or_else(|| {
                "a declaration begins with `param`, `state`, `signal`, ...; a product is written with `*`"
                    .into()
            })),
            _ if first == Kind::Minus => Some(
                "a line end ends a statement; to go on, put the operator at the end of the line before"
                    .into(),
            ),
            _ => None,
        };
        match hint {
            Some(hint) => self.fail_with_hint("`=`", hint),
            None => self.fail("`=`"),
        }
    }

    /// `for k in 2..3`.
    pub(super) fn for_head(&mut self) -> Parsed<(Name, Expr, Expr)> {
        let start = self.bump();
        match self.for_range() {
            Err(Failed) if self.skip_to_body() => {
                let span = self.span(start);
                Ok((Name { text: String::new(), span }, unreadable(span), unreadable(span)))
            }
            result => result,
        }
    }

    fn for_range(&mut self) -> Parsed<(Name, Expr, Expr)> {
        let variable = self.name("the name of an index")?;
        if !self.eat(Kind::Keyword(Keyword::In)) {
            return Err(self.fail_with_hint("`in`", "a family is written `for i in 1..n { ... }`"));
        }
        let (from, to) = self.range()?;
        Ok((variable, from, to))
    }

    /// `automaton Name { modes }`.
    fn automaton(&mut self) -> Parsed<StatementKind> {
        self.bump();
        let name = if self.kind() == Kind::LeftBrace { None } else { Some(self.name("a name or `{`")?) };
        self.automata += 1;
        let among_modes = std::mem::replace(&mut self.among_modes, true);
        let modes = self.block(Self::mode);
        self.among_modes = among_modes;
        self.automata -= 1;
        Ok(StatementKind::Automaton { name, modes: modes? })
    }

    /// `initial mode Name { ... }`.
    fn mode(&mut self) -> Parsed<Mode> {
        let start = self.token();
        if !matches!(start.kind, Kind::Keyword(Keyword::Initial | Keyword::Mode)) {
            let report = self.misplaced(
                start,
                "only modes stand directly inside an automaton",
                "put it into a mode, or before the automaton if it holds in all modes",
            );
            self.report(report);
            self.statement()?;
            return Err(Failed);
        }
        self.bump();
        let initial = start.kind == Kind::Keyword(Keyword::Initial);
        if initial {
            self.expect(Kind::Keyword(Keyword::Mode), "`mode`")?;
        }
        if self.is(Keyword::Initial) {
            return Err(
                self.fail_with_hint("the name of a mode", "the first mode is written `initial mode A`")
            );
        }
        let name = self.name("the name of a mode")?;
        let among_modes = std::mem::replace(&mut self.among_modes, false);
        let body = self.block(Self::statement);
        self.among_modes = among_modes;
        Ok(Mode { initial, name, body: body?, span: self.span_from(start) })
    }

    /// `stop when g "message"`.
    fn stop(&mut self) -> Parsed<StatementKind> {
        self.bump();
        if !self.eat(Kind::Keyword(Keyword::When)) {
            return Err(self.fail_with_hint("`when`", "write `stop when x < 10 \"frozen\"`"));
        }
        let guard = self.condition()?;
        if self.here() == Kind::Name {
            return Err(self.fail_with_hint(
                "a message or the end of the statement",
                "a message stands in double quotes: `stop when x < 10 \"frozen\"`",
            ));
        }
        let message = (self.here() == Kind::Text).then(|| {
            let token = self.bump();
            self.text_of(token)
        });
        Ok(StatementKind::Stop { guard, message })
    }

    /// The condition of a statement; an `=` behind it was meant as a part of it.
    fn condition(&mut self) -> Parsed<Expr> {
        let condition = self.expr()?;
        if self.here() == Kind::Equals {
            return Err(self.fail_with_hint("the end of the statement", "equality is written `==`"));
        }
        Ok(condition)
    }

    /// A line of a `run` block.
    fn setting(&mut self) -> Parsed<RunSetting> {
        let start = self.token();
        match start.kind {
            Kind::Name => {}
            Kind::Keyword(_) | Kind::LeftBracket | Kind::LeftParen | Kind::Number => {
                let report = self.misplaced(
                    start,
                    "only settings stand in a `run` block",
                    "settings are a name and a value: `until 12`, `plot x, v`, `rtol 1e-8`",
                );
                return Err(self.report(report));
            }
            _ => return Err(self.fail("a setting such as `until 12`")),
        }
        self.bump();
        match self.source(start) {
            "until" => {
                self.refuse_equals();
                Ok(RunSetting::Until(self.expr()?))
            }
            "plot" => self.plot(start),
            _ => {
                self.refuse_equals();
                let value = self.plain_value()?;
                Ok(RunSetting::Option { name: self.name_of(start), value, span: self.span_from(start) })
            }
        }
    }

    fn plot(&mut self, start: crate::lexer::Token) -> Parsed<RunSetting> {
        let series = self.expr_list()?;
        let over = if self.here() == Kind::Name && self.source(self.token()) == "over" {
            self.bump();
            Some(self.expr()?)
        } else {
            None
        };
        Ok(RunSetting::Plot { series, over, span: self.span_from(start) })
    }

    fn refuse_equals(&mut self) {
        if !matches!(self.here(), Kind::Equals | Kind::Becomes | Kind::Colon) {
            return;
        }
        let slip = self
            .slip(self.token(), "a setting is a name and a value, with nothing between them")
            .label("leave this out")
            .hint("write `rtol 1e-8`");
        self.report(slip);
        self.bump();
    }

    /// A number, a word or a text.
    fn plain_value(&mut self) -> Parsed<String> {
        let negative = self.eat(Kind::Minus);
        let token = self.token();
        let value = match self.here() {
            Kind::Number => self.source(token).to_string(),
            Kind::Name | Kind::Keyword(_) if !negative => self.source(token).to_string(),
            Kind::Text if !negative => self.text_of(token),
            _ => return Err(self.fail("a number, a word or a text")),
        };
        self.bump();
        Ok(if negative { format!("-{value}") } else { value })
    }
}

/// The two sides of a plain `a == b`, or the expression itself.
pub(super) fn sides_of_equality(expr: Expr) -> Result<(Expr, Expr), Expr> {
    match expr.kind {
        ExprKind::Compare(operands, operators) if operators == [Comparison::Eq] => {
            match <[Expr; 2]>::try_from(operands) {
                Ok([left, right]) => Ok((left, right)),
                Err(operands) => Err(Expr { kind: ExprKind::Compare(operands, operators), span: expr.span }),
            }
        }
        kind => Err(Expr { kind, span: expr.span }),
    }
}
