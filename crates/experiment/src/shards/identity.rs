//! Which shard of a run this process is, by what its launcher says.

use std::collections::BTreeMap;

use fizeau_workload::{Shard, ShardIndexError};
use thiserror::Error;

/// The variables of an environment, as a function of which everything here is computed.
pub type EnvironmentVariables = BTreeMap<String, String>;

/// Who says which shard a process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShardSource {
    /// Whoever started it, in so many words.
    Explicit,
    /// `FIZEAU_SHARD_INDEX` and `FIZEAU_SHARD_COUNT`.
    Fizeau,
    /// A task of a Slurm array.
    SlurmArray,
    /// A task of a Slurm step.
    SlurmTask,
    /// A pod of a Kubernetes Indexed Job.
    IndexedJob,
    /// A rank of Open MPI.
    OpenMpi,
    /// A rank of another MPI's process manager.
    Pmi,
    /// Nobody: it is the whole.
    Nobody,
}

fizeau_core::words! {
    ShardSource, shown {
        Explicit = "the shard that was given", Fizeau = "FIZEAU_SHARD_INDEX and FIZEAU_SHARD_COUNT",
        SlurmArray = "the Slurm array (SLURM_ARRAY_TASK_ID)",
        SlurmTask = "the Slurm step (SLURM_PROCID)",
        IndexedJob = "the Indexed Job (JOB_COMPLETION_INDEX)",
        OpenMpi = "Open MPI (OMPI_COMM_WORLD_RANK)", Pmi = "the MPI process manager (PMI_RANK)",
        Nobody = "nobody",
    }
}

/// Which shard of a run this process is, and who says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShardIdentity {
    /// Which.
    pub shard: Shard,
    /// Who says so.
    pub source: ShardSource,
}

/// Why nobody knows which shard this process is.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ShardIdentityError {
    /// A variable is no number.
    #[error("{name}={value}: it should be a whole number, counted from 0")]
    NotNumber {
        /// Which variable.
        name: &'static str,
        /// What it holds.
        value: String,
    },
    /// There is a number without what it is a part of, or the other way round.
    #[error(
        "{given} is set and {missing} is not: set both, the count being that of all processes of the run"
    )]
    Half {
        /// What there is.
        given: &'static str,
        /// What there is not.
        missing: &'static str,
    },
    /// A Slurm array whose indices leave gaps.
    #[error(
        "SLURM_ARRAY_TASK_STEP={step}: shards are counted one by one; ask for an array without a step"
    )]
    Step {
        /// How far apart they are.
        step: u64,
    },
    /// A Slurm array of numbers with gaps.
    #[error(
        "SLURM_ARRAY_TASK_ID={index} of {count} tasks from {least}: the numbers of the array leave gaps, and shards are counted one by \
         one; ask for an array such as 0-{}", count.saturating_sub(1)
    )]
    Gaps {
        /// The number of this task.
        index: u64,
        /// The lowest number.
        least: u64,
        /// How many tasks there are.
        count: u64,
    },
    /// There is no such shard.
    #[error("{by} says {error}")]
    NoShard {
        /// Who says so.
        by: ShardSource,
        /// What is wrong.
        error: ShardIndexError,
    },
    /// Two sources disagree.
    #[error(
        "{one} says shard {is} and {other} says {that}: {} to the one that is meant", remedy(*other)
    )]
    Conflict {
        /// One of them.
        one: ShardSource,
        /// What it says.
        is: Shard,
        /// Another.
        other: ShardSource,
        /// What that one says.
        that: Shard,
    },
}

/// What makes two agree, of which the second is `other`: what this program's own variables say is changed, or else set.
const fn remedy(other: ShardSource) -> &'static str {
    match other {
        ShardSource::Fizeau => "unset FIZEAU_SHARD_INDEX and FIZEAU_SHARD_COUNT, or change them",
        _ => "set FIZEAU_SHARD_INDEX and FIZEAU_SHARD_COUNT",
    }
}

