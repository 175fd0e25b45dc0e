import json
import urllib.error
import urllib.request


def call(account, path, body=None):
    """Stands for the client that you test. Returns the status and the body of the answer."""
    headers = {"Authorization": f"Bearer {account.api_key}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(account.base_url + path, data, headers)) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as refusal:
        return refusal.code, json.load(refusal)


def test_adds_a_domain(account):
    call(account, "/domains", {"domains": ["shop.example"]})
    assert call(account, "/domains")[1]["data"]["domains"] == ["shop.example"]


def test_hears_that_it_asks_too_often(account):
    rule = {"match": {"operation": "addDomains"}, "respond": {"error": "rate_limited"}, "times": 1}
    account.control("/faults", rule)
    status, body = call(account, "/domains", {"domains": ["shop.example"]})
    assert (status, body["error"]["code"]) == (429, "rate_limited")
    assert call(account, "/domains", {"domains": ["shop.example"]})[0] == 200


def test_has_an_account_of_its_own(account):
    assert call(account, "/domains")[1]["data"]["domains"] == []
