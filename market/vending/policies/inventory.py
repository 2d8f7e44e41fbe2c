"""An operator's own books of its stock, so that it need not count everything before each move.

Shelves are looked at before a round and the warehouse is counted the day after one. In between,
what is moved and ordered is written down. Where the books are wrong, a move is refused and no harm
is done.
"""

from __future__ import annotations

from collections.abc import Iterable

from market.vending.policies.script import Call, Item, Row


class Inventory:
    """Unexpired units by place.

    Attributes:
        shelves: Per machine and product that it lists, the units on the shelf.
        warehouse: Units in the warehouse.
        under_way: Units ordered that are not known to be delivered.
    """

    def __init__(self, machines: Iterable[str]) -> None:
        self.shelves: dict[str, dict[str, int]] = {machine: {} for machine in machines}
        self.warehouse: dict[str, int] = {}
        self.under_way: dict[str, int] = {}

    def see_shelves(self, machines: Iterable[str], rows: Iterable[tuple[Call, Row]]) -> list[Item]:
        """Read the rows of `view_machine`; the items of `delist_product` for what expired.

        Args:
            machines: Those whose every row is there.
            rows: The rows.
        """
        for machine in machines:
            self.shelves[machine] = {}
        expired = []
        for made, row in rows:
            machine, product = made["machine"], row["product"]
            self.shelves[machine][product] = row["units"] - row["expired"]
            if row["expired"]:
                expired.append(self.clear(machine, product))
        return expired

    def see_orders(self, rows: Iterable[tuple[Call, Row]]) -> None:
        """Read the rows of `view_orders`: what is not under way any more is in the warehouse."""
        for product, units in self.under_way.items():
            self.put(product, units)
        self.under_way = {}
        for _, row in rows:
            self.put(row["product"], -row["quantity"])
            self.order(row["product"], row["quantity"])

    def count(self, rows: Iterable[tuple[Call, Row]]) -> list[Item]:
        """Read the rows of `view_warehouse`; the items of `discard_stock` for what expired."""
        self.warehouse = {}
        expired = []
        for _, row in rows:
            self.put(row["product"], row["units"] - row["expired"])
            if row["expired"]:
                item = {"product": row["product"], "quantity": row["expired"]}
                expired.append({**item, "expired_only": True})
        return expired

    def order(self, product: str, units: int) -> None:
        """Write down an order."""
        self.under_way[product] = self.under_way.get(product, 0) + units

    def put(self, product: str, units: int) -> None:
        """Write down units that came to the warehouse."""
        self.warehouse[product] = self.warehouse.get(product, 0) + units

    def clear(self, machine: str, product: str) -> Item:
        """Take a product out of a machine: the item of `delist_product`."""
        self.put(product, self.shelves[machine].pop(product))
        return {"machine": machine, "product": product}

    def load(self, machine: str, product: str, most: int) -> int:
        """Bring units to a machine, as many as there are; how many they are."""
        units = max(0, min(most, self.warehouse.get(product, 0)))
        if units:
            self.warehouse[product] -= units
            shelf = self.shelves[machine]
            shelf[product] = shelf.get(product, 0) + units
        return units

    @property
    def position(self) -> dict[str, int]:
        """Units on shelves, in the warehouse and under way."""
        found = dict(self.warehouse)
        for place in (self.under_way, *self.shelves.values()):
            for product, units in place.items():
                found[product] = found.get(product, 0) + units
        return found
