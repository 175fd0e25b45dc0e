"""Keeps an account as a list of domains wants it: `python3 upkeep.py [BUG]`. It is the client of upkeep.mjs."""
import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.request

BUG = sys.argv[1] if len(sys.argv) > 1 else None
BASE_URL = os.environ["UNDERSTUDY_BASE_URL"]
HEADERS = {"Authorization": f"Bearer {os.environ['UNDERSTUDY_API_KEY']}", "Content-Type": "application/json"}
TIMEOUT = float(os.environ.get("CLIENT_TIMEOUT", "2000")) / 1000
DELAY = 0 if BUG == "storm" else 0.05
TRIES = 20 if BUG == "storm" else 4
PER_REQUEST = 1000 if BUG == "too-many" else 50
WANTED = os.environ.get("WANTED", "shop.example.com mail.example.com News.Example.com").split(" ")
GROUP = "Retail"
MEANINGS = {"none": "watched", "quarantine": "protected", "reject": "protected"}
NO_ANSWER = (OSError, http.client.HTTPException, json.JSONDecodeError)


class Refused(Exception):
    """A response that says why the service does not do it."""

    def __init__(self, status, error, headers):
        super().__init__(f"{status} {error['code']}: {error['message']}")
        self.status = status
        self.code = error["code"]
        self.reset = int(headers.get("X-RateLimit-Reset", "0"))


class Failed(Exception):
    """The account is not as it should be."""


def send_once(method, path, body=None):
    """Sends a request once; returns the `data` of the response."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(BASE_URL + path, data=data, method=method, headers=HEADERS)
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
            if BUG == "only-200" and response.status != 200:
                raise Refused(response.status, {"code": "odd", "message": "That is no success."}, response.headers)
            return json.load(response)["data"]
    except urllib.error.HTTPError as refusal:
        with refusal:
            raise Refused(refusal.code, json.load(refusal)["error"], refusal.headers) from None


def send(*args):
    return persist(lambda: send_once(*args)) if BUG == "blind-retry" else send_once(*args)


def persist(step):
    """Takes a step again while it fails for a reason that passes. Each step looks first at what is there."""
    for left in reversed(range(TRIES)):
        try:
            return step()
        except Refused as refusal:
            if left == 0 or not (refusal.status == 429 or refusal.status >= 500):
                raise
            time.sleep(until_reset(refusal) if refusal.status == 429 else DELAY)
        except NO_ANSWER:
            if left == 0 or BUG == "no-retry":
                raise
            time.sleep(DELAY)


def until_reset(refusal):
    if BUG == "reset-as-seconds":
        return refusal.reset
    if BUG == "fixed-sleep":
        return 3
    return 0 if BUG == "storm" else max(0, refusal.reset - time.time()) + 0.02


def monitored():
    return [name.lower() for name in send("GET", "/domains")["domains"]]


def remove_others():
    wanted = [name.lower() for name in WANTED]
    others = [name for name in monitored() if name not in wanted]
    if not others:
        return
    try:
        send("DELETE", "/domains", {"domains": others})
    except Refused as refusal:
        if not (BUG == "in-use" and refusal.code == "domain_delete_failed"):
            raise


def add_missing():
    known = monitored()
    missing = [name for name in WANTED if name.lower() not in known]
    for start in range(0, len(missing), PER_REQUEST):
        domains = missing[start : start + PER_REQUEST]
        try:
            send("POST", "/domains", {"domains": domains})
        except Refused as refusal:
            if not (BUG == "batch" and refusal.status == 400):
                raise
            print("Left out:", *domains, file=sys.stderr)
            WANTED[:] = [name for name in WANTED if name not in domains]


def form_group():
    if all(group["name"] != GROUP for group in send("GET", "/domaingroups")["groups"]):
        send("POST", "/domaingroups", {"name": GROUP, "domains": WANTED[:2]})


def report():
    records = send("GET", "/dmarc")
    by_name = {record["domain"] if BUG == "case" else record["domain"].lower(): record for record in records}
    if BUG == "order" and any(each["domain"].lower() != name.lower() for each, name in zip(records, WANTED)):
        raise Failed("the records are those of other domains")
    for name in WANTED:
        record = by_name.get(name.lower(), {"p": "no record yet", "dmarc": 0})
        policy, share = record["p"], record["dmarc"]
        meaning = MEANINGS[policy] if BUG == "unknown-policy" else MEANINGS.get(policy, policy)
        print(f"{name}: {meaning}, {share} %")
        is_full = str(share) == "100.0" if BUG == "number-as-text" else share == 100
        if name == WANTED[0] and not is_full:
            raise Failed(f"not all mail of {name} passes")


try:
    for each in (remove_others, add_missing, form_group, report):
        if BUG == "blind-retry":
            each()
        else:
            persist(each)
except (Refused, Failed, *NO_ANSWER) as problem:
    print(f"The account is not as it should be: {problem}", file=sys.stderr)
    if str(getattr(problem, "status", "")) not in {"401", "403"} & {BUG}:
        sys.exit(1)
