//! Flat models: equations, reactions and automata without components.

use super::check;

#[test]
fn bouncing_ball() {
    check(
        "model BouncingBall {
            param g = 9.81, e = 0.8
            state x = 10, v = 0
            flow {
                x' = v
                v' = -g
            }
            when x <= 0 and v < 0 { v := -e * v }
            run { until 12; plot x, v }
        }",
        "param g = 9.81
         param e = 0.8
         state x = 10
         state v = 0
         x' = v
         v' = -g
         when (x <= 0) and (v < 0) { v := -e * v }",
    );
}
