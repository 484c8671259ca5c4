//! What the client saw of itself, and how many requests met which goal.

use fizeau_core::{Millis, PerSec, object_schema};

use crate::{Attainment, Ceiling, Headroom, OnTimeLimit, Room};

object_schema!(
    Headroom,
    "Headroom",
    "What the run needs of the system, and what it allows.",
    |o| o.or_reason::<Room>("file_descriptors").or_reason::<Room>("ports")
);

object_schema!(Ceiling, "Ceiling", "What the client can do at most on its machine.", |o| o
    .field::<u64>("streams")
    .field::<PerSec>("tokens_per_s")
    .or_reason::<OnTimeLimit>("on_time"));

object_schema!(
    Attainment,
    "Attainment",
    "How many requests met the goals for single requests.",
    |o| o
        .field::<String>("goals")
        .field::<u64>("sent")
        .field::<u64>("good")
        .field::<f64>("good_share")
        .field::<Vec<GroupSchema>>("groups")
);

struct GroupSchema;

object_schema!(GroupSchema, "GroupAttainment", "Goals that a good request meets together.", |o| o
    .field::<String>("goals")
    .field::<u64>("good")
    .field::<f64>("good_share")
    .field::<Vec<GoalSchema>>("by_goal"));

struct GoalSchema;

object_schema!(GoalSchema, "GoalAttainment", "One goal of a group.", |o| o
    .field::<String>("metric")
    .field::<Millis>("limit_ms")
    .field::<u64>("met")
    .field::<f64>("met_share"));
