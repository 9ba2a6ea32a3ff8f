#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""deploy/kubernetes: its files are valid, and podman runs their pods.

podman stands for a cluster. What it lacks is said here: it has no addresses of
pods (they are on loopback addresses of this machine), no Service (a line in
/etc/hosts), no Job (a Pod), volumes of Secrets
without owners and modes, and no probes without systemd."""

import base64
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import jsonschema
import yaml

import base
from base import FOREBAY, IMAGE, SOURCE, run

MANIFESTS = SOURCE / "deploy/kubernetes"
DIR = pathlib.Path(tempfile.mkdtemp(prefix="forebay-kubernetes-"))
USER = 10001
INSIDE = "--inside-namespaces"


def pattern(expression):
    return {"type": "string", "pattern": expression}


def strict_object(properties, *optional):
    """A schema of an object with these properties and no others."""
    return {"type": "object", "properties": properties,
            "additionalProperties": False,
            "required": [name for name in properties if name not in optional]}


NAME = pattern("^[a-z][a-z0-9-]*$")
COUNT = {"type": "integer", "minimum": 1}
HEAD = {"apiVersion": {"const": "keda.sh/v1alpha1"},
        "metadata": strict_object({"name": NAME, "namespace": NAME})}

# The part of KEDA's two kinds that we use, from the reference of KEDA 2.20.
KEDA = {
    "TriggerAuthentication": strict_object(HEAD | {
        "kind": {},
        "spec": strict_object({"secretTargetRef": {
            "type": "array", "items": strict_object({
                "parameter": pattern("^token$"), "name": NAME,
                "key": NAME})}})}),
    "ScaledObject": strict_object(HEAD | {
        "kind": {},
        "spec": strict_object({
            "scaleTargetRef": strict_object({"name": NAME}),
            "minReplicaCount": COUNT,
            "maxReplicaCount": COUNT,
            "fallback": strict_object({
                "failureThreshold": COUNT, "replicas": COUNT,
                "behavior": {"enum": ["static", "currentReplicas",
                                      "currentReplicasIfHigher",
                                      "currentReplicasIfLower"]}}),
            "triggers": {"type": "array", "minItems": 1,
                         "items": strict_object({
                "type": {"const": "metrics-api"},
                "metadata": strict_object({
                    "url": pattern("^http://"), "format": {"const": "json"},
                    "valueLocation": pattern("."),
                    "targetValue": pattern("^[0-9]+$"),
                    "authMode": {"const": "bearer"}}),
                "authenticationRef": strict_object({"name": NAME})})},
        })}),
}


def documents(path):
    return list(yaml.safe_load_all((MANIFESTS / path).read_text()))


def document_of(kind, path):
    """The only document of a file that is of this kind."""
    (document,) = (one for one in documents(path) if one["kind"] == kind)
    return document


def pod_spec(document):
    return document["spec"]["template"]["spec"]


class Manifests(unittest.TestCase):
    def test_those_of_kubernetes_are_valid(self):
        for path in sorted(MANIFESTS.rglob("*.yaml")):
            if path.parent.name != "keda":
                run("kubernetes-validate", "--strict", "--quiet", path)

    def test_an_unknown_key_is_found(self):
        path = DIR / "wrong.yaml"
        path.write_text((MANIFESTS / "3-worker.yaml").read_text().replace(
            "terminationGrace", "Grace"))
        with self.assertRaisesRegex(AssertionError, "GracePeriodSeconds"):
            run("kubernetes-validate", "--strict", path)

    def test_those_of_keda_are_valid(self):
        kinds = documents("keda/scaledobject.yaml")
        self.assertEqual({one["kind"] for one in kinds}, set(KEDA))
        for one in kinds:
            jsonschema.validate(one, KEDA[one["kind"]])
        token, scaled = kinds
        (trigger,) = scaled["spec"]["triggers"]
        self.assertEqual(trigger["authenticationRef"]["name"],
                         token["metadata"]["name"])
        worker = document_of("Deployment", "3-worker.yaml")
        self.assertEqual(scaled["spec"]["scaleTargetRef"]["name"],
                         worker["metadata"]["name"])

    def test_the_containerfile_is_clean(self):
        run("hadolint", SOURCE / "deploy/Containerfile")

    def test_kubectl_takes_the_same_files_in_both_ways(self):
        # `apply -f` takes the files that end in .yaml, .yml or .json.
        plain = [path.name for path in MANIFESTS.iterdir()
                 if path.suffix in (".yaml", ".yml", ".json")]
        listed = yaml.safe_load((MANIFESTS / "Kustomization").read_text())
        self.assertEqual(listed["resources"], sorted(plain))
        self.assertEqual(set(listed), {"apiVersion", "kind", "resources"})

    def test_containers_have_no_rights(self):
        for path in ("2-server.yaml", "3-worker.yaml", "spot/worker.yaml",
                     "example/trainer.yaml"):
            for one in documents(path):
                if "template" not in one.get("spec", {}):
                    continue
                spec = pod_spec(one)
                self.assertEqual(spec["securityContext"]["runAsUser"], USER)
                (container,) = spec["containers"]
                self.assertEqual(container["securityContext"], {
                    "allowPrivilegeEscalation": False,
                    "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]}})
                sizes = container["resources"]
                self.assertEqual(sizes["requests"]["memory"],
                                 sizes["limits"]["memory"])

    def test_the_grace_period_is_the_drain_and_5_s(self):
        for path in ("3-worker.yaml", "spot/worker.yaml"):
            spec = pod_spec(document_of("Deployment", path))
            (drain,) = (int(each["value"])
                        for each in spec["containers"][0]["env"]
                        if each["name"] == "FOREBAY_DRAIN")
            self.assertEqual(spec["terminationGracePeriodSeconds"], drain + 5)

    def test_workers_on_spot_hosts_differ_only_in_what_their_file_says(self):
        usual, spot = (document_of("Deployment", path)
                       for path in ("3-worker.yaml", "spot/worker.yaml"))
        for one in (usual, spot):
            del one["metadata"]["name"]
            del one["spec"]["selector"]["matchLabels"]["hosts"]
            del one["spec"]["template"]["metadata"]["labels"]["hosts"]
            spec = pod_spec(one)
            del spec["terminationGracePeriodSeconds"]
            spec["containers"][0]["env"] = [
                each for each in spec["containers"][0]["env"]
                if each["name"] != "FOREBAY_DRAIN"]
        for key in ("tolerations", "affinity"):
            del pod_spec(spot)[key]
        self.assertEqual(spot, usual)


def podman(*args):
    return run("podman", *args)


def prepare_podman():
    """Settings with which podman runs without a daemon and without systemd."""
    (DIR / "containers.conf").write_text(
        '[containers]\n'
        'default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]\n'
        '[engine]\ncgroup_manager = "cgroupfs"\n')
    os.environ["CONTAINERS_CONF"] = str(DIR / "containers.conf")
    # podman takes a hybrid of both versions of cgroups for the second one.
    subprocess.run(["umount", "/sys/fs/cgroup/unified"], check=False,
                   stderr=subprocess.DEVNULL)
    run("mount", "-t", "tmpfs", "tmpfs", "/run")
    (DIR / "hosts").write_text(pathlib.Path("/etc/hosts").read_text()
                               + "127.0.0.1 forebay forebay.forebay\n")
    run("mount", "--bind", DIR / "hosts", "/etc/hosts")


def remove_pods():
    podman("pod", "rm", "--all", "--force")
    podman("volume", "rm", "--all", "--force")
    podman("secret", "rm", "--all")


def make_keys():
    keys = DIR / "keys"
    for args in (["init"], ["add", "worker"], ["add", "trainer", "example"]):
        run(FOREBAY, "keys", args[0], keys, *args[1:])
    (DIR / "token").write_text("a-token-of-the-test\n")


def secrets():
    """example/secrets.yaml with the content of the files that it names."""
    made = documents("example/secrets.yaml")
    for one in made:
        one["data"] = {
            name: base64.b64encode((DIR / path).read_bytes()).decode()
            for name, path in one.pop("stringData").items()}
    return made


def fill_secret_volumes():
    """What Kubernetes does for the volumes of Secrets: content, and the owners
    and modes of fsGroup and defaultMode."""
    made = podman("volume", "ls", "--quiet").split()
    for one in secrets():
        if one["metadata"]["name"] not in made:
            continue
        folder = podman("volume", "inspect", "--format", "{{.Mountpoint}}",
                        one["metadata"]["name"]).strip()
        for name, data in one["data"].items():
            path = pathlib.Path(folder) / name
            path.write_bytes(base64.b64decode(data))
            shutil.chown(path, group=USER)
            path.chmod(0o440)


def with_address(variable, address):
    """A variable whose value names the address of the pod, or all addresses."""
    if "value" not in variable:
        return variable
    value = variable["value"].replace("$(POD_IP)", address)
    return dict(variable, value=value.replace("0.0.0.0", address))


def on_loopback(document, address):
    """The same with a loopback address of this machine for its pod."""
    spec = pod_spec(document)
    for container in spec["containers"]:
        container.pop("ports", None)  # they are those of the machine
        for probe in ("readinessProbe", "livenessProbe"):
            container.pop(probe, None)
        container["env"] = [
            with_address(each, address) for each in container.get("env", [])
            if each["name"] != "POD_IP"]
    return document


def worker(number):
    made = on_loopback(document_of("Deployment", "3-worker.yaml"),
                       f"127.0.0.{number}")
    made["metadata"]["name"] = f"worker{number}"
    return made


def trainer():
    job = on_loopback(document_of("Job", "example/trainer.yaml"), "127.0.0.1")
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "trainer"},
            "spec": pod_spec(job)}


class Podman(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        base.make_image()
        prepare_podman()
        remove_pods()  # of a run that was ended
        cls.addClassCleanup(remove_pods)
        make_keys()
        cls.photos, _ = base.photos()
        DIR.chmod(0o755)

    def play(self, name, *parts):
        """Start the pods of these documents; return their file."""
        path = DIR / f"{name}.yaml"
        path.write_text(yaml.safe_dump_all(parts))
        podman("kube", "play", "--network", "host", "--start=false", path)
        fill_secret_volumes()
        podman("pod", "start", "--all")
        return path

    def logs(self, container, words, *options):
        """The container's output, once it has these words."""
        until = time.monotonic() + 60
        while True:
            done = subprocess.run(["podman", "logs", *options, container],
                                  check=False, text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
            if words in done.stdout:
                return done.stdout
            self.assertLess(time.monotonic(), until, done.stdout)
            time.sleep(0.05)

    def seconds_to_register(self, container):
        """The seconds from the start of a worker until it is registered."""
        said = self.logs(container, " REGISTERED ", "--timestamps")
        (line,) = (each for each in said.splitlines() if " REGISTERED " in each)
        registered = datetime.datetime.fromisoformat(line.split()[0])
        started_ms = podman("inspect", "--format",
                            "{{.State.StartedAt.UnixMilli}}", container)
        return registered.timestamp() - int(started_ms) / 1000

    def test_it_runs_with_256_mib_and_without_rights(self):
        said = podman("run", "--rm", "--network", "host", "--read-only",
                      "--cap-drop", "all", "--memory", "256m", "--cpus", "1",
                      "--volume", f"{self.photos}:/data:ro", IMAGE, "doctor")
        self.assertIn("1 of 2 CPUs may be used" if os.cpu_count() == 2
                      else "the cgroup's quota bounds it", said)
        self.assertIn("the cgroup allows 256 MiB", said)
        text = run(FOREBAY, "init", self.photos)
        (DIR / "inside.yaml").write_text(
            text.replace(str(self.photos), "/data"))
        pulled = json.loads(podman(
            "run", "--rm", "--network", "host", "--read-only", "--cap-drop",
            "all", "--memory", "256m", "--cpus", "1",
            "--volume", f"{self.photos}:/data:ro",
            "--volume", f"{DIR}/inside.yaml:/p.yaml:ro", IMAGE, "pull",
            "--json", "--workers", "1", "--pipeline", "/p.yaml"))
        (DIR / "outside.yaml").write_text(text)
        self.assertEqual(pulled["digest"], base.digest(DIR / "outside.yaml"))

    def test_a_worker_without_its_data_says_where_it_belongs(self):
        with self.assertRaisesRegex(AssertionError, "mount the data there"):
            podman("run", "--rm", "--network", "host", "--read-only", IMAGE,
                   "worker", "--server", "tcp://127.0.0.1:7070", "--data",
                   "photos=/data")

    def test_its_pods_stream(self):
        podman("volume", "create", "--opt", "type=none", "--opt", "o=bind",
               "--opt", f"device={self.photos}", "photos")
        (DIR / "secrets.yaml").write_text(yaml.safe_dump_all(secrets()))
        podman("kube", "play", DIR / "secrets.yaml")
        server = self.play("server", on_loopback(
            document_of("Deployment", "2-server.yaml"), "127.0.0.1"))
        config = document_of("ConfigMap", "1-config.yaml")
        workers = self.play("workers", config, worker(2), worker(3))
        seconds = []
        for number in (2, 3):
            seconds.append(self.seconds_to_register(
                f"worker{number}-pod-0-worker"))
            self.assertIn("FOREBAY_THREADS=4", podman(
                "inspect", "--format", "{{.Config.Env}}",
                f"worker{number}-pod-0-worker"))  # its request of CPUs
        print("registered after", " and ".join(f"{s:.2f} s" for s in seconds))
        self.assertLessEqual(min(seconds), 0.5)  # both, if nothing else runs
        example = document_of("ConfigMap", "example/trainer.yaml")
        self.play("trainer", example, trainer())
        code = podman("wait", "trainer-trainer").strip()
        said = self.logs("trainer-trainer", "")
        self.assertEqual(code, "0", said)
        text = example["data"]["pipeline.yaml"]
        (DIR / "alone.yaml").write_text(
            text.replace("photos:", str(self.photos)))
        pulled = json.loads(said[said.index("{"):])
        self.assertEqual(pulled["workers"], 2)
        self.assertEqual(pulled["digest"], base.digest(DIR / "alone.yaml"))
        self.end(workers, "worker2-pod-0-worker", "worker3-pod-0-worker")
        self.end(server, "forebay-server-pod-0-server")

    def end(self, path, *containers):
        """Take pods down. Their containers must end by themselves, with 0."""
        for container in containers:
            podman("stop", "--time", "30", container)
            self.assertEqual(podman("inspect", "--format", "{{.State.ExitCode}}",
                                    container).strip(), "0")
        podman("kube", "play", "--down", path)


def enter_namespaces():
    """Run this test again in namespaces of its own: mounts do not stay, and no
    process outlives it."""
    if INSIDE not in sys.argv:
        os.execvp("unshare", ["unshare", "--mount", "--pid", "--fork",
                              "--mount-proc", sys.executable, *sys.argv,
                              INSIDE])
    sys.argv.remove(INSIDE)


if __name__ == "__main__":
    base.skip_unless("mmdebstrap", "buildah", "podman", "catatonit",
                     "kubernetes-validate", "hadolint")
    enter_namespaces()
    try:
        unittest.main(verbosity=2)
    finally:
        shutil.rmtree(DIR, ignore_errors=True)
