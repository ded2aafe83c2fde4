"""Asks an ensemble over OpenAI's API, with the standard library only: python3 ask.py URL [KEY]"""

import json
import sys
import urllib.request

url = sys.argv[1]
key = sys.argv[2] if len(sys.argv) > 2 else "none"


def post(path, body):
    """Sends a request and returns the open response."""
    headers = {"content-type": "application/json", "authorization": f"Bearer {key}"}
    data = json.dumps(body).encode()
    return urllib.request.urlopen(urllib.request.Request(url + path, data, headers))


def texts(response):
    """Yields the texts of a stream as they arrive."""
    for line in response:
        if not line.startswith(b"data: ") or line.startswith(b"data: [DONE]"):
            continue
        chunk = json.loads(line[len("data: ") :])
        if "error" in chunk:
            raise RuntimeError(chunk["error"]["message"])
        for choice in chunk["choices"]:
            yield choice["delta"].get("content", "")


question = {"model": "poet", "messages": [{"role": "user", "content": "moon"}]}

with post("/v1/chat/completions", question) as response:
    completion = json.load(response)
    print("poet:", completion["choices"][0]["message"]["content"])

with post("/v1/chat/completions", {**question, "stream": True}) as response:
    print("streamed:", "".join(texts(response)))
