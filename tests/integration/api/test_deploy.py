"""The files in deploy/: everything they refer to exists, and what needs no container works."""
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from harness import Server, binary, environment, run_command
from test_cluster import free_port

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
DEPLOY = os.path.join(ROOT, "deploy")
# Variables that manifests of Scheduled-DB set for its own tools or for the pod. The server needs no such setting
# (scheduler.md 15).
NO_SETTING = {"CLUSTER_SIZE", "OTEL_EXPORTER_OTLP_ENDPOINT", "POD_NAME", "POD_NAMESPACE", "POD_IP"}
# Variables and metrics of other programs.
OTHERS = re.compile(r"\A(GF_|container_|kube_|up\Z)")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def settings():
    return set(re.findall(r"^  --([a-z0-9-]+)", run_command("server", "--help").stdout, re.M))


def variables():
    """Return the server's own variables, and those of Scheduled-DB that it supports."""
    theirs = set(re.findall(r'"([A-Z][A-Z0-9_]+)"', read(os.path.join(ROOT, "src/server/settings_fallback.c"))))
    return theirs | {"CORVO_" + name.upper().replace("-", "_") for name in settings()}


class Files(unittest.TestCase):
    def test_variables_are_settings(self):
        known, used = variables() | NO_SETTING, set()
        for path in glob.glob(DEPLOY + "/**/*.y*ml", recursive=True):
            text = re.sub(r"#.*", "", read(path))
            used |= set(re.findall(r"(?:^|[{,\s])([A-Z][A-Z0-9_]{3,}): ", text, re.M))
            used |= set(re.findall(r"\{name: ([A-Z][A-Z0-9_]+),", text))
            used |= set(re.findall(r"path: /data/([A-Z0-9_]+)", text))
        used |= set(re.findall(r"([A-Z][A-Z0-9_]+)=", re.search(r"^ENV (.*)$", read(DEPLOY + "/Dockerfile"), re.M)[1]))
        script = read(DEPLOY + "/scripts/cluster.sh")
        used |= set(re.findall(r"\b([A-Z][A-Z0-9_]+)=\S", script[script.index("start_node()"):script.index("$CORVO\" server")]))
        used = {name for name in used if not OTHERS.match(name)}
        self.assertGreater(len(used), 20)
        self.assertEqual(used - known, set())

    def test_flags_exist(self):
        known = settings()
        for path in glob.glob(DEPLOY + "/**/*", recursive=True):
            if os.path.isfile(path):
                for line in re.findall(r"corvo\"? server(.*)", read(path)):
                    self.assertLessEqual(set(re.findall(r"--([a-z-]+)", line)), known, path)

    def test_files_that_are_named_exist(self):
        for path in glob.glob(DEPLOY + "/**/kustomization.yaml", recursive=True):
            for name in re.search(r"resources: \[(.*)\]", read(path))[1].split(", "):
                self.assertTrue(os.path.exists(os.path.join(os.path.dirname(path), name)), (path, name))
        compose = read(DEPLOY + "/compose/compose.yaml")
        for name in re.findall(r"(\.\.?/[^:\"\s]+):/", compose):
            self.assertTrue(os.path.exists(os.path.join(DEPLOY, "compose", name)), name)

    def test_yaml_is_yaml(self):
        try:
            import yaml
        except ImportError:
            self.skipTest("needs python3-yaml")
        for path in glob.glob(DEPLOY + "/**/*.y*ml", recursive=True):
            with open(path, encoding="utf-8") as file:
                self.assertTrue(list(yaml.safe_load_all(file)), path)

    def test_ports_agree(self):
        """The ports of the image, the services, nginx and Prometheus are the same."""
        self.assertIn("EXPOSE 7000 8080 9090", read(DEPLOY + "/Dockerfile"))
        for port, name in ((7000, "raft"), (8080, "http"), (9090, "metrics")):
            self.assertIn(f"{{name: {name}, containerPort: {port}}}", read(DEPLOY + "/k8s/base/statefulset.yaml"))
            self.assertIn(f"{{name: {name}, port: {port}}}", read(DEPLOY + "/k8s/base/services.yaml"))
        for node in ("node-1", "node-2", "node-3"):
            self.assertIn(f"server {node}:8080 max_fails=3 fail_timeout=30s;", read(DEPLOY + "/compose/nginx.conf"))
            self.assertIn(f'"{node}:9090"', read(DEPLOY + "/compose/prometheus.yml"))

    def test_rules_and_panels_use_metrics_that_exist(self):
        with Server("--discover", "static", "--join", "http://127.0.0.1:1", "--bootstrap=true") as server:
            text = server.client().get("/metrics").body.decode()
        families = set(re.findall(r"^# TYPE (\S+)", text, re.M))
        rules, dashboard = read(DEPLOY + "/monitoring/rules.yml"), json.loads(read(DEPLOY + "/monitoring/dashboard.json"))
        self.assertEqual(len(dashboard["panels"]), 14)
        exprs = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
        recorded = set(re.findall(r'record: "([^"]+)"', rules))
        used = set(re.findall(r"scheduled_db[a-z_:]*", " ".join(exprs) + " ".join(
            re.findall(r"expr: (.*)", rules)))) - recorded
        self.assertGreater(len(used), 15)
        unknown = {name for name in used if re.sub(r"_(bucket|sum|count)\Z", "", name) not in families and name not in families}
        self.assertEqual(unknown, set())
        for name in ("job_execution_rate", "job_failure_rate", "job_success_rate", "active_jobs_by_type",
                     "slot_processing_rate", "worker_uptime", "cluster_nodes", "leader_changes_rate"):
            self.assertIn("scheduled_db:" + name, recorded)


