"""The least that a client needs: one request, and its answer."""
import json
import os
import urllib.error
import urllib.request

BASE_URL = os.environ["UNDERSTUDY_BASE_URL"]
TIMEOUT = float(os.environ.get("CLIENT_TIMEOUT", "1000")) / 1000
HEADERS = {"Authorization": f"Bearer {os.environ['UNDERSTUDY_API_KEY']}", "Content-Type": "application/json"}


def send(method, path, body=None):
    """The status and the JSON of the response."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(BASE_URL + path, data=data, method=method, headers=HEADERS)
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)
