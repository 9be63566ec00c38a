//! Declarations: the shape, sort, unit and starting value of every variable, found on demand.

use super::constant::Variability;
use super::files::ItemId;
use super::scope::{Declaration, DeclarationId, Progress, Resolved, hinted};
use super::value::{Elaborated, Measure, Reported, Shape, Value, sort_name};
use super::{Elaborator, Env};
use crate::ast::{self, DeclarationKind, ExprKind};
use crate::suggest::did_you_mean;
use crate::{Diagnostic, codes};
use saltus_expr::{Expr, Node, Sort, VarId};
use saltus_model::{Assigned, Span, Variable, VariableKind};

/// Scalar variables a model may have.
const MOST_VARIABLES: usize = 1_000_000;

/// How many declarations may wait for one another's shape. Beyond this a signal without a written
/// size is taken for a single value, and its equation is held to that.
const MOST_WAITING: usize = 16;

/// The values of a declaration: one expression each, or an interval.
enum Given {
    Value(Value),
    Interval(Value, Value),
}

impl Given {
    fn first(&self) -> &Value {
        match self {
            Given::Value(value) | Given::Interval(value, _) => value,
        }
    }
}

impl<'a> Elaborator<'a> {
    /// Resolves everything declared: parameters first, so that starting values find theirs, then
    /// what has a starting value, then what has equations. Parameters of used files exist only
    /// where something reads them.
    pub(super) fn resolve_all(&mut self) {
        const SWEEPS: [&[DeclarationKind]; 3] = [
            &[DeclarationKind::Param],
            &[DeclarationKind::State, DeclarationKind::Memory],
            &[DeclarationKind::Signal, DeclarationKind::Input, DeclarationKind::Output],
        ];
        for kinds in SWEEPS {
            for k in 0..self.declarations.len() {
                let Declaration { kind, scope, tree, .. } = &self.declarations[k];
                let of_used_file = self.file_scopes[1..].contains(scope);
                if kinds.contains(kind) && !of_used_file {
                    // A failure is reported where it arises.
                    let _ = self.resolve(DeclarationId(k), tree.name.span);
                }
            }
        }
    }

    /// Resolves the parameters of all files.
    pub(super) fn resolve_files(&mut self) {
        for k in 0..self.declarations.len() {
            let Declaration { scope, tree, .. } = &self.declarations[k];
            if self.file_scopes.contains(scope) {
                // A failure is reported where it arises.
                let _ = self.resolve(DeclarationId(k), tree.name.span);
            }
        }
    }

    /// The variables of a declaration.
    pub(super) fn resolve(&mut self, id: DeclarationId, span: Span) -> Elaborated<Resolved> {
        match &self.declarations[id.0].progress {
            Progress::Done(resolved) => return resolved.clone().ok_or(Reported),
            Progress::Busy => return self.provisional(id, span),
            Progress::Waiting => {}
        }
        self.declarations[id.0].progress = Progress::Busy;
        self.resolving.push(id);
        let resolved = self.resolve_new(id);
        self.resolving.pop();
        self.declarations[id.0].progress = Progress::Done(resolved.clone().ok());
        resolved
    }

    fn resolve_new(&mut self, id: DeclarationId) -> Elaborated<Resolved> {
        let Declaration { tree, kind, scope, argument, .. } = self.declarations[id.0];
        let env = Env::new(scope);
        let sizes: Vec<Elaborated<usize>> = tree.sizes.iter().map(|s| self.array_size(env, s)).collect();
        let sort = self.declared_sort(tree, kind);
        let measure = tree.unit.as_ref().map(|unit| self.declared_measure(unit)).transpose();
        let given = self.given(id, env);
        let sizes = sizes.into_iter().collect::<Elaborated<Vec<usize>>>()?;
        let (sort, measure, given) = (sort?, measure?, given?);
        let written = (!sizes.is_empty()).then(|| Shape::from_sizes(&sizes)).flatten();
        if sizes.len() > 2 {
            let message = "arrays have at most two dimensions";
            return Err(self.report(Diagnostic::error(codes::WRONG_SHAPE, tree.span, message)));
        }
        let value = given.as_ref().map(Given::first);
        let shape = written.or(value.map(|v| v.shape)).unwrap_or(Shape::Scalar);
        let sort = sort.or(value.map(|v| v.sort).filter(|s| *s == Sort::Boolean)).unwrap_or(Sort::Real);
        let measure = match (measure, value) {
            (Some(known), _) => known,
            (None, Some(Value { measure: Measure::Known(d), .. })) => Measure::Known(*d),
            _ => Measure::Unknown,
        };
        let written_value = argument.map(|a| a.value).or(tree.value.as_ref());
        let place = written_value.map_or(tree.span, |v| v.span);
        if let Progress::Done(Some(known)) = self.declarations[id.0].progress.clone() {
            return self.complete(id, known, given, place);
        }
        let given = given.map(|given| self.fitted(given, shape, sort, measure, place)).transpose();
        let given = match given {
            // What reads it is still checked against the written size.
            Err(Reported) if written.is_some() && kind != DeclarationKind::Param => None,
            given => given?,
        };
        self.check_start(kind, scope, given.as_ref(), place)?;
        self.allocate(id, Resolved { shape, vars: [].into(), sort, measure }, given)
    }

