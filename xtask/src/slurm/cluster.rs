//! Slurm's daemons, from packages that are unpacked and not installed.

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

const NODES: [&str; 2] = ["n1", "n2"];

/// Fetches and unpacks what is not there yet.
pub(super) fn packages(home: &Path) -> Result<()> {
    let (files, root) = (home.join("packages"), home.join("root"));
    if root.join("usr/sbin/slurmd-wlm").exists() {
        return Ok(());
    }
    fs::create_dir_all(&files)?;
    let mut fetch = Command::new("apt-get");
    fetch.arg("download").args(PACKAGES).current_dir(&files);
    let fetched = fetch.stdout(Stdio::null()).stderr(Stdio::null()).status();
    let fetched = fetched.context("there is no apt-get")?;
    ensure!(fetched.success(), "apt-get download {} failed", PACKAGES.join(" "));
    for file in fs::read_dir(&files)? {
        let mut unpack = Command::new("dpkg");
        unpack.arg("-x").arg(file?.path()).arg(&root);
        ensure!(process::succeeds(&mut unpack)?, "dpkg cannot unpack a package");
    }
    Ok(())
}

/// A controller and two nodes. Dropping it ends them.
pub(super) struct Cluster {
    root: PathBuf,
    state: PathBuf,
}

impl Cluster {
    /// Brings it up.
    pub(super) fn start(home: &Path) -> Result<Self> {
        let cluster = Self { root: home.join("root"), state: home.join("state") };
        // What an earlier one left.
        let _ = fs::remove_dir_all(&cluster.state);
        for folder in ["ctld", "n1", "n2"] {
            fs::create_dir_all(cluster.state.join(folder))?;
        }
        fs::write(cluster.conf(), cluster.settings()?)?;
        cluster.daemon(cluster.command("slurmctld-wlm").args(["-c", "-i"]))?;
        let step = cluster.root.join("usr/sbin/slurmstepd-wlm");
        for node in NODES {
            cluster
                .daemon(cluster.command("slurmd-wlm").arg("-d").arg(&step).args(["-N", node]))?;
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
        let mut command = Command::new(self.root.join(folder).join(name));
        command.env("SLURM_CONF", self.conf()).env("LD_LIBRARY_PATH", libraries);
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
        let host = fs::read_to_string("/proc/sys/kernel/hostname")?;
        let user = process::output_of(Command::new("id").arg("-un")).context("who runs this?")?;
        let (host, user, state) = (host.trim(), user.trim(), self.state.display());
        let plugins = self.root.join(LIBRARIES).join("slurm-wlm");
        let mut text = format!(
            "ClusterName=fizeau\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={}\nAuthType=auth/none\nCredType=cred/none\n\
             SlurmUser={user}\nSlurmdUser={user}\nStateSaveLocation={state}/ctld\nSlurmdSpoolDir={state}/%n\n\
             SlurmctldPidFile={state}/ctld.pid\nSlurmdPidFile={state}/%n.pid\nSlurmctldLogFile={state}/ctld.log\n\
             SlurmdLogFile={state}/%n.log\nProctrackType=proctrack/pgid\nTaskPlugin=task/none\nSchedulerType=sched/builtin\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nSlurmdParameters=config_overrides\nReturnToService=2\n\
             PluginDir={}\nMpiDefault=none\n",
            free_port()?,
            plugins.display()
        );
        for node in NODES {
            let port = free_port()?;
            text += &format!(
                "NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=4\n"
            );
        }
        Ok(text + "PartitionName=p Nodes=n1,n2 Default=YES State=UP\n")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for name in ["n1", "n2", "ctld"] {
            let file = self.state.join(format!("{name}.pid"));
            let Ok(process) = fs::read_to_string(file) else { continue };
            // What has ended already need not be ended.
            let _ = Command::new("kill").arg(process.trim()).status();
        }
    }
}
