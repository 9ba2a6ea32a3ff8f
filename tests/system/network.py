# SPDX-License-Identifier: Apache-2.0
"""Hosts of a network of their own: network namespaces behind a router.

Each host has an interface eth0 with an address of its own network, and a hosts
file. The router's rules (nftables) lose packets and count connection attempts.
All namespaces end with the processes that hold them. No right is needed but
that to make user namespaces."""

import json
import subprocess

READY = "ready"
# Prints a word, then waits for the end of its standard input.
HOLD = f"ip link set lo up && echo {READY} && exec cat"
SHOW = """
mount --bind "$1" /etc/hosts && mount --bind "$2" /etc/nsswitch.conf &&
shift 2 && exec "$@"
"""
TABLE = "add table ip forebay\n"
COUNT = TABLE + """
add set ip forebay attempts { type ipv4_addr . ipv4_addr . inet_service; \
    flags dynamic; size 4096; counter; }
add chain ip forebay arrive { type filter hook prerouting priority 0; }
add rule ip forebay arrive tcp flags & (syn | ack) == syn \
    add @attempts { ip saddr . ip daddr . tcp dport }
"""
LOSE = TABLE + """
add chain ip forebay lose {{ type filter hook forward priority 0; }}
add rule ip forebay lose numgen random mod 100 < {percent} counter drop
"""


class Unavailable(Exception):
    """The system does not let this user make such a network."""


def run(*command, **options):
    """Run a command that must succeed; return its standard output."""
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          timeout=60, **options)
    if done.returncode != 0:
        raise Unavailable(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


class Namespace:
    """A network namespace, and the process that holds it."""

    def __init__(self, *unshare):
        self.holder = subprocess.Popen(
            [*unshare, "sh", "-c", HOLD], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.pid = self.holder.pid
        if self.holder.stdout.readline().strip() != READY:
            raise Unavailable(self.holder.communicate()[1].strip())

    @property
    def enter(self):
        """The command before one that runs in the namespace."""
        return ["nsenter", "-t", str(self.pid), "-U", "-n",
                "--preserve-credentials"]

    def run(self, *command, **options):
        return run(*self.enter, *command, **options)

    def close(self):
        self.holder.communicate()


class Host(Namespace):
    """A host, number `number` of a network."""

    def __init__(self, router, number, etc):
        super().__init__(*router.enter, "unshare", "-n")
        self.address = f"10.77.{number}.2"
        self.etc = etc
        etc.mkdir()
        (etc / "nsswitch.conf").write_text("hosts: files\n")
        self.names()
        gate, gateway = f"to{number}", f"10.77.{number}.1"
        router.run("ip", "link", "add", gate, "type", "veth", "peer", "name",
                   "eth0", "netns", str(self.pid))
        router.run("ip", "addr", "add", f"{gateway}/24", "dev", gate)
        router.run("ip", "link", "set", gate, "up")
        self.run("ip", "addr", "add", f"{self.address}/24", "dev", "eth0")
        self.gateway = gateway
        self.link("up")

    def names(self, *lines):
        """Write the hosts file, in place: the mount is of this very file."""
        (self.etc / "hosts").write_text(
            "".join(f"{line}\n" for line in ("127.0.0.1 localhost", *lines)))

    @property
    def prefix(self):
        """The command before a process of this host."""
        return [*self.enter, "unshare", "-m", "sh", "-c", SHOW, "sh",
                str(self.etc / "hosts"), str(self.etc / "nsswitch.conf")]

    def link(self, state):
        """Set the host's only link up or down."""
        self.run("ip", "link", "set", "eth0", state)
        if state == "up":  # a link that was down has lost its routes
            self.run("ip", "route", "replace", "default", "via", self.gateway)

    def limit(self, rate):
        """Send at most at this rate, as `tc` writes it."""
        self.run("tc", "qdisc", "replace", "dev", "eth0", "root", "tbf",
                 "rate", rate, "burst", "64kb", "latency", "50ms")


class Network:
    """A router and its hosts; `folder` is for their hosts files."""

    def __init__(self, folder):
        self.folder = folder
        self.hosts = []
        folder.mkdir()
        self.router = Namespace("unshare", "-rn")
        self.router.run(
            "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")

    def host(self):
        number = len(self.hosts) + 1
        host = Host(self.router, number, self.folder / f"etc-{number}")
        self.hosts.append(host)
        return host

    def lose(self, percent):
        """Lose so many of 100 packets, at random."""
        self.router.run("nft", "-f", "-", input=LOSE.format(percent=percent))

    def lost(self):
        """The number of packets that were lost."""
        chain = json.loads(self.router.run(
            "nft", "-j", "list", "chain", "ip", "forebay", "lose"))
        return sum(part["counter"]["packets"] for entry in chain["nftables"]
                   for part in entry.get("rule", {}).get("expr", [])
                   if "counter" in part)

    def count_attempts(self):
        self.router.run("nft", "-f", "-", input=COUNT)

    def attempts(self):
        """Since count_attempts(), {(from, to, port): number of attempts}."""
        shown = json.loads(self.router.run(
            "nft", "-j", "list", "set", "ip", "forebay", "attempts"))
        found = {}
        for entry in shown["nftables"]:
            for element in entry.get("set", {}).get("elem", []):
                element = element["elem"]
                found[tuple(element["val"]["concat"])] = element["counter"][
                    "packets"]
        return found

    def close(self):
        for host in self.hosts:
            host.close()
        self.router.close()
