//! Static structure: every state and signal has exactly one equation in every combination of
//! modes.
//!
//! A block covers what its own equations define and, of each automaton in it, what some of its
//! modes cover; a variable is covered *fully* if no mode lacks it. Two covers of one variable in
//! one block can be active together.

use super::Elaborator;
use super::scope::{Declaration, hinted};
use crate::ast::DeclarationKind;
use crate::{Diagnostic, codes};
use saltus_expr::VarId;
use saltus_model::{AutomatonId, ModeId, Span, Target, VariableKind};
use std::collections::HashMap;

/// How a variable is covered.
#[derive(Clone, Debug)]
struct Cover {
    /// The first equation for it.
    place: Span,
    /// Modes without an equation for it.
    lacking: Vec<ModeId>,
}

type Covers = HashMap<VarId, Cover>;

impl Elaborator<'_> {
    /// Reports missing and double equations.
    pub(super) fn check_structure(&mut self) {
        let mut homes: HashMap<Option<ModeId>, Vec<VarId>> = HashMap::new();
        for (k, variable) in self.system.variables.iter().enumerate() {
            if matches!(variable.kind, VariableKind::State | VariableKind::Signal) {
                homes.entry(variable.owner).or_default().push(VarId(k as u32));
            }
        }
        self.covers(None, &homes);
    }

    /// What a block covers of the variables outside it; its own are checked here.
    fn covers(&mut self, owner: Option<ModeId>, homes: &HashMap<Option<ModeId>, Vec<VarId>>) -> Covers {
        let mut covers = Covers::new();
        let own: Vec<(VarId, Span)> = self
            .system
            .block(owner)
            .equations
            .iter()
            .map(|e| match e.target {
                Target::Derivative(v) | Target::Signal(v) => (v, e.span),
            })
            .collect();
        for (variable, place) in own {
            self.add_cover(&mut covers, variable, Cover { place, lacking: vec![] });
        }
        for automaton in self.system.block(owner).automata.clone() {
            let mut inner: Vec<(VarId, Cover)> =
                self.automaton_covers(automaton, homes).into_iter().collect();
            inner.sort_by_key(|(v, _)| *v);
            for (variable, cover) in inner {
                self.add_cover(&mut covers, variable, cover);
            }
        }
        for &variable in homes.get(&owner).into_iter().flatten() {
            match covers.remove(&variable) {
                Some(cover) if cover.lacking.is_empty() => {}
                Some(cover) => self.partly_missing(variable, &cover),
                None => self.missing(variable),
            }
        }
        covers
    }

    fn add_cover(&mut self, covers: &mut Covers, variable: VarId, cover: Cover) {
        let Some(first) = covers.get(&variable).map(|c| c.place) else {
            covers.insert(variable, cover);
            return;
        };
        let name = &self.system.variable(variable).name;
        let message = format!("two equations for `{name}` can be active together");
        let (first, second) = (first.min(cover.place), first.max(cover.place));
        self.report(
            Diagnostic::error(codes::DUPLICATE_EQUATION, second, message)
                .label("second equation")
                .related(first, "first equation")
                .hint("one of them is enough; put equations that exclude each other into modes"),
        );
    }

    /// What an automaton covers: what any of its modes does, with the modes that do not.
    fn automaton_covers(
        &mut self,
        automaton: AutomatonId,
        homes: &HashMap<Option<ModeId>, Vec<VarId>>,
    ) -> Covers {
        let modes = self.system.automaton(automaton).modes.clone();
        let each: Vec<Covers> = modes.iter().map(|&m| self.covers(Some(m), homes)).collect();
        let mut all = Covers::new();
        for covers in &each {
            for (&variable, cover) in covers {
                let joint =
                    all.entry(variable).or_insert_with(|| Cover { place: cover.place, lacking: vec![] });
                joint.place = joint.place.min(cover.place);
            }
        }
        for (variable, joint) in &mut all {
            for (covers, &mode) in each.iter().zip(&modes) {
                match covers.get(variable) {
                    Some(inner) => joint.lacking.extend(&inner.lacking),
                    None => joint.lacking.push(mode),
                }
            }
        }
        all
    }

    fn partly_missing(&mut self, variable: VarId, cover: &Cover) {
        let name = self.system.variable(variable).name.clone();
        let (kind, span) = (self.system.variable(variable).kind, self.system.variable(variable).span);
        if self.origin[variable.index()].is_none() || self.is_lost(variable) {
            return;
        }
        let modes: Vec<String> =
            cover.lacking.iter().map(|&m| format!("`{}`", self.system.mode_path(m))).collect();
        let plural = if modes.len() == 1 { "mode" } else { "modes" };
        let message = format!("`{name}` has no equation in the {plural} {}", modes.join(", "));
        let own = self.local_name(variable);
        let hint = match kind {
            VariableKind::State => format!("add `hold {own}` there if it does not change, or an equation"),
            _ => format!("add an equation `{own} = ...` there"),
        };
        let mut diagnostic = Diagnostic::error(codes::MISSING_EQUATION, span, message).hint(hint);
        for &mode in cover.lacking.iter().take(4) {
            diagnostic = diagnostic.related(self.system.mode(mode).span, "no equation here");
        }
        self.report(diagnostic.related(cover.place, "an equation in another mode"));
    }

    fn missing(&mut self, variable: VarId) {
        let Some(declaration) = self.origin[variable.index()] else { return };
        if self.is_lost(variable) {
            return;
        }
        let Declaration { kind, scope, .. } = self.declarations[declaration.0];
        if self.alone && kind == DeclarationKind::Input && self.scope(scope).instance == 0 {
            return;
        }
        let own = self.local_name(variable);
        let variable = self.system.variable(variable);
        let (name, span) = (variable.name.clone(), variable.span);
        let (code, message, hint) = match kind {
            DeclarationKind::Input => (
                codes::UNCONNECTED_INPUT,
                format!("nothing defines the input `{name}`"),
                format!("connect it, `{name} = ...`, or give it a default, `input ... = ...`"),
            ),
            DeclarationKind::State => (
                codes::MISSING_EQUATION,
                format!("the state `{name}` has no equation"),
                format!("add `{own}' = ...`, or `hold {own}` if only jumps change it"),
            ),
            _ => {
                (codes::MISSING_EQUATION, format!("`{name}` has no equation"), format!("add `{name} = ...`"))
            }
        };
        self.report(hinted(Diagnostic::error(code, span, message), Some(hint)));
    }

    /// The name of a variable as its own component writes it.
    fn local_name(&self, variable: VarId) -> String {
        let full = &self.system.variable(variable).name;
        let path = self.origin[variable.index()].map(|d| &self.scope(self.declarations[d.0].scope).path);
        let own = path.and_then(|p| full.strip_prefix(p.as_str()));
        own.map_or(full.as_str(), |o| o.trim_start_matches('.')).to_string()
    }

    /// Whether a misspelt name was probably meant to define this variable.
    fn is_lost(&self, variable: VarId) -> bool {
        let origin = self.origin[variable.index()];
        origin.is_some_and(|d| self.lost_names.contains(&self.declarations[d.0].tree.name.text))
    }
}
