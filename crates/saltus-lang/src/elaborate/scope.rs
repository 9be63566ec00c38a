//! Scopes and declarations: which name means what, where.
//!
//! Every component instance has a scope for its class body, and every mode in it a scope inside
//! that. Names are looked up from the inside out to the class body, then at the top level of the
//! file the class is written in.

use super::files::Symbol;
use super::value::{Elaborated, Measure, Reported, Shape, Value};
use super::{Elaborator, Env};
use crate::ast::{self, DeclarationKind};
use crate::suggest::{did_you_mean, near};
use crate::{Diagnostic, codes};
use saltus_expr::{Sort, VarId};
use saltus_model::{AutomatonId, EventId, ModeId, Span};
use std::collections::HashMap;
use std::rc::Rc;

/// Index of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ScopeId(pub(super) usize);

/// Index of a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct DeclarationId(pub(super) usize);

/// What a declared name stands for.
#[derive(Clone, Debug)]
pub(super) enum Entity {
    Variable(DeclarationId),
    Instances(Shape, Rc<[ScopeId]>),
    Automaton(AutomatonId),
    Event(EventId),
    /// Its declaration failed and was reported.
    Broken,
}

/// The names of a class body, a mode body, or the top level of a file.
pub(super) struct Scope<'a> {
    /// The enclosing scope of the same class.
    pub(super) parent: Option<ScopeId>,
    /// The file whose top-level names are seen.
    pub(super) file: usize,
    /// Dotted path of what is declared here, without the last dot.
    pub(super) path: String,
    /// The mode things declared here belong to.
    pub(super) owner: Option<ModeId>,
    /// The mode whose body this is; `None` for a class body, also of an instance inside a mode.
    pub(super) mode: Option<ModeId>,
    /// Index in the instance table.
    pub(super) instance: u32,
    /// Statements of the body.
    pub(super) body: &'a [ast::Statement],
    /// What each name means, with the place of its declaration.
    pub(super) names: HashMap<&'a str, (Entity, Span)>,
    /// Modes of this body's automata by name; `None` where several share a name.
    pub(super) modes: HashMap<&'a str, Option<ModeId>>,
    /// Scopes of the modes of this body's automata, in text order.
    pub(super) inner: Vec<ModeScope<'a>>,
    /// Scopes of the instances of this body with the statement each comes from, in text order.
    pub(super) instances: Vec<(Span, ScopeId)>,
    /// Declarations of this body, in text order.
    pub(super) declarations: Vec<DeclarationId>,
    /// Automata of this body without a name.
    pub(super) anonymous: u32,
    /// Whether quantities with units occur in the class, so that `time` is in seconds there.
    pub(super) measured: bool,
}

impl Scope<'_> {
    /// A scope without names, at the root of the first file.
    pub(super) fn empty() -> Self {
        Scope {
            parent: None,
            file: 0,
            path: String::new(),
            owner: None,
            mode: None,
            instance: 0,
            body: &[],
            names: HashMap::new(),
            modes: HashMap::new(),
            inner: vec![],
            instances: vec![],
            declarations: vec![],
            anonymous: 0,
            measured: false,
        }
    }
}

/// The scope of a mode.
pub(super) struct ModeScope<'a> {
    pub(super) scope: ScopeId,
    pub(super) tree: &'a ast::Mode,
}

/// A declared variable (perhaps an array), in one instance.
pub(super) struct Declaration<'a> {
    pub(super) kind: DeclarationKind,
    pub(super) tree: &'a ast::Declarator,
    pub(super) scope: ScopeId,
    /// The value given where the component is instantiated.
    pub(super) argument: Option<Argument<'a>>,
    pub(super) progress: Progress,
}

/// A named argument of an instance.
#[derive(Clone, Copy)]
pub(super) struct Argument<'a> {
    pub(super) scope: ScopeId,
    pub(super) value: &'a ast::Expr,
    /// Shape of the instance array and position in it.
    pub(super) element: (Shape, usize),
}

/// How far a declaration is elaborated: shapes are found on demand, since equations and
/// declarations may stand in any order.
#[derive(Clone)]
pub(super) enum Progress {
    Waiting,
    Busy,
    Done(Option<Resolved>),
}

