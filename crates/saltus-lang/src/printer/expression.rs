//! Expressions as text, with the parentheses they need and, when a text is tidied, those its
//! author wrote.

use super::Printer;
use crate::ast::{BinaryOp, Comparison, Expr, ExprKind, Name, UnaryOp};
use crate::parser::{level, level_of};
use saltus_model::Span;

fn level_of_expr(expr: &Expr) -> u8 {
    match &expr.kind {
        ExprKind::If(..) => level::IF,
        ExprKind::Unary(UnaryOp::Not, _) => level::NOT,
        ExprKind::Unary(UnaryOp::Neg, _) => level::NEGATE,
        ExprKind::Compare(..) => level::COMPARE,
        ExprKind::Binary(operator, ..) => level_of(*operator),
        _ => level::OPERAND,
    }
}

/// The operator with the blank before it; the one behind it may be a line end.
fn operator_text(operator: BinaryOp) -> &'static str {
    match operator {
        BinaryOp::Or => " or",
        BinaryOp::And => " and",
        BinaryOp::Add => " +",
        BinaryOp::Sub => " -",
        BinaryOp::Mul => " *",
        BinaryOp::ElementMul => " .*",
        BinaryOp::Div => " /",
        BinaryOp::ElementDiv => " ./",
        BinaryOp::Pow => "^",
        BinaryOp::ElementPow => " .^",
    }
}

fn comparison_text(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Lt => " <",
        Comparison::Le => " <=",
        Comparison::Gt => " >",
        Comparison::Ge => " >=",
        Comparison::Eq => " ==",
        Comparison::Ne => " !=",
    }
}

/// The part an expression begins with, if it does not begin with a token of its own.
fn leftmost(expr: &Expr) -> Option<&Expr> {
    match &expr.kind {
        ExprKind::Binary(_, left, _) | ExprKind::Range(left, _) => Some(left),
        ExprKind::Compare(operands, _) => operands.first(),
        ExprKind::Member(base, _) | ExprKind::Index(base, _) | ExprKind::Prime(base) => Some(base),
        _ => None,
    }
}

