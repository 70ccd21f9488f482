"""Findings about the store itself: version, persistence, memory, clock, scripts."""

from __future__ import annotations

import time
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from counterfoil_worker.checkup.finding import Finding, Status, grade
from counterfoil_worker.ledger.redis.scripts import load_script
from counterfoil_worker.ports import UnavailableError

if TYPE_CHECKING:
    from counterfoil_worker.checkup.reader import Reader

OLDEST_REDIS: Final = 7
FULL_WARNING, FULL_PROBLEM = 0.75, 0.9
"""Parts of maxmemory."""
CLOCK_WARNING_MS, CLOCK_PROBLEM_MS = 2_000, 60_000

SMALL_EVENT_BYTES: Final = 5_000
"""What a small event costs, for a store that holds too few to measure it."""
MEASURED_EVENTS: Final = 1_000
"""From so many on the measured number is better than the assumed one."""

_LOSS: Final = {
    "always": "a power cut loses nothing that was acknowledged",
    "everysec": "a power cut can lose about the last second of what was acknowledged",
    "no": "a power cut can lose whatever the system had not written yet, often 30 seconds",
}


def check_version(reader: Reader) -> Finding:
    """Valkey, or Redis 7 and newer; a server that takes writes."""
    info = {**reader.info("server"), **reader.info("replication")}
    name = "valkey" if "valkey_version" in info else "redis"
    number = info.get(f"{name}_version", "0")
    facts: dict[str, int | str] = {"server": name, "version": number}
    if name == "redis" and int(number.partition(".")[0]) < OLDEST_REDIS:
        text = f"Redis {number} lacks what the ledger's scripts use"
        return Finding("store.version", "problem", text, "use Valkey, or Redis 7 or newer", facts)
    if info.get("role", "master") != "master":
        text = f"{name} {number} is a replica, which takes no writes"
        return Finding("store.version", "problem", text, "name its primary instead", facts)
    return Finding("store.version", "ok", f"{name} {number}", facts=facts)


def check_persistence(reader: Reader) -> Finding:
    """What a power cut would cost, in words."""
    info, config = reader.info("persistence"), reader.config("appendonly", "appendfsync")
    if info.get("aof_enabled", "0") != "1":
        text = "the append-only file is off: a restart loses everything since the last snapshot"
        advice = "set `appendonly yes`, in the server's configuration file as well"
        return Finding("store.persistence", "problem", text, advice)
    if info.get("aof_last_write_status", "ok") != "ok":
        text = "the server cannot write its append-only file"
        return Finding("store.persistence", "problem", text, "see its log and its disk's room")
    if config is None or "appendfsync" not in config:
        text = "the append-only file is on; how often it is flushed cannot be seen"
        advice = "CONFIG is forbidden to this user: ask who runs the store for its `appendfsync`"
        return Finding("store.persistence", "warning", text, advice)
    fsync = config["appendfsync"]
    status: Status = "warning" if fsync == "no" else "ok"
    advice = "set `appendfsync everysec` or `always`" if fsync == "no" else ""
    text = f"append-only file, appendfsync {fsync}: {_LOSS.get(fsync, 'unknown')}"
    return Finding("store.persistence", status, text, advice, {"appendfsync": fsync})


def check_access(reader: Reader) -> Finding:
    """As whom we come, and whether one credential opens everything."""
    name = reader.user()
    if name is None:
        return Finding("store.access", "ok", "as a user that an access list bounds")
    if name != "default":
        return Finding("store.access", "ok", f"as user {name}", facts={"user": name})
    facts: dict[str, int | str] = {"user": name}
    if reader.is_open():
        text = "no password is needed: whoever reaches the store may change the ledger"
        advice = "set a password, or users for each role: `counterfoil tenant acl`"
        return Finding("store.access", "warning", text, advice, facts)
    text = "as user default: its password opens everything (`counterfoil tenant acl` parts roles)"
    return Finding("store.access", "ok", text, facts=facts)


def check_memory(reader: Reader) -> Finding:
    """Nothing may be evicted, and there must be room."""
    info = reader.info("memory")
    used, most = int(info["used_memory"]), int(info.get("maxmemory", "0"))
    policy = info.get("maxmemory_policy", "unknown")
    facts: dict[str, int | str] = {"used_bytes": used, "maxmemory_bytes": most, "policy": policy}
    if policy != "noeviction":
        text = f"maxmemory-policy is {policy}: a full server would delete parts of the ledger"
        advice = "set `maxmemory-policy noeviction`, in its configuration file as well"
        return Finding("store.memory", "problem", text, advice, facts)
    if most == 0:
        text = f"{_mib(used)} used, no maxmemory: when memory runs out, the system kills the server"
        advice = "set `maxmemory` to about half of the machine's memory: up has --maxmemory for it"
        return Finding("store.memory", "warning", text, advice, facts)
    part = used / most
    text = f"{_mib(used)} of {_mib(most)} used ({part:.0%}), noeviction"
    status = grade(part, FULL_WARNING, FULL_PROBLEM)
    advice = "" if status == "ok" else "raise `maxmemory`, or shorten COUNTERFOIL_BODY_MS"
    return Finding("store.memory", status, text, advice, facts)


def check_room(reader: Reader, events: int) -> Finding:
    """How many more events fit, after those that are remembered."""
    info = reader.info("memory")
    used, most = int(info["used_memory"]), int(info.get("maxmemory", "0"))
    measured = events >= MEASURED_EVENTS
    cost = used // events if measured else SMALL_EVENT_BYTES
    basis = "measured" if measured else "assumed, too few to measure"
    text = f"{events} events are remembered, about {cost} bytes each ({basis})"
    facts: dict[str, int | str] = {"events": events, "bytes_per_event": cost}
    if most == 0:
        return Finding(
            "store.room", "ok", f"{text}; without maxmemory no number that fits", "", facts
        )
    facts["events_left"] = left = max(0, most - used) // cost
    return Finding("store.room", "ok", f"{text}; about {left} more fit", facts=facts)


def check_clock(reader: Reader) -> Finding:
    """The ledger goes by the store's clock, producers and people by theirs."""
    before = time.time_ns() // 1_000_000
    theirs = reader.now_ms()
    # Between the two readings of ours nothing is known: the smallest difference counts.
    after = time.time_ns() // 1_000_000
    off = max(before - theirs, theirs - after, 0)
    status = grade(off, CLOCK_WARNING_MS, CLOCK_PROBLEM_MS)
    advice = "" if status == "ok" else "synchronise the clocks of both machines (NTP)"
    text = f"the store's clock and ours differ by {off} ms"
    return Finding("store.clock", status, text, advice, {"difference_ms": off})


def check_scripts(reader: Reader) -> Finding:
    """Whether the server compiles every script of the ledger."""
    names = script_names()
    for name in names:
        try:
            reader.load_script(load_script(name).text)
        except UnavailableError as error:
            advice = "use Valkey, or Redis 7 or newer, and let this user run SCRIPT and EVALSHA"
            return Finding("store.scripts", "problem", f"{name}: {error}", advice)
    text = f"all {len(names)} scripts of the ledger are loaded"
    return Finding("store.scripts", "ok", text, facts={"scripts": len(names)})


def script_names() -> list[str]:
    """The ledger's scripts, without the parts that they share."""
    folder = files("counterfoil_worker.ledger") / "lua"
    found = (entry.name.removesuffix(".lua") for entry in folder.iterdir())
    return sorted(name for name in found if not name.startswith("_"))


def _mib(size: int) -> str:
    return f"{size / 2**20:.1f} MiB"
