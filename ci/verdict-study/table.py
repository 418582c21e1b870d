"""The study's result as Markdown, which docs/method/verdict-study.md explains."""


def percent(share):
    return "?" if share is None else f"{100 * share:.3g} %"


def share_of(count, of):
    return percent(count / of if of else None)


def bound(found, name):
    return "-" if found["windows"] else percent(found[name])


def verdict_words(verdicts):
    """Of metrics, not of runs."""
    total = sum(verdicts.values())
    words = sorted(verdicts, key=verdicts.get, reverse=True)
    return ", ".join(f"{100 * verdicts[word] / total:.1f} % {word}" for word in words)


def counted_runs(found, count):
    """Windows over the same launches are not so many runs."""
    return f"{count} windows" if found["windows"] else str(count)


def smaller_alphas(found):
    """Counts of runs, as the number before them."""
    return ", ".join(f"{alpha}: {count}" for alpha, count in found["below_alpha"].items())


def alarm_rows(aa):
    for layout, found in aa.get("layouts", {}).items():
        yield layout, found
        for name, words in (("without_canaries", "canaries left out"), ("disjoint", "windows that share no launch")):
            if name in found:
                yield f"{layout}, {words}", found[name]
    for where, found in aa.get("real", {}).items():
        yield f"measured for it: {where}", found


def by_slowdown(title, found, text_of):
    """A table with a line of each name and a column of each slowdown."""
    if not found:
        return []
    lines = ["", f"| {title} | " + " | ".join(f"{100 * s:g} %" for s in found) + " |", "|---|" + "--:|" * len(found)]
    for name in sorted(set().union(*found.values())):
        cells = [text_of(of[name]) if name in of else "?" for of in found.values()]
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    return lines


def markdown(result):
    lines = [
        f"Machine {result['machine']['id']} ({', '.join(result['machine']['labels']) or 'no labels'}), UCX "
        f"{result['ucx']}, ucx-bench {str(result['commit'])[:12]}; judged {result['judged_utc']} by the compare of "
        f"{result['judged_by']}.",
        "",
        "| nothing changed | runs | false alarms | 95 % bound | with a smaller alpha | canary moved | metrics |",
        "|---|--:|--:|--:|---|--:|---|",
    ]
    lines += [
        f"| {name} | {counted_runs(found, found['comparisons'])} | {found['false_alarms']} | {bound(found, 'upper95')} | "
        f"{smaller_alphas(found)} | {found['canary_alarms']} | {verdict_words(found['verdicts'])} |"
        for name, found in alarm_rows(result["aa"])
    ]
    lines += [
        "",
        "| planted loss | how | runs | found | at least, 95 % | of it seen | with a smaller alpha | canary moved | metrics |",
        "|--:|---|--:|--:|--:|--:|---|--:|---|",
    ]
    lines += [
        f"| {100 * row['slowdown']:g} % | {row['how']} | {counted_runs(row, row['of'])} | {share_of(row['detected'], row['of'])} | "
        f"{bound(row, 'lower95')} | {percent(row['seen'])} | {smaller_alphas(row)} | {row['canary_alarms']} | "
        f"{verdict_words(row['verdicts'])} |"
        for row in result["power"]
    ]
    by_launches = result["by_launches"]
    lines += [
        "",
        f"| loss of {100 * by_launches[0]['slowdown']:g} %, resampled: launches a side "
        "| in one case: found | in all cases: found |",
        "|--:|--:|--:|",
    ]
    for count in dict.fromkeys(row["launches"] for row in by_launches):
        ways = [row for row in by_launches if row["launches"] == count]
        lines.append(f"| {count} | " + " | ".join(share_of(row["detected"], row["of"]) for row in ways) + " |")
    found = {row["slowdown"]: row["by_case"] for row in result["power"] if row["how"] == "resampled, one case"}
    lines += by_slowdown("resampled, one case: found in", found, lambda hits: share_of(*hits))
    for how in dict.fromkeys(row["how"] for row in result["power"] if "changes_seen" in row):
        seen = {row["slowdown"]: row["changes_seen"] for row in result["power"] if row["how"] == how}
        lines += by_slowdown(f"{how}: median change seen", seen, lambda change: f"{100 * change:+.2f} %")
    return "\n".join(lines) + "\n"
