//! Dense linear parts: rows that are sums of constants times states.
//!
//! A chain ((c_1 x_1 + c_2 x_2) + c_3 x_3) + ... is found in the rows of a plan; chains over the
//! same states in the same order are the rows of a matrix. The product with the vector of states is
//! formed column by column, which is the order of the chain, so the bits are those of the chain.

use crate::fused::Fused;
use saltus_expr::Reg;
use saltus_expr::jet::Degree;
use saltus_expr::jet::recurrence::{Lock, Rule};
use std::collections::HashMap;

/// Fewer rows or columns than these are left to the body.
const LEAST_ROWS: usize = 4;
const LEAST_COLUMNS: usize = 6;

/// A constant factor: a row that never changes, or one; perhaps with its sign turned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Factor {
    pub row: Option<Reg>,
    pub negate: bool,
}

/// Rows that form a matrix times the vector of some states.
#[derive(Debug)]
pub(crate) struct Matrix {
    /// The states, in the order of the sums.
    pub columns: Vec<Reg>,
    /// The rows computed.
    pub results: Vec<Reg>,
    /// Factors, row by row.
    pub factors: Vec<Vec<Factor>>,
}

/// What the matrices of a plan are, and which rows need no code of their own because of them.
pub(crate) struct Matrices {
    pub list: Vec<Matrix>,
    /// True for results of matrices and for rows that nothing else needs.
    pub covered: Vec<bool>,
}

struct Chain {
    result: Reg,
    terms: Vec<(Reg, Factor)>,
    /// The partial sums.
    inside: Vec<Reg>,
}

pub(crate) fn find(fused: &Fused) -> Matrices {
    let mut list = Vec::new();
    let mut results = vec![false; fused.rows.rows()];
    for (columns, chains) in chains_by_columns(fused) {
        if chains.len() < LEAST_ROWS || columns.len() < LEAST_COLUMNS {
            continue;
        }
        chains.iter().for_each(|chain| results[chain.result.index()] = true);
        let factors = chains.iter().map(|c| c.terms.iter().map(|&(_, f)| f).collect()).collect();
        list.push(Matrix { columns, results: chains.iter().map(|c| c.result).collect(), factors });
    }
    let needed = needed_rows(fused, &results, &list);
    let covered = (0..fused.rows.rows()).map(|row| results[row] || !needed[row]).collect();
    Matrices { list, covered }
}

/// All chains, those over the same states in the same order together.
fn chains_by_columns(fused: &Fused) -> Vec<(Vec<Reg>, Vec<Chain>)> {
    let nodes: Vec<(Reg, Rule)> = fused.nodes().map(|(row, node)| (row, node.rule)).collect();
    let mut groups: Vec<(Vec<Reg>, Vec<Chain>)> = Vec::new();
    let mut positions: HashMap<Vec<Reg>, usize> = HashMap::new();
    let mut taken = vec![false; fused.rows.rows()];
    // Results come after what they are made of: backwards, the longest chains are met first.
    for &(row, _) in nodes.iter().rev() {
        if taken[row.index()] {
            continue;
        }
        let Some(chain) = follow(fused, &nodes, row) else { continue };
        chain.inside.iter().for_each(|r| taken[r.index()] = true);
        let columns: Vec<Reg> = chain.terms.iter().map(|&(x, _)| x).collect();
        let position = *positions.entry(columns.clone()).or_insert_with(|| {
            groups.push((columns, Vec::new()));
            groups.len() - 1
        });
        groups[position].1.push(chain);
    }
    groups.iter_mut().for_each(|(_, chains)| chains.reverse());
    groups
}

/// Rows that slots, locks, matrices or other needed rows read.
fn needed_rows(fused: &Fused, results: &[bool], matrices: &[Matrix]) -> Vec<bool> {
    let mut needed = vec![false; fused.rows.rows()];
    let mut pending: Vec<Reg> = fused.slot_rows.iter().flatten().copied().collect();
    pending.extend(fused.rows.locks.iter().flat_map(|lock| lock.operands()));
    pending.extend(matrices.iter().flat_map(|m| m.factors.iter().flatten()).filter_map(|f| f.row));
    while let Some(row) = pending.pop() {
        if std::mem::replace(&mut needed[row.index()], true) || results[row.index()] {
            continue;
        }
        let Some(node) = row.index().checked_sub(fused.rows.first_node()) else { continue };
        let node = fused.rows.nodes[node];
        node.rule.map(
            |operand| {
                pending.push(operand);
                operand
            },
            |lock: Lock| lock,
        );
        pending.extend(node.start.iter().flat_map(|op| op.operands()));
    }
    needed
}

/// The chain that ends in a row, if it is one.
fn follow(fused: &Fused, nodes: &[(Reg, Rule)], result: Reg) -> Option<Chain> {
    let rule = |row: Reg| Some(nodes[row.index().checked_sub(fused.rows.first_node())?].1);
    let mut chain = Chain { result, terms: Vec::new(), inside: Vec::new() };
    let mut at = result;
    loop {
        let (rest, last, negate) = match rule(at)? {
            Rule::Add(rest, last) => (rest, last, false),
            Rule::Sub(rest, last) => (rest, last, true),
            _ => break,
        };
        chain.terms.push(term(fused, &rule, last, negate)?);
        let inside = rule(rest).is_some_and(|r| matches!(r, Rule::Add(..) | Rule::Sub(..)));
        if !inside {
            chain.terms.push(term(fused, &rule, rest, false)?);
            break;
        }
        chain.inside.push(rest);
        at = rest;
    }
    chain.terms.reverse();
    (chain.terms.len() >= 2).then_some(chain)
}

/// A row that is a constant times a state, or a state.
fn term(fused: &Fused, rule: &impl Fn(Reg) -> Option<Rule>, row: Reg, negate: bool) -> Option<(Reg, Factor)> {
    let endless = |r: Reg| fused.is_state(r) && fused.rows.degrees[r.index()] == Degree::UNBOUNDED;
    let constant = |r: Reg| fused.unchanging[r.index()];
    if endless(row) {
        return Some((row, Factor { row: None, negate }));
    }
    match rule(row)? {
        Rule::Mul(a, b) if constant(a) && endless(b) => Some((b, Factor { row: Some(a), negate })),
        Rule::Mul(a, b) if constant(b) && endless(a) => Some((a, Factor { row: Some(b), negate })),
        _ => None,
    }
}