impl Printer<'_> {
    pub(super) fn expr(&mut self, expr: &Expr) {
        self.at_least(expr, level::IF);
    }

    /// An expression where only operators of this level or tighter may stand bare.
    fn at_least(&mut self, expr: &Expr, least: u8) {
        let parenthesized = level_of_expr(expr) < least || self.author_parenthesized(expr);
        if !parenthesized {
            return self.bare(expr);
        }
        self.text("(");
        self.bare(expr);
        self.text(")");
    }

    fn author_parenthesized(&self, expr: &Expr) -> bool {
        self.original.as_ref().is_some_and(|original| {
            original.between(expr.span.start, expr.span.start + 1) == "("
                && leftmost(expr).is_none_or(|part| part.span.start > expr.span.start)
        })
    }

    fn bare(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Number { value, integer, unit } => {
                self.number(*value, *integer, expr.span);
                self.unit(unit.as_ref());
            }
            ExprKind::Boolean(value) => self.text(if *value { "true" } else { "false" }),
            ExprKind::Text(text) => self.quoted(text),
            ExprKind::Name(name) => self.text(name),
            ExprKind::Member(base, name) => {
                self.base(base);
                self.text(".");
                self.text(&name.text);
            }
            ExprKind::Index(base, indices) => {
                self.base(base);
                self.text("[");
                self.expr_list(indices);
                self.text("]");
            }
            ExprKind::Prime(base) => {
                self.at_least(base, level::OPERAND);
                self.text("'");
            }
            ExprKind::Call { function, arguments, named } => self.call(expr.span, function, arguments, named),
            ExprKind::Comprehension { function, value, variable, from, to } => {
                self.comprehension(function, value, variable, from, to);
            }
            ExprKind::Unary(UnaryOp::Neg, operand) => {
                self.text("-");
                self.at_least(operand, level::NEGATE);
            }
            ExprKind::Unary(UnaryOp::Not, operand) => {
                self.text("not ");
                self.at_least(operand, level::NOT);
            }
            ExprKind::Binary(operator, left, right) => self.binary(*operator, left, right),
            ExprKind::Compare(operands, operators) => self.comparisons(operands, operators),
            ExprKind::If(condition, yes, no) => {
                self.text("if ");
                self.expr(condition);
                self.gap(condition.span.end, yes.span.start);
                self.text("then ");
                self.expr(yes);
                self.gap(yes.span.end, no.span.start);
                self.text("else ");
                self.expr(no);
            }
            ExprKind::Array(elements) => self.bracketed("[", "]", expr.span, elements),
            ExprKind::Range(from, to) => {
                self.expr(from);
                self.text("..");
                self.expr(to);
            }
        }
    }

    /// What `.name` or `[index]` stands behind; behind a bare number both would mean other things.
    fn base(&mut self, base: &Expr) {
        if matches!(base.kind, ExprKind::Number { .. }) && !self.author_parenthesized(base) {
            self.text("(");
            self.bare(base);
            self.text(")");
        } else {
            self.at_least(base, level::OPERAND);
        }
    }

    fn number(&mut self, value: f64, integer: bool, span: Span) {
        let written = self.original.as_ref().and_then(|o| o.number_at(span.start)).map(str::to_string);
        let text = written.unwrap_or_else(|| if integer { format!("{value}") } else { format!("{value:?}") });
        self.text(&text);
    }

    pub(super) fn quoted(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' | '\\' => self.out.extend(['\\', c]),
                '\n' => self.text("\\n"),
                '\r' => self.text("\\r"),
                '\t' => self.text("\\t"),
                _ => self.out.push(c),
            }
        }
        self.out.push('"');
    }

    fn binary(&mut self, operator: BinaryOp, left: &Expr, right: &Expr) {
        let level = level_of(operator);
        let (left_least, right_least) =
            if level == level::POWER { (level::OPERAND, level::NEGATE) } else { (level, level + 1) };
        self.at_least(left, left_least);
        self.text(operator_text(operator));
        if operator != BinaryOp::Pow || self.author_broke(left.span.end, right.span.start) {
            self.gap(left.span.end, right.span.start);
        }
        self.at_least(right, right_least);
    }

    fn comparisons(&mut self, operands: &[Expr], operators: &[Comparison]) {
        for (i, operand) in operands.iter().enumerate() {
            if let Some(operator) = i.checked_sub(1).and_then(|before| operators.get(before)) {
                self.text(comparison_text(*operator));
                self.gap(operands[i - 1].span.end, operand.span.start);
            }
            self.at_least(operand, level::COMPARE + 1);
        }
    }

    fn call(&mut self, span: Span, function: &Name, arguments: &[Expr], named: &[(Name, Expr)]) {
        self.text(&function.text);
        if named.is_empty() {
            let brackets = Span { start: function.span.end, ..span };
            return self.bracketed("(", ")", brackets, arguments);
        }
        self.text("(");
        self.expr_list(arguments);
        let mut last = arguments.last().map(|a| a.span.end);
        for (name, value) in named {
            if let Some(end) = last {
                self.text(",");
                self.gap(end, name.span.start);
            }
            self.named(name, value);
            last = Some(value.span.end);
        }
        self.text(")");
    }

    pub(super) fn named(&mut self, name: &Name, value: &Expr) {
        self.text(&name.text);
        self.text(" = ");
        self.expr(value);
    }

    fn comprehension(&mut self, function: &Name, value: &Expr, variable: &Name, from: &Expr, to: &Expr) {
        let (open, close) = if function.text == "array" {
            ("[", "]")
        } else {
            self.text(&function.text);
            ("(", ")")
        };
        self.text(open);
        self.expr(value);
        self.gap(value.span.end, variable.span.start);
        self.for_head(variable, from, to);
        self.text(close);
    }

    pub(super) fn expr_list(&mut self, list: &[Expr]) {
        let mut last = None;
        for expr in list {
            if let Some(end) = last {
                self.text(",");
                self.gap(end, expr.span.start);
            }
            self.expr(expr);
            last = Some(expr.span.end);
        }
    }

    /// A list in brackets that cover `span`; it hangs on lines of its own if the author had it so.
    fn bracketed(&mut self, open: &str, close: &str, span: Span, list: &[Expr]) {
        let (Some(first), Some(last)) = (list.first(), list.last()) else {
            self.text(open);
            return self.text(close);
        };
        let hanging = self.author_broke(span.start, first.span.start);
        self.text(open);
        self.hang += usize::from(hanging);
        if hanging {
            self.break_line(self.hang);
        }
        self.list_in_brackets(list, hanging);
        self.hang -= usize::from(hanging);
        if hanging && self.author_broke(last.span.end, span.end) {
            self.break_line(self.hang);
        }
        self.text(close);
    }

    fn list_in_brackets(&mut self, list: &[Expr], hanging: bool) {
        let mut last: Option<&Expr> = None;
        for expr in list {
            if let Some(last) = last {
                self.text(",");
                if hanging && self.author_broke(last.span.end, expr.span.start) {
                    self.break_line(self.hang);
                } else {
                    self.gap(last.span.end, expr.span.start);
                }
            }
            self.expr(expr);
            last = Some(expr);
        }
    }

    /// A blank, or a line end where the author had one.
    pub(super) fn gap(&mut self, from: u32, to: u32) {
        if self.author_broke(from, to) {
            self.break_line(self.hang + 1);
        } else {
            self.text(" ");
        }
    }

    fn author_broke(&self, from: u32, to: u32) -> bool {
        !self.inline && self.original.as_ref().is_some_and(|o| o.between(from, to).contains('\n'))
    }

    fn break_line(&mut self, deeper: usize) {
        self.end_line();
        self.start_line(self.indent + deeper);
    }
}
