#!/usr/bin/env python3
"""A Muster worker, standard library only (docs/worker-protocol.md). MUSTER_TOKEN=$(cat .muster/admin-token) python3 worker.py"""
import json, os, random, signal, socket, sys, threading, time, urllib.error, urllib.request, uuid
from collections import Counter

SERVER = os.environ.get("MUSTER_SERVER", "http://127.0.0.1:4000").rstrip("/")
TOKEN = os.environ.get("MUSTER_TOKEN", "")
ROLE, HOST = os.environ.get("SERVICE_ROLE") or "python-worker", socket.gethostname()
NAME = os.environ.get("MUSTER_WORKER_NAME") or f"{ROLE}-{HOST}"
ME = {"worker": NAME, "instanceId": str(uuid.uuid4())}
CAPACITY, SILENCE_SECONDS, STARTED = 4, 45, time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())

REGISTER_WORKFLOW = "mutation ($input: RegisterWorkflowInput!) { registerWorkflow(input: $input) { created } }"
REGISTER = "mutation ($input: WorkerRegisterInput!) { workerRegister(input: $input) { heartbeatSeconds } }"
HEARTBEAT = "mutation ($input: WorkerHeartbeatInput!) { workerHeartbeat(input: $input) { lost heartbeatSeconds } }"
REPORT = """mutation ($input: WorkerReportInput!) { workerReport(input: $input) {
  claims { id code claim { workflow input } } ends { id code } releases { id code } } }"""
LEAVE = "mutation ($input: WorkerLeaveInput!) { workerLeave(input: $input) { released } }"
INBOX = """subscription ($worker: String!, $instanceId: ID!) { workerInbox(worker: $worker, instanceId: $instanceId) {
  assignments { id generation workflow } cancels { id generation } replaced drain } }"""

held, lock = {}, threading.RLock()  # id -> what this process has of it: generation, cancelled, asked (to cancel)
draining, stopped = threading.Event(), threading.Event()

def word_count(given, cancelled):
    """A handler: takes the input, returns the output, stops when `cancelled` is set."""
    counts = Counter()
    for word in given["text"].lower().split():
        if cancelled.is_set():
            raise InterruptedError("aborted")
        counts[word.strip(".,;:!?\"'()")] += 1
    return {"words": sum(counts.values()), "top": [{"word": w, "count": n} for w, n in counts.most_common(5)]}

HANDLERS = {"python/wordcount": word_count}
def post(query, variables, accept, timeout):
    headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json", "accept": accept}
    request = urllib.request.Request(f"{SERVER}/graphql", json.dumps({"query": query, "variables": variables}).encode(), headers)
    try:
        return urllib.request.urlopen(request, timeout=timeout)
    except urllib.error.HTTPError as answer:  # 400 and 401 carry GraphQL errors too
        return answer

def data_of(answer):
    """The one field of an answer. What the server refuses as a whole is a RuntimeError with its code."""
    if not answer.get("data") or answer.get("errors"):
        error = (answer.get("errors") or [{}])[0]
        raise RuntimeError(error.get("extensions", {}).get("code", "UNAVAILABLE"), error.get("message", "no answer"))
    return next(iter(answer["data"].values()))

def call(query, given):
    with post(query, {"input": given}, "application/json", 30) as response:
        return data_of(json.load(response))

def report(**lists):
    """One kind of report, sent again until it is answered: the generation makes a second copy harmless."""
    while not stopped.is_set():
        try:
            return call(REPORT, {**ME, **lists})
        except (OSError, ValueError, RuntimeError):
            for claim in lists.get("claims", []):
                claim["again"] = True  # the server may have taken it, and its answer been lost
            time.sleep(1)
    sys.exit()  # ends this thread: a worker that was replaced has nothing more to say

