//! The helicopter: plant, controller and control laws as three levels of components.

use super::{compile_text, dump, findings};

const HELICOPTER: &str = r#"
param m = 4.9, Iy = 0.271256, hM = 0.2943, MM = 25.23, g = 9.8

component Plant {
    input T, e
    state px = 0, pz = -1.5, vx = 0, vz = 0, th = 0, w = 0
    output ax = (-T * cos(th) * sin(e) + T * sin(th) * cos(e)) / m
    output az = (-T * sin(th) * sin(e) - T * cos(th) * cos(e)) / m + g
    output q = (MM * e + hM * T * sin(e)) / Iy
    flow {
        px' = vx; vx' = ax
        pz' = vz; vz' = az
        th' = w; w' = q
    }
}

component PositionLaw(c) {
    input p[5]
    param a = [500, 650, 395, 121, 17.8]
    output v = -(a[1] * (p[1] - c) + dot(a[2..5], p[2..5]))
}
component SpeedLaw(c) {
    input p[5]
    param a = [100, 110, 57, 12.8]
    output v = -(a[1] * (p[2] - c) + dot(a[2..4], p[3..5]))
}
component AccelerationLaw(c) {
    input p[5]
    param a = [20, 18, 7.8]
    output v = -(a[1] * (p[3] - c) + dot(a[2..3], p[4..5]))
}

component Controller {
    input x[3], z[3], th, w, q
    state T = m * g, T1 = 0, T2 = 0, e = 0
    signal s = sin(th), c = cos(th)
    signal K = (MM + hM * T * cos(e)) / Iy
    signal x3 = (T1 * s + T * w * c) / m
    signal z3 = (-T1 * c + T * w * s) / m
    signal x4 = (T2 * s + 2 * T1 * w * c + T * q * c - T * w^2 * s) / m
    signal z4 = (-T2 * c + 2 * T1 * w * s + T * q * s + T * w^2 * c) / m
    signal common = T * hM * T1 * sin(e) / Iy
    signal b1 = (3*T2*w*c + 3*T1*q*c - 3*T1*w^2*s - 3*T*w*q*s - T*w^3*c + c * common) / m
    signal b2 = (3*T2*w*s + 3*T1*q*s + 3*T1*w^2*c + 3*T*w*q*c - T*w^3*s + s * common) / m
    signal px[5] = [x[1], x[2], x[3], x3, x4]
    signal pz[5] = [z[1], z[2], z[3], z3, z4]
    signal vx, vz
    signal r1 = vx - b1, r2 = vz - b2
    signal V = hypot(x[2], z[2]), gamma = atan2(-z[2], x[2])
    flow {
        T' = T1; T1' = T2
        T2' = m * (s * r1 - c * r2)
        e' = m * (c * r1 + s * r2) / (T * K)
    }
    automaton Maneuver {
        initial mode Hover {
            lx: PositionLaw(c = 0); lz: PositionLaw(c = -2)
            lx.p = px; lz.p = pz; vx = lx.v; vz = lz.v
            at 20 -> Accelerate
        }
        mode Accelerate {
            lx: AccelerationLaw(c = g / 25); lz: PositionLaw(c = -2)
            lx.p = px; lz.p = pz; vx = lx.v; vz = lz.v
            when V >= 5 and abs(z[1] + 2) < 0.05 -> Cruise1
        }
        mode Cruise1 {
            lx: SpeedLaw(c = 5); lz: PositionLaw(c = -2)
            lx.p = px; lz.p = pz; vx = lx.v; vz = lz.v
            when abs(V - 5) < 0.1 and abs(gamma) < 0.01 -> Climb
        }
        mode Climb {
            lx: SpeedLaw(c = 4.7); lz: SpeedLaw(c = -1.7)
            lx.p = px; lz.p = pz; vx = lx.v; vz = lz.v
            when abs(z[1] + 10) < 0.05 -> Cruise2
        }
        mode Cruise2 {
            lx: SpeedLaw(c = 5); lz: PositionLaw(c = -10)
            lx.p = px; lz.p = pz; vx = lx.v; vz = lz.v
        }
    }
}

model Helicopter {
    plant: Plant
    control: Controller
    plant.T = control.T
    plant.e = control.e
    control.x = [plant.px, plant.vx, plant.ax]
    control.z = [plant.pz, plant.vz, plant.az]
    control.th = plant.th
    control.w = plant.w
    control.q = plant.q
    run { until 70; plot -plant.pz; plot control.T }
}
"#;

#[test]
fn three_levels_of_components() {
    let compiled = compile_text(HELICOPTER);
    assert_eq!(findings(&compiled, true), "");
    let system = compiled.system.expect("no errors");
    assert_eq!(system.instances.len(), 13);
    assert_eq!(system.modes.len(), 5);
    let states = system.variables_of(saltus_model::VariableKind::State).count();
    assert_eq!(states, 10);
    let text = dump::dump(&system);
    for line in [
        "state control.T = m * g\n",
        "param control.Maneuver.Accelerate.lx.c = g / 25\n",
        "control.vz = control.Maneuver.Climb.lz.v\n",
        "control.Maneuver.Hover.lx.p[4] = control.px[4]\n",
        "plant.T = control.T\n",
    ] {
        assert!(text.contains(line), "{line} is missing in\n{text}");
    }
}