    /// What a declaration that waits for its own value looks like: an array of a written size is
    /// known well enough for its elements to read one another, anything else is a circle.
    fn provisional(&mut self, id: DeclarationId, span: Span) -> Elaborated<Resolved> {
        let Declaration { tree, kind, scope, .. } = self.declarations[id.0];
        if tree.sizes.is_empty() || !is_defined(kind) {
            return Err(self.circle(id, span));
        }
        let env = Env::new(scope);
        let sizes: Vec<Elaborated<usize>> = tree.sizes.iter().map(|s| self.array_size(env, s)).collect();
        let sizes = sizes.into_iter().collect::<Elaborated<Vec<usize>>>()?;
        let shape = Shape::from_sizes(&sizes).ok_or(Reported)?;
        let sort = self.declared_sort(tree, kind)?.unwrap_or(Sort::Real);
        let measure = tree.unit.as_ref().map(|unit| self.declared_measure(unit)).transpose()?;
        let resolved =
            Resolved { shape, vars: [].into(), sort, measure: measure.unwrap_or(Measure::Unknown) };
        let resolved = self.allocate(id, resolved, None)?;
        self.declarations[id.0].progress = Progress::Done(Some(resolved.clone()));
        Ok(resolved)
    }

    /// Gives a provisional declaration its value.
    fn complete(
        &mut self,
        id: DeclarationId,
        known: Resolved,
        given: Option<Given>,
        place: Span,
    ) -> Elaborated<Resolved> {
        if let Some(Given::Value(value)) = given {
            let value = self.fit(value, known.shape, known.sort, known.measure, place)?;
            self.definitions.insert(id, value);
        }
        Ok(known)
    }

    /// The size of an array: a whole number from 1.
    pub(super) fn array_size(&mut self, env: Env<'_>, tree: &ast::Expr) -> Elaborated<usize> {
        let size = self.whole_number(env, tree)?;
        if (1..=MOST_VARIABLES as i64).contains(&size) {
            return Ok(size as usize);
        }
        let message = format!("the size of an array must be from 1 to {MOST_VARIABLES}, not {size}");
        Err(self.report(Diagnostic::error(codes::WRONG_SHAPE, tree.span, message)))
    }

    fn declared_sort(&mut self, tree: &ast::Declarator, kind: DeclarationKind) -> Elaborated<Option<Sort>> {
        let Some(name) = &tree.sort else { return Ok(None) };
        let sort = match name.text.as_str() {
            "Real" => Sort::Real,
            "Integer" => Sort::Integer,
            "Boolean" => Sort::Boolean,
            other => {
                let hint = did_you_mean(other, ["Real", "Integer", "Boolean"]);
                let message = format!("`{other}` is not Real, Integer or Boolean");
                let diagnostic = Diagnostic::error(codes::WRONG_SORT, name.span, message);
                return Err(self.report(hinted(diagnostic, hint)));
            }
        };
        if kind == DeclarationKind::State && sort != Sort::Real {
            let message = format!("a state flows, so it cannot be {}", sort_name(sort));
            let hint = "values that change only in jumps are `memory`";
            return Err(self.report(Diagnostic::error(codes::WRONG_SORT, name.span, message).hint(hint)));
        }
        Ok(Some(sort))
    }

