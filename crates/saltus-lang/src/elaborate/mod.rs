//! From syntax trees to a flat hybrid system.
//!
//! Two passes over the hierarchy: the first declares (instances, automata, modes, names), the
//! second defines (equations, reactions, transitions). Between them every declaration gets its
//! shape, sort and unit; these are found on demand, since nothing in the language depends on the
//! order of the text. Errors are collected: what depends on something already reported stays
//! silent ([`value::Reported`]), everything else goes on.

mod arithmetic;
mod builtin;
mod call;
mod constant;
mod cycle;
mod declare;
mod define;
mod expr;
mod files;
mod items;
mod lint;
mod measure;
mod resolve;
mod rule;
mod run;
mod scope;
mod structure;
mod table;
mod value;

use crate::{Diagnostic, Severity, codes};
use constant::Variability;
use files::{ItemId, Program, Reader};
use saltus_expr::hash::QuickMap;
use saltus_expr::{Expr, Graph, TableId, VarId};
use saltus_model::{HybridSystem, ModeId, SourceMap, Span};
use scope::{Declaration, DeclarationId, Scope, ScopeId};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::mem::take;
use value::{Elaborated, Measure, Reported, Value};

/// Scalar operations a model may need before it is refused as too large.
const WORK_LIMIT: usize = 10_000_000;

/// What became of a model text.
#[derive(Debug)]
pub struct Compiled {
    /// The flat system, if there is no error.
    pub system: Option<HybridSystem>,
    /// The texts the diagnostics point into.
    pub sources: SourceMap,
    /// All errors and warnings, in text order.
    pub diagnostics: Vec<Diagnostic>,
}

/// Elaborates the model of a file, or the one named `model` if there are several.
///
/// `files` answers the text of a used file or CSV table, or says why it cannot.
///
/// ```
/// let text = "model Decay { param k = 2; state x = 1; x' = -k * x }";
/// let compiled = saltus_lang::compile("decay.salt", text, None, &|_| Err("no files".into()));
/// let system = compiled.system.expect("a model without errors");
/// assert_eq!(system.name, "Decay");
/// assert_eq!(system.root.equations.len(), 1);
/// ```
pub fn compile(
    root_path: &str,
    text: &str,
    model: Option<&str>,
    files: &dyn Fn(&str) -> Result<String, String>,
) -> Compiled {
    compile_with(root_path, text, model, &[], files)
}

/// Like [`compile`], with parameters set from outside: pairs of a dotted path and a value.
///
/// This is the only way to change a parameter that sizes depend on; the others may also be changed
/// in the compiled system. A path that names nothing, or a value that does not fit what it names,
/// changes nothing; the compiled system tells the caller which these are.
///
/// ```
/// let text = "model Chain { param n = 2; state x[n] = 0; hold x }";
/// let set = [("n".to_string(), 5.0)];
/// let compiled = saltus_lang::compile_with("chain.salt", text, None, &set, &|_| Err("no files".into()));
/// assert_eq!(compiled.system.expect("no errors").root.equations.len(), 5);
/// ```
pub fn compile_with(
    root_path: &str,
    text: &str,
    model: Option<&str>,
    set: &[(String, f64)],
    files: &dyn Fn(&str) -> Result<String, String>,
) -> Compiled {
    let mut sources = SourceMap::default();
    let mut diagnostics = Vec::new();
    let program = files::load(root_path, text, files, &mut sources, &mut diagnostics);
    let syntax = diagnostics.len();
    let mut elaborator = Elaborator::new(&program, files, sources, diagnostics, set);
    elaborator.model(model);
    elaborator.check_rest();
    elaborator.lint();
    let Elaborator { mut system, sources, mut diagnostics, structural, .. } = elaborator;
    lint::drop_consequences(&mut diagnostics, syntax, &sources);
    diagnostics.sort_by_key(|d| (d.span.file, d.span.start, d.span.end, d.code));
    let sound = diagnostics.iter().all(|d| d.severity != Severity::Error);
    system.sources = sources.clone();
    system.structural = structural.into_iter().collect();
    Compiled { system: sound.then_some(system), sources, diagnostics }
}

