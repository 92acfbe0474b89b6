//! What the benchmarks and the programs have measured, as one page with plots: see `benches/run`.

pub mod criterion;
pub mod svg;
pub mod table;
