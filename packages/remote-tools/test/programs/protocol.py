"""Executes its input, with the protocol of process tools."""
import json
import os
import signal
import sys

command = json.loads(sys.stdin.buffer.read().decode("utf-8"))["input"]

if command == "answer":
    print(json.dumps({"output": "from python", "success": True}))
elif command == "structured":
    print(json.dumps({"output": "from python", "success": True, "structured": {"by": "python"}}))
elif command == "failure":
    print(json.dumps({"error": "python would not", "success": False}))
elif command == "exit":
    print(json.dumps({"output": "not to be read"}))
    sys.exit(3)
elif command == "complain":
    print(json.dumps({"output": "not to be read"}))
    sys.exit("python broke")
elif command == "plain":
    print("\n  python says hello \n")
elif command == "signal":
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGKILL)
elif command == "noise":
    print("python warns", file=sys.stderr)
    print(json.dumps({"output": "from python"}))
elif command.startswith("echo "):
    sys.stdout.buffer.write(json.dumps({"output": command[5:]}, ensure_ascii=False).encode("utf-8"))