    /// The value a declaration is given: by an argument of its instance or after `=`.
    fn given(&mut self, id: DeclarationId, env: Env<'_>) -> Elaborated<Option<Given>> {
        let (tree, kind) = (self.declarations[id.0].tree, self.declarations[id.0].kind);
        if self.declarations[id.0].argument.is_some() {
            return self.argument_value(id, env).map(|v| Some(Given::Value(v)));
        }
        let defines =
            matches!(kind, DeclarationKind::Signal | DeclarationKind::Output | DeclarationKind::Input);
        let Some(value) = &tree.value else {
            return if defines { Ok(None) } else { Err(self.missing_value(id)) };
        };
        if let ExprKind::Call { function, arguments, named } = &value.kind
            && function.text == "interval"
            && matches!(kind, DeclarationKind::State | DeclarationKind::Memory)
        {
            self.no_named(named, "interval")?;
            let (low, high) = self.interval(env, arguments, value.span)?;
            return Ok(Some(Given::Interval(low, high)));
        }
        if defines && tree.sizes.is_empty() && self.resolving.len() > MOST_WAITING {
            return Ok(None);
        }
        self.expr(env, value).map(|v| Some(Given::Value(v)))
    }

    /// The bounds of `interval(a, b)`.
    pub(super) fn interval(
        &mut self,
        env: Env<'_>,
        arguments: &[ast::Expr],
        span: Span,
    ) -> Elaborated<(Value, Value)> {
        let [low, high] = arguments else {
            let message = format!("`interval` takes two bounds, and {} are given", arguments.len());
            return Err(self.report(Diagnostic::error(codes::WRONG_ARGUMENTS, span, message)));
        };
        let (low, high) = (self.expr(env.plain(), low), self.expr(env.plain(), high));
        let (low, high) = (low?, high?);
        self.same_measure(low.measure, high.measure, "the bounds", span);
        if let (Some(&a), Some(&b)) = (low.items.first(), high.items.first())
            && let (Some(a), Some(b)) = (self.constant(a), self.constant(b))
            && a > b
        {
            let message = format!("the lower bound {a} is above the upper bound {b}");
            return Err(self.report(Diagnostic::error(codes::WRONG_ARGUMENTS, span, message)));
        }
        Ok((low, high))
    }

    fn missing_value(&mut self, id: DeclarationId) -> Reported {
        let declaration = &self.declarations[id.0];
        let (tree, scope) = (declaration.tree, declaration.scope);
        let name = &tree.name.text;
        let inner = self.scope(scope).instance != 0;
        if declaration.kind == DeclarationKind::Param
            && self.alone
            && !inner
            && !self.file_scopes.contains(&scope)
        {
            // Families may depend on it, and so may what their equations define.
            self.unclear = true;
            return Reported;
        }
        let (code, message, hint) = match declaration.kind {
            DeclarationKind::Param if inner => (
                codes::WRONG_ARGUMENTS,
                format!("the parameter `{name}` has no default, and an instance gives it no value"),
                format!("write `({name} = ...)` behind the class of the instance"),
            ),
            DeclarationKind::Param => (
                codes::NOT_CONSTANT,
                format!("the parameter `{name}` has no value"),
                format!("write `param {name} = ...`"),
            ),
            DeclarationKind::State => (
                codes::NOT_CONSTANT,
                format!("the state `{name}` has no starting value"),
                format!("write `state {name} = 0`"),
            ),
            _ => (
                codes::NOT_CONSTANT,
                format!("the memory `{name}` has no starting value"),
                format!("write `memory {name} = 0`"),
            ),
        };
        self.report(Diagnostic::error(code, tree.span, message).hint(hint))
    }

    /// The value of an instance argument: the whole of it, or its element for this instance of an
    /// array of instances.
    fn argument_value(&mut self, id: DeclarationId, env: Env<'_>) -> Elaborated<Value> {
        let Some(argument) = self.declarations[id.0].argument else { return Err(Reported) };
        let key = (argument.scope, argument.value.span);
        let value = match self.arguments.get(&key) {
            Some(known) => known.clone()?,
            None => {
                let value = self.expr(Env::new(argument.scope), argument.value);
                self.arguments.insert(key, value.clone());
                value?
            }
        };
        let (shape, position) = argument.element;
        if shape == Shape::Scalar || value.shape != shape {
            return Ok(value);
        }
        let tree = self.declarations[id.0].tree;
        let whole = !tree.sizes.is_empty()
            || match &tree.value {
                Some(default) => self.expr(env, default).is_ok_and(|d| d.shape == shape),
                None => false,
            };
        if whole {
            return Ok(value);
        }
        Ok(Value { shape: Shape::Scalar, items: value.items[position].into(), ..value })
    }

