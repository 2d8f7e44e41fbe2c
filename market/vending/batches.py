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
        return sum(units for _, units in self._batches.get(product, ()))

    def expired(self, product: int, day: int) -> int:
        """Units of a product that are expired on a day."""
        return sum(units for expires, units in self._batches.get(product, ()) if expires <= day)

    def fresh(self, product: int, day: int) -> int:
        """Units of a product that are not expired on a day."""
        return sum(units for expires, units in self._batches.get(product, ()) if expires > day)

    def expiring(self, product: int, day: int) -> int:
        """Units of a product whose batch expires on exactly that day."""
        return sum(units for expires, units in self._batches.get(product, ()) if expires == day)

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