def take(assignments, first):
    for item in assignments:
        entry = {"id": item["id"], "generation": item["generation"]}
        mine = {**entry, "cancelled": threading.Event(), "asked": False}
        with lock:
            known = held.get(item["id"])
            if known and known["generation"] >= item["generation"]:
                continue
            if known:
                known["cancelled"].set()  # it is another attempt's now
            fits = item["workflow"] in HANDLERS and len(held) < CAPACITY and not draining.is_set()
            if fits:
                held[item["id"]] = mine
        threading.Thread(target=run, args=(entry, mine, first, fits), daemon=True).start()

def run(entry, mine, first, fits):
    if not fits:
        return report(releases=[{**entry, "reason": "draining" if draining.is_set() else "busy"}])
    claim = report(claims=[{**entry, "again": first}])["claims"][0]["claim"]
    if claim:
        try:
            end = {"state": "COMPLETED", "output": HANDLERS[claim["workflow"]](claim["input"], mine["cancelled"])}
        except InterruptedError:
            end = {"state": "CANCELLED"} if mine["asked"] else None
        except Exception as error:
            end = {"state": "FAILED", "error": {"type": type(error).__name__, "message": str(error)}}
        answer = report(ends=[{**entry, **end}])["ends"] if end else report(releases=[{**entry, "reason": "aborted"}])["releases"]
        print(entry["id"], (end or {}).get("state", "given back"), answer[0]["code"] or "", flush=True)
    if held.get(entry["id"]) is mine:
        del held[entry["id"]]

def serve():
    """Registers and listens to the inbox as server-sent events; the worker counts as connected while that is open."""
    while not stopped.is_set():
        try:
            call(REGISTER_WORKFLOW, {"namespace": "python", "name": "wordcount", "description": "Counts words, in Python."})
            call(REGISTER, {"name": NAME, "instanceId": ME["instanceId"], "role": ROLE, "hostname": HOST,
                            "version": "1.0.0", "startedAt": STARTED, "capacity": CAPACITY, "workflows": list(HANDLERS)})
            with post(INBOX, ME, "text/event-stream", SILENCE_SECONDS) as stream:
                first = True
                for line in stream:
                    if not line.startswith(b"data: {"):
                        continue
                    inbox, first, again = data_of(json.loads(line[6:])), False, first
                    if inbox["replaced"]:
                        raise RuntimeError("CONFLICT", "replaced by a newer process of this name")
                    if inbox["drain"]:
                        draining.set()
                    for cancel in inbox["cancels"]:
                        if held.get(cancel["id"], {}).get("generation") == cancel["generation"]:
                            held[cancel["id"]]["asked"] = True
                            held[cancel["id"]]["cancelled"].set()
                    take(inbox["assignments"], again)
        except (OSError, ValueError) as error:
            print("not connected:", error, flush=True)
        except RuntimeError as error:
            if error.args[0] in ("CONFLICT", "BAD_INPUT", "FORBIDDEN", "UNAUTHENTICATED"):
                print("refused:", *error.args, flush=True)
                stopped.set()
        stopped.wait(random.random() * 2)

def beat():
    """Heartbeats at the server's interval, on a thread of their own, whatever the handlers do. Ends when all is done."""
    acknowledged, due = time.monotonic(), 0
    while not stopped.wait(0.5):
        if time.monotonic() < due and not draining.is_set(): continue
        claims = [{"id": i, "generation": h["generation"]} for i, h in list(held.items())]
        try:
            answer = call(HEARTBEAT, {**ME, "healthy": True, "draining": draining.is_set(), "claims": claims})
            acknowledged, gone = time.monotonic(), [c for c in claims if c["id"] in answer["lost"]]
            lost = [c["id"] for c in gone if held.get(c["id"], c)["generation"] == c["generation"]]  # not a newer claim
            due = acknowledged + answer["heartbeatSeconds"]
        except (OSError, ValueError, RuntimeError):
            lost = list(held) if time.monotonic() - acknowledged > SILENCE_SECONDS else []  # given to others by now
        for name in lost:
            held.get(name, {"cancelled": threading.Event()})["cancelled"].set()
        if draining.is_set() and not held:
            call(LEAVE, ME)
            stopped.set()

if __name__ == "__main__":
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: draining.set())
    threading.Thread(target=serve, daemon=True).start()
    beat()
