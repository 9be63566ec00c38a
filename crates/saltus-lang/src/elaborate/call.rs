//! Calls of user functions: inlined, each distinct call once.

use super::files::{ItemId, Symbol};
use super::items::Items;
use super::scope::{Selection, hinted};
use super::value::{Elaborated, Measure, Reported, Shape, Value};
use super::{Elaborator, Env, Local, builtin};
use crate::suggest::did_you_mean;
use crate::{Diagnostic, ast, codes};
use saltus_model::Span;

/// A call: the function, whether it stands in a guard, and its arguments.
pub(super) type CallKey = (ItemId, bool, Vec<(Shape, Items, Measure)>);

impl<'a> Elaborator<'a> {
    /// `f(a, b, key = c)`.
    pub(super) fn call(
        &mut self,
        env: Env<'_>,
        function: &ast::Name,
        arguments: &[ast::Expr],
        named: &[(ast::Name, ast::Expr)],
        span: Span,
    ) -> Elaborated<Value> {
        let file = self.scope(env.scope).file;
        if let Some(&Symbol::Function(id)) = self.program.files[file].symbols.get(&function.text) {
            return self.call_user(env, id, arguments, named, span);
        }
        if builtin::is_builtin(&function.text) {
            return self.builtin(env, function, arguments, named, span);
        }
        Err(self.unknown_function(env, function))
    }

    fn call_user(
        &mut self,
        env: Env<'_>,
        id: ItemId,
        arguments: &[ast::Expr],
        named: &[(ast::Name, ast::Expr)],
        span: Span,
    ) -> Elaborated<Value> {
        let program = self.program;
        let tree = program.function(id).ok_or(Reported)?;
        self.used_functions.insert(id);
        self.no_named(named, &tree.name.text)?;
        if arguments.len() != tree.arguments.len() {
            let message = format!(
                "`{}` takes {} arguments, and {} are given",
                tree.name.text,
                tree.arguments.len(),
                arguments.len()
            );
            return Err(self.report(
                Diagnostic::error(codes::WRONG_ARGUMENTS, span, message)
                    .related(tree.name.span, "defined here"),
            ));
        }
        if let Some(start) = self.open_functions.iter().position(|f| *f == id) {
            return Err(self.recursion(start, id, span));
        }
        let Ok(values) = self.all(arguments, env.plain()) else { return self.check_function(id) };
        let key = (id, env.guard, values.iter().map(|v| (v.shape, v.items.clone(), v.measure)).collect());
        if let Some(known) = self.calls.get(&key) {
            return known.clone();
        }
        let result = self.read_body(id, env.guard, values.into_iter().map(Ok));
        self.calls.insert(key, result.clone());
        result
    }

    /// Looks, once, for what is wrong in a function whatever its arguments are.
    pub(super) fn check_function(&mut self, id: ItemId) -> Elaborated<Value> {
        if self.checked.contains(&id) {
            return Err(Reported);
        }
        self.read_body(id, true, std::iter::repeat(Err(Reported))).and(Err(Reported))
    }

    /// Reads the body of a function under its arguments, bound one by one.
    fn read_body(
        &mut self,
        id: ItemId,
        guard: bool,
        values: impl Iterator<Item = Elaborated<Value>>,
    ) -> Elaborated<Value> {
        let function = self.program.function(id).ok_or(Reported)?;
        self.checked.insert(id);
        self.open_functions.push(id);
        let names = function.arguments.iter().map(|n| n.text.as_str());
        let bound: Vec<(&str, Elaborated<Value>)> = names.zip(values).collect();
        let env = Env { scope: self.file_scopes[id.file], locals: None, guard };
        let result = self.bind(env, &bound, &function.body);
        self.open_functions.pop();
        result
    }

    fn bind(
        &mut self,
        env: Env<'_>,
        bound: &[(&str, Elaborated<Value>)],
        body: &ast::Expr,
    ) -> Elaborated<Value> {
        let Some(((name, value), rest)) = bound.split_first() else { return self.expr(env, body) };
        let local = Local { name, value: value.clone(), next: env.locals };
        self.bind(Env { locals: Some(&local), ..env }, rest, body)
    }

    fn recursion(&mut self, start: usize, id: ItemId, span: Span) -> Reported {
        let program = self.program;
        let name = |f: &ItemId| program.function(*f).map_or("", |f| &f.name.text);
        let circle: Vec<&str> = self.open_functions[start..].iter().chain([&id]).map(name).collect();
        let message = format!("a function may not call itself: {}", circle.join(" -> "));
        self.report(Diagnostic::error(codes::RECURSION, span, message).label("calls itself here"))
    }

    fn unknown_function(&mut self, env: Env<'_>, function: &ast::Name) -> Reported {
        let name = &function.text;
        let symbols = &self.program.files[self.scope(env.scope).file].symbols;
        let own = symbols.iter().filter(|(_, s)| matches!(s, Symbol::Function(_))).map(|(n, _)| n.as_str());
        let hint = match symbols.get(name) {
            Some(Symbol::Class(_)) => {
                Some(format!("`{name}` is a class: make an instance, `part: {name}(...)`"))
            }
            _ if name == "ln" => Some("the natural logarithm is `log`".into()),
            _ => did_you_mean(name, own.chain(builtin::names().map(|n| -> &str { n }))),
        };
        let message = format!("there is no function `{name}`");
        self.report(hinted(Diagnostic::error(codes::UNKNOWN_NAME, function.span, message), hint))
    }

    /// Refuses named arguments where none are taken.
    pub(super) fn no_named(&mut self, named: &[(ast::Name, ast::Expr)], function: &str) -> Elaborated<()> {
        match named.first() {
            None => Ok(()),
            Some((name, _)) => {
                let message = format!("`{function}` has no argument named `{}`", name.text);
                Err(self.report(Diagnostic::error(codes::WRONG_ARGUMENTS, name.span, message)))
            }
        }
    }

    /// `in(Automaton.Mode)`.
    pub(super) fn in_call(&mut self, env: Env<'_>, arguments: &[ast::Expr], span: Span) -> Elaborated<Value> {
        if let [path] = arguments
            && let Selection::Mode(mode) = self.select(env, path)?
        {
            return Ok(self.in_mode(mode));
        }
        let message = "`in` takes one mode, for example `in(Control.Heating)`";
        Err(self.report(Diagnostic::error(codes::WRONG_ARGUMENTS, span, message)))
    }
}