/// Where an expression is read: its scope, local names, and whether it is (part of) a guard.
#[derive(Clone, Copy)]
struct Env<'e> {
    scope: ScopeId,
    locals: Option<&'e Local<'e>>,
    /// Inside a formula, where equality of reals is an atom.
    guard: bool,
}

impl<'e> Env<'e> {
    fn new(scope: ScopeId) -> Env<'e> {
        Env { scope, locals: None, guard: false }
    }

    fn local(&self, name: &str) -> Option<&'e Elaborated<Value>> {
        let mut next = self.locals;
        while let Some(binding) = next {
            if binding.name == name {
                return Some(&binding.value);
            }
            next = binding.next;
        }
        None
    }

    fn plain(self) -> Env<'e> {
        Env { guard: false, ..self }
    }

    fn formula(self) -> Env<'e> {
        Env { guard: true, ..self }
    }
}

/// A local name: an argument of a function or a running index.
struct Local<'e> {
    name: &'e str,
    /// What depends on a value that is not known stays silent.
    value: Elaborated<Value>,
    next: Option<&'e Local<'e>>,
}

/// The state of an elaboration.
struct Elaborator<'a> {
    program: &'a Program,
    read: Reader<'a>,
    set: &'a [(String, f64)],
    sources: SourceMap,
    system: HybridSystem,
    diagnostics: Vec<Diagnostic>,
    /// Codes and places already reported, so that a thousand instances tell an error once.
    reported: HashSet<(&'static str, Span)>,
    scopes: Vec<Scope<'a>>,
    declarations: Vec<Declaration<'a>>,
    /// The declaration each variable comes from; `None` for time, modes and derivatives.
    origin: Vec<Option<DeclarationId>>,
    file_scopes: Vec<ScopeId>,
    mode_scopes: HashMap<ModeId, ScopeId>,
    file_parameters: HashMap<(ItemId, usize), DeclarationId>,
    /// Classes being instantiated, outermost first.
    open_classes: Vec<ItemId>,
    /// Functions being inlined, outermost first.
    open_functions: Vec<ItemId>,
    /// Declarations being resolved, outermost first.
    resolving: Vec<DeclarationId>,
    /// Values of function calls by function, guard position and arguments.
    calls: HashMap<call::CallKey, Elaborated<Value>>,
    /// Values of instance arguments by scope and place.
    arguments: HashMap<(ScopeId, Span), Elaborated<Value>>,
    /// Values of signals given in their declaration.
    definitions: QuickMap<DeclarationId, Value>,
    /// Variables that are 1 while a mode is active.
    mode_variables: QuickMap<ModeId, VarId>,
    /// Inputs that an equation defines.
    connected: HashSet<VarId>,
    /// Signals that stand for derivatives read in expressions.
    derivatives: QuickMap<VarId, VarId>,
    variability: QuickMap<Expr, Variability>,
    constants: QuickMap<Expr, Option<f64>>,
    /// Parameters that sizes, ranges or tables depend on.
    structural: BTreeSet<VarId>,
    tables: HashMap<table::TableKey, TableId>,
    csv_tables: HashMap<(String, String, bool), Elaborated<TableId>>,
    /// Names (by place of declaration) and functions that something reads.
    used: HashSet<Span>,
    used_functions: HashSet<ItemId>,
    /// Classes and functions that were looked into.
    checked: HashSet<ItemId>,
    /// The class is looked at by itself: its inputs and parameters may come from outside.
    alone: bool,
    /// Names that a misspelt one was probably meant to be.
    lost_names: HashSet<String>,
    /// A remainder was met after division by a parameter that is zero.
    zero_divisor: bool,
    /// An equation was met of which it is not known what it defines.
    unclear: bool,
    /// The measures of the elements of arrays of unlike quantities.
    unlike: Vec<Vec<Measure>>,
    /// The `run` block of the model.
    run_block: Option<Span>,
    depth: usize,
    work: usize,
}

