//! Reactions and transitions, and the assignments they make.

use super::statement::sides_of_equality;
use super::{Failed, Parsed, Parser};
use crate::ast::{Action, Rule, TransitionTarget, Trigger};
use crate::lexer::{Keyword, Kind, Token};

impl Parser<'_> {
    /// `may when g -> Mode { x := 1 }`.
    pub(super) fn rule(&mut self) -> Parsed<Rule> {
        let start = self.token();
        let (may, preempt) = self.rule_marks()?;
        if (may || preempt) && self.here() == Kind::LineEnd {
            return Err(self.fail("`when`"));
        }
        let trigger = self.trigger()?;
        let plain = matches!(trigger, Trigger::When(_) | Trigger::Else);
        let condition =
            if !plain && self.eat(Kind::Keyword(Keyword::When)) { Some(self.head_expr()?) } else { None };
        let head = self.span_from(start);
        let target = self.target()?;
        let actions = if self.kind() == Kind::LeftBrace { Some(self.block(Self::action)?) } else { None };
        if actions.is_none() && target.is_none() {
            return Err(self.no_consequence(trigger == Trigger::Else));
        }
        if self.here() == Kind::Arrow {
            return Err(self.fail_with_hint(
                "the end of the statement",
                "the mode comes before the assignments: `when g -> Mode { x := 1 }`",
            ));
        }
        Ok(Rule { may, preempt, trigger, condition, target, actions: actions.unwrap_or_default(), head })
    }

    fn rule_marks(&mut self) -> Parsed<(bool, bool)> {
        let (mut may, mut preempt) = (false, false);
        let mut first = true;
        loop {
            let mark = match if first { self.kind() } else { self.here() } {
                Kind::Keyword(Keyword::May) => &mut may,
                Kind::Keyword(Keyword::Preempt) => &mut preempt,
                _ => return Ok((may, preempt)),
            };
            if std::mem::replace(mark, true) {
                return Err(self.fail("`when`"));
            }
            self.bump();
            first = false;
        }
    }

    fn trigger(&mut self) -> Parsed<Trigger> {
        let make = match self.kind() {
            Kind::Keyword(Keyword::When) => Trigger::When,
            Kind::Keyword(Keyword::At) => Trigger::At,
            Kind::Keyword(Keyword::After) => Trigger::After,
            Kind::Keyword(Keyword::Every) => Trigger::Every,
            Kind::Keyword(Keyword::On) => Trigger::On,
            Kind::Keyword(Keyword::Else) => {
                self.bump();
                return Ok(Trigger::Else);
            }
            _ => return Err(self.fail("`when`, `at`, `after`, `every`, `on` or `else`")),
        };
        self.bump();
        Ok(make(self.head_expr()?))
    }

    fn target(&mut self) -> Parsed<Option<TransitionTarget>> {
        match self.here() {
            Kind::Arrow => {
                self.bump();
            }
            Kind::Name if self.then() == Kind::Becomes => {
                let hint = "assignments stand in braces: `when x < 0 { v := 0 }`";
                return Err(self.fail_with_hint("`{`", hint));
            }
            Kind::Name => {
                let mode = self.source(self.token()).to_string();
                let slip = self
                    .slip(self.token(), format!("expected `->` before the mode `{mode}`"))
                    .label("`->` missing")
                    .hint(format!("write `-> {mode}`"));
                self.report(slip);
            }
            _ => return Ok(None),
        }
        let mut mode = self.name_after_break("the name of a mode")?;
        let history = mode.text == "history" && self.here() == Kind::Name;
        if history {
            mode = self.name("the name of a mode")?;
        }
        Ok(Some(TransitionTarget { history, mode }))
    }

    /// Reports a trigger that nothing follows.
    fn no_consequence(&mut self, otherwise: bool) -> Failed {
        let expected = "`->` and a mode, or `{` and assignments";
        match self.here() {
            Kind::Keyword(Keyword::When) if otherwise => {
                self.fail_with_hint(expected, "`else` stands for every other case and takes no condition")
            }
            Kind::Keyword(Keyword::When) => {
                self.fail_with_hint(expected, "conditions are joined with `and` or `or`")
            }
            Kind::Keyword(Keyword::Then) => {
                self.fail_with_hint(expected, "a transition is written `when g -> Mode`, without `then`")
            }
            Kind::LineEnd if self.kind() == Kind::Arrow => {
                self.fail_with_hint(expected, "move `->` to the end of the line before")
            }
            Kind::Equals => self.fail_with_hint(expected, "equality is written `==`"),
            Kind::Comma => self.fail_with_hint(expected, "write one rule for each"),
            _ => self.fail(expected),
        }
    }

    /// `x := e` or a family of assignments.
    fn action(&mut self) -> Parsed<Action> {
        let start = self.token();
        match start.kind {
            Kind::Keyword(Keyword::For) => {
                let (variable, from, to) = self.for_head()?;
                let body = self.block(Self::action)?;
                Ok(Action::For { variable, from, to, body, span: self.span_from(start) })
            }
            Kind::Keyword(keyword) => {
                self.refuse_as_name(keyword)?;
                if !self.begins_statement() {
                    return self.assignment(start);
                }
                let report = self.misplaced(
                    start,
                    "only assignments stand in a jump",
                    "write `x := ...` here; other statements stand beside the rule",
                );
                self.report(report);
                self.statement()?;
                Err(Failed)
            }
            _ => self.assignment(start),
        }
    }

    fn assignment(&mut self, start: Token) -> Parsed<Action> {
        let target = self.expr_after_break()?;
        match self.here() {
            Kind::Becomes => {}
            Kind::Equals => self.report_equals(self.token()),
            _ => {
                return match sides_of_equality(target) {
                    Ok((target, value)) => {
                        self.report_equals(start);
                        Ok(Action::Assign { target, value, span: self.span_from(start) })
                    }
                    Err(_) => Err(self.fail("`:=`")),
                };
            }
        }
        self.bump();
        let value = self.expr_after_break()?;
        Ok(Action::Assign { target, value, span: self.span_from(start) })
    }

    fn report_equals(&mut self, at: Token) {
        let slip = self
            .slip(at, "an assignment in a jump is written with `:=`")
            .label("expected `:=`")
            .hint("`=` states an equation that always holds, `:=` gives a new value once");
        self.diagnostics.push(slip);
    }
}
