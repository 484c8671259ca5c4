//! Where the shards of a run meet.

use std::path::PathBuf;
use std::str::FromStr;

use thiserror::Error;

use super::identity::EnvironmentVariables;
use super::secret::SECRET;

/// Where the shards of a run meet: shard 0 listens there, or all see the same folder.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MeetingPoint {
    /// Shard 0 listens at this port of its host, `HOST:PORT`.
    Address(String),
    /// A folder that all of them see.
    Folder(PathBuf),
}

/// Why a text is no place to meet.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MeetingPointError {
    /// It is an address whose port is none.
    #[error(
        "{text}: there is no port {port}; give HOST:PORT with a port from 1 to 65535, or a folder as ./{text}"
    )]
    NoPort {
        /// The text.
        text: String,
        /// What stands for the port.
        port: String,
    },
    /// It is an address whose host is none.
    #[error(
        "{text}: there is no host before the port; give HOST:PORT, an address of IPv6 as [ADDRESS]:PORT, or a folder as ./{text}"
    )]
    NoHost {
        /// The text.
        text: String,
    },
}

impl FromStr for MeetingPoint {
    type Err = MeetingPointError;

    /// What has a colon and no separator of folders is `HOST:PORT`; all else is the path of a folder.
    fn from_str(text: &str) -> Result<Self, MeetingPointError> {
        let address = text.rsplit_once(':').filter(|_| !text.contains(['/', '\\']));
        let Some((host, port)) = address else { return Ok(Self::Folder(PathBuf::from(text))) };
        let is_bracketed = host.starts_with('[') && host.ends_with(']');
        let text = text.to_owned();
        if host.is_empty() || host.contains(':') && !is_bracketed {
            return Err(MeetingPointError::NoHost { text });
        }
        let digits = port.bytes().all(|byte| byte.is_ascii_digit()).then_some(port);
        match digits.unwrap_or_default().parse::<u16>() {
            Ok(1..) => Ok(Self::Address(text)),
            _ => Err(MeetingPointError::NoPort { text, port: port.to_owned() }),
        }
    }
}

/// The first and the number of the ports of which a job of Slurm has one: those that Linux does not hand out by itself.
const PORTS: (u64, u64) = (20_000, 10_000);

/// The variables that say where shards meet, each with what it is.
pub const MEETING_VARIABLES: &[(&str, &str)] = &[
    (MEETING, "HOST:PORT of shard 0, or a folder that all shards see"),
    (STEP_NODES, "the nodes of a Slurm step, of which the first has shard 0"),
    (JOB_ID, "the number of a Slurm job, of which the port follows"),
    (SECRET, "what all shards of a run know and prove to one another as they meet"),
];

const MEETING: &str = "FIZEAU_RENDEZVOUS";
const STEP_NODES: &str = "SLURM_STEP_NODELIST";
const JOB_ID: &str = "SLURM_JOB_ID";
const STEP_ID: &str = "SLURM_STEP_ID";

