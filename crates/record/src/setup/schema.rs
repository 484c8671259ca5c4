//! The JSON Schemas of what writes a reason beside what is absent.

use fizeau_core::object_schema;
use fizeau_core::schema::ObjectSchema;

use super::{Endpoint, Engine, Host, Setup, ToolVersion, Workload};

object_schema!(Setup, "Setup", "What was run, and on what.", |o| o
    .field::<ToolVersion>("tool")
    .field::<String>("started")
    .field::<Vec<String>>("command_line")
    .field::<Endpoint>("endpoint")
    .field::<Engine>("engine")
    .field::<Workload>("workload")
    .field::<Host>("host")
    .each(
        &["model_config", "hardware", "deployment", "precision"],
        ObjectSchema::or_reason::<String>
    ));

object_schema!(ToolVersion, "ToolVersion", "A program and its version.", |o| o
    .field::<String>("name")
    .field::<String>("version")
    .or_reason::<String>("commit"));

object_schema!(Host, "Host", "The machine that the client ran on.", |o| o
    .field::<String>("os")
    .or_reason::<String>("cpu")
    .or_reason::<u32>("cores"));

object_schema!(Engine, "Engine", "What is known of the engine behind the endpoint.", |o| o
    .word("kind", &["simulated", "remote"])
    .or_reason::<String>("description"));
