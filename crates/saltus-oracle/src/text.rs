//! Systems as readable text.
