//! The first pass: names, instances, automata and modes, without looking at any equation.

use super::files::{ItemId, Symbol};
use super::resolve::joined;
use super::scope::{
    Argument, Declaration, DeclarationId, Entity, ModeScope, Progress, Scope, ScopeId, hinted,
};
use super::value::{Elaborated, Reported, Shape};
use super::{Elaborator, Env};
use crate::ast::{self, ClassKind, DeclarationKind, ExprKind, Item, StatementKind};
use crate::suggest::did_you_mean;
use crate::{Diagnostic, codes};
use saltus_model::{Automaton, AutomatonId, Block, EventId, EventInput, Instance, Mode, ModeId, Span};
use std::collections::HashMap;

/// Component instances a model may have.
const MOST_INSTANCES: usize = 100_000;

/// How deeply components and modes may contain one another.
const DEEPEST: usize = 64;

/// What a class body is instantiated with.
struct Blueprint<'a> {
    class: ItemId,
    tree: &'a ast::Class,
    path: String,
    /// The scope the arguments are read in, and the mode the instance lives in.
    outer: Option<ScopeId>,
    arguments: &'a [(ast::Name, ast::Expr)],
    /// Shape of the instance array and position in it.
    element: (Shape, usize),
}

impl<'a> Elaborator<'a> {
    /// One scope per file for its parameters.
    pub(super) fn declare_files(&mut self) {
        let program = self.program;
        for (file, parsed) in program.files.iter().enumerate() {
            let id = self.add_scope(Scope {
                file,
                measured: parsed.tree.items.iter().any(item_has_units),
                ..Scope::empty()
            });
            self.file_scopes.push(id);
            for (item, content) in parsed.tree.items.iter().enumerate() {
                if let Item::Params(list) = content {
                    for (index, tree) in list.iter().enumerate() {
                        let declaration = self.add_declaration(DeclarationKind::Param, tree, id, None);
                        self.file_parameters.insert((ItemId { file, item }, index), declaration);
                    }
                }
            }
        }
    }

    /// The model to run.
    pub(super) fn choose_model(&mut self, chosen: Option<&str>) -> Elaborated<ItemId> {
        let program = self.program;
        let Some(root) = program.files.first() else { return Err(Reported) };
        if let Some(name) = chosen {
            let found = match root.symbols.get(name) {
                Some(&Symbol::Class(id)) => program.class(id).map(|c| (id, c)),
                _ => None,
            };
            return match found {
                Some((id, class)) if class.kind == ClassKind::Model => Ok(id),
                Some((_, class)) => {
                    let message = format!("`{name}` is a component; only a model can be run");
                    Err(self.report(Diagnostic::error(codes::NO_MODEL, class.name.span, message)))
                }
                None => {
                    let hint = did_you_mean(name, root.symbols.keys().map(String::as_str));
                    let message = format!("there is no model `{name}` in {}", root.path);
                    let diagnostic = Diagnostic::error(codes::NO_MODEL, Span::default(), message);
                    Err(self.report(hinted(diagnostic, hint)))
                }
            };
        }
        let models: Vec<(ItemId, &ast::Class)> = (0..root.tree.items.len())
            .map(|item| ItemId { file: 0, item })
            .filter_map(|id| program.class(id).map(|c| (id, c)))
            .filter(|(id, c)| {
                // A second one of a name is reported as such.
                let is_first = root.symbols.get(&c.name.text) == Some(&Symbol::Class(*id));
                c.kind == ClassKind::Model && is_first
            })
            .collect();
        match models.as_slice() {
            [(id, _)] => Ok(*id),
            [] => {
                let message = format!("{} contains no model", root.path);
                let hint = "a model starts with `model Name {`; components are parts of models";
                Err(self.report(Diagnostic::error(codes::NO_MODEL, Span::default(), message).hint(hint)))
            }
            several => {
                let names: Vec<&str> = several.iter().map(|(_, c)| c.name.text.as_str()).collect();
                let message = format!("the file contains several models: {}", names.join(", "));
                let mut diagnostic = Diagnostic::error(codes::NO_MODEL, several[0].1.name.span, message)
                    .hint(format!("choose one, for example --model {}", names[0]));
                for (_, class) in &several[1..] {
                    diagnostic = diagnostic.related(class.name.span, "another model");
                }
                Err(self.report(diagnostic))
            }
        }
    }

