//! Expressions, by precedence climbing.
//!
//! From loose to tight: `if`, `or`, `and`, `not`, comparisons, `+ -`, `* / .* ./`, unary `-`,
//! `^ .^` (to the right), and the forms behind an operand: `.name`, `[index]`, `'`.

use super::{Failed, MAX_HEIGHT, Parsed, Parser};
use crate::ast::{BinaryOp, Comparison, Expr, ExprKind, Name, UnaryOp, Unit};
use crate::codes::UNTERMINATED;
use crate::diagnostic::Diagnostic;
use crate::lexer::{Keyword, Kind, Token, unescaped};
use saltus_model::Span;

/// How tightly an operator binds.
pub(crate) mod level {
    pub(crate) const IF: u8 = 0;
    pub(crate) const OR: u8 = 1;
    pub(crate) const AND: u8 = 2;
    pub(crate) const NOT: u8 = 3;
    pub(crate) const COMPARE: u8 = 4;
    pub(crate) const ADD: u8 = 5;
    pub(crate) const MULTIPLY: u8 = 6;
    pub(crate) const NEGATE: u8 = 7;
    pub(crate) const POWER: u8 = 8;
    pub(crate) const OPERAND: u8 = 9;
}

/// How tightly a binary operator binds.
pub(crate) fn level_of(operator: BinaryOp) -> u8 {
    match operator {
        BinaryOp::Or => level::OR,
        BinaryOp::And => level::AND,
        BinaryOp::Add | BinaryOp::Sub => level::ADD,
        BinaryOp::Mul | BinaryOp::ElementMul | BinaryOp::Div | BinaryOp::ElementDiv => level::MULTIPLY,
        BinaryOp::Pow | BinaryOp::ElementPow => level::POWER,
    }
}

/// An expression with the height of its tree.
struct Tree {
    expr: Expr,
    height: u32,
}

impl Tree {
    fn leaf(kind: ExprKind, span: Span) -> Tree {
        Tree { expr: Expr { kind, span }, height: 1 }
    }
}

/// The expression put in place of one that could not be read.
pub(super) fn unreadable(span: Span) -> Expr {
    Expr { kind: ExprKind::Name(String::new()), span }
}

fn binary_operator(kind: Kind) -> Option<BinaryOp> {
    Some(match kind {
        Kind::Keyword(Keyword::Or) => BinaryOp::Or,
        Kind::Keyword(Keyword::And) => BinaryOp::And,
        Kind::Plus => BinaryOp::Add,
        Kind::Minus => BinaryOp::Sub,
        Kind::Star => BinaryOp::Mul,
        Kind::DotStar => BinaryOp::ElementMul,
        Kind::Slash => BinaryOp::Div,
        Kind::DotSlash => BinaryOp::ElementDiv,
        Kind::Caret => BinaryOp::Pow,
        Kind::DotCaret => BinaryOp::ElementPow,
        _ => return None,
    })
}

fn comparison(kind: Kind) -> Option<Comparison> {
    Some(match kind {
        Kind::Less => Comparison::Lt,
        Kind::LessEqual => Comparison::Le,
        Kind::Greater => Comparison::Gt,
        Kind::GreaterEqual => Comparison::Ge,
        Kind::EqualEqual => Comparison::Eq,
        Kind::NotEqual => Comparison::Ne,
        _ => return None,
    })
}

