//! Systems with the structure of real models, for pictures: texts stand in for expressions.

use saltus_expr::{Sort, VarId};
use saltus_model::{
    Automaton, AutomatonId, Condition, Equation, HybridSystem, Instance, Mode, ModeId, Span, Target,
    Transition, Trigger, Variable, VariableKind,
};

/// Builds a system piece by piece; every text becomes a source file of its own.
struct Sketch(HybridSystem);

impl Sketch {
    fn new(name: &str) -> Self {
        Sketch(HybridSystem::new(name))
    }

    fn span(&mut self, text: &str) -> Span {
        let file = self.0.sources.add("sketch.salt", text);
        Span { file, start: 0, end: text.len() as u32 }
    }

    fn instance(&mut self, parent: u32, mode: Option<ModeId>, path: &str, class: &str) -> u32 {
        let (path, class) = (path.into(), class.into());
        self.0.instances.push(Instance { path, class, parent: Some(parent), mode, automata: vec![] });
        self.0.instances.len() as u32 - 1
    }

    /// An automaton with its modes; the first one is initial.
    fn automaton(
        &mut self,
        instance: u32,
        parent: Option<ModeId>,
        name: &str,
        modes: &[&str],
    ) -> Vec<ModeId> {
        let id = AutomatonId(self.0.automata.len() as u32);
        let first = self.0.modes.len() as u32;
        let ids: Vec<ModeId> = (first..first + modes.len() as u32).map(ModeId).collect();
        for name in modes {
            let mode = Mode {
                name: (*name).into(),
                automaton: id,
                block: Default::default(),
                transitions: vec![],
                span: Span::default(),
            };
            self.0.modes.push(mode);
        }
        let (modes, initial, span) = (ids.clone(), ids[0], Span::default());
        self.0.automata.push(Automaton { name: name.into(), parent, modes, initial, span });
        self.0.instances[instance as usize].automata.push(id);
        match parent {
            Some(mode) => self.0.modes[mode.index()].block.automata.push(id),
            None => self.0.root.automata.push(id),
        }
        ids
    }

    fn arrow(&mut self, from: ModeId, to: ModeId, text: &str) {
        let span = self.span(text);
        let guard = self.0.graph.boolean(true);
        self.0.modes[from.index()].transitions.push(Transition {
            trigger: Trigger::When(guard),
            condition: None,
            may: text.starts_with("may "),
            preempt: text.starts_with("preempt "),
            target: to,
            history: text.contains("-> history"),
            actions: vec![],
            name: String::new(),
            span,
        });
    }

    fn equation(&mut self, mode: Option<ModeId>, variable: &str, text: &str) {
        let span = self.span(text);
        let v = VarId(self.0.variables.len() as u32);
        self.0.variables.push(Variable {
            name: variable.into(),
            kind: VariableKind::State,
            sort: Sort::Real,
            unit: None,
            start: None,
            owner: None,
            span,
        });
        let rhs = self.0.graph.real(0.0);
        let equation = Equation { target: Target::Derivative(v), rhs, span };
        match mode {
            Some(mode) => self.0.modes[mode.index()].block.equations.push(equation),
            None => self.0.root.equations.push(equation),
        }
    }

    fn invariant(&mut self, mode: ModeId, text: &str) {
        let (span, formula) = (self.span(text), self.0.graph.boolean(true));
        self.0.modes[mode.index()].block.invariants.push(Condition { formula, span });
    }
}

/// A gear box: five modes, both ways, a way back from everywhere, a loop.
pub fn five_modes() -> HybridSystem {
    let mut s = Sketch::new("Gearbox");
    s.equation(None, "v", "v' = (u * ratio - c * v * abs(v)) / m");
    let m = s.automaton(0, None, "gears", &["Neutral", "First", "Second", "Third", "Fault"]);
    for (mode, text) in
        [(m[0], "ratio = 0"), (m[1], "ratio = 3.6"), (m[2], "ratio = 2.1"), (m[3], "ratio = 1.4")]
    {
        s.equation(Some(mode), "ratio", text);
    }
    s.arrow(m[0], m[1], "when pedal > 0.05 -> First");
    s.arrow(m[1], m[2], "when v >= 8 -> Second { shifts := shifts + 1 }");
    s.arrow(m[1], m[0], "when pedal <= 0.05 and v < 0.5 -> Neutral");
    s.arrow(m[2], m[3], "when v >= 15 -> Third { shifts := shifts + 1 }");
    s.arrow(m[2], m[1], "when v <= 6 -> First");
    s.arrow(m[3], m[2], "may when v <= 13 -> Second");
    s.arrow(m[3], m[4], "when slip > limit -> Fault");
    s.arrow(m[2], m[4], "when slip > limit -> Fault");
    s.arrow(m[4], m[0], "after 2 -> Neutral");
    s.arrow(m[3], m[3], "every 10 when wear > 0.1 -> Third { wear := 0 }");
    s.0
}

