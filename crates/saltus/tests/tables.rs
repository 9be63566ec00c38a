//! Rows of tables where outputs jump: at the edges of their branches, at jumps, and at the end.

use saltus::{Model, Rows};

fn rows(text: &str, period: f64) -> Vec<String> {
    let model = Model::from_text("m.salt", text).unwrap_or_else(|e| panic!("{e}"));
    let run = model.run(model.options().unwrap()).unwrap();
    model.table(&run, Rows::Every(period)).lines().map(String::from).collect()
}

#[test]
fn a_row_at_an_edge_shows_the_branch_after_it() {
    let rows = rows(
        "model A {
            state x = 0
            x' = 1
            output q = floor(x)
            output c = if x >= 1 then 5 else 4
            output tb = table(time, [0, 1, 2], [3, 5, 7], interpolation = \"hold\")
            run { until 2 }
        }",
        0.5,
    );
    let expected = [
        "t,n,i,x,q,c,tb",
        "0,0,0,0,0,4,3",
        "0.5,0,0,0.5,0,4,3",
        "1,0,0,1,1,5,5",
        "1.5,0,0,1.5,1,5,5",
        "2,0,0,2,2,5,7",
    ];
    assert_eq!(rows, expected);
}

#[test]
fn a_row_after_a_jump_shows_the_branches_settled_there() {
    let rows = rows(
        "model M {
            state x = 0
            x' = 1
            when x >= 1 { x := 0 }
            output z = floor(2*x)
            run { until 1.5 }
        }",
        0.25,
    );
    let expected = [
        "t,n,i,x,z",
        "0,0,0,0,0",
        "0.25,0,0,0.25,0",
        "0.5,0,0,0.5,1",
        "0.75,0,0,0.75,1",
        "1,0,0,1,2",
        "1,1,0,0,0",
        "1.25,0,0,0.25,0",
        "1.5,0,0,0.5,1",
    ];
    assert_eq!(rows, expected);
}

/// Branches change at no event, so they make no rows of their own.
#[test]
fn edges_between_the_rows_of_a_grid_make_no_rows() {
    let rows = rows("model M { state x = 0; x' = 1; output z = floor(4*x); run { until 1 } }", 0.5);
    assert_eq!(rows, ["t,n,i,x,z", "0,0,0,0,0", "0.5,0,0,0.5,2", "1,0,0,1,4"]);
}
