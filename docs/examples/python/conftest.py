"""One server for each process of pytest, so also for each worker of pytest-xdist, and one account for each test."""
import json
import os
import subprocess
import time
import urllib.request
from types import SimpleNamespace

import pytest

SERVE = f"npx --no dmarc-understudy serve --port 0 --exit-with {os.getpid()} --log-level warn --ready-file"
os.environ["no_proxy"] = "127.0.0.1"  # The requests of this process go to the server, not to a proxy.


def control(url, body=None):
    """Asks the control plane: GET without a body, POST with one. Returns the data of the answer."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as response:
        return json.load(response)["data"]


@pytest.fixture(scope="session")
def understudy(tmp_path_factory):
    if "UNDERSTUDY_ADMIN_URL" in os.environ:  # Under run, vary and explore, which judge the requests themselves.
        yield {name: os.environ[f"UNDERSTUDY_{name.upper()}"] for name in ("base_url", "admin_url")}
        return
    folder = tmp_path_factory.mktemp("understudy")
    ready, log = folder / "ready.json", folder / "log.txt"
    with log.open("w") as output:
        server = subprocess.Popen([*SERVE.split(), str(ready)], stdout=subprocess.DEVNULL, stderr=output)
    deadline = time.monotonic() + 30
    while not ready.exists():
        ended = server.poll() is not None
        if ended or time.monotonic() > deadline:
            server.kill()
            pytest.fail(f"The server {'ended' if ended else 'is not ready after 30 s'}: {log.read_text()}", pytrace=False)
        time.sleep(0.05)
    facts = json.loads(ready.read_text())
    yield facts
    verdict = control(f"{facts['admin_url']}/verdict")
    server.terminate()
    server.wait(10)
    assert verdict["passed"], verdict["message"]


@pytest.fixture
def account(understudy):
    made = control(f"{understudy['admin_url']}/accounts", {"fixture": "empty"})
    url = f"{understudy['admin_url']}/accounts/{made['account']['id']}"
    return SimpleNamespace(
        base_url=understudy["base_url"], api_key=made["api_key"], control=lambda path, body=None: control(url + path, body)
    )