/// Components in an array, concurrent automata, a mode with automata and a component inside.
pub fn three_levels() -> HybridSystem {
    let mut s = Sketch::new("Building");
    s.equation(None, "load", "load' = sum(rooms.power) - load / tau");
    for k in 1..=3 {
        let path = format!("rooms[{k}]");
        let room = s.instance(0, None, &path, "Thermostat");
        s.equation(None, &format!("{path}.ambient"), &format!("rooms[{k}].ambient = outside - {k}"));
        s.equation(None, &format!("{path}.temp"), "temp = x");
        let m = s.automaton(room, None, &format!("{path}.control"), &["Heating", "Idle"]);
        s.equation(Some(m[0]), &format!("{path}.x"), "x' = -0.1 * (x - ambient) + 2");
        s.equation(Some(m[1]), &format!("{path}.x"), "x' = -0.1 * (x - ambient)");
        s.invariant(m[1], "x >= lo");
        s.arrow(m[0], m[1], "when x >= hi -> Idle");
        s.arrow(m[1], m[0], "may when x <= lo + 0.5 -> Heating");
    }
    let plant = s.instance(0, None, "plant", "Boiler");
    let m = s.automaton(plant, None, "plant.supervisor", &["Off", "Running", "Maintenance"]);
    s.arrow(m[0], m[1], "when load > 1 -> history Running");
    s.arrow(m[1], m[0], "when load < 0.2 -> Off");
    s.arrow(m[1], m[2], "preempt on service -> Maintenance");
    s.arrow(m[2], m[1], "after 3600 -> history Running");
    let burner = s.automaton(plant, Some(m[1]), "plant.supervisor.Running.burner", &["Low", "High"]);
    s.arrow(burner[0], burner[1], "when load > 3 -> High");
    s.arrow(burner[1], burner[0], "when load < 2 -> Low");
    let pump = s.automaton(plant, Some(m[1]), "plant.supervisor.Running.pump", &["Priming", "Pumping"]);
    s.arrow(pump[0], pump[1], "after 5 -> Pumping");
    let valve = s.instance(plant, Some(m[1]), "plant.valve", "Valve");
    let positions = s.automaton(valve, Some(m[1]), "plant.valve.position", &["Closed", "Open"]);
    s.equation(Some(m[1]), "plant.valve.flow", "flow = k * sqrt(dp)");
    s.arrow(positions[0], positions[1], "when dp > 0.3 -> Open");
    s.arrow(positions[1], positions[0], "when dp < 0.1 -> Closed");
    s.0
}

/// Two automata in one scope.
pub fn freewheel() -> HybridSystem {
    let mut s = Sketch::new("Freewheel");
    s.equation(None, "p", "p' = v");
    s.equation(None, "iS", "iS + iD = p / L");
    let m = s.automaton(0, None, "Switch", &["Closed", "Open"]);
    s.equation(Some(m[0]), "v", "v = V - R * iS");
    s.equation(Some(m[1]), "iS", "iS = 0");
    s.arrow(m[0], m[1], "at 1 -> Open");
    let d = s.automaton(0, None, "Diode", &["Off", "On"]);
    s.equation(Some(d[0]), "iD", "iD = 0");
    s.equation(Some(d[1]), "v", "v = 0");
    s.arrow(d[0], d[1], "when -v > 0 -> On");
    s.arrow(d[1], d[0], "when iD < 0 -> Off");
    s.0
}

/// Every sample system with a name.
pub fn all() -> Vec<(&'static str, HybridSystem)> {
    vec![("five_modes", five_modes()), ("three_levels", three_levels()), ("freewheel", freewheel())]
}
