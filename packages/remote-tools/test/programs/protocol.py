"""Does what its input says, by the protocol of process tools."""
import json
import os
import signal
import sys

wish = json.loads(sys.stdin.buffer.read().decode("utf-8"))["input"]

if wish == "answer":
    print(json.dumps({"output": "from python", "success": True}))
elif wish == "structured":
    print(json.dumps({"output": "from python", "success": True, "structured": {"by": "python"}}))
elif wish == "failure":
    print(json.dumps({"error": "python would not", "success": False}))
elif wish == "exit":
    print(json.dumps({"output": "not to be read"}))
    sys.exit(3)
elif wish == "complain":
    print(json.dumps({"output": "not to be read"}))
    sys.exit("python broke")
elif wish == "plain":
    print("\n  python says hello \n")
elif wish == "signal":
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGKILL)
elif wish == "noise":
    print("python warns", file=sys.stderr)
    print(json.dumps({"output": "from python"}))
elif wish.startswith("echo "):
    sys.stdout.buffer.write(json.dumps({"output": wish[5:]}, ensure_ascii=False).encode("utf-8"))
