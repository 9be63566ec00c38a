//! Hybrid systems written in Rust.
//!
//! A [`Builder`] makes the same [`HybridSystem`] that the language makes. Declarations give small
//! handles, numbers are [`Quantity`], truths are [`Formula`]; operators and comparisons on them
//! make expressions. What stands in the root or in a mode is said through [`Block`], which both the
//! builder and a [`Mode`] have. Mistakes are collected and reported together by
//! [`Builder::finish`].
//!
//! A ball that bounces:
//!
//! ```
//! use saltus_model::builder::{Block, Builder};
//!
//! let b = Builder::new("Ball");
//! let (g, e) = (b.parameter("g", 9.81), b.parameter("e", 0.8));
//! let (x, v) = (b.state("x", 10.0), b.state("v", 0.0));
//! b.flow(x, v);
//! b.flow(v, -g);
//! b.when(x.le(0.0).and(v.lt(0.0))).set(v, -e * v);
//! b.until(5.0);
//! b.plot(&[x, v]);
//! let system = b.finish()?;
//! assert_eq!(system.root.reactions[0].name, "when x <= 0 and v < 0");
//! # Ok::<(), saltus_model::builder::BuildErrors>(())
//! ```
//!
//! A thermostat with two modes:
//!
//! ```
//! use saltus_model::builder::{Block, Builder};
//!
//! let b = Builder::new("Thermostat");
//! let x = b.state("x", 20.0);
//! let control = b.automaton("control");
//! let (heating, idle) = (control.mode("Heating"), control.mode("Idle"));
//! heating.flow(x, 2.0 - 0.1 * (x - 5.0));
//! heating.when(x.ge(21.0)).to(idle);
//! idle.flow(x, -0.1 * (x - 5.0));
//! idle.invariant(x.ge(19.0));
//! idle.when(x.le(19.5)).may().to(heating);
//! let system = b.finish()?;
//! assert_eq!(system.modes[0].transitions[0].name, "Heating -> Idle");
//! # Ok::<(), saltus_model::builder::BuildErrors>(())
//! ```

mod block;
mod check;
mod error;
mod expression;
mod rule;

pub use block::{Automaton, Block, Mode};
pub use error::{BuildError, BuildErrors};
pub use expression::{Formula, Given, Handle, Interval, Number, Quantity, Term, Truth, interval};
pub use rule::{Event, Rule};

use crate::source::Span;
use crate::system::{EventId, EventInput, HybridSystem, ModeId, Panel, Variable, VariableKind};
use rule::RuleDraft;
use saltus_expr::{Expr, Sort, Table, VarId};
use std::cell::RefCell;
use std::collections::HashSet;

/// A hybrid system under construction; see the [module](self).
#[derive(Debug)]
pub struct Builder {
    draft: RefCell<Draft>,
}

/// What has been said so far.
#[derive(Clone, Debug)]
struct Draft {
    system: HybridSystem,
    rules: Vec<RuleDraft>,
    names: HashSet<String>,
    /// What was said, one statement to a line: reports quote it as they quote a model's text.
    text: String,
    errors: Vec<BuildError>,
}