    /// The instance of the model itself.
    pub(super) fn instantiate_root(&mut self, class: ItemId) -> Elaborated<ScopeId> {
        let tree = self.program.class(class).ok_or(Reported)?;
        self.system.name = tree.name.text.clone();
        self.system.instances.clear();
        self.instantiate(Blueprint {
            class,
            tree,
            path: String::new(),
            outer: None,
            arguments: &[],
            element: (Shape::Scalar, 0),
        })
    }

    fn instantiate(&mut self, blueprint: Blueprint<'a>) -> Elaborated<ScopeId> {
        let Blueprint { class, tree, path, outer, arguments, element } = blueprint;
        self.checked.insert(class);
        let (owner, parent) = match outer {
            Some(outer) => (self.scope(outer).owner, Some(self.scope(outer).instance)),
            None => (None, None),
        };
        let instance = self.system.instances.len() as u32;
        self.system.instances.push(Instance {
            path: path.clone(),
            class: tree.name.text.clone(),
            parent,
            mode: owner,
            automata: vec![],
        });
        let measured = has_units(&tree.body) || tree.parameters.iter().any(declarator_has_units);
        let scope = self.add_scope(Scope {
            file: class.file,
            path,
            owner,
            instance,
            body: &tree.body,
            measured,
            ..Scope::empty()
        });
        self.open_classes.push(class);
        for declarator in &tree.parameters {
            self.declare_variable(scope, DeclarationKind::Param, declarator, arguments, outer, element);
        }
        self.declare_variables(scope, &tree.body, arguments, outer, element);
        self.check_arguments(scope, tree, arguments);
        self.depth += 1;
        self.declare_parts(scope, &tree.body);
        self.depth -= 1;
        self.open_classes.pop();
        Ok(scope)
    }

    fn add_scope(&mut self, scope: Scope<'a>) -> ScopeId {
        self.scopes.push(scope);
        ScopeId(self.scopes.len() - 1)
    }

    fn add_declaration(
        &mut self,
        kind: DeclarationKind,
        tree: &'a ast::Declarator,
        scope: ScopeId,
        argument: Option<Argument<'a>>,
    ) -> DeclarationId {
        self.declarations.push(Declaration { kind, tree, scope, argument, progress: Progress::Waiting });
        let id = DeclarationId(self.declarations.len() - 1);
        self.scopes[scope.0].declarations.push(id);
        id
    }

    /// Declares the variables and events of a body, before anything that may read them.
    fn declare_variables(
        &mut self,
        scope: ScopeId,
        body: &'a [ast::Statement],
        arguments: &'a [(ast::Name, ast::Expr)],
        outer: Option<ScopeId>,
        element: (Shape, usize),
    ) {
        for statement in body {
            match &statement.kind {
                StatementKind::Declare(kind, list) => {
                    for declarator in list {
                        self.declare_variable(scope, *kind, declarator, arguments, outer, element);
                    }
                }
                StatementKind::Event { name, .. } => {
                    let event = EventId(self.system.events.len() as u32);
                    let path = joined(&self.scope(scope).path, &name.text);
                    self.system.events.push(EventInput { name: path, times: vec![], span: name.span });
                    self.enter(scope, name, Entity::Event(event));
                }
                _ => {}
            }
        }
    }

    fn declare_variable(
        &mut self,
        scope: ScopeId,
        kind: DeclarationKind,
        tree: &'a ast::Declarator,
        arguments: &'a [(ast::Name, ast::Expr)],
        outer: Option<ScopeId>,
        element: (Shape, usize),
    ) {
        let port = matches!(kind, DeclarationKind::Input | DeclarationKind::Output);
        if port && self.scope(scope).mode.is_some() {
            let message = "inputs and outputs belong to the component, not to a mode";
            let hint = "declare a `signal` here, or the port outside the automaton";
            self.report(Diagnostic::error(codes::MISPLACED, tree.span, message).hint(hint));
        }
        let given = arguments.iter().find(|(name, _)| name.text == tree.name.text).map(|(_, value)| value);
        let argument = match (given, outer) {
            (Some(value), Some(scope)) if kind == DeclarationKind::Param => {
                Some(Argument { scope, value, element })
            }
            _ => None,
        };
        let id = self.add_declaration(kind, tree, scope, argument);
        self.enter(scope, &tree.name, Entity::Variable(id));
    }