/// A declaration whose variables exist.
#[derive(Clone, Debug)]
pub(super) struct Resolved {
    pub(super) shape: Shape,
    pub(super) vars: Rc<[VarId]>,
    pub(super) sort: Sort,
    pub(super) measure: Measure,
}

/// What a path such as `rooms[1..3].temp` selects.
#[derive(Clone, Debug)]
pub(super) enum Selection {
    Value(Value),
    Cells(Cells),
    Instances(Shape, Rc<[ScopeId]>),
    Automaton(AutomatonId),
    Mode(ModeId),
    Event(EventId),
}

/// Selected variables; all come from one declarator, perhaps in several instances.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    pub(super) declaration: DeclarationId,
    pub(super) shape: Shape,
    pub(super) vars: Rc<[VarId]>,
    pub(super) sort: Sort,
    pub(super) measure: Measure,
}

/// Which elements an index selects.
enum Picked {
    One(usize),
    Several(Vec<usize>),
}

impl<'a> Elaborator<'a> {
    /// What a path expression selects; other expressions select their value.
    pub(super) fn select(&mut self, env: Env<'_>, path: &ast::Expr) -> Elaborated<Selection> {
        match &path.kind {
            ast::ExprKind::Name(name) => self.select_name(env, name, path.span),
            ast::ExprKind::Member(base, name) => {
                let base_selection = self.select(env, base)?;
                self.select_member(base_selection, base, name)
            }
            ast::ExprKind::Index(base, indices) => {
                let base_selection = self.select(env, base)?;
                self.select_index(env, base_selection, indices, path.span)
            }
            _ => self.expr(env, path).map(Selection::Value),
        }
    }

    fn select_name(&mut self, env: Env<'_>, name: &str, span: Span) -> Elaborated<Selection> {
        if let Some(value) = env.local(name) {
            return value.clone().map(Selection::Value);
        }
        match name {
            // The parser puts an empty name where it could not read an expression.
            "" => return Err(Reported),
            "time" => return Ok(Selection::Value(self.time(env.scope))),
            "pi" => {
                let pi = self.graph().real(std::f64::consts::PI);
                return Ok(Selection::Value(Value::scalar(pi, Sort::Real, Measure::Plain)));
            }
            _ => {}
        }
        let mut scope = Some(env.scope);
        while let Some(id) = scope {
            if let Some(found) = self.own_name(id, name) {
                return self.select_entity(found, span);
            }
            scope = self.scope(id).parent;
        }
        let file = self.scope(env.scope).file;
        if let Some(&Symbol::Parameter(item, index)) = self.program.files[file].symbols.get(name) {
            let declaration = self.file_parameter(item, index)?;
            return self.select_entity(Found::Entity(Entity::Variable(declaration)), span);
        }
        Err(self.unknown_name(env, name, span))
    }

    /// A name declared in one scope, without looking further out.
    fn own_name(&self, scope: ScopeId, name: &str) -> Option<Found> {
        let scope = self.scope(scope);
        let declared = scope.names.get(name).map(|(entity, _)| Found::Entity(entity.clone()));
        declared.or_else(|| scope.modes.get(name).copied().flatten().map(Found::Mode))
    }

    fn select_entity(&mut self, found: Found, span: Span) -> Elaborated<Selection> {
        match found {
            Found::Mode(mode) => Ok(Selection::Mode(mode)),
            Found::Entity(Entity::Variable(declaration)) => {
                self.cells(declaration, span).map(Selection::Cells)
            }
            Found::Entity(Entity::Instances(shape, scopes)) => Ok(Selection::Instances(shape, scopes)),
            Found::Entity(Entity::Automaton(automaton)) => Ok(Selection::Automaton(automaton)),
            Found::Entity(Entity::Event(event)) => Ok(Selection::Event(event)),
            Found::Entity(Entity::Broken) => Err(Reported),
        }
    }

    /// All variables of a declaration.
    pub(super) fn cells(&mut self, declaration: DeclarationId, span: Span) -> Elaborated<Cells> {
        let Resolved { shape, vars, sort, measure } = self.resolve(declaration, span)?;
        Ok(Cells { declaration, shape, vars, sort, measure })
    }

