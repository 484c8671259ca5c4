//! Slurm's daemons, from packages that are unpacked and not installed.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::process;
use crate::shards::free_port;

/// Debian's packages, and the one of their libraries that a machine may lack.
const PACKAGES: [&str; 5] =
    ["slurmctld", "slurmd", "slurm-client", "slurm-wlm-basic-plugins", "libhwloc15"];

/// Where libraries are in an unpacked package.
const LIBRARIES: &str = "usr/lib/x86_64-linux-gnu";

/// How many seconds a command of Slurm's may take.
const LONGEST_S: &str = "90";

/// How long daemons may take to end before they are killed.
const ENDING: Duration = Duration::from_secs(5);

/// Fetches and unpacks what is not there yet.
pub(super) fn packages(home: &Path) -> Result<()> {
    let (files, root) = (home.join("packages"), home.join("root"));
    if root.join("usr/sbin/slurmd-wlm").exists() {
        return Ok(());
    }
    fs::create_dir_all(&files)?;
    if !fetch(&files)? {
        // A machine that was just made knows of no packages; only root may ask for the list.
        let _ = quiet(Command::new("apt-get").arg("update"));
        ensure!(fetch(&files)?, "apt-get download {} failed", PACKAGES.join(" "));
    }
    for file in fs::read_dir(&files)? {
        let mut unpack = Command::new("dpkg");
        unpack.arg("-x").arg(file?.path()).arg(&root);
        ensure!(process::succeeds(&mut unpack)?, "dpkg cannot unpack a package");
    }
    Ok(())
}

/// Whether all packages are in `files`.
fn fetch(files: &Path) -> Result<bool> {
    quiet(Command::new("apt-get").arg("download").args(PACKAGES).current_dir(files))
}

/// Whether `command` ended well; nothing of it is shown.
fn quiet(command: &mut Command) -> Result<bool> {
    let ended = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    Ok(ended.with_context(|| format!("there is no {}", command.get_program().display()))?.success())
}

/// A controller and two nodes. Dropping it ends them.
pub(super) struct Cluster {
    root: PathBuf,
    state: PathBuf,
    /// The first has the machine's own name, which tasks can look up to meet there.
    nodes: [String; 2],
}

impl Cluster {
    /// Brings it up.
    pub(super) fn start(home: &Path) -> Result<Self> {
        let host = fs::read_to_string("/proc/sys/kernel/hostname")?;
        let host = host.trim();
        // Slurm has nodes in the order of their names.
        let nodes = [host.to_owned(), format!("{host}-b")];
        let cluster = Self { root: home.join("root"), state: home.join("state"), nodes };
        // What an earlier one left, were it stopped in the midst.
        cluster.end();
        let _ = fs::remove_dir_all(&cluster.state);
        for folder in ["ctld"].into_iter().chain(cluster.nodes.iter().map(String::as_str)) {
            fs::create_dir_all(cluster.state.join(folder))?;
        }
        fs::write(cluster.conf(), cluster.settings()?)?;
        cluster.daemon(cluster.command("slurmctld-wlm").args(["-c", "-i"]))?;
        let step = cluster.root.join("usr/sbin/slurmstepd-wlm");
        for node in &cluster.nodes {
            cluster.daemon(
                cluster.command("slurmd-wlm").arg("-d").arg(&step).args(["-N", node.as_str()]),
            )?;
        }
        cluster.wait()?;
        Ok(cluster)
    }

    fn conf(&self) -> PathBuf {
        self.state.join("slurm.conf")
    }

    /// A program of Slurm's, told where this cluster is.
    pub(super) fn command(&self, name: &str) -> Command {
        let folder = if name.ends_with("-wlm") { "usr/sbin" } else { "usr/bin" };
        let libraries = self.root.join(LIBRARIES);
        let libraries = format!("{}/slurm-wlm:{}", libraries.display(), libraries.display());
        // Whatever happens, nothing waits for ever.
        let mut command = Command::new("timeout");
        command.args(["-k", "5", LONGEST_S]).arg(self.root.join(folder).join(name));
        command.env("SLURM_CONF", self.conf()).env("LD_LIBRARY_PATH", libraries);
        // A script of a job finds them too.
        let others = env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{others}", self.root.join("usr/bin").display()));
        command
    }

    fn daemon(&self, command: &mut Command) -> Result<()> {
        ensure!(process::succeeds(command)?, "{} does not start", command.get_program().display());
        Ok(())
    }

    /// Waits until both nodes are idle.
    fn wait(&self) -> Result<()> {
        let until = Instant::now() + Duration::from_secs(30);
        while Instant::now() < until {
            let nodes = process::output_of(self.command("sinfo").args(["-h", "-o", "%T %D"]));
            if nodes.is_some_and(|nodes| nodes.trim() == "idle 2") {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(200));
        }
        bail!("the nodes did not come up; see {}", self.state.display())
    }

    fn settings(&self) -> Result<String> {
        let user = process::output_of(Command::new("id").arg("-un")).context("who runs this?")?;
        let [host, other] = &self.nodes;
        let (user, state) = (user.trim(), self.state.display());
        let plugins = self.root.join(LIBRARIES).join("slurm-wlm");
        let mut text = format!(
            "ClusterName=fizeau\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={}\nAuthType=auth/none\nCredType=cred/none\n\
             SlurmUser={user}\nSlurmdUser={user}\nStateSaveLocation={state}/ctld\nSlurmdSpoolDir={state}/%n\n\
             SlurmctldPidFile={state}/ctld.pid\nSlurmdPidFile={state}/%n.pid\nSlurmctldLogFile={state}/ctld.log\n\
             SlurmdLogFile={state}/%n.log\nProctrackType=proctrack/pgid\nTaskPlugin=task/none\nSchedulerType=sched/builtin\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nSlurmdParameters=config_overrides\nReturnToService=2\n\
             PluginDir={}\nMpiDefault=none\nFirstJobId={}\n",
            free_port()?,
            plugins.display(),
            // Where tasks meet follows from the job's number, and other clusters of this machine have other jobs.
            free_port()?
        );
        for node in &self.nodes {
            let port = free_port()?;
            text += &format!(
                "NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=4\n"
            );
        }
        Ok(text + &format!("PartitionName=p Nodes={host},{other} Default=YES State=UP\n"))
    }
}

impl Cluster {
    /// Ends whatever runs of the programs that were unpacked, and waits until it is gone.
    fn end(&self) {
        let begun = Instant::now();
        loop {
            let running = self.running();
            if running.is_empty() || begun.elapsed() > ENDING * 2 {
                return;
            }
            let signal = if begun.elapsed() < ENDING { "-TERM" } else { "-KILL" };
            // What has ended already need not be ended.
            let _ = quiet(Command::new("kill").arg(signal).args(&running));
            thread::sleep(Duration::from_millis(200));
        }
    }

    /// The numbers of the processes whose program is one of those that were unpacked.
    fn running(&self) -> Vec<String> {
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ours = processes.filter(|process| {
            fs::read_link(process.path().join("exe")).is_ok_and(|exe| exe.starts_with(&self.root))
        });
        ours.map(|process| process.file_name().to_string_lossy().into_owned()).collect()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.end();
    }
}