    /// Enters a name into a scope.
    fn enter(&mut self, scope: ScopeId, name: &'a ast::Name, entity: Entity) {
        let own = matches!(name.text.as_str(), "time" | "pi");
        if own {
            let message = format!("`{}` is a name of the language", name.text);
            self.report(Diagnostic::error(codes::DUPLICATE_NAME, name.span, message));
            return;
        }
        if let Some(&(_, first)) = self.scope(scope).names.get(name.text.as_str()) {
            let message = format!("`{}` is declared twice", name.text);
            self.report(
                Diagnostic::error(codes::DUPLICATE_NAME, name.span, message)
                    .label("second declaration")
                    .related(first, "first declared here"),
            );
            return;
        }
        self.scopes[scope.0].names.insert(&name.text, (entity, name.span));
    }

    fn check_arguments(
        &mut self,
        scope: ScopeId,
        class: &'a ast::Class,
        arguments: &'a [(ast::Name, ast::Expr)],
    ) {
        for (k, (name, _)) in arguments.iter().enumerate() {
            if let Some((first, _)) = arguments[..k].iter().find(|(other, _)| other.text == name.text) {
                let message = format!("the argument `{}` is given twice", name.text);
                self.report(
                    Diagnostic::error(codes::WRONG_ARGUMENTS, name.span, message)
                        .related(first.span, "first given here"),
                );
                continue;
            }
            let kind = match self.scope(scope).names.get(name.text.as_str()) {
                Some((Entity::Variable(id), _)) => Some(self.declarations[id.0].kind),
                _ => None,
            };
            let class_name = &class.name.text;
            let hint = match kind {
                Some(DeclarationKind::Param) => continue,
                Some(DeclarationKind::Input) => {
                    Some(format!("`{0}` is an input: connect it, `part.{0} = ...`", name.text))
                }
                _ => did_you_mean(&name.text, self.parameter_names(scope)),
            };
            let message = format!("`{class_name}` has no parameter `{}`", name.text);
            let diagnostic = Diagnostic::error(codes::WRONG_ARGUMENTS, name.span, message);
            self.report(hinted(diagnostic, hint));
        }
    }