    /// Values made to fit a declared shape, sort and unit.
    fn fitted(
        &mut self,
        given: Given,
        shape: Shape,
        sort: Sort,
        measure: Measure,
        span: Span,
    ) -> Elaborated<Given> {
        let mut fit = |value: Value| self.fit(value, shape, sort, measure, span);
        Ok(match given {
            Given::Value(value) => Given::Value(fit(value)?),
            Given::Interval(low, high) => Given::Interval(fit(low)?, fit(high)?),
        })
    }

    /// A value made to fit the shape, sort and unit of what it is given to; a single value goes to
    /// every element.
    pub(super) fn fit(
        &mut self,
        value: Value,
        shape: Shape,
        sort: Sort,
        measure: Measure,
        span: Span,
    ) -> Elaborated<Value> {
        if value.shape != shape && value.shape != Shape::Scalar {
            let message = format!("{shape} is needed here, and this is {}", value.shape);
            return Err(self.report(Diagnostic::error(codes::WRONG_SHAPE, span, message)));
        }
        let fits = value.sort == sort || (sort == Sort::Real && value.sort == Sort::Integer);
        if !fits {
            let message =
                format!("{} is needed here, and this is {}", sort_name(sort), sort_name(value.sort));
            let diagnostic = Diagnostic::error(codes::WRONG_SORT, span, message);
            let hint = match (sort, value.sort) {
                (Sort::Integer, Sort::Real) => Some("use floor, ceil or round to make it whole".to_string()),
                (_, Sort::Boolean) => Some("turn it into a number with `if ... then 1 else 0`".to_string()),
                _ => None,
            };
            return Err(self.report(hinted(diagnostic, hint)));
        }
        self.same_measure(measure, value.measure, "a value and its target", span);
        self.spend(shape.len(), span)?;
        let graph = &mut self.system.graph;
        let items = (0..shape.len())
            .map(|k| if sort == Sort::Real { graph.as_real(value.at(k)) } else { value.at(k) })
            .collect();
        Ok(Value { shape, items, sort, measure })
    }

    /// Parameters and the starting values of what exists from the start must be known by then.
    fn check_start(
        &mut self,
        kind: DeclarationKind,
        scope: super::ScopeId,
        given: Option<&Given>,
        span: Span,
    ) -> Elaborated<()> {
        let at_start = match kind {
            DeclarationKind::Param => true,
            DeclarationKind::State | DeclarationKind::Memory => self.scope(scope).owner.is_none(),
            _ => false,
        };
        let Some(given) = given.filter(|_| at_start) else { return Ok(()) };
        let bounds: Vec<Expr> = match given {
            Given::Value(value) => value.items.to_vec(),
            Given::Interval(low, high) => [&low.items[..], &high.items].concat(),
        };
        if bounds.iter().all(|&e| self.variability(e) <= Variability::Parameter) {
            return Ok(());
        }
        let message = match kind {
            DeclarationKind::Param => "a parameter is fixed before the run, but this changes during it",
            _ => "a starting value may use parameters only",
        };
        Err(self.report(Diagnostic::error(codes::NOT_CONSTANT, span, message).label("not a parameter")))
    }

    /// Makes the variables of a declaration.
    fn allocate(
        &mut self,
        id: DeclarationId,
        resolved: Resolved,
        given: Option<Given>,
    ) -> Elaborated<Resolved> {
        let (tree, declared, scope) = {
            let Declaration { tree, kind, scope, .. } = &self.declarations[id.0];
            (*tree, *kind, *scope)
        };
        self.room_for(resolved.shape.len(), tree.span)?;
        let kind = match declared {
            DeclarationKind::Param => VariableKind::Parameter,
            DeclarationKind::State => VariableKind::State,
            DeclarationKind::Memory => VariableKind::Memory,
            DeclarationKind::Signal | DeclarationKind::Input | DeclarationKind::Output => {
                VariableKind::Signal
            }
        };
        let path = self.variable_path(id);
        let unit = match (&tree.unit, resolved.measure) {
            (Some(unit), _) => Some(unit.text.clone()),
            (None, Measure::Known(dimension)) if !dimension.is_one() => Some(dimension.to_string()),
            _ => None,
        };
        // Parameters are fixed for the run even inside a mode: entering it does not set them again.
        let owner = self.scope(scope).owner.filter(|_| kind != VariableKind::Parameter);
        let mut vars = Vec::with_capacity(resolved.shape.len());
        for k in 0..resolved.shape.len() {
            let name = format!("{path}{}", resolved.shape.suffix(k));
            let start = match &given {
                _ if kind == VariableKind::Signal => None,
                Some(Given::Value(value)) => Some(Assigned::Value(value.at(k))),
                Some(Given::Interval(low, high)) => Some(Assigned::Interval(low.at(k), high.at(k))),
                None => None,
            };
            let sort = resolved.sort;
            let start = if kind.is_settable() { self.set_start(&name, start, sort) } else { start };
            let unit = unit.clone();
            let variable = Variable { name, kind, sort, unit, start, owner, span: tree.span };
            vars.push(self.add_variable(variable, Some(id)));
        }
        if kind == VariableKind::Signal
            && let Some(Given::Value(value)) = given
        {
            self.definitions.insert(id, value);
        }
        Ok(Resolved { vars: vars.into(), ..resolved })
    }

