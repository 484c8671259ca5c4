//! A terminal that only a test sees: the program on one side of a pseudo-terminal, the test on the other.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

/// A program that runs on a terminal: its standard input, output and error.
pub(crate) struct OnTerminal {
    child: Child,
    /// The test's side.
    master: File,
    /// All that it wrote so far.
    written: Vec<u8>,
}

/// How a program on a terminal ended.
#[derive(Debug)]
pub(crate) struct LeftTerminal {
    pub(crate) status: ExitStatus,
    /// All that it wrote, with its escape sequences; lines end in `\r\n`.
    pub(crate) text: String,
    /// Whether the terminal again shows what is typed and hands over whole lines.
    pub(crate) is_cooked: bool,
}

impl OnTerminal {
    /// Starts `command` on a terminal of so many columns and rows.
    pub(crate) fn start(mut command: Command, (columns, rows): (u16, u16)) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        let master = openpt(flags | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).unwrap();
        let side = || -> Stdio {
            let side: OwnedFd = ioctl_tiocgptpeer(&master, flags | OpenptFlags::CLOEXEC).unwrap();
            side.into()
        };
        command.stdin(side()).stdout(side()).stderr(side());
        if command.get_envs().all(|(name, _)| name != "TERM") {
            command.env("TERM", "xterm-256color");
        }
        command.env_remove("NO_COLOR");
        let child = command.spawn().unwrap();
        // The command still holds its side; with it open there would be no end to read.
        drop(command);
        Self { child, master: File::from(master), written: Vec::new() }
    }

    /// Reads until `text` has been written.
    pub(crate) fn wait_for(&mut self, text: &str) {
        while !contains(&self.written, text.as_bytes()) {
            assert!(self.read(), "it ended before {text:?}: {}", self.text());
        }
    }

    /// Types `keys`.
    pub(crate) fn type_in(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    /// Its process.
    pub(crate) const fn child(&self) -> &Child {
        &self.child
    }

    /// Closes the terminal as somebody does who closes its window; what becomes of the program there is nobody to see.
    pub(crate) fn close(self) -> Child {
        self.child
    }

    /// Reads to the end.
    pub(crate) fn end(mut self) -> LeftTerminal {
        while self.read() {}
        let status = self.child.wait().unwrap();
        let modes = tcgetattr(&self.master).unwrap().local_modes;
        let is_cooked = modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG);
        LeftTerminal { status, text: self.text(), is_cooked }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.written).into_owned()
    }

    /// Reads once; false once nobody is on the other side any more, which is an error on Linux.
    fn read(&mut self) -> bool {
        let mut bytes = [0; 4096];
        match self.master.read(&mut bytes) {
            Ok(0) | Err(_) => false,
            Ok(count) => {
                self.written.extend_from_slice(&bytes[..count]);
                true
            }
        }
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[test]
fn a_program_on_a_terminal_sees_its_size_and_what_is_typed() {
    let mut command = Command::new("sh");
    command.args(["-c", "stty size; read word; echo got $word"]);
    let mut shell = OnTerminal::start(command, (120, 40));
    shell.wait_for("40 120\r\n");
    shell.type_in("this\n");
    shell.wait_for("got this");
    let left = shell.end();
    assert!(left.status.success() && left.is_cooked, "{left:?}");
}