impl<'a> Elaborator<'a> {
    fn new(
        program: &'a Program,
        read: Reader<'a>,
        sources: SourceMap,
        diagnostics: Vec<Diagnostic>,
        set: &'a [(String, f64)],
    ) -> Self {
        Self {
            program,
            read,
            set,
            sources,
            system: HybridSystem::new(""),
            diagnostics,
            reported: HashSet::new(),
            scopes: vec![],
            declarations: vec![],
            origin: vec![None],
            file_scopes: vec![],
            mode_scopes: HashMap::new(),
            file_parameters: HashMap::new(),
            open_classes: vec![],
            open_functions: vec![],
            resolving: vec![],
            calls: HashMap::new(),
            arguments: HashMap::new(),
            definitions: QuickMap::default(),
            mode_variables: QuickMap::default(),
            connected: HashSet::new(),
            derivatives: QuickMap::default(),
            variability: QuickMap::default(),
            constants: QuickMap::default(),
            structural: BTreeSet::new(),
            tables: HashMap::new(),
            csv_tables: HashMap::new(),
            used: HashSet::new(),
            used_functions: HashSet::new(),
            checked: HashSet::new(),
            alone: false,
            lost_names: HashSet::new(),
            zero_divisor: false,
            unclear: false,
            unlike: vec![],
            run_block: None,
            depth: 0,
            work: 0,
        }
    }

    /// Elaborates the chosen model of the root file.
    fn model(&mut self, chosen: Option<&str>) {
        self.declare_files();
        if let Ok(class) = self.choose_model(chosen) {
            self.class(class);
        }
    }

    /// Looks for what is wrong in what the model does not use, so that a mistake shows where it is
    /// made and not only to the first user.
    fn check_rest(&mut self) {
        self.aside(|other| {
            other.resolve_files();
            other.program.functions().for_each(|id| _ = other.check_function(id));
        });
        for class in self.program.classes() {
            if !self.checked.contains(&class) {
                self.aside(|other| other.class(class));
            }
        }
    }

    /// Elaborates something for what there is to report about it, apart from the model.
    fn aside(&mut self, elaborate: impl FnOnce(&mut Self)) {
        let (sources, diagnostics) = (take(&mut self.sources), take(&mut self.diagnostics));
        let mut other = Elaborator::new(self.program, self.read, sources, diagnostics, &[]);
        other.reported = take(&mut self.reported);
        other.checked = take(&mut self.checked);
        other.alone = true;
        other.declare_files();
        elaborate(&mut other);
        Elaborator {
            sources: self.sources,
            diagnostics: self.diagnostics,
            reported: self.reported,
            checked: self.checked,
            ..
        } = other;
    }

    /// Elaborates a class as the root of a system.
    fn class(&mut self, class: ItemId) {
        let Ok(root) = self.instantiate_root(class) else { return };
        self.resolve_all();
        self.define(root);
        self.connect_defaults();
        self.spread_derivatives();
        if !self.unclear {
            self.check_structure();
            self.check_cycles();
        }
        if !self.alone {
            self.check_constants();
            if self.zero_divisor {
                self.check_remainders();
            }
        }
    }

    fn scope(&self, id: ScopeId) -> &Scope<'a> {
        &self.scopes[id.0]
    }

    fn graph(&mut self) -> &mut Graph {
        &mut self.system.graph
    }

    /// Records a diagnostic, once per code and place.
    fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        if self.reported.insert((diagnostic.code, diagnostic.span)) {
            self.diagnostics.push(diagnostic);
        }
        Reported
    }

    /// Counts work, and refuses when a model asks for absurdly much of it.
    fn spend(&mut self, scalars: usize, span: Span) -> Elaborated<()> {
        let before = self.work;
        self.work = before.saturating_add(scalars);
        if self.work <= WORK_LIMIT {
            return Ok(());
        }
        if before <= WORK_LIMIT {
            self.report(
                Diagnostic::error(
                    codes::TOO_LARGE,
                    span,
                    format!("the model needs more than {WORK_LIMIT} scalar operations to be written out"),
                )
                .label("the limit was reached here")
                .hint("check the sizes of arrays, families and instances"),
            );
        }
        Err(Reported)
    }

    /// True once the model was refused as too large.
    fn exhausted(&self) -> bool {
        self.work > WORK_LIMIT
    }
}
