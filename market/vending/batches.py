"""Stock in batches, taken first-expired-first-out."""

from __future__ import annotations

from collections.abc import Iterator

#: (first day on which the units are expired, units).
Batch = tuple[int, int]


class Stock:
    """Batches of products at one place. A batch is expired on day d if its day is not above d."""

    __slots__ = ("_batches",)

    def __init__(self) -> None:
        self._batches: dict[int, list[Batch]] = {}

    def __iter__(self) -> Iterator[int]:
        """Products of which there are units, in the order of the catalogue."""
        return iter(sorted(self._batches))

    def batches(self, product: int) -> tuple[Batch, ...]:
        """The batches of a product, the first to expire first."""
        return tuple(self._batches.get(product, ()))

    def units(self, product: int) -> int:
        """Units of a product, expired ones included."""
        total = 0
        for _, units in self._batches.get(product, ()):
            total += units
        return total

    def totals(self) -> dict[int, int]:
        """Units of each product of which there are any, in no order that means anything."""
        return {product: self.units(product) for product in self._batches}

    def expired(self, product: int, day: int) -> int:
        """Units of a product that are expired on a day."""
        return self.expiry(product, day)[0]

    def expiry(self, product: int, day: int) -> tuple[int, int | None]:
        """Units of a product that are expired on a day, and the first day on which more will be."""
        expired = 0
        for expires, units in self._batches.get(product, ()):
            if expires > day:
                return expired, expires
            expired += units
        return expired, None

    def fresh(self, product: int, day: int) -> int:
        """Units of a product that are not expired on a day."""
        return self.units(product) - self.expired(product, day)

    def expiring(self, product: int, day: int) -> int:
        """Units of a product whose batch expires on exactly that day."""
        for expires, units in self._batches.get(product, ()):
            if expires >= day:
                return units if expires == day else 0
        return 0

    def aged(self, day: int, soon: int) -> tuple[int, int]:
        """Units of all products that are expired on a day, and of those that soon will be.

        Args:
            day: The day.
            soon: The last day that is soon.
        """
        expired = expiring = 0
        for batches in self._batches.values():
            for expires, units in batches:
                if expires > soon:
                    break
                if expires <= day:
                    expired += units
                else:
                    expiring += units
        return expired, expiring

    def add(self, product: int, batch: Batch) -> None:
        """Put a batch down."""
        expires, units = batch
        if units <= 0:
            return
        there = self._batches.setdefault(product, [])
        for i, (other, others) in enumerate(there):
            if other == expires:
                there[i] = (expires, others + units)
                return
            if other > expires:
                there.insert(i, batch)
                return
        there.append(batch)

    def take(self, product: int, units: int, fresh_on: int | None = None) -> list[Batch]:
        """Take units away, the first to expire first.

        Args:
            product: The product.
            units: How many; there must be as many.
            fresh_on: Leave what is expired on this day.

        Raises:
            ValueError: If there are fewer.
        """
        taken: list[Batch] = []
        left: list[Batch] = []
        for expires, there in self._batches.get(product, ()):
            n = 0 if fresh_on is not None and expires <= fresh_on else min(units, there)
            if n:
                taken.append((expires, n))
                units -= n
            if there > n:
                left.append((expires, there - n))
        if units:
            raise ValueError(f"{units} units of product {product} are missing")
        if left:
            self._batches[product] = left
        else:
            self._batches.pop(product, None)
        return taken