impl MeetingPoint {
    /// What was `given`, or else what the `variables` say: `FIZEAU_RENDEZVOUS`, or the first node of a Slurm step with a port that
    /// follows from the numbers of job and step. None where nobody knows.
    ///
    /// ```
    /// use fizeau_experiment::{MeetingPoint, EnvironmentVariables};
    ///
    /// let step = [("SLURM_STEP_NODELIST", "gpu[07-09,12]"), ("SLURM_JOB_ID", "31"), ("SLURM_STEP_ID", "0")];
    /// let step: EnvironmentVariables = step.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
    /// let found = MeetingPoint::find(None, &step)?;
    /// assert_eq!(found, Some(MeetingPoint::Address("gpu07:20496".into())));
    /// # Ok::<(), fizeau_experiment::MeetingPointError>(())
    /// ```
    ///
    /// # Errors
    /// If the variable that names it names none.
    pub fn find(
        given: Option<Self>,
        variables: &EnvironmentVariables,
    ) -> Result<Option<Self>, MeetingPointError> {
        let set = |name: &str| variables.get(name).filter(|value| !value.is_empty());
        let named = match &given {
            Some(_) => None,
            None => set(MEETING).map(|text| text.parse()).transpose()?,
        };
        let slurm = || {
            // A step of one task meets nobody; in an array each is a step of its own.
            if variables.contains_key("SLURM_ARRAY_TASK_ID") {
                return None;
            }
            let host = first_node(set(STEP_NODES)?)?;
            let job: u64 = set(JOB_ID)?.parse().ok()?;
            let step: u64 = set(STEP_ID).and_then(|step| step.parse().ok()).unwrap_or(0);
            let (first, count) = PORTS;
            let port = first + job.wrapping_mul(16).wrapping_add(step) % count;
            Some(Self::Address(format!("{host}:{port}")))
        };
        Ok(given.or(named).or_else(slurm))
    }
}

/// The first host of a list as Slurm writes it: `gpu[07-09,12],login1`.
fn first_node(list: &str) -> Option<String> {
    let end = list.find([',', '[']).unwrap_or(list.len());
    let (name, rest) = list.split_at(end);
    let Some(ranges) = rest.strip_prefix('[') else {
        return (!name.is_empty()).then(|| name.to_owned());
    };
    let (ranges, after) = ranges.split_once(']')?;
    let first = ranges.split([',', '-']).next().filter(|first| !first.is_empty())?;
    // What follows the bracket, up to the next host.
    let after = after.split([',', '[']).next().unwrap_or_default();
    Some(format!("{name}{first}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_nodes_begins_with_its_first() {
        // As `scontrol show hostnames` expands them.
        let table = [
            ("n1", Some("n1")),
            ("n1,n2", Some("n1")),
            ("n[1-2]", Some("n1")),
            ("gpu[007,010-012],login1", Some("gpu007")),
            ("rack[1-2]-node", Some("rack1-node")),
            ("", None),
            ("n[", None),
        ];
        for (list, first) in table {
            assert_eq!(first_node(list).as_deref(), first, "{list}");
        }
    }

    #[test]
    fn an_address_has_a_port_and_a_folder_has_none() {
        let read = |text: &str| text.parse::<MeetingPoint>().unwrap();
        let address = |text: &str| MeetingPoint::Address(text.to_owned());
        assert_eq!(read("run-0.run:5317"), address("run-0.run:5317"));
        assert_eq!(read("[::1]:5317"), address("[::1]:5317"));
        let error = |text: &str| text.parse::<MeetingPoint>().unwrap_err().to_string();
        for text in ["run-0.run:99999", "h:0", "[::1]:65536", "127.0.0.1:80x", "h:", "h:+5"] {
            assert!(error(text).contains(text) && error(text).contains("65535"), "{}", error(text));
        }
        for text in [":5000", "::1", "fe80::1:5000"] {
            assert!(error(text).contains("no host before the port"), "{}", error(text));
        }
        for folder in ["/shared/meet", "meet", "./a:b", "C/x:9", "./h:99999", r"C:\meet"] {
            assert_eq!(read(folder), MeetingPoint::Folder(folder.into()), "{folder}");
        }
    }

    #[test]
    fn tasks_of_an_array_have_no_address_by_themselves() {
        let slurm =
            [("SLURM_STEP_NODELIST", "n1"), ("SLURM_JOB_ID", "7"), ("SLURM_ARRAY_TASK_ID", "1")];
        let mut slurm: EnvironmentVariables =
            slurm.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        assert_eq!(MeetingPoint::find(None, &slurm), Ok(None));
        slurm.insert("FIZEAU_RENDEZVOUS".to_owned(), "/shared/meet".to_owned());
        assert_eq!(MeetingPoint::find(None, &slurm), "/shared/meet".parse().map(Some));
    }
}
