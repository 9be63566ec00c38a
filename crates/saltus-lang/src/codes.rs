//! The stable codes of all diagnostics, each with its one-line meaning.
//!
//! `E0xx` syntax, `E1xx` names and types, `E2xx` equations and structure, `E3xx` units,
//! `E4xx` files and inputs, `W5xx` warnings.

macro_rules! codes {
    ($($name:ident = $code:literal, $meaning:literal;)*) => {
        $(#[doc = $meaning] pub const $name: &str = $code;)*
        /// Every code with its meaning.
        pub const ALL: &[(&str, &str)] = &[$(($code, $meaning)),*];
    };
}

codes! {
    UNEXPECTED_TOKEN = "E001", "the text does not fit the grammar here";
    UNTERMINATED = "E002", "a string, comment or bracket is not closed";
    BAD_NUMBER = "E003", "a number is malformed or too large";
    BAD_CHARACTER = "E004", "a character that has no meaning here";
    RESERVED_WORD = "E005", "a word that the language keeps for itself";
    TOO_DEEP = "E006", "nesting is too deep";
    UNKNOWN_NAME = "E101", "a name that is not declared";
    DUPLICATE_NAME = "E102", "a name declared twice in one scope";
    WRONG_SORT = "E103", "a Real, Integer or Boolean where another is needed";
    WRONG_SHAPE = "E104", "array sizes do not fit";
    WRONG_ARGUMENTS = "E105", "wrong number or names of arguments";
    INDEX_RANGE = "E106", "an index outside its array";
    NOT_CONSTANT = "E107", "a value that must be known before the run is not";
    NOT_ASSIGNABLE = "E108", "the target of an assignment or equation may not be set there";
    REAL_EQUALITY = "E109", "inequality (!=) of reals, or equality outside a guard";
    RECURSION = "E110", "a function or component that contains itself";
    NO_MODEL = "E111", "no model to run, or several and none chosen";
    MISPLACED = "E112", "a statement that does not belong in this place";
    NOT_FINITE = "E113", "a constant that is not a finite number";
    NOT_SUPPORTED = "E114", "a feature that is reserved for later";
    TOO_LARGE = "E115", "a model with more variables, instances or operations than can be handled";
    MISSING_EQUATION = "E201", "a state or signal without an equation in some mode";
    DUPLICATE_EQUATION = "E202", "two equations for one variable can be active together";
    EQUATION_CYCLE = "E203", "signals that depend on themselves";
    NO_INITIAL_MODE = "E204", "an automaton without exactly one initial mode";
    UNKNOWN_MODE = "E205", "a transition to a mode that is not a sibling";
    UNCONNECTED_INPUT = "E206", "an input that nothing defines";
    DOUBLE_WRITE = "E207", "one reaction writes a variable twice";
    BAD_PERIOD = "E208", "a period or delay that is not positive, or a time that is not finite";
    BAD_UNIT = "E301", "a unit that is not known";
    UNIT_CLASH = "E302", "quantities of different units are mixed";
    FILE_NOT_FOUND = "E401", "a file that cannot be read";
    BAD_CSV = "E402", "a CSV file that cannot be used";
    USE_CYCLE = "E403", "files that use each other in a circle";
    BAD_TABLE = "E404", "a table whose grid or values do not fit";
    BAD_SETTING = "E405", "a setting of the run block that is not known, out of range or made twice";
    UNREACHABLE_MODE = "W501", "a mode that no transition enters";
    UNUSED_NAME = "W502", "a declaration that nothing reads";
    UNITLESS_MIX = "W503", "a quantity with a unit mixed with a plain number";
    CONSTANT_GUARD = "W504", "a guard that is always true or always false";
    EMPTY_REACTION = "W505", "a reaction that changes nothing";
}
