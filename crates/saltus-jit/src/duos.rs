//! Convolutions of unrolled jets, two by two.
//!
//! Old terms of different convolutions do not depend on each other, so any two products, and any two
//! squares, are summed as the lanes of vectors. Their factors are packed into vectors once, when the
//! later of both coefficients is made; a factor that both share is one number twice.

use crate::arena::Arena;
use crate::fused::{Fused, Part};
use saltus_expr::Reg;
use saltus_expr::jet::Degree;

/// Two rows whose coefficients are packed: those of order j are at `base + 2 j`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pack {
    pub rows: [Reg; 2],
    pub base: usize,
}

/// Two convolutions that are summed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Duo {
    /// Factors of the first and of the second.
    pub factors: [(Reg, Reg); 2],
    /// True if both are squares, whose terms are taken together.
    pub squares: bool,
    /// The packs of the left and of the right factors.
    pub packs: [usize; 2],
}

/// All convolutions that have found another.
#[derive(Default)]
pub(crate) struct Duos {
    pub duos: Vec<Duo>,
    pub packs: Vec<Pack>,
}

impl Duos {
    /// Takes convolutions of a part without degree bound two by two, first those that share a factor, and
    /// gives their packs room.
    pub fn find(fused: &Fused, part: &Part, arena: &mut Arena) -> Duos {
        let endless = |row: Reg| fused.rows.degrees[row.index()] == Degree::UNBOUNDED;
        let (mut products, mut squares) = (Vec::new(), Vec::new());
        for (row, node) in fused.nodes_of(part) {
            products.extend(node.rule.products(row).filter(|&(a, b)| endless(a) && endless(b)));
            squares.extend(node.rule.square(row).filter(|&a| endless(a)).map(|a| (a, a)));
        }
        let mut found = Duos::default();
        let shares = |x: (Reg, Reg), y: (Reg, Reg)| x.0 == y.0 || x.1 == y.1;
        found.match_up(&mut products, false, arena, shares);
        found.match_up(&mut products, false, arena, |_, _| true);
        found.match_up(&mut squares, true, arena, |_, _| true);
        found
    }

    /// Takes matching convolutions out of a list.
    fn match_up(
        &mut self,
        list: &mut Vec<(Reg, Reg)>,
        squares: bool,
        arena: &mut Arena,
        matches: impl Fn((Reg, Reg), (Reg, Reg)) -> bool,
    ) {
        list.sort_unstable();
        list.dedup();
        let mut first = 0;
        while first < list.len() {
            match (first + 1..list.len()).find(|&second| matches(list[first], list[second])) {
                Some(second) => {
                    let factors = [list[first], list[second]];
                    list.remove(second);
                    list.remove(first);
                    let packs = [factors.map(|f| f.0), factors.map(|f| f.1)];
                    let packs = packs.map(|rows| self.pack(rows, arena));
                    self.duos.push(Duo { factors, squares, packs });
                }
                None => first += 1,
            }
        }
    }

    fn pack(&mut self, rows: [Reg; 2], arena: &mut Arena) -> usize {
        self.packs.iter().position(|pack| pack.rows == rows).unwrap_or_else(|| {
            arena.size = arena.size.next_multiple_of(2);
            let base = arena.take(2 * (arena.layout.order + 1));
            self.packs.push(Pack { rows, base });
            self.packs.len() - 1
        })
    }

    /// The duo and the lane of a convolution.
    pub fn lane_of(&self, factors: (Reg, Reg), square: bool) -> Option<(usize, usize)> {
        let mut duos = self.duos.iter().enumerate().filter(|(_, duo)| duo.squares == square);
        duos.find_map(|(i, duo)| Some((i, duo.factors.iter().position(|&f| f == factors)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_expr::{Binary, FlowPlan, Graph, Node, PlanBlock, Program, Sort, VarId};

    /// The duos of x' = y z + (x x + y y), y' = y x, z' = z z, as pairs of factors among the states.
    #[test]
    fn products_with_a_common_factor_and_squares_are_taken_together() {
        let mut graph = Graph::new();
        let [x, y, z] = [1, 2, 3].map(|i| graph.var(VarId(i), Sort::Real));
        let mut op = |op, a, b| graph.intern(Node::Binary(op, a, b));
        let (yz, yx, zz) = (op(Binary::Mul, y, z), op(Binary::Mul, y, x), op(Binary::Mul, z, z));
        let (xx, yy) = (op(Binary::Mul, x, x), op(Binary::Mul, y, y));
        let sum = op(Binary::Add, xx, yy);
        let rate = op(Binary::Add, yz, sum);
        let (program, inputs) = Program::new(&graph, &[rate, yx, zz]);
        let inputs = inputs.iter().map(|v| v.0).collect();
        let block = PlanBlock { program: program.into(), inputs, outputs: vec![4, 5, 6] };
        let states = vec![(1, 4), (2, 5), (3, 6)];
        let plan = FlowPlan { blocks: vec![block], states, time_slot: 0, slots: 7 };
        let fused = Fused::new(&plan).expect("well formed");
        let mut arena = Arena::new(&plan, &fused, 8, &vec![true; fused.rows.rows()]);
        let before = arena.size;
        let found = Duos::find(&fused, &fused.parts[0], &mut arena);
        let [x, y, z] = [0, 1, 2].map(|i| fused.state(i));
        let factors: Vec<_> = found.duos.iter().map(|duo| (duo.factors, duo.squares)).collect();
        assert_eq!(factors, [([(y, x), (y, z)], false), ([(x, x), (y, y)], true)]);
        assert_eq!(found.lane_of((y, z), false), Some((0, 1)));
        assert_eq!(found.lane_of((z, z), true), None);
        let rows: Vec<_> = found.packs.iter().map(|pack| pack.rows).collect();
        assert_eq!(rows, [[y, y], [x, z], [x, y]]);
        assert!(found.packs.iter().all(|pack| pack.base >= before && pack.base + 2 * 9 <= arena.size));
    }
}
