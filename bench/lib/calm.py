"""Measure while the host does not take processor time away.

On a shared machine the host takes processors away for short moments (steal in /proc/stat). Threads that
work together then all wait for the stopped one, and the measurement shows the host. Such a measurement is
repeated, as long as the run has repeats left. The decision depends only on the time that the host took,
never on the result.
"""
LIMIT_PERCENT = 2.0


def ticks():
    """Return the ticks of all processors since boot: those taken by the host, and the total."""
    with open("/proc/stat", encoding="ascii") as stat:
        spent = [int(field) for field in stat.readline().split()[1:9]]
    return spent[7], sum(spent)


class Calm:
    def __init__(self, repeats):
        self.repeats = repeats
        self.repeated = self.disturbed = 0

    def measure(self, what, show):
        """Run `what` until the host took little time during it, or no repeats are left. Print each result, formatted
        by show. Return the last one."""
        while True:
            taken, spent = ticks()
            result = what()
            taken_now, spent_now = ticks()
            percent = 100 * (taken_now - taken) / max(1, spent_now - spent)
            if percent <= LIMIT_PERCENT:
                print(show(result), flush=True)
                return result
            again = self.repeated < self.repeats
            print(f"{show(result)}   (the host took {percent:.1f} %{': again' if again else ''})", flush=True)
            if not again:
                self.disturbed += 1
                return result
            self.repeated += 1

    def report(self):
        print(f"measured again because the host took more than {LIMIT_PERCENT:.0f} % of the processors: "
              f"{self.repeated}; counted although it did: {self.disturbed}")
