//! A syntax tree back to text. [`print()`] writes the one canonical text of a tree; [`format`]
//! tidies a text and keeps what the tree does not hold: comments, empty lines, the writing of
//! numbers, and where the author broke lines. Reading the result gives the same tree again.

mod expression;

use crate::ast::*;
use crate::diagnostic::{Diagnostic, Severity};
use crate::lexer::{Comment, Kind, Lexed, Token, lex};
use crate::parser::parse;
use saltus_model::Span;

/// Blocks longer than this are not put on one line.
const WIDTH: usize = 100;

/// The canonical text of a tree.
///
/// ```
/// let (file, _) = saltus_lang::parse(0, "model A{state x=1;flow{x'=-x^2}}");
/// let text = saltus_lang::printer::print(&file);
/// assert_eq!(text, "model A {\n    state x = 1\n    flow { x' = -x^2 }\n}\n");
/// ```
pub fn print(file: &File) -> String {
    let mut printer = Printer::new(None);
    printer.file(file);
    printer.out
}

/// The canonical text of an expression.
///
/// ```
/// let (file, _) = saltus_lang::parse(0, "fn f(x) = (x)*(2+x)");
/// let saltus_lang::ast::Item::Function(f) = &file.items[0] else { panic!() };
/// assert_eq!(saltus_lang::printer::print_expr(&f.body), "x * (2 + x)");
/// ```
pub fn print_expr(expr: &Expr) -> String {
    let mut printer = Printer::new(None);
    printer.expr(expr);
    printer.out
}

/// Tidies a text; or gives its errors.
///
/// ```
/// let text = "model A   {\n  state x=1.50// metres\n}";
/// assert_eq!(saltus_lang::printer::format(text).unwrap(), "model A {\n    state x = 1.50  // metres\n}\n");
/// ```
pub fn format(text: &str) -> Result<String, Vec<Diagnostic>> {
    let (file, diagnostics) = parse(0, text);
    if diagnostics.iter().any(|d| d.severity == Severity::Error) {
        return Err(diagnostics);
    }
    let Lexed { tokens, comments, .. } = lex(0, text);
    let mut printer = Printer::new(Some(Original { text, tokens, comments, next: 0 }));
    printer.file(&file);
    printer.comments_before(text.len() as u32, file.items.is_empty());
    Ok(printer.out)
}

/// A tree written out in full except for the places: equal for two trees that say the same.
///
/// ```
/// use saltus_lang::{parse, printer::without_places};
/// let tree = |text| without_places(&parse(0, text).0);
/// assert_eq!(tree("fn f(x) = x+1"), tree("fn f( x ) =\n    (x + 1)"));
/// assert_ne!(tree("fn f(x) = x+1"), tree("fn f(x) = x + 1.0"));
/// ```
pub fn without_places(file: &File) -> String {
    let written = format!("{file:?}");
    let mut parts = written.split("Span { file: ");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |text, part| text + "_" + part.split_once('}').map_or(part, |(_, rest)| rest))
}

/// The text that is being tidied.
struct Original<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    comments: Vec<Comment>,
    /// The next comment to print.
    next: usize,
}

impl Original<'_> {
    fn between(&self, from: u32, to: u32) -> &str {
        self.text.get(from as usize..to as usize).unwrap_or("")
    }

    fn next_comment(&self) -> Option<Comment> {
        self.comments.get(self.next).copied()
    }

    /// How many lines end between a place and the token or printed comment before it.
    fn line_ends_before(&self, place: u32) -> usize {
        let tokens = self.tokens.partition_point(|t| t.start < place);
        let token_end = tokens.checked_sub(1).map_or(0, |last| self.tokens[last].end);
        let comment_end = self.next.checked_sub(1).map_or(0, |last| self.comments[last].end);
        self.between(token_end.max(comment_end), place).matches('\n').count()
    }

    /// Where an element begins: at its place, or at the word before it that the tree does not
    /// place (`param`, `until`).
    fn element_start(&self, place: u32) -> u32 {
        let tokens = self.tokens.partition_point(|t| t.start < place);
        match tokens.checked_sub(1).map(|last| self.tokens[last]) {
            Some(Token { kind: Kind::Name | Kind::Keyword(_), start, end, .. })
                if !self.between(end, place).contains('\n') =>
            {
                start
            }
            _ => place,
        }
    }

    /// The number that begins at or after a place, as written.
    fn number_at(&self, start: u32) -> Option<&str> {
        let first = self.tokens.partition_point(|t| t.start < start);
        let token = self.tokens[first..].iter().find(|t| t.kind == Kind::Number)?;
        Some(self.between(token.start, token.end))
    }
}

