"""What a page says of the machine and its settings, from the run file alone."""

from pages.sections import known, without_unknown
from plots.common import significant

TITLES = {
    "cpu_model": "CPU model", "cpu_quota": "CPU quota", "emulated_cpu": "emulated CPU", "load_1min": "load average, 1 min",
    "memory_bytes": "memory", "memory_copy": "memory copy", "numa_balancing": "NUMA balancing", "numa_nodes": "NUMA nodes",
    "shm_bytes": "/dev/shm", "shm_free_bytes": "/dev/shm, free", "smt": "SMT",
}
# As processors tell it.
HYPERVISORS = {"KVMKVMKVM": "KVM", "Microsoft Hv": "Hyper-V", "VMwareVMware": "VMware", "XenVMMXenVMM": "Xen"}


def devices_of(wiring):
    shown = [device for device in wiring.get("devices", []) if device["kind"] in ("gpu", "nic", "numa")]
    rows = [[known(device.get(name)) for name in ("name", "alias", "kind", "model", "pci", "state", "numa_node", "cpu_affinity")]
            for device in shown]
    return without_unknown(["name", "also", "kind", "model", "PCI", "state", "NUMA node", "CPUs"], rows)


def copies_of(memory):
    """"8.123 GB/s on one core, 12.34 on 2; in caches up to 61.23 and 120.4"."""
    one_core, all_cores = memory["one_core"], memory["all_cores"]
    text = f"{known(one_core['copy_GBps'])} GB/s on one core, {known(all_cores['copy_GBps'])} on {len(all_cores['cpus'])}"
    most = [max((size["copy_GBps"] or 0 for size in of.get("by_size", [])), default=0) for of in (one_core, all_cores)]
    return text + (f"; in caches up to {known(most[0])} and {known(most[1])}" if all(most) else "")


def facts_of(host):
    """Of a host: what is a value, in words, and last what is not known; devices have a table of their own."""
    facts, unknown = [], []
    for name, value in host.items():
        title = TITLES.get(name, name.replace("_", " "))
        if name == "memory_copy":
            value = copies_of(value)
        if isinstance(value, (dict, list)):
            continue
        if value is None:
            unknown.append(title)
        else:
            facts.append((title, f"{significant(value / 2**30)} GiB" if name.endswith("_bytes") else HYPERVISORS.get(value, known(value))))
    return facts + ([("not known", ", ".join(unknown))] if unknown else [])


def ranks_of(run):
    """A row per rank: where it ran."""
    rows = []
    for rank in run["ranks"]:
        cpus, gpu = rank["cpus"], rank.get("device")
        if gpu:
            gpu = ", ".join(known(gpu.get(name)) for name in ("index", "name", "pci"))
        rows.append([known(rank["rank"]), known(rank["host"]), known(rank["pid"]),
                     ", ".join(map(str, cpus)) if isinstance(cpus, list) else known(cpus),
                     known(rank["numa_node"]), gpu or "–", known(rank["net_devices"])])
    return without_unknown(["rank", "host", "pid", "CPUs", "NUMA node", "GPU", "network devices"], rows)


def hosts_of(run):
    """[(names, facts)]: hosts that are equal but for their name and load stand together."""
    kinds = {}
    for host in run["machine"]["hosts"]:
        facts = facts_of({name: value for name, value in host.items() if name != "name"})
        same = tuple(fact for fact in facts if not fact[0].startswith("load"))
        kinds.setdefault(same, (facts, []))[1].append(known(host.get("name")))
    return [(", ".join(names) if len(names) < 3 else f"{len(names)} hosts, {names[0]} to {names[-1]}",
             facts if len(names) == 1 else same) for same, (facts, names) in kinds.items()]


def settings_of(environment):
    """What was set, per set of transports; what was inherited; and all that UCX used, told apart only
    where sets differ."""
    effective = environment.get("effective") or {}
    common = {}
    for settings in effective.values():
        for name, value in settings.items():
            common.setdefault(name, set()).add(value)
    return {
        "asked": environment.get("asked") or {},
        "inherited": environment.get("inherited") or {},
        "effective": [(name, " | ".join(sorted(map(str, values)))) for name, values in sorted(common.items())],
    }