/// The variables that are read, each with what it is, for documents and tests of launch recipes.
pub const SHARD_VARIABLES: &[(&str, &str)] = &[
    (INDEX, "the number of this process, from 0"),
    (COUNT, "how many processes there are"),
    (ARRAY_INDEX, "the number of a task of a Slurm array"),
    (ARRAY_COUNT, "how many tasks a Slurm array has"),
    (ARRAY_LEAST, "the lowest number of a Slurm array"),
    (ARRAY_STEP, "how far apart the numbers of a Slurm array are"),
    (TASK_INDEX, "the number of a task of a Slurm step"),
    (TASK_COUNT, "how many tasks a Slurm step has"),
    (JOB_INDEX, "the number of a pod of an Indexed Job, beside FIZEAU_SHARD_COUNT"),
    (OMPI_INDEX, "the rank of a process of Open MPI"),
    (OMPI_COUNT, "how many ranks Open MPI started"),
    (PMI_INDEX, "the rank of a process of another MPI"),
    (PMI_COUNT, "how many ranks that one started"),
];

const INDEX: &str = "FIZEAU_SHARD_INDEX";
const COUNT: &str = "FIZEAU_SHARD_COUNT";
const ARRAY_INDEX: &str = "SLURM_ARRAY_TASK_ID";
const ARRAY_COUNT: &str = "SLURM_ARRAY_TASK_COUNT";
const ARRAY_LEAST: &str = "SLURM_ARRAY_TASK_MIN";
const ARRAY_STEP: &str = "SLURM_ARRAY_TASK_STEP";
const TASK_INDEX: &str = "SLURM_PROCID";
const TASK_COUNT: &str = "SLURM_STEP_NUM_TASKS";
const JOB_INDEX: &str = "JOB_COMPLETION_INDEX";
const OMPI_INDEX: &str = "OMPI_COMM_WORLD_RANK";
const OMPI_COUNT: &str = "OMPI_COMM_WORLD_SIZE";
const PMI_INDEX: &str = "PMI_RANK";
const PMI_COUNT: &str = "PMI_SIZE";

impl ShardIdentity {
    /// What `given` and the `variables` say. What was given counts before variables, but has to agree with those of this program;
    /// those count before what launchers set by themselves, who have to agree with each other. Where nobody says anything, or only
    /// that there is one process, it is the whole.
    ///
    /// A step of Slurm is known by `SLURM_STEP_NUM_TASKS`, which `srun` sets: the script of a batch job has `SLURM_PROCID=0` and
    /// `SLURM_NTASKS` too, and is no task. In a task of an array `SLURM_PROCID` is 0 for all of them, and the array counts.
    ///
    /// ```
    /// use fizeau_experiment::{ShardIdentity, ShardSource, EnvironmentVariables};
    ///
    /// let step = [("SLURM_PROCID", "3"), ("SLURM_STEP_NUM_TASKS", "8")];
    /// let step: EnvironmentVariables = step.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
    /// let found = ShardIdentity::find(None, &step)?;
    /// assert_eq!((found.shard.to_string().as_str(), found.source), ("3/8", ShardSource::SlurmTask));
    /// # Ok::<(), fizeau_experiment::ShardIdentityError>(())
    /// ```
    ///
    /// # Errors
    /// If a variable is no number or stands alone, or if two sources disagree.
    pub fn find(
        given: Option<Shard>,
        variables: &EnvironmentVariables,
    ) -> Result<Self, ShardIdentityError> {
        let set = Set(variables);
        let own = set.own()?;
        if let Some(shard) = given {
            let given = Self { shard, source: ShardSource::Explicit };
            return own.map_or(Ok(given), |own| given.agreeing(own));
        }
        if let Some(own) = own {
            return Ok(own);
        }
        let launchers = [set.array()?, set.task()?, set.job()?, set.open_mpi()?, set.pmi()?];
        let mut found = launchers.into_iter().flatten().filter(Self::is_part);
        let whole = Self { shard: Shard::WHOLE, source: ShardSource::Nobody };
        let first = found.next().unwrap_or(whole);
        let agreed = found.try_fold(first, Self::agreeing)?;
        set.check_count(agreed)
    }

    /// Whether it is one of several.
    #[must_use]
    pub fn is_part(&self) -> bool {
        self.shard.count().get() > 1
    }

    fn agreeing(self, other: Self) -> Result<Self, ShardIdentityError> {
        if self.shard == other.shard {
            return Ok(self);
        }
        let (one, is, that) = (self.source, self.shard, other.shard);
        Err(ShardIdentityError::Conflict { one, is, other: other.source, that })
    }
}

/// The variables that are set.
struct Set<'a>(&'a EnvironmentVariables);