struct Printer<'t> {
    out: String,
    indent: usize,
    /// Brackets whose contents stand on lines of their own.
    hang: usize,
    /// Inside a block on one line.
    inline: bool,
    /// The last line ends in a `//` comment.
    commented: bool,
    original: Option<Original<'t>>,
}

impl<'t> Printer<'t> {
    fn new(original: Option<Original<'t>>) -> Self {
        Printer { out: String::new(), indent: 0, hang: 0, inline: false, commented: false, original }
    }

    fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn start_line(&mut self, indent: usize) {
        self.out.extend(std::iter::repeat_n("    ", indent));
    }

    fn end_line(&mut self) {
        self.out.push('\n');
        self.commented = false;
    }

    fn separated<T>(&mut self, separator: &str, items: &[T], mut item: impl FnMut(&mut Self, &T)) {
        for (i, x) in items.iter().enumerate() {
            if i > 0 {
                self.text(separator);
            }
            item(self, x);
        }
    }
}

/// Comments and empty lines.
impl Printer<'_> {
    /// Prints the comments that stand before a place; `first` tells that nothing stands before
    /// them in their block. Gives back whether that is still so.
    fn comments_before(&mut self, place: u32, mut first: bool) -> bool {
        while let Some(original) = &mut self.original
            && let Some(comment) = original.next_comment()
            && comment.start < place
        {
            let lines = original.line_ends_before(comment.start);
            let written = original.between(comment.start, comment.end).trim_end().to_string();
            original.next += 1;
            let begins_line = lines > 0 || self.out.is_empty();
            self.comment(&written, begins_line, lines > 1 && !first);
            first &= !begins_line;
        }
        first
    }

    fn comment(&mut self, written: &str, begins_line: bool, gap: bool) {
        if begins_line || self.commented {
            if gap {
                self.end_line();
            }
            self.start_line(self.indent);
        } else {
            self.out.pop();
            self.text("  ");
        }
        self.text(written);
        self.end_line();
        self.commented = written.starts_with("//");
    }

    /// Prepares for an element: its comments, and the empty line the author left before it.
    fn before_element(&mut self, span: Span, first: bool) {
        let start = self.original.as_ref().map_or(0, |original| original.element_start(span.start));
        let first = self.comments_before(start, first);
        if !first && self.original.as_ref().is_some_and(|o| o.line_ends_before(start) > 1) {
            self.end_line();
        }
    }
}