    fn select_member(
        &mut self,
        base: Selection,
        base_tree: &ast::Expr,
        name: &ast::Name,
    ) -> Elaborated<Selection> {
        match base {
            Selection::Instances(shape, scopes) => self.member_of_instances(shape, &scopes, name),
            Selection::Automaton(automaton) => self.mode_of(automaton, name).map(Selection::Mode),
            Selection::Mode(mode) => self.member_of_mode(mode, name),
            _ => {
                let text = self.sources.text(base_tree.span).to_string();
                Err(self.report(Diagnostic::error(
                    codes::UNKNOWN_NAME,
                    name.span,
                    format!("`{text}` is not a component, so it has no part `{}`", name.text),
                )))
            }
        }
    }

    /// An automaton inside a mode, so that its modes can be asked for from outside. Variables have
    /// a meaning only while the mode is active.
    fn member_of_mode(&mut self, mode: ModeId, name: &ast::Name) -> Elaborated<Selection> {
        let scope = self.mode_scopes.get(&mode).copied().ok_or(Reported)?;
        match self.own_name(scope, &name.text) {
            Some(Found::Mode(mode)) => return Ok(Selection::Mode(mode)),
            Some(Found::Entity(Entity::Automaton(automaton))) => return Ok(Selection::Automaton(automaton)),
            Some(Found::Entity(Entity::Broken)) => return Err(Reported),
            _ => {}
        }
        let path = self.system.mode_path(mode);
        let message = format!("`{}` of the mode `{path}` is not seen from outside", name.text);
        let hint = "declare what other parts need outside the automaton";
        Err(self.report(Diagnostic::error(codes::UNKNOWN_NAME, name.span, message).hint(hint)))
    }

    /// A mode of an automaton by name.
    fn mode_of(&mut self, automaton: AutomatonId, name: &ast::Name) -> Elaborated<ModeId> {
        let modes = &self.system.automaton(automaton).modes;
        if let Some(&mode) = modes.iter().find(|&&m| self.system.mode(m).name == name.text) {
            return Ok(mode);
        }
        let known = modes.iter().map(|&m| self.system.mode(m).name.as_str());
        let hint = did_you_mean(&name.text, known);
        let path = &self.system.automaton(automaton).name;
        let message = format!("the automaton `{path}` has no mode `{}`", name.text);
        Err(self.report(hinted(Diagnostic::error(codes::UNKNOWN_MODE, name.span, message), hint)))
    }

    fn member_of_instances(
        &mut self,
        shape: Shape,
        scopes: &[ScopeId],
        name: &ast::Name,
    ) -> Elaborated<Selection> {
        let mut selections = Vec::with_capacity(scopes.len());
        for &scope in scopes {
            let Some(found) = self.own_name(scope, &name.text) else {
                return Err(self.unknown_member(scope, name));
            };
            selections.push(self.select_entity(found, name.span)?);
        }
        if shape == Shape::Scalar {
            return selections.pop().ok_or(Reported);
        }
        self.join(shape, selections, name)
    }

    /// One selection from the same member of several instances.
    fn join(&mut self, shape: Shape, selections: Vec<Selection>, name: &ast::Name) -> Elaborated<Selection> {
        let mut vars = Vec::new();
        let mut scopes = Vec::new();
        let mut inner = None;
        let mut first = None;
        for selection in selections {
            let own = match &selection {
                Selection::Cells(cells) => {
                    vars.extend_from_slice(&cells.vars);
                    cells.shape
                }
                Selection::Instances(own, inside) => {
                    scopes.extend_from_slice(inside);
                    *own
                }
                _ => {
                    let message = format!("`{}` can be taken from one instance only", name.text);
                    let hint = "select one instance by its index";
                    return Err(
                        self.report(Diagnostic::error(codes::WRONG_SHAPE, name.span, message).hint(hint))
                    );
                }
            };
            if *inner.get_or_insert(own) != own {
                let message = format!("`{}` has different sizes in these instances", name.text);
                return Err(self.report(Diagnostic::error(codes::WRONG_SHAPE, name.span, message)));
            }
            first.get_or_insert(selection);
        }
        let Some(joined) = shape.of(inner.unwrap_or(Shape::Scalar)) else {
            let message = format!("`{}` of these instances would have more than two dimensions", name.text);
            return Err(self.report(Diagnostic::error(codes::WRONG_SHAPE, name.span, message)));
        };
        match first {
            Some(Selection::Cells(cells)) => {
                Ok(Selection::Cells(Cells { shape: joined, vars: vars.into(), ..cells }))
            }
            _ => Ok(Selection::Instances(joined, scopes.into())),
        }
    }

