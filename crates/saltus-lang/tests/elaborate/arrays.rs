//! Arrays and families: what they mean is what would be written out by hand.

use super::{check, dumped};
use proptest::prelude::*;

/// The dump of a model with this body and states x[1..3], m[1..2,1..2].
fn body(text: &str) -> String {
    dumped(&format!(
        "model M {{
            param A = [[1, 2, 3], [4, 5, 6]], b = [7, 8, 9]
            state x[3] = [1, 2, 3], y[2] = 0
            hold x, y
            {text}
        }}"
    ))
}

#[track_caller]
fn same(short: &str, long: &str) {
    // The declared names are the same, so equal meaning is an equal dump but for the order.
    let lines = |text: &str| {
        let mut lines: Vec<String> = body(text).lines().map(str::to_string).collect();
        lines.sort();
        lines
    };
    assert_eq!(lines(short), lines(long));
}

#[test]
fn whole_array_equations() {
    same(
        "output z[2] = A * x",
        "output z[2]
         z[1] = A[1,1] * x[1] + A[1,2] * x[2] + A[1,3] * x[3]
         z[2] = A[2,1] * x[1] + A[2,2] * x[2] + A[2,3] * x[3]",
    );
    same("output z[3]; z = y * A", "output z[3]; for k in 1..3 { z[k] = y[1] * A[1,k] + y[2] * A[2,k] }");
    same(
        "output z[2, 2] = A * transpose(A)",
        "output z[2, 2]
         for i in 1..2 { for j in 1..2 { z[i,j] = A[i,1] * A[j,1] + A[i,2] * A[j,2] + A[i,3] * A[j,3] } }",
    );
    same("output z[3] = 2 * x - b / 3", "output z[3]; for i in 1..3 { z[i] = 2 * x[i] - b[i] / 3 }");
    same("output z[3] = x .* b ./ x .^ 2", "output z[3]; for i in 1..3 { z[i] = x[i] * b[i] / x[i]^2 }");
    same("output z[3] = sin(x) + 1", "output z[3]; for i in 1..3 { z[i] = sin(x[i]) + 1 }");
    same("output z[2] = A[2, 2..3]", "output z[2]; z[1] = A[2,2]; z[2] = A[2,3]");
    same("output z[3] = A[2]", "output z[3]; for k in 1..3 { z[k] = A[2,k] }");
    same("output z = [[1, 0], [0, 1]] ^ 2 * y", "output z = identity(2) * identity(2) * y");
}

#[test]
fn folds_over_arrays() {
    same("output z = sum(x)", "output z = x[1] + x[2] + x[3]");
    same("output z = sum(x[i] * i for i in 1..3)", "output z = x[1] + x[2] * 2 + x[3] * 3");
    same("output z = product(x[i] for i in 2..3)", "output z = x[2] * x[3]");
    same(
        "output z = max(x) - min(x[1], 0, x[2])",
        "output z = max(max(x[1], x[2]), x[3]) - min(min(x[1], 0), x[2])",
    );
    same(
        "output z = dot(x, b) + norm(x)",
        "output z = x[1]*b[1] + x[2]*b[2] + x[3]*b[3] + sqrt(x[1]^2 + x[2]^2 + x[3]^2)",
    );
    same(
        "output z[3] = cross(x, b)",
        "output z[3] = [x[2]*b[3] - x[3]*b[2], x[3]*b[1] - x[1]*b[3], x[1]*b[2] - x[2]*b[1]]",
    );
    same("output z[2] = [i * x[i] for i in 1..2]", "output z[2] = [1 * x[1], 2 * x[2]]");
    same(
        "when all(x > 0) { y := 0 * y }",
        "when x[1] > 0 and x[2] > 0 and x[3] > 0 { y[1] := 0 * y[1]; y[2] := 0 * y[2] }",
    );
    same("output z = size(x) + size(A, 2) + zeros(2)[1] + ones(2, 2)[2, 1]", "output z = 3 + 3 + 0.0 + 1.0");
    same("output z = sum(x[i] for i in 2..1) + 1", "output z = 1");
}