/// Blocks.
impl Printer<'_> {
    /// ` { ... }` behind the head of the element that covers `whole`. Without a text to follow,
    /// it goes on one line if it is `short` and fits.
    fn block<T: Element>(&mut self, elements: &[T], whole: Span, short: bool) {
        if elements.is_empty() && !self.comments_within(whole) {
            return self.text(" {}");
        }
        if self.inline || self.one_line(whole, short) {
            let (before, outer) = (self.out.len(), self.inline);
            self.inline = true;
            self.text(" { ");
            self.separated("; ", elements, |p, e| e.print(p));
            self.text(" }");
            self.inline = outer;
            if outer || self.line_fits() {
                return;
            }
            self.out.truncate(before);
        }
        self.text(" {");
        self.end_line();
        self.indent += 1;
        for (i, element) in elements.iter().enumerate() {
            self.before_element(element.span(), i == 0);
            self.start_line(self.indent);
            element.print(self);
            self.end_line();
        }
        self.comments_before(whole.end, elements.is_empty());
        self.indent -= 1;
        self.start_line(self.indent);
        self.text("}");
    }

    /// Whether a block may stand on one line: as the author had it, or if it is short.
    fn one_line(&self, whole: Span, short: bool) -> bool {
        match &self.original {
            None => short,
            Some(original) => {
                (whole.end - whole.start) as usize <= 2 * WIDTH
                    && !original.between(whole.start, whole.end).contains('\n')
                    && !self.comments_within(whole)
            }
        }
    }

    fn comments_within(&self, whole: Span) -> bool {
        self.original.as_ref().and_then(|o| o.next_comment()).is_some_and(|c| c.start < whole.end)
    }

    fn line_fits(&self) -> bool {
        let start = self.out.rfind('\n').map_or(0, |newline| newline + 1);
        let line = &self.out[start..];
        line.len() <= WIDTH || line.chars().count() <= WIDTH
    }
}

/// What stands between braces.
trait Element {
    fn span(&self) -> Span;
    fn print(&self, printer: &mut Printer<'_>);
}

impl Element for Statement {
    fn span(&self) -> Span {
        self.span
    }

    fn print(&self, printer: &mut Printer<'_>) {
        printer.statement(self);
    }
}

impl Element for Mode {
    fn span(&self) -> Span {
        self.span
    }

    fn print(&self, printer: &mut Printer<'_>) {
        printer.text(if self.initial { "initial mode " } else { "mode " });
        printer.text(&self.name.text);
        printer.block(&self.body, self.span, false);
    }
}

impl Element for Action {
    fn span(&self) -> Span {
        match self {
            Action::Assign { span, .. } | Action::For { span, .. } => *span,
        }
    }

    fn print(&self, printer: &mut Printer<'_>) {
        match self {
            Action::Assign { target, value, .. } => printer.sides(target, " :=", value),
            Action::For { variable, from, to, body, span } => {
                printer.for_head(variable, from, to);
                printer.block(body, *span, body.len() == 1 && is_assignment(&body[0]));
            }
        }
    }
}

impl Element for RunSetting {
    fn span(&self) -> Span {
        match self {
            RunSetting::Until(expr) => expr.span,
            RunSetting::Plot { span, .. } | RunSetting::Option { span, .. } => *span,
        }
    }

