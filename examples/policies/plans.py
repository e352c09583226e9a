"""Plans of a host for several drives.

A plan is an object. Its methods are told what happens and return lists of acts, or None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.outside import Act

if TYPE_CHECKING:
    from flashscape.outside import ArrayView, CommandEnd, HostRequest


class LeastBusy:
    """Writes go to all members, and a read to the one with the fewest commands under way."""

    mirrors = True

    def __init__(self, array: ArrayView) -> None:
        self.members = range(array.members)

    def asked(self, array: ArrayView, request: HostRequest) -> list[Act]:
        """Send a request of the host."""
        if request.kind != "read":
            return [Act.send(request, member) for member in self.members]
        return [Act.send(request, min(self.members, key=array.under_way.__getitem__))]


class Staggered:
    """A mirror whose members write in turn: the second gets a write when the first has it.

    The host is answered then. Reads go to the member with the fewest commands under way that has
    all writes to their bytes.
    """

    mirrors = True

    def __init__(self, array: ArrayView) -> None:
        self.members = array.members
        self.lacking: list[dict[int, HostRequest]] = [{} for _ in range(array.members)]
        """By member: writes that it has not answered, by number."""

    def asked(self, array: ArrayView, request: HostRequest) -> list[Act]:
        """Send a read to a member that has the data, and a write to the first member."""
        if request.kind == "read":
            ready = [of for of in range(self.members) if not self._lacks(of, request)]
            # The first member has every write that was answered.
            member = min(ready, key=array.under_way.__getitem__) if ready else 0
            return [Act.send(request, member)]
        for lacking in self.lacking:
            lacking[request.number] = request
        return [Act.send(request, 0), Act.hold(True)]

    def ended(self, _: ArrayView, end: CommandEnd) -> list[Act]:
        """Send a write to the next member."""
        if end.kind == "read":
            return []
        del self.lacking[end.member][end.request.number]
        following = end.member + 1
        if following < self.members:
            return [Act.send(end.request, following, part=False)]
        return [Act.hold(any(self.lacking))]

    def _lacks(self, member: int, read: HostRequest) -> bool:
        end = read.offset + read.bytes
        return any(
            write.offset < end and read.offset < write.offset + write.bytes
            for write in self.lacking[member].values()
        )
