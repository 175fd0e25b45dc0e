"""Expects that each response is as in the examples, and breaks at any other one."""
from service import send

_, answer = send("GET", "/domains")
print(len(answer["data"]["domains"]), "domains")