    fn select_index(
        &mut self,
        env: Env<'_>,
        base: Selection,
        indices: &[ast::Expr],
        span: Span,
    ) -> Elaborated<Selection> {
        let shape = match &base {
            Selection::Value(value) => value.shape,
            Selection::Cells(cells) => cells.shape,
            Selection::Instances(shape, _) => *shape,
            Selection::Automaton(_) | Selection::Mode(_) | Selection::Event(_) => Shape::Scalar,
        };
        let (shape, positions) = self.positions(env, shape, indices, span)?;
        Ok(match base {
            Selection::Value(value) => {
                let items = positions.iter().map(|&p| value.items[p]).collect();
                let measure = self.picked_measure(value.measure, &positions);
                Selection::Value(Value { shape, items, measure, ..value })
            }
            Selection::Cells(cells) => {
                let vars = positions.iter().map(|&p| cells.vars[p]).collect();
                Selection::Cells(Cells { shape, vars, ..cells })
            }
            Selection::Instances(_, scopes) => {
                Selection::Instances(shape, positions.iter().map(|&p| scopes[p]).collect())
            }
            other => other,
        })
    }

    /// The shape and positions that indices select from an array; a single index of a matrix
    /// selects rows.
    fn positions(
        &mut self,
        env: Env<'_>,
        shape: Shape,
        indices: &[ast::Expr],
        span: Span,
    ) -> Elaborated<(Shape, Vec<usize>)> {
        let sizes = shape.sizes();
        if indices.is_empty() || indices.len() > sizes.len() {
            let message = match sizes.len() {
                0 => "this is a single value and has no elements".to_string(),
                n => format!("this is {shape} and takes {n} index{}", if n == 1 { "" } else { "es" }),
            };
            return Err(self.report(Diagnostic::error(codes::WRONG_SHAPE, span, message)));
        }
        let &[height, width] = sizes.as_slice() else {
            return Ok(match self.picked(env, &indices[0], sizes[0])? {
                Picked::One(p) => (Shape::Scalar, vec![p]),
                Picked::Several(ps) => (Shape::Vector(ps.len()), ps),
            });
        };
        let rows = self.picked(env, &indices[0], height);
        let columns = match indices.get(1) {
            Some(index) => self.picked(env, index, width)?,
            None => Picked::Several((0..width).collect()),
        };
        Ok(match (rows?, columns) {
            (Picked::One(r), Picked::One(c)) => (Shape::Scalar, vec![r * width + c]),
            (Picked::One(r), Picked::Several(cs)) => {
                (Shape::Vector(cs.len()), cs.iter().map(|c| r * width + c).collect())
            }
            (Picked::Several(rs), Picked::One(c)) => {
                (Shape::Vector(rs.len()), rs.iter().map(|r| r * width + c).collect())
            }
            (Picked::Several(rs), Picked::Several(cs)) => {
                let all = rs.iter().flat_map(|r| cs.iter().map(move |c| r * width + c)).collect();
                (Shape::Matrix(rs.len(), cs.len()), all)
            }
        })
    }

    fn picked(&mut self, env: Env<'_>, index: &ast::Expr, size: usize) -> Elaborated<Picked> {
        if let ast::ExprKind::Range(from, to) = &index.kind {
            let (first, last) = (self.whole_number(env, from), self.whole_number(env, to));
            let (first, last) = (first?, last?);
            if first > last {
                let message = format!("the range {first}..{last} selects nothing");
                return Err(self.report(Diagnostic::error(codes::INDEX_RANGE, index.span, message)));
            }
            self.check_index(first, size, from.span)?;
            self.check_index(last, size, to.span)?;
            return Ok(Picked::Several((first as usize - 1..last as usize).collect()));
        }
        let position = self.whole_number(env, index)?;
        self.check_index(position, size, index.span)?;
        Ok(Picked::One(position as usize - 1))
    }

