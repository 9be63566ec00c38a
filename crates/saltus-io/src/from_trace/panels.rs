//! Which curves go into which panel: as the model asks, or a choice that shows all states.

use saltus_expr::{Expr, Node, VarId};
use saltus_model::{HybridSystem, VariableKind};

/// More panels than this are not drawn unasked.
const MOST_PANELS: usize = 6;
/// More curves than this in a panel are not drawn unasked: each has its own colour.
const MOST_CURVES: usize = crate::scene::CURVES.len();

/// One curve to draw.
pub(super) struct Curve {
    pub label: String,
    pub unit: Option<String>,
    pub quantity: Quantity,
}

/// What a curve shows.
#[derive(Clone, Copy)]
pub(super) enum Quantity {
    Variable(VarId),
    Expression(Expr),
}

/// One panel to draw.
pub(super) struct Plan {
    pub curves: Vec<Curve>,
    /// The horizontal axis; time if absent.
    pub x: Option<Curve>,
    pub y_label: Option<String>,
}

/// The panels of the model's run block, or panels of its states.
pub(super) fn plan(system: &HybridSystem) -> Vec<Plan> {
    if system.run.panels.is_empty() { chosen(system) } else { asked(system) }
}

fn asked(system: &HybridSystem) -> Vec<Plan> {
    let curve = |(label, e): &(String, Expr)| Curve {
        label: label.clone(),
        unit: unit(system, *e),
        quantity: Quantity::Expression(*e),
    };
    let panels = system.run.panels.iter();
    panels
        .map(|panel| Plan {
            curves: panel.series.iter().map(curve).collect(),
            x: panel.x.as_ref().map(curve),
            y_label: None,
        })
        .collect()
}

fn unit(system: &HybridSystem, e: Expr) -> Option<String> {
    match system.graph.node(e) {
        Node::Var(v, _) => system.variable(v).unit.clone(),
        _ => None,
    }
}

/// States by name, elements of arrays and instances together; memories or signals if there is none.
fn chosen(system: &HybridSystem) -> Vec<Plan> {
    let kinds = [VariableKind::State, VariableKind::Memory, VariableKind::Signal];
    let shown = kinds.into_iter().map(|kind| system.variables_of(kind).collect::<Vec<_>>());
    let shown = shown.into_iter().find(|variables| !variables.is_empty()).unwrap_or_default();
    let mut groups = grouped(&shown, |v| without_indices(&system.variable(v).name));
    if groups.len() > MOST_PANELS {
        groups = grouped(&shown, |v| system.variable(v).unit.clone().unwrap_or_default());
    }
    groups.truncate(MOST_PANELS);
    groups.iter().map(|group| panel_of(system, group)).collect()
}

fn panel_of(system: &HybridSystem, group: &[VarId]) -> Plan {
    let curve = |&v: &VarId| {
        let variable = system.variable(v);
        Curve { label: variable.name.clone(), unit: variable.unit.clone(), quantity: Quantity::Variable(v) }
    };
    let curves: Vec<Curve> = group.iter().take(MOST_CURVES).map(curve).collect();
    let y_label = (curves.len() < group.len()).then(|| format!("{} of {} curves", curves.len(), group.len()));
    Plan { curves, x: None, y_label }
}

/// Variables with the same key, groups in order of first appearance.
fn grouped(variables: &[VarId], key: impl Fn(VarId) -> String) -> Vec<Vec<VarId>> {
    let mut places = std::collections::HashMap::new();
    let mut groups: Vec<Vec<VarId>> = Vec::new();
    for &v in variables {
        let place = *places.entry(key(v)).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(v);
    }
    groups
}

/// `rooms[2].x[1]` becomes `rooms[].x[]`.
fn without_indices(name: &str) -> String {
    let mut inside = false;
    name.chars()
        .filter(|&c| {
            inside = if c == '[' { true } else { inside && c != ']' };
            !inside || c == '['
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_dropped_from_names() {
        assert_eq!(without_indices("rooms[12].x[1,2]"), "rooms[].x[]");
        assert_eq!(without_indices("x"), "x");
    }

    #[test]
    fn groups_keep_the_order_of_the_model() {
        let groups = grouped(&[VarId(1), VarId(2), VarId(3)], |v| (v.0 % 2).to_string());
        assert_eq!(groups, [vec![VarId(1), VarId(3)], vec![VarId(2)]]);
    }
}
