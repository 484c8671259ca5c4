//! Other load generators' definitions, files in and files out.