#[test]
fn elements_of_one_array_may_read_others() {
    same(
        "signal z[2] = [1, 2 * z[1]]; output w = z[2]",
        "signal z[2]; z[1] = 1; z[2] = 2 * z[1]; output w = z[2]",
    );
}

#[test]
fn families_unroll() {
    same(
        "for i in 1..2 { when x[i] > i { for j in 1..2 { x[j] := x[i] + j } } }",
        "when x[1] > 1 { x[1] := x[1] + 1; x[2] := x[1] + 2 }
         when x[2] > 2 { x[1] := x[2] + 1; x[2] := x[2] + 2 }",
    );
    same("for i in 2..1 { stop when x[i] > 0 }", "");
}

#[test]
fn slices_of_instances_are_vectors() {
    check(
        "component C(k = 1) { input u; output y[2] = [u, k] }
         model M {
            c: C[2, 2](k = [[1, 2], [3, 4]])
            c.u = [[5, 6], [7, time]]
            output z[2, 2] = c[1, 1..2].y
            output w = size(c, 1)
         }",
        "param c[1,1].k = 1
         param c[1,2].k = 2
         param c[2,1].k = 3
         param c[2,2].k = 4
         signal c[1,1].u
         signal c[1,1].y[1]
         signal c[1,1].y[2]
         signal c[1,2].u
         signal c[1,2].y[1]
         signal c[1,2].y[2]
         signal z[1,1]
         signal z[1,2]
         signal z[2,1]
         signal z[2,2]
         signal w
         signal c[2,1].u
         signal c[2,1].y[1]
         signal c[2,1].y[2]
         signal c[2,2].u
         signal c[2,2].y[1]
         signal c[2,2].y[2]
         z[1,1] = c[1,1].y[1]
         z[1,2] = c[1,1].y[2]
         z[2,1] = c[1,2].y[1]
         z[2,2] = c[1,2].y[2]
         w = 2
         c[1,1].y[1] = c[1,1].u
         c[1,1].y[2] = c[1,1].k
         c[1,2].y[1] = c[1,2].u
         c[1,2].y[2] = c[1,2].k
         c[2,1].y[1] = c[2,1].u
         c[2,1].y[2] = c[2,1].k
         c[2,2].y[1] = c[2,2].u
         c[2,2].y[2] = c[2,2].k
         c[1,1].u = 5
         c[1,2].u = 6
         c[2,1].u = 7
         c[2,2].u = time",
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A family of equations over any range is the list of its members.
    #[test]
    fn any_family_is_its_members(n in 1usize..6, shift in -3i64..4, factor in -2i64..3) {
        let model = |equations: &str| dumped(&format!(
            "model M {{ state x[{n}] = 0; output z[{n}]; hold x\n{equations}\n}}"
        ));
        let family = model(&format!(
            "for i in {}..{} {{ z[i - ({shift})] = {factor} * x[i - ({shift})] + i }}",
            1 + shift, n as i64 + shift
        ));
        let listed: Vec<String> = (1..=n as i64)
            .map(|k| format!("z[{k}] = {factor} * x[{k}] + ({})", k + shift))
            .collect();
        prop_assert_eq!(family, model(&listed.join("\n")));
    }

    /// A matrix product is the sums of products.
    #[test]
    fn any_matrix_product_is_its_sums(r in 1usize..4, n in 1usize..4, c in 1usize..4) {
        let model = |equations: &str| dumped(&format!(
            "model M {{ state a[{r}, {n}] = 1, b[{n}, {c}] = 2; hold a, b; output z[{r}, {c}]\n{equations}\n}}"
        ));
        let sum = "sum(a[i,k] * b[k,j] for k in 1..{n})".replace("{n}", &n.to_string());
        let long = format!("for i in 1..{r} {{ for j in 1..{c} {{ z[i,j] = {sum} }} }}");
        prop_assert_eq!(model("z = a * b"), model(&long));
    }
}
