"""Takes any status but 200 for a failure."""
import sys

from service import send

status, answer = send("POST", "/domaingroups", {"name": "Retail"})
if status != 200:
    sys.exit(f"FAILED test_group.py::test_creates_a_group - {status}: {answer}")