impl Set<'_> {
    fn number(&self, name: &'static str) -> Result<Option<u64>, ShardIdentityError> {
        let Some(value) = self.0.get(name).filter(|value| !value.is_empty()) else {
            return Ok(None);
        };
        let number = value.trim().parse();
        let wrong = |_| ShardIdentityError::NotNumber { name, value: value.clone() };
        number.map(Some).map_err(wrong)
    }

    /// An index and its count; one without the other is an error where both belong together.
    fn pair(
        &self,
        by: ShardSource,
        index: &'static str,
        count: &'static str,
    ) -> Result<Option<ShardIdentity>, ShardIdentityError> {
        match (self.number(index)?, self.number(count)?) {
            (Some(index), Some(count)) => identity(by, index, count).map(Some),
            (Some(_), None) => Err(ShardIdentityError::Half { given: index, missing: count }),
            (None, _) => Ok(None),
        }
    }

    fn own(&self) -> Result<Option<ShardIdentity>, ShardIdentityError> {
        self.pair(ShardSource::Fizeau, INDEX, COUNT)
    }

    fn array(&self) -> Result<Option<ShardIdentity>, ShardIdentityError> {
        let Some(index) = self.number(ARRAY_INDEX)? else { return Ok(None) };
        let half = |missing| ShardIdentityError::Half { given: ARRAY_INDEX, missing };
        let count = self.number(ARRAY_COUNT)?.ok_or_else(|| half(ARRAY_COUNT))?;
        let step = self.number(ARRAY_STEP)?.unwrap_or(1);
        if step != 1 && count > 1 {
            return Err(ShardIdentityError::Step { step });
        }
        let least = self.number(ARRAY_LEAST)?.ok_or_else(|| half(ARRAY_LEAST))?;
        let own = index.saturating_sub(least);
        if count > 0 && own >= count {
            return Err(ShardIdentityError::Gaps { index, least, count });
        }
        identity(ShardSource::SlurmArray, own, count).map(Some)
    }

    fn task(&self) -> Result<Option<ShardIdentity>, ShardIdentityError> {
        match self.number(TASK_COUNT)? {
            // The script of a batch job is no task.
            None => Ok(None),
            Some(_) => self.pair(ShardSource::SlurmTask, TASK_INDEX, TASK_COUNT),
        }
    }

    fn job(&self) -> Result<Option<ShardIdentity>, ShardIdentityError> {
        self.pair(ShardSource::IndexedJob, JOB_INDEX, COUNT)
    }

    fn open_mpi(&self) -> Result<Option<ShardIdentity>, ShardIdentityError> {
        self.pair(ShardSource::OpenMpi, OMPI_INDEX, OMPI_COUNT)
    }

    fn pmi(&self) -> Result<Option<ShardIdentity>, ShardIdentityError> {
        self.pair(ShardSource::Pmi, PMI_INDEX, PMI_COUNT)
    }

    /// A count that somebody set has to be that of the launcher, and needs one.
    fn check_count(&self, found: ShardIdentity) -> Result<ShardIdentity, ShardIdentityError> {
        let Some(count) = self.number(COUNT)? else { return Ok(found) };
        if found.shard.count().get() == count {
            return Ok(found);
        }
        if !found.is_part() {
            return Err(ShardIdentityError::Half { given: COUNT, missing: INDEX });
        }
        let other = identity(ShardSource::Fizeau, found.shard.index(), count)?;
        found.agreeing(other)
    }
}