impl Draft {
    fn refuse(&mut self, error: BuildError) {
        if !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    /// Writes a statement down and returns its place.
    fn write(&mut self, statement: &str) -> Span {
        let start = self.text.len() as u32;
        self.text.push_str(statement);
        let end = self.text.len() as u32;
        self.text.push('\n');
        Span { file: 0, start, end }
    }

    /// An expression in words.
    fn words(&self, e: Expr) -> String {
        self.words_in(None, e)
    }

    /// An expression in words, with the names of a mode's own variables as they are known in it.
    fn words_in(&self, owner: Option<ModeId>, e: Expr) -> String {
        let scope = self.path(owner, "");
        let names = |v: VarId| {
            let name = &self.system.variable(v).name;
            name.strip_prefix(&scope).unwrap_or(name).to_owned()
        };
        self.system.graph.display(e, &names).to_string()
    }

    /// The path of a name in a block.
    fn path(&self, owner: Option<ModeId>, name: &str) -> String {
        owner.map_or_else(|| name.to_owned(), |m| format!("{}.{name}", self.system.mode_path(m)))
    }

    /// Takes a name that nothing else may have.
    fn take_name(&mut self, owner: Option<ModeId>, name: &str) -> String {
        let path = self.path(owner, name);
        let own = ["", "time", "pi"].contains(&name);
        if own || !self.names.insert(path.clone()) {
            self.refuse(BuildError::Name(path.clone()));
        }
        path
    }

    fn add_variable(&mut self, variable: Variable) -> Expr {
        let v = VarId(self.system.variables.len() as u32);
        let sort = variable.sort;
        self.system.variables.push(variable);
        self.system.graph.var(v, sort)
    }

    /// The variable that follows a mode, made when it is first asked for.
    fn mode_variable(&mut self, kind: VariableKind, name: &str, mode: ModeId, sort: Sort) -> Expr {
        let known = self.system.variables_of(kind).next();
        if let Some(v) = known {
            return self.system.graph.var(v, sort);
        }
        let name = format!("{name}({})", self.system.mode_path(mode));
        let span = self.system.mode(mode).span;
        self.add_variable(Variable { name, kind, sort, unit: None, start: None, owner: None, span })
    }
}

impl Builder {
    /// An empty system.
    pub fn new(name: &str) -> Self {
        let system = HybridSystem::new(name);
        let text = String::new();
        let draft = Draft { system, rules: vec![], names: HashSet::new(), text, errors: vec![] };
        Self { draft: RefCell::new(draft) }
    }

    /// A parameter: fixed for a run, which may give it another value.
    pub fn parameter<'b, T: Term<'b>>(&'b self, name: &str, value: T) -> T::Handle {
        let start = value.assigned(self);
        block::declare(self, None, name, VariableKind::Parameter, "param", None, start)
    }

    /// Simulated time.
    pub fn time(&self) -> Quantity<'_> {
        let expr = self.draft.borrow_mut().system.graph.var(VarId(0), Sort::Real);
        Quantity::new(self, expr)
    }