    fn print(&self, printer: &mut Printer<'_>) {
        match self {
            RunSetting::Until(expr) => {
                printer.text("until ");
                printer.expr(expr);
            }
            RunSetting::Plot { series, over, .. } => {
                printer.text("plot ");
                printer.expr_list(series);
                if let Some(over) = over {
                    printer.text(" over ");
                    printer.expr(over);
                }
            }
            RunSetting::Option { name, value, .. } => {
                printer.text(&name.text);
                printer.text(" ");
                if is_plain_value(value) {
                    printer.text(value);
                } else {
                    printer.quoted(value);
                }
            }
        }
    }
}

/// Items and statements.
impl Printer<'_> {
    fn file(&mut self, file: &File) {
        for (i, item) in file.items.iter().enumerate() {
            let span = item_span(item);
            if self.original.is_some() {
                self.before_element(span, i == 0);
            } else if i > 0 && !(is_short(item) && is_short(&file.items[i - 1])) {
                self.end_line();
            }
            self.item(item);
            self.end_line();
        }
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Use { path, .. } => {
                self.text("use ");
                self.quoted(path);
            }
            Item::Function(f) => {
                self.text("fn ");
                self.text(&f.name.text);
                self.text("(");
                self.separated(", ", &f.arguments, |p, name| p.text(&name.text));
                self.text(") =");
                self.gap(f.arguments.last().unwrap_or(&f.name).span.end, f.body.span.start);
                self.expr(&f.body);
            }
            Item::Class(class) => self.class(class),
            Item::Params(declarators) => {
                self.text("param ");
                self.declarators(declarators);
            }
        }
    }

    fn class(&mut self, class: &Class) {
        self.text(match class.kind {
            ClassKind::Model => "model ",
            ClassKind::Component => "component ",
        });
        self.text(&class.name.text);
        if !class.parameters.is_empty() {
            self.text("(");
            self.declarators(&class.parameters);
            self.text(")");
        }
        self.block(&class.body, class.span, false);
    }

    fn declarators(&mut self, declarators: &[Declarator]) {
        let mut last = None;
        for declarator in declarators {
            if let Some(end) = last {
                self.text(",");
                self.gap(end, declarator.span.start);
            }
            self.declarator(declarator);
            last = Some(declarator.span.end);
        }
    }

    fn declarator(&mut self, declarator: &Declarator) {
        self.text(&declarator.name.text);
        self.sizes(&declarator.sizes);
        if declarator.sort.is_some() || declarator.unit.is_some() {
            self.text(":");
        }
        if let Some(sort) = &declarator.sort {
            self.text(" ");
            self.text(&sort.text);
        }
        self.unit(declarator.unit.as_ref());
        if let Some(value) = &declarator.value {
            self.text(" =");
            self.gap(declarator.name.span.end, value.span.start);
            self.expr(value);
        }
    }

    fn sizes(&mut self, sizes: &[Expr]) {
        if !sizes.is_empty() {
            self.text("[");
            self.expr_list(sizes);
            self.text("]");
        }
    }

    fn unit(&mut self, unit: Option<&Unit>) {
        if let Some(unit) = unit {
            self.text(" [");
            self.text(&unit.text);
            self.text("]");
        }
    }

    /// `lhs = rhs` with the sign given.
    fn sides(&mut self, left: &Expr, sign: &str, right: &Expr) {
        self.expr(left);
        self.text(sign);
        self.gap(left.span.end, right.span.start);
        self.expr(right);
    }

    fn for_head(&mut self, variable: &Name, from: &Expr, to: &Expr) {
        self.text("for ");
        self.text(&variable.text);
        self.text(" in ");
        self.expr(from);
        self.text("..");
        self.expr(to);
    }

    fn statement(&mut self, statement: &Statement) {
        let whole = statement.span;
        match &statement.kind {
            StatementKind::Declare(kind, declarators) => {
                self.text(declaration_word(*kind));
                self.declarators(declarators);
            }
            StatementKind::Event { name, times } => {
                self.text("event ");
                self.text(&name.text);
                if !times.is_empty() {
                    self.text(" at ");
                    self.expr_list(times);
                }
            }
            StatementKind::Instance { name, class, sizes, arguments } => {
                self.text(&name.text);
                self.text(": ");
                self.text(&class.text);
                self.sizes(sizes);
                if !arguments.is_empty() {
                    self.instance_arguments(arguments);
                }
            }
            StatementKind::Flow(body) => {
                self.text("flow");
                self.block(body, whole, is_one_simple(body));
            }
            StatementKind::Equation { lhs, rhs } => self.sides(lhs, " =", rhs),
            StatementKind::Hold(list) => {
                self.text("hold ");
                self.expr_list(list);
            }
            StatementKind::For { variable, from, to, body } => {
                self.for_head(variable, from, to);
                self.block(body, whole, is_one_simple(body));
            }
            StatementKind::Automaton { name, modes } => {
                self.text("automaton");
                if let Some(name) = name {
                    self.text(" ");
                    self.text(&name.text);
                }
                self.block(modes, whole, false);
            }
            StatementKind::Rule(rule) => self.rule(rule, whole),
            StatementKind::Invariant(guard) => {
                self.text("invariant ");
                self.expr(guard);
            }
            StatementKind::Domain(guard) => {
                self.text("domain ");
                self.expr(guard);
            }
            StatementKind::Stop { guard, message } => {
                self.text("stop when ");
                self.expr(guard);
                if let Some(message) = message {
                    self.text(" ");
                    self.quoted(message);
                }
            }
            StatementKind::Run(settings) => {
                self.text("run");
                self.block(settings, whole, true);
            }
        }
    }

    fn instance_arguments(&mut self, arguments: &[(Name, Expr)]) {
        self.text("(");
        let mut last = None;
        for (name, value) in arguments {
            if let Some(end) = last {
                self.text(",");
                self.gap(end, name.span.start);
            }
            self.named(name, value);
            last = Some(value.span.end);
        }
        self.text(")");
    }

    fn rule(&mut self, rule: &Rule, whole: Span) {
        if rule.may {
            self.text("may ");
        }
        if rule.preempt {
            self.text("preempt ");
        }
        let (word, expr) = match &rule.trigger {
            Trigger::When(expr) => ("when ", Some(expr)),
            Trigger::At(expr) => ("at ", Some(expr)),
            Trigger::After(expr) => ("after ", Some(expr)),
            Trigger::Every(expr) => ("every ", Some(expr)),
            Trigger::On(expr) => ("on ", Some(expr)),
            Trigger::Else => ("else", None),
        };
        self.text(word);
        if let Some(expr) = expr {
            self.expr(expr);
        }
        if let Some(condition) = &rule.condition {
            self.text(" when ");
            self.expr(condition);
        }
        if let Some(target) = &rule.target {
            self.text(if target.history { " -> history " } else { " -> " });
            self.text(&target.mode.text);
        }
        if rule.target.is_none() || !rule.actions.is_empty() || self.comments_within(whole) {
            let short = rule.actions.len() == 1 && is_assignment(&rule.actions[0]);
            self.block(&rule.actions, whole, short);
        }
    }
}

