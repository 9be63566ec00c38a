//! Units through expressions.

use super::{compile_text, dumped, findings};

fn complaints(text: &str) -> String {
    let compiled = compile_text(text);
    let codes: Vec<&str> = compiled.diagnostics.iter().map(|d| d.code).collect();
    codes.join(" ")
}

#[test]
fn a_consistent_model_is_silent() {
    let text = "model Car {
        param m: [kg] = 1200, c: [N*s^2/m^2] = 0.4, r = 0.3 [m], J: [kg*m^2] = 2
        param track = [0 [m], 3 [m]]
        state x: [m] = 0, v: [m/s] = 10 [km/h], angle: [rad] = 20 [deg]
        signal drag: [N] = c * v^2
        signal power = drag * v
        output height: [m] = r * sin(angle) + 2 * x + hypot(x, r) + max(x, r, 1)
        output root: [m] = sqrt(x^2 + r * x) + abs(-x) + norm([x, r])
        output energy: [J] = 0.5 * m * v^2 + J * (v / r)^2 / 2
        output ratio = x / r + 1
        output cube: [m] = (x^3) ^ (1/3) + mod(x, r) + track[2] + sum(track)
        x' = v
        v' = -drag / m
        angle' = v / r
        when v <= 1 [m/s] and time > 3 [min] and power > 0 { v := 5 [m/s] }
        every 2 [s] { x := x + v * 2 [s] }
        stop when x' > 100 [km/h] or x >= 1 [km]
    }";
    assert_eq!(findings(&compile_text(text), true), "");
    let text = dumped(text);
    for line in [
        "state v [m/s] = 2.7777777777777777\n",
        "param r [m] = 0.3\n",
        "signal power [W]\n",
        "every 2 { x := x + (v * 2) }\n",
    ] {
        assert!(text.contains(line), "{line} is missing in\n{text}");
    }
}

#[test]
fn clashes_are_found_where_they_are() {
    for (body, codes) in [
        ("output y = a - b", "E302"),
        ("output y = a * b + a / b", "E302"),
        ("output y = if b > 1 then a else b", "E302"),
        ("output y = min(a, b)", "E302"),
        ("output y = atan2(a, b)", "E302"),
        ("output y = exp(a)", "E302"),
        ("output y = 2 ^ a", "E302"),
        ("output y = a ^ 0.5 + a", "E302"),
        ("output y: [m] = b", "E302"),
        ("output y = a; stop when a > b", "E302"),
        ("state x: [m] = 0; x' = a", "E302"),
        ("state x: [m] = 0; x' = a / b; when time > 1 { x := b }", "E302"),
        ("memory k = 0; every a { k := 1 }", "E302"),
        ("output y = a + time", "E302"),
        ("output y = a + c", "W503"),
        ("state x = 0; x' = c; when x > a { x := c }", "W503"),
        ("output y: [m] = [1 [m], 2 [s]]", "E302"),
        ("output y = a; stop when a > [1 [s], 2 [m]][1]", "E302"),
        ("output y = a; stop when a > [1 [s], 2 [m]][2]", ""),
        ("output y = [a, b] + [b, a]", "E302"),
        ("output y = [a, b] + [a, b]", ""),
        ("output y = a + [[a, b], [b, a]][2, 1]", "E302"),
        ("output y = a + transpose([[a, b], [a, b]])[1, 2]", ""),
        ("output y = sum([a, b])", "E302"),
        ("output y = norm([a, b])", "E302"),
        ("output y = sin([a, b])", "E302"),
        ("output y = table(a, [0, 1], [1 [m], 2 [s]])", "E302"),
        ("output y = [[1, 0, 0], [0, 1, 0]] * [a, b, a]", ""),
        ("output y = a + 2 + 3 * a", ""),
        ("output y = c * a + c", ""),
        ("output y = a / (2 * a) + c", ""),
        ("output y = table(a, [0, 1], [2, 3]) + c", ""),
    ] {
        let text =
            format!("model M {{ param a: [m] = 1, b: [s] = 2, c = 3; output u = [a * c, b * c]; {body} }}");
        assert_eq!(complaints(&text), codes, "{body}");
    }
}

#[test]
fn time_has_no_unit_where_nothing_else_has() {
    assert_eq!(complaints("model M { output y = sin(2 * pi * time / 86400) + time }"), "");
}

#[test]
fn the_elements_of_an_array_keep_their_units_through_products() {
    let text = "model M {
        state x: [m] = 0, v: [m/s] = 1
        signal twice = 2 * [x, v] / 4
        output a: [m] = ([x, v] * 2)[1] + x
        output b: [m/s] = ([x, v] / 2)[2] + v
        output c: [m^2] = (x * [x, v])[1] + x^2
        output d = (twice .* [1 [s], 2])[1]
        hold x, v
    }";
    assert_eq!(findings(&compile_text(text), true), "");
    assert_eq!(
        complaints("model M { state x: [m] = 0, v: [m/s] = 1; output a = (2 * [x, v])[2] + x; hold x, v }"),
        "E302"
    );
}
