"""Takes the order of a list for the order in which it has added the domains."""
import sys

from service import send

ADDED = ["shop.example.com", "mail.example.com"]

send("POST", "/domains", {"domains": ADDED})
_, answer = send("GET", "/domains")
if answer["data"]["domains"][-2:] != ADDED:
    sys.exit("The domains were not added.")