fn identity(
    source: ShardSource,
    index: u64,
    count: u64,
) -> Result<ShardIdentity, ShardIdentityError> {
    let shard = Shard::new(index, count);
    let shard = shard.map_err(|error| ShardIdentityError::NoShard { by: source, error })?;
    Ok(ShardIdentity { shard, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(text: &str) -> EnvironmentVariables {
        let pairs = text.split_whitespace().filter_map(|pair| pair.split_once('='));
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    fn found(text: &str) -> Result<String, String> {
        let found = ShardIdentity::find(None, &variables(text));
        found.map(|found| format!("{} {:?}", found.shard, found.source)).map_err(|e| e.to_string())
    }

    #[test]
    fn each_launcher_is_read_and_nobody_is_the_whole() {
        let table = [
            ("", "0/1 Nobody"),
            ("FIZEAU_SHARD_INDEX=2 FIZEAU_SHARD_COUNT=4", "2/4 Fizeau"),
            // `srun -N2 -n4 env`, its variables of tasks.
            (
                "SLURM_PROCID=3 SLURM_NTASKS=4 SLURM_STEP_NUM_TASKS=4 SLURM_LOCALID=0 SLURM_NODEID=1",
                "3/4 SlurmTask",
            ),
            // The script that `sbatch -n4` runs is one process.
            ("SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_JOB_ID=7", "0/1 Nobody"),
            // `sbatch --array=0-3`: each has SLURM_PROCID=0 and an empty SLURM_NTASKS.
            (
                "SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_STEP=1 SLURM_PROCID=0 SLURM_NTASKS=",
                "2/4 SlurmArray",
            ),
            (
                "SLURM_ARRAY_TASK_ID=12 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=10",
                "2/3 SlurmArray",
            ),
            // An `srun` within a task of an array starts one process.
            (
                "SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MIN=0 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1",
                "1/2 SlurmArray",
            ),
            ("JOB_COMPLETION_INDEX=5 FIZEAU_SHARD_COUNT=6", "5/6 IndexedJob"),
            ("OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2", "1/2 OpenMpi"),
            ("PMI_RANK=1 PMI_SIZE=2", "1/2 Pmi"),
            // `srun --mpi=pmi2` sets both, and they agree.
            (
                "PMI_RANK=1 PMI_SIZE=2 SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 FIZEAU_SHARD_COUNT=2",
                "1/2 SlurmTask",
            ),
            // This program's own count before a launcher's.
            (
                "FIZEAU_SHARD_INDEX=0 FIZEAU_SHARD_COUNT=1 SLURM_PROCID=3 SLURM_STEP_NUM_TASKS=4",
                "0/1 Fizeau",
            ),
        ];
        for (text, expected) in table {
            assert_eq!(found(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_does_not_fit_together_is_refused_by_its_names() {
        let table = [
            ("FIZEAU_SHARD_INDEX=2", "FIZEAU_SHARD_COUNT is not"),
            ("FIZEAU_SHARD_COUNT=2", "FIZEAU_SHARD_INDEX is not"),
            ("JOB_COMPLETION_INDEX=2", "FIZEAU_SHARD_COUNT is not"),
            ("PMI_RANK=0", "PMI_SIZE is not"),
            ("FIZEAU_SHARD_INDEX=x FIZEAU_SHARD_COUNT=2", "FIZEAU_SHARD_INDEX=x"),
            ("FIZEAU_SHARD_INDEX=4 FIZEAU_SHARD_COUNT=4", "no shard 4 of 4"),
            ("SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_COUNT=4", "SLURM_ARRAY_TASK_MIN is not"),
            (
                "SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_STEP=2",
                "SLURM_ARRAY_TASK_STEP=2",
            ),
            // `sbatch --array=1,5`.
            (
                "SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_STEP=1",
                "leave gaps, and shards are counted one by one; ask for an array such as 0-1",
            ),
            (
                "OMPI_COMM_WORLD_RANK=5 OMPI_COMM_WORLD_SIZE=8 SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2",
                "the Slurm step (SLURM_PROCID) says shard 1/2 and Open MPI (OMPI_COMM_WORLD_RANK) says 5/8",
            ),
            (
                "SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 FIZEAU_SHARD_COUNT=3",
                "says shard 1/2 and FIZEAU_SHARD_INDEX and FIZEAU_SHARD_COUNT says 1/3",
            ),
        ];
        for (text, expected) in table {
            let error = found(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn what_was_given_counts_and_has_to_agree_with_the_programs_own_variables() {
        let given = Shard::new(1, 2).ok();
        let slurm = variables("SLURM_PROCID=3 SLURM_STEP_NUM_TASKS=8");
        let found = ShardIdentity::find(given, &slurm).unwrap();
        assert_eq!((Some(found.shard), found.source), (given, ShardSource::Explicit));
        let own = variables("FIZEAU_SHARD_INDEX=0 FIZEAU_SHARD_COUNT=2");
        let error = ShardIdentity::find(given, &own).unwrap_err().to_string();
        assert!(error.contains("the shard that was given says shard 1/2"), "{error}");
        let remedy = ": unset FIZEAU_SHARD_INDEX and FIZEAU_SHARD_COUNT, or change them to the one";
        assert!(error.contains(remedy), "they are set already: {error}");
    }
}