    /// A constant, where an operator needs a handle on its left: `b.number(2.0).pow(x)`.
    pub fn number<'b, N: Number<'b>>(&'b self, value: N) -> Quantity<'b> {
        Quantity::new(self, value.expr(self))
    }

    /// An event from outside, at the given times.
    pub fn event<'b, N: Number<'b>>(&'b self, name: &str, times: impl IntoIterator<Item = N>) -> Event<'b> {
        let times: Vec<Expr> = times.into_iter().map(|t| t.expr(self)).collect();
        let mut draft = self.draft.borrow_mut();
        times.iter().for_each(|&t| draft.require_known(t, name));
        let name = draft.take_name(None, name);
        let span = draft.write(&format!("event {name}"));
        let id = EventId(draft.system.events.len() as u32);
        draft.system.events.push(EventInput { name, times, span });
        Event { builder: self, id }
    }

    /// The value of a table over one argument.
    ///
    /// ```
    /// use saltus_expr::{Extrapolation, Interpolation, Table};
    /// use saltus_model::builder::{Block, Builder};
    ///
    /// let b = Builder::new("Ramp");
    /// let table = Table {
    ///     name: "demand".into(),
    ///     x: vec![0.0, 1.0, 3.0],
    ///     y: vec![],
    ///     values: vec![0.0, 2.0, 2.0],
    ///     interpolation: Interpolation::Linear,
    ///     extrapolation: Extrapolation::Clamp,
    /// };
    /// let demand = b.signal("demand", b.lookup(table, b.time()));
    /// let x = b.state("x", 0.0);
    /// b.flow(x, demand - x);
    /// assert!(b.finish().is_ok());
    /// ```
    pub fn lookup<'b>(&'b self, table: Table, argument: Quantity<'b>) -> Quantity<'b> {
        let argument = self.own(argument);
        let mut draft = self.draft.borrow_mut();
        let increasing = table.x.windows(2).all(|pair| pair[0] < pair[1]);
        let finite = table.x.iter().chain(&table.values).all(|v| v.is_finite());
        if !increasing || !finite || table.x.is_empty() || table.x.len() != table.values.len() {
            draft.refuse(BuildError::Table(table.name));
            return Quantity::new(self, argument);
        }
        let graph = &mut draft.system.graph;
        let table = graph.add_table(table);
        let expr = graph.table1(table, argument);
        Quantity::new(self, expr)
    }

    /// Until when a run goes if it is not told otherwise.
    pub fn until<'b, N: Number<'b>>(&'b self, time: N) {
        let time = time.expr(self);
        let mut draft = self.draft.borrow_mut();
        draft.require_known(time, "until");
        let time = draft.system.graph.as_real(time);
        draft.system.run.until = Some(time);
    }

    /// A panel with curves over time.
    pub fn plot(&self, curves: &[Quantity<'_>]) {
        self.panel(curves, None);
    }

    /// A panel with curves over another quantity.
    pub fn plot_over<'b>(&'b self, curves: &[Quantity<'b>], x: Quantity<'b>) {
        self.panel(curves, Some(x));
    }

    fn panel<'b>(&'b self, curves: &[Quantity<'b>], x: Option<Quantity<'b>>) {
        let series: Vec<Expr> = curves.iter().map(|&c| self.own(c)).collect();
        let x = x.map(|x| self.own(x));
        let mut draft = self.draft.borrow_mut();
        let label = |e: Expr| (draft.words(e), e);
        let unit = |e: Expr| draft.variable(e).and_then(|v| draft.system.variable(v).unit.clone());
        let first = series.first().and_then(|&e| unit(e));
        let unit = first.filter(|first| series.iter().all(|&e| unit(e).as_ref() == Some(first)));
        let panel = Panel { series: series.iter().map(|&e| label(e)).collect(), x: x.map(label), unit };
        draft.system.run.panels.push(panel);
    }

    /// A plain setting of a run, such as `rtol` or `policy`, as it would stand in a `run` block.
    pub fn setting(&self, name: &str, value: &str) {
        let mut draft = self.draft.borrow_mut();
        let span = draft.write(&format!("{name} {value}"));
        draft.system.run.settings.push((name.into(), value.into(), span));
    }

    /// The system, or everything that is wrong with it.
    ///
    /// ```
    /// use saltus_model::builder::{Block, BuildError, Builder};
    ///
    /// let b = Builder::new("Broken");
    /// let x = b.state("x", 1.0);
    /// b.state("x", 2.0);
    /// let errors = b.finish().unwrap_err();
    /// assert_eq!(errors.0[0], BuildError::Name("x".into()));
    /// assert_eq!(errors.0[1].to_string(), "the state `x` has no derivative: give it one with `flow` or `hold`");
    /// # let _ = x;
    /// ```
    pub fn finish(&self) -> Result<HybridSystem, BuildErrors> {
        let mut draft = self.draft.borrow().clone();
        draft.place_rules();
        draft.check_structure();
        let Draft { mut system, text, errors, .. } = draft;
        system.sources.add("<builder>", text);
        if errors.is_empty() { Ok(system) } else { Err(BuildErrors(errors)) }
    }

    /// The expression of a handle, if it is one of this builder.
    fn own<'b, H: Handle<'b>>(&'b self, handle: H) -> Expr {
        if std::ptr::eq(handle.builder(), self) {
            return handle.id();
        }
        let mut draft = self.draft.borrow_mut();
        draft.refuse(BuildError::Foreign);
        draft.system.graph.real(0.0)
    }
}