fn item_span(item: &Item) -> Span {
    match item {
        Item::Use { span, .. } => *span,
        Item::Function(f) => f.span,
        Item::Class(c) => c.span,
        Item::Params(list) => match (list.first(), list.last()) {
            (Some(first), Some(last)) => first.span.to(last.span),
            _ => Span::default(),
        },
    }
}

/// Items that may follow each other without an empty line.
fn is_short(item: &Item) -> bool {
    !matches!(item, Item::Class(_))
}

fn is_assignment(action: &Action) -> bool {
    matches!(action, Action::Assign { .. })
}

/// One statement without a block of its own.
fn is_one_simple(body: &[Statement]) -> bool {
    match body {
        [statement] => matches!(
            statement.kind,
            StatementKind::Declare(..)
                | StatementKind::Event { .. }
                | StatementKind::Instance { .. }
                | StatementKind::Equation { .. }
                | StatementKind::Hold(_)
                | StatementKind::Invariant(_)
                | StatementKind::Domain(_)
                | StatementKind::Stop { .. }
        ),
        _ => false,
    }
}

fn declaration_word(kind: DeclarationKind) -> &'static str {
    match kind {
        DeclarationKind::Param => "param ",
        DeclarationKind::State => "state ",
        DeclarationKind::Memory => "memory ",
        DeclarationKind::Signal => "signal ",
        DeclarationKind::Input => "input ",
        DeclarationKind::Output => "output ",
    }
}

/// Whether a setting's value is read back unchanged without quotes: a word or a number.
fn is_plain_value(value: &str) -> bool {
    let lexed = lex(0, value);
    let kinds: Vec<Kind> = lexed.tokens.iter().map(|t| t.kind).collect();
    let covers = lexed.tokens.first().is_some_and(|t| t.start == 0)
        && lexed.tokens.iter().rev().nth(1).is_some_and(|t| t.end as usize == value.len());
    let adjacent = lexed.tokens.windows(2).all(|w| w[0].end == w[1].start);
    covers
        && adjacent
        && lexed.diagnostics.is_empty()
        && matches!(
            kinds[..],
            [Kind::Name | Kind::Keyword(_) | Kind::Number, Kind::End]
                | [Kind::Minus, Kind::Number, Kind::End]
        )
}
