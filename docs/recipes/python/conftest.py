"""The service in a container for all tests, and one account for each."""
import json
import urllib.request
import uuid

import pytest
from testcontainers.core.container import DockerContainer
from testcontainers.core.wait_strategies import HttpWaitStrategy

IMAGE = "ghcr.io/dmarc-understudy/dmarc-understudy:0.1.0"


class Understudy:
    def __init__(self, origin, token):
        self.base_url, self.admin_url, self.token = f"{origin}/api/v1", f"{origin}/__admin", token

    def control(self, path, body=None):
        """Asks the control plane: GET without a body, POST with one. Returns the data of the answer."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(self.admin_url + path, data, headers), timeout=10) as response:
            return json.load(response)["data"]


@pytest.fixture(scope="session")
def understudy():
    token = str(uuid.uuid4())
    container = (
        DockerContainer(IMAGE)
        .with_exposed_ports(4010)
        .with_env("DMARC_UNDERSTUDY_ADMIN_TOKEN", token)
        .waiting_for(HttpWaitStrategy(4010, "/__admin/ready"))
    )
    with container:
        host, port = container.get_container_host_ip(), container.get_exposed_port(4010)
        service = Understudy(f"http://{host}:{port}", token)
        yield service
        verdict = service.control("/verdict")
    assert verdict["passed"], verdict["message"]


@pytest.fixture
def api_key(understudy):
    """A key of a new account."""
    return understudy.control("/accounts", {"fixture": "empty"})["api_key"]
