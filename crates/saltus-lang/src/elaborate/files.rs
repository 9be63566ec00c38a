//! The files of a model: the root file and all it uses, parsed, with the names each of them sees.

use crate::ast::{self, Item};
use crate::{Diagnostic, codes};
use saltus_model::{SourceMap, Span};
use std::collections::HashMap;

/// How long a chain of `use` may be.
const DEEPEST: usize = 64;

/// Answers the text of a file, or why there is none.
pub(super) type Reader<'r> = &'r dyn Fn(&str) -> Result<String, String>;

/// An item of a file: the index of the file and of the item in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ItemId {
    pub(super) file: usize,
    pub(super) item: usize,
}

/// What a name at the top level of a file stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Symbol {
    Class(ItemId),
    Function(ItemId),
    /// The item and the index of the declarator in it.
    Parameter(ItemId, usize),
}

/// One parsed file.
pub(super) struct ParsedFile {
    pub(super) path: String,
    pub(super) tree: ast::File,
    pub(super) symbols: HashMap<String, Symbol>,
}

/// All parsed files; the index of a file is its index in the source map.
#[derive(Default)]
pub(super) struct Program {
    pub(super) files: Vec<ParsedFile>,
}

impl Program {
    pub(super) fn class(&self, id: ItemId) -> Option<&ast::Class> {
        match self.item(id) {
            Item::Class(class) => Some(class),
            _ => None,
        }
    }

    pub(super) fn function(&self, id: ItemId) -> Option<&ast::Function> {
        match self.item(id) {
            Item::Function(function) => Some(function),
            _ => None,
        }
    }

    pub(super) fn parameter(&self, id: ItemId, index: usize) -> Option<&ast::Declarator> {
        match self.item(id) {
            Item::Params(declarators) => declarators.get(index),
            _ => None,
        }
    }

    /// All classes, file by file.
    pub(super) fn classes(&self) -> impl Iterator<Item = ItemId> {
        self.items().filter(|&id| self.class(id).is_some())
    }

    /// All functions, file by file.
    pub(super) fn functions(&self) -> impl Iterator<Item = ItemId> {
        self.items().filter(|&id| self.function(id).is_some())
    }

    fn items(&self) -> impl Iterator<Item = ItemId> {
        let files = self.files.iter().enumerate();
        files.flat_map(|(file, parsed)| (0..parsed.tree.items.len()).map(move |item| ItemId { file, item }))
    }

    fn item(&self, id: ItemId) -> &Item {
        &self.files[id.file].tree.items[id.item]
    }

    fn symbol_span(&self, symbol: Symbol) -> Span {
        let name = match symbol {
            Symbol::Class(id) => self.class(id).map(|c| &c.name),
            Symbol::Function(id) => self.function(id).map(|f| &f.name),
            Symbol::Parameter(id, index) => self.parameter(id, index).map(|d| &d.name),
        };
        name.map(|n| n.span).unwrap_or_default()
    }
}

/// Parses the root file and everything it uses.
pub(super) fn load(
    path: &str,
    text: &str,
    read: Reader<'_>,
    sources: &mut SourceMap,
    diagnostics: &mut Vec<Diagnostic>,
) -> Program {
    let mut loader = Loader {
        read,
        sources,
        diagnostics,
        program: Program::default(),
        known: HashMap::new(),
        open: vec![],
    };
    loader.file(normalize(path), text);
    loader.program
}

struct Loader<'l> {
    read: Reader<'l>,
    sources: &'l mut SourceMap,
    diagnostics: &'l mut Vec<Diagnostic>,
    program: Program,
    known: HashMap<String, usize>,
    /// The files whose `use` lines are being followed, outermost first.
    open: Vec<String>,
}

