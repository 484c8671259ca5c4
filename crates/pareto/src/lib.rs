//! pareto
