"""Measure while the host leaves the processors alone.

On a shared machine the host takes processors away for moments (steal, in /proc/stat). Threads that
work hand in hand then all wait for the one that was stopped, and what is measured is the host. Such
a measurement is made again, as often as the run has repeats for; whether it is depends on what the
host took alone, never on the result.
"""
LIMIT_PERCENT = 2.0


def ticks():
    """Of the processors, since the start of the machine: taken by the host, and all."""
    with open("/proc/stat", encoding="ascii") as stat:
        spent = [int(field) for field in stat.readline().split()[1:9]]
    return spent[7], sum(spent)


class Calm:
    def __init__(self, repeats):
        self.repeats = repeats
        self.repeated = self.disturbed = 0

    def measure(self, what, show):
        """What the function gave while the host took little, or when no repeats are left. Each
        result is printed, as show has it."""
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