impl Loader<'_> {
    fn file(&mut self, path: String, text: &str) -> usize {
        let file = self.sources.add(path.clone(), text) as usize;
        let (tree, found) = crate::parser::parse(file as u32, text);
        self.diagnostics.extend(found);
        self.known.insert(path.clone(), file);
        self.program.files.push(ParsedFile { path: path.clone(), tree, symbols: HashMap::new() });
        self.open.push(path);
        self.own_symbols(file);
        for (used, span) in self.uses(file) {
            if let Some(other) = self.used_file(file, &used, span) {
                self.import(file, other, span);
            }
        }
        self.open.pop();
        file
    }

    fn uses(&self, file: usize) -> Vec<(String, Span)> {
        let items = &self.program.files[file].tree.items;
        items
            .iter()
            .filter_map(|item| match item {
                Item::Use { path, span } => Some((path.clone(), *span)),
                _ => None,
            })
            .collect()
    }

    fn own_symbols(&mut self, file: usize) {
        let mut found: Vec<(String, Span, Symbol)> = Vec::new();
        for (item, content) in self.program.files[file].tree.items.iter().enumerate() {
            let id = ItemId { file, item };
            match content {
                Item::Use { .. } => {}
                Item::Function(f) => found.push((f.name.text.clone(), f.name.span, Symbol::Function(id))),
                Item::Class(c) => found.push((c.name.text.clone(), c.name.span, Symbol::Class(id))),
                Item::Params(list) => found.extend(
                    list.iter()
                        .enumerate()
                        .map(|(k, d)| (d.name.text.clone(), d.name.span, Symbol::Parameter(id, k))),
                ),
            }
        }
        for (name, span, symbol) in found {
            match self.program.files[file].symbols.get(&name) {
                Some(&first) => {
                    let first = self.program.symbol_span(first);
                    self.diagnostics.push(
                        Diagnostic::error(
                            codes::DUPLICATE_NAME,
                            span,
                            format!("`{name}` is declared twice in this file"),
                        )
                        .label("second declaration")
                        .related(first, "first declared here"),
                    );
                }
                None => {
                    self.program.files[file].symbols.insert(name, symbol);
                }
            }
        }
    }

    /// The index of a used file, loading it if it is new.
    fn used_file(&mut self, from: usize, used: &str, span: Span) -> Option<usize> {
        let path = beside(&self.program.files[from].path, used);
        if let Some(start) = self.open.iter().position(|p| *p == path) {
            let circle: Vec<&str> = self.open[start..].iter().chain([&path]).map(String::as_str).collect();
            self.diagnostics.push(
                Diagnostic::error(
                    codes::USE_CYCLE,
                    span,
                    format!("files use each other in a circle: {}", circle.join(" -> ")),
                )
                .label("closes the circle")
                .hint("move what both need into a third file"),
            );
            return None;
        }
        if let Some(&file) = self.known.get(&path) {
            return Some(file);
        }
        if self.open.len() >= DEEPEST {
            let message = format!("more than {DEEPEST} files use one another in a chain");
            self.diagnostics.push(Diagnostic::error(codes::TOO_DEEP, span, message));
            return None;
        }
        match (self.read)(&path) {
            Ok(text) => Some(self.file(path, &text)),
            Err(reason) => {
                self.diagnostics.push(
                    Diagnostic::error(codes::FILE_NOT_FOUND, span, format!("cannot read `{path}`: {reason}"))
                        .hint("the path is relative to the file that uses it"),
                );
                None
            }
        }
    }

    /// Makes the names of a used file visible; a file's own names go first.
    fn import(&mut self, into: usize, from: usize, span: Span) {
        let mut names: Vec<(String, Symbol)> =
            self.program.files[from].symbols.iter().map(|(n, s)| (n.clone(), *s)).collect();
        names.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, symbol) in names {
            let present = self.program.files[into].symbols.get(&name).copied();
            match present {
                None => {
                    self.program.files[into].symbols.insert(name, symbol);
                }
                Some(other) if other == symbol || file_of(other) == into => {}
                Some(other) => {
                    let places = (self.program.symbol_span(other), self.program.symbol_span(symbol));
                    self.diagnostics.push(
                        Diagnostic::error(
                            codes::DUPLICATE_NAME,
                            span,
                            format!("`{name}` comes from two used files"),
                        )
                        .label("brings it in again")
                        .related(places.0, "first declared here")
                        .related(places.1, "and here"),
                    );
                }
            }
        }
    }
}

fn file_of(symbol: Symbol) -> usize {
    match symbol {
        Symbol::Class(id) | Symbol::Function(id) | Symbol::Parameter(id, _) => id.file,
    }
}

/// The path of a file named in another file.
pub(super) fn beside(from: &str, used: &str) -> String {
    let folder = from.rfind('/').map_or("", |end| &from[..=end]);
    if used.starts_with('/') { normalize(used) } else { normalize(&format!("{folder}{used}")) }
}

/// A path without `.` and without `name/..`.
fn normalize(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            "" if !parts.is_empty() => {}
            ".." if parts.last().is_some_and(|last| !matches!(*last, "" | "..")) => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_paths_are_relative_to_their_file() {
        assert_eq!(beside("a/b.salt", "c.salt"), "a/c.salt");
        assert_eq!(beside("a/b.salt", "../c.salt"), "c.salt");
        assert_eq!(beside("b.salt", "./lib/c.salt"), "lib/c.salt");
        assert_eq!(beside("b.salt", "../c.salt"), "../c.salt");
        assert_eq!(beside("/a/b.salt", "/x//c.salt"), "/x/c.salt");
    }
}