    fn check_index(&mut self, index: i64, size: usize, span: Span) -> Elaborated<()> {
        if index >= 1 && index as u64 <= size as u64 {
            return Ok(());
        }
        let diagnostic =
            Diagnostic::error(codes::INDEX_RANGE, span, format!("index {index} is outside 1..{size}"));
        Err(self.report(if index == 0 { diagnostic.hint("arrays count from 1") } else { diagnostic }))
    }

    fn unknown_name(&mut self, env: Env<'_>, name: &str, span: Span) -> Reported {
        let mut known: Vec<&str> = vec!["time", "pi"];
        let mut local = env.locals;
        while let Some(binding) = local {
            known.push(binding.name);
            local = binding.next;
        }
        let mut scope = Some(env.scope);
        while let Some(id) = scope {
            known.extend(self.scope(id).names.keys());
            known.extend(self.scope(id).modes.keys());
            scope = self.scope(id).parent;
        }
        let symbols = &self.program.files[self.scope(env.scope).file].symbols;
        known.extend(
            symbols.iter().filter(|(_, s)| matches!(s, Symbol::Parameter(..))).map(|(n, _)| n.as_str()),
        );
        let near = near(name, known);
        let hint = near.first().map(|n| format!("did you mean `{n}`?"));
        let hint = hint.or_else(|| self.name_advice(env, name));
        let near: Vec<String> = near.into_iter().map(str::to_string).collect();
        self.lost_names.extend(near);
        let diagnostic = Diagnostic::error(codes::UNKNOWN_NAME, span, format!("`{name}` is not declared"))
            .label("unknown");
        self.report(hinted(diagnostic, hint))
    }

    /// Advice for a name that is known, but as something else than a value.
    fn name_advice(&self, env: Env<'_>, name: &str) -> Option<String> {
        let symbols = &self.program.files[self.scope(env.scope).file].symbols;
        match symbols.get(name) {
            Some(Symbol::Function(_)) => Some(format!("`{name}` is a function: write `{name}(...)`")),
            Some(Symbol::Class(_)) => Some(format!("`{name}` is a class: make an instance, `part: {name}`")),
            _ if super::builtin::is_builtin(name) => {
                Some(format!("`{name}` is a function: write `{name}(...)`"))
            }
            _ if name == "t" => Some("simulated time is called `time`".to_string()),
            _ => None,
        }
    }

    fn unknown_member(&mut self, scope: ScopeId, name: &ast::Name) -> Reported {
        let own = self.scope(scope);
        let near: Vec<String> =
            near(&name.text, own.names.keys().copied()).into_iter().map(str::to_string).collect();
        let class = self.system.instances[own.instance as usize].class.clone();
        let hint = near.first().map(|n| format!("did you mean `{n}`?"));
        self.lost_names.extend(near);
        let message = format!("`{class}` has no part named `{}`", name.text);
        self.report(hinted(Diagnostic::error(codes::UNKNOWN_NAME, name.span, message).label("unknown"), hint))
    }

    /// The value of `time` in a scope.
    pub(super) fn time(&mut self, scope: ScopeId) -> Value {
        let measure = if self.scope(scope).measured {
            Measure::Known(crate::units::Dimension::second())
        } else {
            Measure::Plain
        };
        let time = self.graph().var(VarId(0), Sort::Real);
        Value::scalar(time, Sort::Real, measure)
    }
}

/// What a name in a scope stands for.
enum Found {
    Entity(Entity),
    Mode(ModeId),
}

/// With a hint, if there is one.
pub(super) fn hinted(diagnostic: Diagnostic, hint: Option<String>) -> Diagnostic {
    match hint {
        Some(hint) => diagnostic.hint(hint),
        None => diagnostic,
    }
}