class Scripts(unittest.TestCase):
    takes_long = True

    def script(self, name, *args, **variables):
        return subprocess.run([os.path.join(DEPLOY, "scripts", name), *args], env=environment(variables), text=True,
                              capture_output=True, timeout=120, check=False)

    @unittest.skipUnless(shutil.which("curl"), "needs curl")
    def test_a_cluster_on_this_machine(self):
        folder = tempfile.mkdtemp(prefix="corvo-deploy-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        place = {f"CLUSTER_NODE_{i}": f"127.0.0.1:{free_port()},127.0.0.1:{free_port()}" for i in (1, 2, 3)}
        env = {"CORVO": binary(), "DATA_BASE_DIR": folder + "/data", "LOG_BASE_DIR": folder + "/logs",
               "CORVO_FREE_SPACE_MIN": "0", **place}
        try:
            started = self.script("cluster.sh", "start", **env)
            self.assertEqual(started.returncode, 0, started.stderr)
            urls = ["http://" + value.split(",")[1] for value in place.values()]
            checked = self.script("check-cluster.sh", *urls, PATIENCE_S="30")
            self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
            self.assertIn("scheduled_db_cluster_nodes 3", checked.stdout)
            status = self.script("cluster.sh", "status", **env)
            self.assertEqual(status.stdout.count('"is_leader":true'), 1, status.stdout)
        finally:
            self.assertEqual(self.script("cluster.sh", "stop", **env).returncode, 0)

    def test_presets_and_limits(self):
        def env(*args, **variables):
            run = self.script("cluster.sh", "env", *args, **variables)
            return run.returncode, run.stdout.split(), run.stderr
        self.assertEqual(env()[1][0], "CLUSTER_NODE_1=127.0.0.1:12000,127.0.0.1:12080")
        self.assertEqual(env("docker")[1][2], "CLUSTER_NODE_3=127.0.0.1:7002,127.0.0.1:8002")
        self.assertEqual(len(env("prod")[1]), 5)
        self.assertEqual(env(BASE_RAFT_PORT="20000", HTTP_PORT_OFFSET="500")[1][0],
                         "CLUSTER_NODE_1=127.0.0.1:20000,127.0.0.1:20500")
        for variables, word in (({"CLUSTER_SIZE": "11"}, "CLUSTER_SIZE"), ({"BASE_RAFT_PORT": "80"}, "BASE_RAFT_PORT"),
                                ({"BASE_RAFT_PORT": "12079"}, "overlap")):
            code, _, text = env(**{"BASE_HTTP_PORT": "12080", **variables})
            self.assertEqual(code, 2)
            self.assertIn(word, text)


if __name__ == "__main__":
    unittest.main()