    fn room_for(&mut self, more: usize, span: Span) -> Elaborated<()> {
        if self.system.variables.len().saturating_add(more) <= MOST_VARIABLES {
            return Ok(());
        }
        self.work = usize::MAX;
        let message = format!("the model has more than {MOST_VARIABLES} scalar variables");
        let hint = "check the sizes of arrays and instances";
        Err(self.report(Diagnostic::error(codes::TOO_LARGE, span, message).hint(hint)))
    }

    /// The value set from outside, if there is one that fits.
    fn set_start(&mut self, name: &str, start: Option<Assigned>, sort: Sort) -> Option<Assigned> {
        let set = self.set;
        let Some(&(_, value)) = set.iter().rev().find(|(path, _)| path == name) else { return start };
        let fits = match sort {
            Sort::Real => true,
            Sort::Integer => value.fract() == 0.0,
            Sort::Boolean => value == 0.0 || value == 1.0,
        };
        if !fits {
            return start;
        }
        Some(Assigned::Value(self.graph().intern(Node::Const(value.to_bits(), sort))))
    }

    /// Adds a variable with the declaration it comes from.
    pub(super) fn add_variable(&mut self, variable: Variable, origin: Option<DeclarationId>) -> VarId {
        self.system.variables.push(variable);
        self.origin.push(origin);
        VarId(self.system.variables.len() as u32 - 1)
    }

    /// Dotted path of a declared variable. A parameter of a file that the model hides by one of
    /// its own goes by the name of its file.
    fn variable_path(&self, id: DeclarationId) -> String {
        let declaration = &self.declarations[id.0];
        let (scope, name) = (self.scope(declaration.scope), &declaration.tree.name.text);
        if !self.file_scopes.contains(&declaration.scope) {
            return joined(&scope.path, name);
        }
        let hidden =
            self.scopes.get(self.file_scopes.len()).is_some_and(|s| s.names.contains_key(name.as_str()));
        if !hidden {
            return name.clone();
        }
        let path = &self.program.files[scope.file].path;
        let file = path.rsplit('/').next().unwrap_or(path);
        joined(file.split('.').next().unwrap_or(file), name)
    }

    /// The declaration of a parameter at the top level of a file.
    pub(super) fn file_parameter(&mut self, item: ItemId, index: usize) -> Elaborated<DeclarationId> {
        self.file_parameters.get(&(item, index)).copied().ok_or(Reported)
    }

    fn circle(&mut self, id: DeclarationId, span: Span) -> Reported {
        let start = self.resolving.iter().position(|r| *r == id).unwrap_or(0);
        let names: Vec<String> =
            self.resolving[start..].iter().chain([&id]).map(|&d| self.variable_path(d)).collect();
        let places: Vec<Span> =
            self.resolving[start..].iter().map(|d| self.declarations[d.0].tree.span).collect();
        let message = format!("these depend on themselves: {}", names.join(" -> "));
        let mut diagnostic =
            Diagnostic::error(codes::EQUATION_CYCLE, span, message).label("closes the circle");
        for (place, name) in places.into_iter().zip(&names) {
            diagnostic = diagnostic.related(place, format!("`{name}`"));
        }
        self.report(diagnostic)
    }
}

/// Whether equations define what is declared.
fn is_defined(kind: DeclarationKind) -> bool {
    matches!(kind, DeclarationKind::Signal | DeclarationKind::Output | DeclarationKind::Input)
}

/// A dotted path.
pub(super) fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_string() } else { format!("{path}.{name}") }
}