impl Parser<'_> {
    /// An expression that begins on the current line.
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        if matches!(self.here(), Kind::LineEnd) {
            return Err(self.fail("an expression"));
        }
        self.expr_after_break()
    }

    /// An expression behind an operator, comma, `=` or `:=`, where the line may end.
    pub(super) fn expr_after_break(&mut self) -> Parsed<Expr> {
        Ok(self.climb(level::IF)?.expr)
    }

    /// An expression in the head of a statement: after an error the body is still read.
    pub(super) fn head_expr(&mut self) -> Parsed<Expr> {
        let start = self.token();
        let read = match self.here() {
            Kind::LeftBrace => Err(self.fail("an expression before `{`")),
            _ => self.expr(),
        };
        match read {
            Err(Failed) if self.skip_to_body() => Ok(unreadable(self.span(start))),
            result => result,
        }
    }

    /// Expressions separated by commas.
    pub(super) fn expr_list(&mut self) -> Parsed<Vec<Expr>> {
        let mut list = vec![self.expr()?];
        while self.eat(Kind::Comma) {
            list.push(self.expr_after_break()?);
        }
        Ok(list)
    }

    /// `1..n`.
    pub(super) fn range(&mut self) -> Parsed<(Expr, Expr)> {
        let (from, to) = self.range_trees()?;
        Ok((from.expr, to.expr))
    }

    fn range_trees(&mut self) -> Parsed<(Tree, Tree)> {
        if self.here() == Kind::LineEnd {
            return Err(self.fail("a range such as `1..n`"));
        }
        let from = self.climb(level::IF)?;
        if self.here() == Kind::Colon {
            return Err(self.fail_with_hint("`..`", "a range is written `1..n`"));
        }
        self.expect(Kind::Range, "`..`")?;
        Ok((from, self.climb(level::IF)?))
    }

    /// Reads operators that bind at least as tightly as `least`.
    fn climb(&mut self, least: u8) -> Parsed<Tree> {
        self.deeper(|p| {
            let mut left = p.prefix(least)?;
            loop {
                let operator = p.here();
                if let Some(operator) = binary_operator(operator).filter(|&o| level_of(o) >= least) {
                    left = p.binary(left, operator)?;
                } else if comparison(operator).is_some() && level::COMPARE >= least {
                    left = p.comparisons(left)?;
                } else {
                    return Ok(left);
                }
            }
        })
    }

    fn binary(&mut self, left: Tree, operator: BinaryOp) -> Parsed<Tree> {
        self.bump();
        let bound = match level_of(operator) {
            level::POWER => level::NEGATE,
            other => other + 1,
        };
        let right = self.climb(bound)?;
        let span = left.expr.span.to(right.expr.span);
        let height = left.height.max(right.height);
        self.node(ExprKind::Binary(operator, Box::new(left.expr), Box::new(right.expr)), span, height)
    }

    /// `a < b <= c`: one node for the whole chain.
    fn comparisons(&mut self, first: Tree) -> Parsed<Tree> {
        let mut height = first.height;
        let mut span = first.expr.span;
        let (mut operands, mut operators) = (vec![first.expr], Vec::new());
        while let Some(operator) = comparison(self.here()) {
            self.bump();
            let operand = self.climb(level::COMPARE + 1)?;
            height = height.max(operand.height);
            span = span.to(operand.expr.span);
            operators.push(operator);
            operands.push(operand.expr);
        }
        self.node(ExprKind::Compare(operands, operators), span, height)
    }

    /// A node over parts of the given height.
    fn node(&mut self, kind: ExprKind, span: Span, height: u32) -> Parsed<Tree> {
        if height >= MAX_HEIGHT {
            return Err(self.too_deep());
        }
        Ok(Tree { expr: Expr { kind, span }, height: height + 1 })
    }

    fn prefix(&mut self, least: u8) -> Parsed<Tree> {
        match self.kind() {
            Kind::Minus => self.unary(UnaryOp::Neg, level::NEGATE),
            Kind::Keyword(Keyword::Not) => {
                self.require_parentheses(least, level::NOT);
                self.unary(UnaryOp::Not, level::NOT)
            }
            Kind::Keyword(Keyword::If) => {
                self.require_parentheses(least, level::IF);
                self.choice()
            }
            Kind::Plus => Err(self.fail_with_hint("an expression", "leave out a `+` that adds nothing")),
            _ => {
                let operand = self.operand()?;
                self.postfix(operand)
            }
        }
    }

    /// Reports a loose operator that stands where only a tighter one may.
    fn require_parentheses(&mut self, least: u8, own: u8) {
        if own >= least {
            return;
        }
        let word = self.source(self.token()).to_string();
        let slip = self
            .slip(self.token(), format!("`{word}` needs parentheses here"))
            .label("binds less tightly than the operator before it")
            .hint(format!("write `({word} ...)`"));
        self.report(slip);
    }

    fn unary(&mut self, operator: UnaryOp, bound: u8) -> Parsed<Tree> {
        let start = self.bump();
        let operand = self.climb(bound)?;
        let span = self.span(start).to(operand.expr.span);
        self.node(ExprKind::Unary(operator, Box::new(operand.expr)), span, operand.height)
    }

    /// `if c then a else b`; `then` and `else` may stand on lines of their own.
    fn choice(&mut self) -> Parsed<Tree> {
        let start = self.bump();
        let condition = self.climb(level::IF)?;
        self.expect_word(
            Keyword::Then,
            "`then`",
            "a value by condition is `if c then a else b`; a jump by condition is `when c { ... }`",
        )?;
        let yes = self.climb(level::IF)?;
        let hint = match self.source(self.token()) {
            "elseif" | "elsif" | "elif" => "another condition is written `else if`",
            _ => "every `if` has an `else`: `if c then a else b`",
        };
        self.expect_word(Keyword::Else, "`else`", hint)?;
        let no = self.climb(level::IF)?;
        let height = condition.height.max(yes.height).max(no.height);
        let span = self.span(start).to(no.expr.span);
        let kind = ExprKind::If(Box::new(condition.expr), Box::new(yes.expr), Box::new(no.expr));
        self.node(kind, span, height)
    }

    fn expect_word(&mut self, keyword: Keyword, expected: &str, hint: &str) -> Parsed<()> {
        if self.kind() != Kind::Keyword(keyword) {
            return Err(self.fail_with_hint(expected, hint));
        }
        self.bump();
        Ok(())
    }

    fn operand(&mut self) -> Parsed<Tree> {
        let token = self.token();
        let span = self.span(token);
        match token.kind {
            Kind::Number => Ok(self.number()),
            Kind::Text => {
                self.bump();
                Ok(Tree::leaf(ExprKind::Text(self.text_of(token)), span))
            }
            Kind::Keyword(Keyword::True | Keyword::False) => {
                self.bump();
                Ok(Tree::leaf(ExprKind::Boolean(token.kind == Kind::Keyword(Keyword::True)), span))
            }
            Kind::Name | Kind::Keyword(Keyword::In) if self.then() == Kind::LeftParen => self.call(),
            Kind::Name => {
                self.bump();
                Ok(Tree::leaf(ExprKind::Name(self.source(token).into()), span))
            }
            Kind::LeftParen => self.parenthesized(),
            Kind::LeftBracket => self.array(),
            _ => Err(self.no_operand(token)),
        }
    }

    /// Reports a token that begins no expression.
    fn no_operand(&mut self, token: Token) -> Failed {
        let expected = "an expression";
        match token.kind {
            Kind::Keyword(keyword) if !token.first => {
                let report = self.reserved(token, keyword);
                self.report(report)
            }
            Kind::Prime => self.fail_with_hint(expected, "texts stand in double quotes: `\"...\"`"),
            Kind::LeftBrace => {
                self.fail_with_hint(expected, "`{` never begins an expression; arrays are written `[1, 2]`")
            }
            Kind::Unit => {
                self.fail_with_hint(expected, "a unit stands directly behind a number: `9.81 [m/s^2]`")
            }
            _ => self.fail(expected),
        }
    }

    fn number(&mut self) -> Tree {
        let token = self.bump();
        let written = self.source(token);
        let integer = !written.contains(['.', 'e', 'E']);
        // What does not parse has been reported by the lexer.
        let value = written.parse().unwrap_or(0.0);
        let unit = (self.here() == Kind::Unit).then(|| self.unit());
        Tree::leaf(ExprKind::Number { value, integer, unit }, self.span_from(token))
    }

    /// The unit at hand.
    pub(super) fn unit(&mut self) -> Unit {
        let token = self.bump();
        let written = self.source(token);
        Unit { text: written[1..written.len() - 1].trim().into(), span: self.span(token) }
    }

    /// The characters a text token stands for.
    pub(super) fn text_of(&self, token: Token) -> String {
        let written = &self.source(token)[1..];
        let written = written.strip_suffix('"').unwrap_or(written);
        let mut text = String::with_capacity(written.len());
        let mut chars = written.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' => text.extend(chars.next().and_then(unescaped)),
                _ => text.push(c),
            }
        }
        text
    }

    fn parenthesized(&mut self) -> Parsed<Tree> {
        let open = self.open();
        let mut inner = self.climb(level::IF)?;
        self.close(open, Kind::RightParen, "`)`")?;
        inner.expr.span = self.span_from(open);
        Ok(inner)
    }

    /// `[1, 2]` or `[x[i] for i in 1..n]`.
    fn array(&mut self) -> Parsed<Tree> {
        let open = self.open();
        if self.kind() == Kind::RightBracket {
            self.close(open, Kind::RightBracket, "`]`")?;
            return Ok(Tree::leaf(ExprKind::Array(Vec::new()), self.span_from(open)));
        }
        let first = self.climb(level::IF)?;
        if self.is(Keyword::For) {
            let function = Name { text: "array".into(), span: self.span(open) };
            return self.comprehension(open, open, function, first, Kind::RightBracket, "`]`");
        }
        let mut height = first.height;
        let mut elements = vec![first.expr];
        while self.eat(Kind::Comma) && self.kind() != Kind::RightBracket {
            let element = self.climb(level::IF)?;
            height = height.max(element.height);
            elements.push(element.expr);
        }
        self.close(open, Kind::RightBracket, "`,` or `]`")?;
        self.node(ExprKind::Array(elements), self.span_from(open), height)
    }

    /// `... for i in 1..n` and the closing bracket, behind the value.
    fn comprehension(
        &mut self,
        start: Token,
        open: Token,
        function: Name,
        value: Tree,
        closing: Kind,
        expected: &str,
    ) -> Parsed<Tree> {
        self.bump();
        let variable = self.name("the name of an index")?;
        self.expect(Kind::Keyword(Keyword::In), "`in`")?;
        let (from, to) = self.range_trees()?;
        if self.is(Keyword::For) {
            let hint = "one `for` each: write `sum(sum(... for j in 1..m) for i in 1..n)`";
            return Err(self.fail_with_hint(expected, hint));
        }
        self.close(open, closing, expected)?;
        let height = value.height.max(from.height).max(to.height);
        let kind = ExprKind::Comprehension {
            function,
            value: Box::new(value.expr),
            variable,
            from: Box::new(from.expr),
            to: Box::new(to.expr),
        };
        self.node(kind, self.span_from(start), height)
    }

    fn call(&mut self) -> Parsed<Tree> {
        let start = self.bump();
        let function = self.name_of(start);
        let open = self.open();
        let (mut arguments, mut named, mut height) = (Vec::new(), Vec::new(), 0);
        while self.kind() != Kind::RightParen {
            if self.kind() == Kind::Name && self.ahead(1).kind == Kind::Equals {
                let key = self.name("a name")?;
                self.bump();
                let value = self.climb(level::IF)?;
                height = height.max(value.height);
                named.push((key, value.expr));
            } else {
                if !named.is_empty() {
                    return Err(self.fail_with_hint(
                        "a named argument",
                        "arguments without a name come before those with one",
                    ));
                }
                let value = self.climb(level::IF)?;
                if arguments.is_empty() && self.is(Keyword::For) {
                    return self.comprehension(start, open, function, value, Kind::RightParen, "`)`");
                }
                height = height.max(value.height);
                arguments.push(value.expr);
            }
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.close(open, Kind::RightParen, "`,` or `)`")?;
        let span = self.span_from(start);
        if function.text == "der" && arguments.len() == 1 && named.is_empty() {
            return self.derivative(start, span, arguments, height);
        }
        self.node(ExprKind::Call { function, arguments, named }, span, height)
    }

    /// Reports `der(x)` and reads it as `x'`.
    fn derivative(&mut self, start: Token, span: Span, arguments: Vec<Expr>, height: u32) -> Parsed<Tree> {
        let report = self
            .slip(start, "a derivative is not a call")
            .label("written with `'`")
            .hint("write `x'` for the derivative of `x`");
        self.diagnostics.push(report);
        match arguments.into_iter().next() {
            Some(argument) => self.node(ExprKind::Prime(Box::new(argument)), span, height),
            None => Err(Failed),
        }
    }

    /// The forms behind an operand: `.name`, `[index]`, `'`.
    fn postfix(&mut self, mut tree: Tree) -> Parsed<Tree> {
        loop {
            let start = tree.expr.span;
            let height = tree.height;
            tree = match self.here() {
                Kind::Dot => {
                    self.bump();
                    let name = self.name("a name")?;
                    let span = start.to(name.span);
                    self.node(ExprKind::Member(Box::new(tree.expr), name), span, height)?
                }
                Kind::LeftBracket => self.index(tree)?,
                Kind::Prime => {
                    self.check_derivable(&tree.expr)?;
                    let span = start.to(self.span(self.token()));
                    self.bump();
                    self.node(ExprKind::Prime(Box::new(tree.expr)), span, height)?
                }
                Kind::LeftParen => {
                    let hint = "a product is written with `*`; only functions, which have plain names, take arguments";
                    return Err(self.fail_with_hint("an operator", hint));
                }
                _ => return Ok(tree),
            }
        }
    }

    /// Only variables have derivatives.
    fn check_derivable(&mut self, expr: &Expr) -> Parsed<()> {
        if is_path(expr) {
            return Ok(());
        }
        let slip = self
            .slip(self.token(), "only a variable has a derivative `'`")
            .label("behind an expression")
            .related(expr.span, "this is not a variable")
            .hint("name it as a state, or write out its derivative; texts stand in double quotes");
        Err(self.report(slip))
    }

    fn index(&mut self, array: Tree) -> Parsed<Tree> {
        let open = self.open();
        let mut height = array.height;
        let mut indices = Vec::new();
        loop {
            let index = self.index_range()?;
            height = height.max(index.height);
            indices.push(index.expr);
            if !self.eat(Kind::Comma) || self.kind() == Kind::RightBracket {
                break;
            }
        }
        if self.here() == Kind::Colon {
            return Err(self.fail_with_hint("`,` or `]`", "a range is written `1..n`"));
        }
        self.close(open, Kind::RightBracket, "`,` or `]`")?;
        let span = array.expr.span.to(self.span_from(open));
        self.node(ExprKind::Index(Box::new(array.expr), indices), span, height)
    }

    fn index_range(&mut self) -> Parsed<Tree> {
        let from = self.climb(level::IF)?;
        if !self.eat(Kind::Range) {
            return Ok(from);
        }
        let to = self.climb(level::IF)?;
        let span = from.expr.span.to(to.expr.span);
        let height = from.height.max(to.height);
        self.node(ExprKind::Range(Box::new(from.expr), Box::new(to.expr)), span, height)
    }

    /// Steps over an opening bracket.
    pub(super) fn open(&mut self) -> Token {
        self.brackets += 1;
        self.bump()
    }

    /// Steps over the bracket that closes `open`.
    pub(super) fn close(&mut self, open: Token, closing: Kind, expected: &str) -> Parsed<()> {
        let found = self.token();
        if found.kind == closing {
            self.bump();
            self.brackets = self.brackets.saturating_sub(1);
            return Ok(());
        }
        let other_closes = matches!(found.kind, Kind::RightParen | Kind::RightBracket);
        let statement_ends =
            found.first || matches!(found.kind, Kind::RightBrace | Kind::LeftBrace | Kind::End | Kind::Arrow);
        if other_closes || statement_ends {
            let bracket = self.source(open).to_string();
            let report =
                Diagnostic::error(UNTERMINATED, self.span(open), format!("this `{bracket}` is not closed"))
                    .label("opened here")
                    .related(self.span(found), format!("expected {expected} before this"));
            return Err(self.report(report));
        }
        let hint = match (found.kind, closing) {
            (Kind::Semicolon, Kind::RightBracket) => "a matrix is written by rows: `[[1, 2], [3, 4]]`",
            (Kind::Name | Kind::Number | Kind::Text | Kind::LeftParen | Kind::LeftBracket, _) => {
                "elements are separated by `,`, and a product is written with `*`"
            }
            (Kind::Range, _) => "a range stands in an index or behind `in`: `x[1..3]`, `for i in 1..n`",
            (Kind::Equals, _) => "equality is written `==`",
            _ => return Err(self.fail(expected)),
        };
        Err(self.fail_with_hint(expected, hint))
    }
}

/// Whether an expression names a variable, part of one, or a derivative of one.
pub(crate) fn is_path(expr: &Expr) -> bool {
    let mut expr = expr;
    loop {
        expr = match &expr.kind {
            ExprKind::Name(_) => return true,
            ExprKind::Member(base, _) | ExprKind::Index(base, _) | ExprKind::Prime(base) => base,
            _ => return false,
        }
    }
}