    fn parameter_names(&self, scope: ScopeId) -> Vec<&'a str> {
        let declarations = self.scope(scope).declarations.iter().map(|id| &self.declarations[id.0]);
        declarations.filter(|d| d.kind == DeclarationKind::Param).map(|d| d.tree.name.text.as_str()).collect()
    }

    /// Declares instances and automata in text order.
    fn declare_parts(&mut self, scope: ScopeId, body: &'a [ast::Statement]) {
        for statement in body {
            match &statement.kind {
                StatementKind::Instance { name, class, sizes, arguments } => {
                    let made = self.declare_instances(scope, name, class, sizes, arguments, statement.span);
                    if made.is_err() {
                        self.enter(scope, name, Entity::Broken);
                    }
                }
                StatementKind::Automaton { name, modes } => {
                    self.declare_automaton(scope, name.as_ref(), modes, statement.span);
                }
                _ => {}
            }
        }
    }

    fn declare_instances(
        &mut self,
        scope: ScopeId,
        name: &'a ast::Name,
        class: &'a ast::Name,
        sizes: &'a [ast::Expr],
        arguments: &'a [(ast::Name, ast::Expr)],
        span: Span,
    ) -> Elaborated<()> {
        let program = self.program;
        let symbols = &program.files[self.scope(scope).file].symbols;
        let Some(&Symbol::Class(id)) = symbols.get(&class.text) else {
            let classes =
                symbols.iter().filter(|(_, s)| matches!(s, Symbol::Class(_))).map(|(n, _)| n.as_str());
            let hint = did_you_mean(&class.text, classes);
            let message = format!("there is no component `{}`", class.text);
            return Err(
                self.report(hinted(Diagnostic::error(codes::UNKNOWN_NAME, class.span, message), hint))
            );
        };
        let tree = program.class(id).ok_or(Reported)?;
        if let Some(start) = self.open_classes.iter().position(|c| *c == id) {
            return Err(self.class_recursion(start, id, class.span));
        }
        if self.depth >= DEEPEST {
            let message = format!("modes and components are nested more than {DEEPEST} levels deep");
            return Err(self.report(Diagnostic::error(codes::TOO_DEEP, class.span, message)));
        }
        let env = Env::new(scope);
        let sizes: Vec<Elaborated<usize>> = sizes.iter().map(|s| self.array_size(env, s)).collect();
        let sizes = sizes.into_iter().collect::<Elaborated<Vec<usize>>>()?;
        let Some(shape) = Shape::from_sizes(&sizes) else {
            let message = "arrays of instances have at most two dimensions";
            return Err(self.report(Diagnostic::error(codes::WRONG_SHAPE, span, message)));
        };
        let mut made = Vec::new();
        for position in 0..shape.len() {
            self.room_for_instance(class.span)?;
            let own = format!("{}{}", name.text, shape.suffix(position));
            let path = joined(&self.scope(scope).path, &own);
            let element = (shape, position);
            made.push(self.instantiate(Blueprint {
                class: id,
                tree,
                path,
                outer: Some(scope),
                arguments,
                element,
            })?);
        }
        self.scopes[scope.0].instances.extend(made.iter().map(|&s| (span, s)));
        self.enter(scope, name, Entity::Instances(shape, made.into()));
        Ok(())
    }

    fn room_for_instance(&mut self, span: Span) -> Elaborated<()> {
        if self.exhausted() {
            return Err(Reported);
        }
        if self.system.instances.len() < MOST_INSTANCES {
            return Ok(());
        }
        self.work = usize::MAX;
        let message = format!("the model has more than {MOST_INSTANCES} component instances");
        let hint = "check the sizes of arrays of instances, also inside components";
        Err(self.report(Diagnostic::error(codes::TOO_LARGE, span, message).hint(hint)))
    }

    fn class_recursion(&mut self, start: usize, id: ItemId, span: Span) -> Reported {
        let program = self.program;
        let name = |c: &ItemId| program.class(*c).map_or("", |c| &c.name.text);
        let circle: Vec<&str> = self.open_classes[start..].iter().chain([&id]).map(name).collect();
        let message = format!("a component may not contain itself: {}", circle.join(" -> "));
        self.report(Diagnostic::error(codes::RECURSION, span, message))
    }

    fn declare_automaton(
        &mut self,
        scope: ScopeId,
        name: Option<&'a ast::Name>,
        modes: &'a [ast::Mode],
        span: Span,
    ) {
        let Some(first) = modes.first() else {
            let message = "an automaton needs at least one mode, marked `initial`";
            self.report(Diagnostic::error(codes::NO_INITIAL_MODE, span, message));
            if let Some(name) = name {
                self.enter(scope, name, Entity::Broken);
            }
            return;
        };
        let id = AutomatonId(self.system.automata.len() as u32);
        let first_mode = self.system.modes.len() as u32;
        let ids: Vec<ModeId> = (0..modes.len() as u32).map(|k| ModeId(first_mode + k)).collect();
        let initial = self.initial_mode(modes, name.map_or(span, |n| n.span));
        let own = name.map_or_else(|| self.anonymous_name(scope), |n| n.text.clone());
        let path = joined(&self.scope(scope).path, &own);
        let (owner, instance) = (self.scope(scope).owner, self.scope(scope).instance);
        self.system.automata.push(Automaton {
            name: path.clone(),
            parent: owner,
            modes: ids.clone(),
            initial: ids[initial],
            span: name.map_or(first.span, |n| n.span),
        });
        self.block(owner).automata.push(id);
        self.system.instances[instance as usize].automata.push(id);
        self.declare_modes(scope, id, modes, &path);
        if let Some(name) = name {
            self.enter(scope, name, Entity::Automaton(id));
        }
        for (mode, tree) in ids.into_iter().zip(modes) {
            self.declare_mode_body(scope, mode, tree, joined(&path, &tree.name.text));
        }
    }

    fn declare_modes(&mut self, scope: ScopeId, automaton: AutomatonId, modes: &'a [ast::Mode], path: &str) {
        let mut seen: HashMap<&str, Span> = HashMap::new();
        for tree in modes {
            let mode = ModeId(self.system.modes.len() as u32);
            self.system.modes.push(Mode {
                name: tree.name.text.clone(),
                automaton,
                block: Block::default(),
                transitions: vec![],
                span: tree.name.span,
            });
            let known = &mut self.scopes[scope.0].modes;
            // A name that two automata of one body share means nothing without the automaton.
            known.entry(&tree.name.text).and_modify(|m| *m = None).or_insert(Some(mode));
            if let Some(first) = seen.insert(&tree.name.text, tree.name.span) {
                let message = format!("the automaton `{path}` has two modes `{}`", tree.name.text);
                self.report(
                    Diagnostic::error(codes::DUPLICATE_NAME, tree.name.span, message)
                        .label("second mode")
                        .related(first, "first declared here"),
                );
            }
        }
    }

    fn declare_mode_body(&mut self, outer: ScopeId, mode: ModeId, tree: &'a ast::Mode, path: String) {
        if self.depth >= DEEPEST {
            let message = format!("modes and components are nested more than {DEEPEST} levels deep");
            self.report(Diagnostic::error(codes::TOO_DEEP, tree.name.span, message));
            return;
        }
        let (file, instance, measured) =
            (self.scope(outer).file, self.scope(outer).instance, self.scope(outer).measured);
        let scope = self.add_scope(Scope {
            parent: Some(outer),
            file,
            path,
            owner: Some(mode),
            mode: Some(mode),
            instance,
            body: &tree.body,
            measured,
            ..Scope::empty()
        });
        self.scopes[outer.0].inner.push(ModeScope { scope, tree });
        self.mode_scopes.insert(mode, scope);
        self.declare_variables(scope, &tree.body, &[], None, (Shape::Scalar, 0));
        self.depth += 1;
        self.declare_parts(scope, &tree.body);
        self.depth -= 1;
    }

    /// The position of the initial mode; the first one if that is not clear.
    fn initial_mode(&mut self, modes: &[ast::Mode], span: Span) -> usize {
        let marked: Vec<usize> = (0..modes.len()).filter(|&k| modes[k].initial).collect();
        match marked.as_slice() {
            [only] => return *only,
            [] => {
                let message = "no mode of this automaton is marked `initial`";
                let hint = format!("write `initial mode {}`", modes[0].name.text);
                self.report(Diagnostic::error(codes::NO_INITIAL_MODE, span, message).hint(hint));
            }
            several => {
                let message = "an automaton starts in one mode, but several are marked `initial`";
                let mut diagnostic = Diagnostic::error(codes::NO_INITIAL_MODE, span, message);
                for &k in several {
                    diagnostic = diagnostic.related(modes[k].name.span, "marked `initial`");
                }
                self.report(diagnostic);
            }
        }
        0
    }

    /// `automaton`, `automaton2`, ... for automata without a name of their own.
    fn anonymous_name(&mut self, scope: ScopeId) -> String {
        let taken = &mut self.scopes[scope.0].anonymous;
        *taken += 1;
        if *taken == 1 { "automaton".to_string() } else { format!("automaton{taken}") }
    }
}

fn item_has_units(item: &Item) -> bool {
    match item {
        Item::Params(list) => list.iter().any(declarator_has_units),
        _ => false,
    }
}

/// Whether quantities with units are declared in a body or in its modes.
fn has_units(body: &[ast::Statement]) -> bool {
    body.iter().any(|statement| match &statement.kind {
        StatementKind::Declare(_, list) => list.iter().any(declarator_has_units),
        StatementKind::Automaton { modes, .. } => modes.iter().any(|m| has_units(&m.body)),
        _ => false,
    })
}

fn declarator_has_units(declarator: &ast::Declarator) -> bool {
    let literal = declarator
        .value
        .as_ref()
        .is_some_and(|value| matches!(&value.kind, ExprKind::Number { unit: Some(_), .. }));
    declarator.unit.is_some() || literal
}
