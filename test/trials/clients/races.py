"""Clients of a few lines that are right alone: `python3 races.py NAME ARGUMENT`. They are wrong beside another one."""
import sys

from service import send


def done(method, path, body=None):
    status, answer = send(method, path, body)
    if status != 200:
        sys.exit(f"{method} {path}: {answer['error']['code']}")
    return answer["data"]


def groups():
    return done("GET", "/domaingroups")["groups"]


def append(member):
    """Reads the members, and writes them all with one more."""
    group = next(group for group in groups() if group["name"] == "Retail")
    done("PATCH", f"/domaingroups?id={group['id']}", {"domains": group["domains"] + [member]})


def release(domain):
    """Removes a domain that no group needs."""
    if not any(domain in group["domains"] for group in groups()):
        done("DELETE", "/domains", {"domains": [domain]})


def use(domain):
    """Makes a group of a domain, which it adds if that is necessary."""
    if domain not in done("GET", "/domains")["domains"]:
        done("POST", "/domains", {"domains": [domain]})
    done("POST", "/domaingroups", {"name": "Shop", "domains": [domain]})


{"append": append, "release": release, "use": use}[sys.argv[1]](sys.argv[2])
