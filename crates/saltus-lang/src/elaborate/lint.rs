//! Warnings about sound models, and the removal of consequences of syntax errors.

use super::Elaborator;
use super::files::{ItemId, Symbol};
use crate::ast::DeclarationKind;
use crate::{Diagnostic, Severity, codes};
use saltus_model::{AutomatonId, SourceMap, Span};
use std::collections::HashSet;

impl Elaborator<'_> {
    /// Warns about modes that are never entered and names that are never read. A model with errors
    /// is left alone: what the errors hide may well be the use.
    pub(super) fn lint(&mut self) {
        if self.diagnostics.iter().any(|d| d.severity == Severity::Error) {
            return;
        }
        for automaton in 0..self.system.automata.len() as u32 {
            self.unreachable_modes(AutomatonId(automaton));
        }
        self.unused_variables();
        self.unused_functions();
    }

    fn unreachable_modes(&mut self, automaton: AutomatonId) {
        let automaton = self.system.automaton(automaton);
        let mut reached = HashSet::from([automaton.initial]);
        let mut pending = vec![automaton.initial];
        while let Some(mode) = pending.pop() {
            let targets = self.system.mode(mode).transitions.iter().map(|t| t.target);
            pending.extend(targets.filter(|t| reached.insert(*t)));
        }
        let unreached: Vec<(String, Span)> = automaton
            .modes
            .iter()
            .filter(|m| !reached.contains(m))
            .map(|&m| (self.system.mode_path(m), self.system.mode(m).span))
            .collect();
        for (path, span) in unreached {
            let message = format!("no transition leads to the mode `{path}`");
            self.report(Diagnostic::warning(codes::UNREACHABLE_MODE, span, message));
        }
    }

    fn unused_variables(&mut self) {
        for k in 0..self.declarations.len() {
            let declaration = &self.declarations[k];
            let name = &declaration.tree.name;
            let (what, hint) = match declaration.kind {
                DeclarationKind::Param => ("parameter", None),
                DeclarationKind::Memory => ("memory", None),
                DeclarationKind::Signal => {
                    ("signal", Some("if it is meant to be observed, make it an `output`"))
                }
                _ => continue,
            };
            if name.span.file != 0 || self.used.contains(&name.span) {
                continue;
            }
            if self.file_scopes.contains(&declaration.scope) && self.is_mentioned(&name.text) {
                continue;
            }
            let message = format!("nothing uses the {what} `{}`", name.text);
            let diagnostic = Diagnostic::warning(codes::UNUSED_NAME, name.span, message);
            let diagnostic = super::scope::hinted(diagnostic, hint.map(str::to_string));
            self.report(diagnostic);
        }
    }

    /// Whether the root file names a thing of its top level more than once: other models of the
    /// file, which are elaborated apart, may be its users.
    fn is_mentioned(&self, name: &str) -> bool {
        let text = self.sources.files().first().map_or("", |f| f.text.as_str());
        words(text).filter(|word| *word == name).count() > 1
    }

    fn unused_functions(&mut self) {
        let program = self.program;
        let own = program.files[0].symbols.values();
        let mut unused: Vec<ItemId> = own
            .filter_map(|symbol| match symbol {
                Symbol::Function(id) if id.file == 0 && !self.used_functions.contains(id) => Some(*id),
                _ => None,
            })
            .collect();
        unused.sort_by_key(|id| id.item);
        for function in unused.into_iter().filter_map(|id| program.function(id)) {
            if self.is_mentioned(&function.name.text) {
                continue;
            }
            let message = format!("nothing calls the function `{}`", function.name.text);
            self.report(Diagnostic::warning(codes::UNUSED_NAME, function.name.span, message));
        }
    }
}

/// Removes what probably follows from the syntax errors before it: a statement or file that could
/// not be read declares and defines nothing, which is no second mistake.
pub(super) fn drop_consequences(diagnostics: &mut Vec<Diagnostic>, syntax: usize, sources: &SourceMap) {
    let lost = words_near(&diagnostics[..syntax], sources);
    let code = |wanted: &str| diagnostics[..syntax].iter().any(|d| d.code == wanted);
    let unread_file = code(codes::FILE_NOT_FOUND);
    let broken = code(codes::MISPLACED)
        || diagnostics[..syntax].iter().any(|d| d.severity == Severity::Error && d.code < "E1");
    if !broken && !unread_file {
        return;
    }
    let line = |span: Span| (span.file, sources.line_column(span).0);
    let unread: HashSet<(u32, u32)> = diagnostics[..syntax].iter().map(|d| line(d.span)).collect();
    let mut position = 0;
    diagnostics.retain(|d| {
        position += 1;
        let absent = matches!(
            d.code,
            codes::MISSING_EQUATION
                | codes::UNCONNECTED_INPUT
                | codes::NO_MODEL
                | codes::NO_INITIAL_MODE
                | codes::NOT_CONSTANT
                | codes::EMPTY_REACTION
        );
        let named = matches!(d.code, codes::UNKNOWN_NAME | codes::UNKNOWN_MODE | codes::WRONG_ARGUMENTS)
            && lost.contains(sources.text(d.span));
        // Without a better idea, a name is one that the file would have brought.
        let brought = unread_file && d.code == codes::UNKNOWN_NAME && d.hint.is_none();
        let same_line = d.code != codes::BAD_SETTING && unread.contains(&line(d.span));
        position <= syntax || !(broken && (absent || named || same_line) || brought)
    });
}

/// The words on the lines of syntax errors.
fn words_near(diagnostics: &[Diagnostic], sources: &SourceMap) -> HashSet<String> {
    let mut near = HashSet::new();
    for diagnostic in diagnostics {
        let Some(file) = sources.files().get(diagnostic.span.file as usize) else { continue };
        let text = file.text.as_str();
        let at = (diagnostic.span.start as usize).min(text.len());
        let Some((before, after)) = text.split_at_checked(at) else { continue };
        let start = before.rfind('\n').map_or(0, |k| k + 1);
        let end = at + after.find('\n').unwrap_or(after.len());
        let line = text.get(start..end).unwrap_or("");
        near.extend(words(line).map(str::to_string));
    }
    near
}

/// The names and numbers in a text.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
}
