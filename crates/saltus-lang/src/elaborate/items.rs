//! The scalars of a value.

use saltus_expr::Expr;
use std::ops::Deref;

/// A list of expressions. Most values are single ones, whose list needs no memory of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Items {
    One([Expr; 1]),
    /// None, or more than one.
    Many(Vec<Expr>),
}

impl Deref for Items {
    type Target = [Expr];

    fn deref(&self) -> &[Expr] {
        match self {
            Items::One(one) => one,
            Items::Many(many) => many,
        }
    }
}

impl From<Expr> for Items {
    fn from(one: Expr) -> Self {
        Items::One([one])
    }
}

impl From<Vec<Expr>> for Items {
    fn from(list: Vec<Expr>) -> Self {
        match list[..] {
            [one] => one.into(),
            _ => Items::Many(list),
        }
    }
}

impl FromIterator<Expr> for Items {
    fn from_iter<I: IntoIterator<Item = Expr>>(items: I) -> Self {
        let mut items = items.into_iter();
        match (items.next(), items.next()) {
            (Some(one), None) => one.into(),
            (first, second) => Items::Many(first.into_iter().chain(second).chain(items).collect()),
        }
    }
}

impl<'a> IntoIterator for &'a Items {
    type Item = &'a Expr;
    type IntoIter = std::slice::Iter<'a, Expr>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_expr::Graph;

    #[test]
    fn equal_lists_are_equal_however_they_were_made() {
        let mut graph = Graph::new();
        let all: Vec<Expr> = (0..3).map(|k| graph.integer(k)).collect();
        for n in 0..=3 {
            let (list, collected) = (Items::from(all[..n].to_vec()), all[..n].iter().copied().collect());
            assert_eq!(list, collected);
            assert_eq!(&list[..], &all[..n]);
        }
        assert_eq!(Items::from(all[0]), Items::from(all[..1].to_vec()));
    }
}
