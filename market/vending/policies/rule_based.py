"""The paper's rule-based inventory control: weekly rounds, targets from rolling demand.

    round      every week all machines are visited, from the first day on which stock can be there:
               what sells least makes room, shelves are filled up to their targets
    targets    rolling demand (`rolling.py`) over as many weeks as the volume and the age of the
               business allow
    orders     so many days before the next round that a late delivery is still in time
    products   those with the largest expected gross profit (`assortments.py`), ever fewer changes
               from week to week, and some that nobody tried
    prices     trials at each type of site, judged by gross profit (`price_trials.py`)

Between rounds it visits only machines in which something expired. What it knows of customers is
what its own machines sold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from market.environment import Decision
from market.vending.policies.assortments import Assortments
from market.vending.policies.inventory import Inventory
from market.vending.policies.price_trials import PriceTrial
from market.vending.policies.rolling import Rolling
from market.vending.policies.script import WEEK, Call, Item, Row, Script, affordable, batches, view

#: Days before the end from which a round no longer pays.
LAST = 3


@dataclass
class RuleBased(Script):
    """Weekly replenishment to rolling-demand targets, assortment by sales, price trials.

    Attributes:
        trials: Slots of a machine for products that nobody tried, and then for what was left over.
        spread: Machines in which a new product is tried, one unit each.
        least: Units that a machine is given at least of a product that ever sold.
        cover: Weeks of demand that a target covers at most; in the first weeks it is less.
        slack: Days between the promised delivery and the round that it is for.
        spending: Share of the cash that an order may take.
    """

    trials: int = 10
    spread: int = 1
    least: int = 3
    cover: float = 4.0
    slack: int = 2
    spending: float = 0.7

    def __post_init__(self) -> None:
        """Prepare memory."""
        super().__post_init__()
        if self.trials < 0 or self.spread < 1 or self.least < 1:
            raise ValueError("trials must be at least 0, spread and least at least 1")
        self._goods: dict[str, Row] = {}
        self._machines: dict[str, str] = {}
        self._number: dict[str, int] = {}
        self._slots, self._volume, self._lead = 0, 0, 0
        self._opened, self._weeks = 0, 0
        #: Per machine what the next round should leave there, the best first.
        self._wanted: dict[str, list[str]] = {}
        self._untried: list[str] = []
        self._basket: list[Item] = []
        self._basket_day = 0

    def look(self, decision: Decision) -> list[Call]:
        """The catalogue at first; machines on the day of a round, the warehouse on the next."""
        if not self._goods:
            return [view("view_catalog")]
        report, since = decision.observation.private["report"], self._since_round(decision)
        asked = "listed" if since == 0 else "expired"
        views = [
            view("view_machine", machine=name, window=WEEK)
            for name, shown in report["machines"].items()
            if shown[asked]
        ]
        if since == 0 and report["under_way"]["units"]:
            views.append(view("view_orders"))
        if since == 1:
            views.append(view("view_warehouse"))
        return views

    def decide(self, decision: Decision) -> list[Call]:
        """Open, hold a round or take stock; clear what expired; order when it is time."""
        most = decision.observation.rules["items_per_call"]
        if not self._goods:
            self._open(decision)
        calls: list[Call] = []
        since = self._since_round(decision)
        seen = list(self.rows("view_machine"))
        complete = self._machines if since == 0 else {made["machine"] for made, _ in seen}
        expired = self._stock.see_shelves(complete, seen)
        calls += batches("delist_product", expired, most)
        if since == 0:
            self._learn()
            calls += self._round(decision, most)
        if since == 1:
            spoiled = self._stock.count(self.rows("view_warehouse"))
            calls += batches("discard_stock", spoiled, most)
        if self._basket and decision.step >= self._basket_day:
            items = self._affordable(decision.observation.private["cash"])
            calls += batches("order_stock", items, most)
        return calls

    def _since_round(self, decision: Decision) -> int | None:
        """Days since a round was held; None before the first and once none pays any more."""
        days = decision.step - self._opened - self._lead
        last = decision.observation.rules["days"] - LAST
        if days < 0 or decision.step - days % WEEK > last:
            return None
        return days % WEEK

    def _open(self, decision: Decision) -> None:
        """Read the catalogue, and want something new in every slot."""
        rules = decision.observation.rules
        self._goods = {row["product"]: row for _, row in self.rows("view_catalog")}
        self._machines = {each["machine"]: each["site_type"] for each in rules["machines"]}
        self._number = _numbered(self._machines)
        self._slots, self._volume = rules["slots"], rules["volume"]
        self._lead = rules["lead_promised"]
        self._stock, self._rolling = Inventory(self._machines), Rolling(self._machines)
        self._prices = {
            kind: PriceTrial(rules["price_cap"]) for kind in dict.fromkeys(self._machines.values())
        }
        self._assortments = Assortments(
            self._goods, self._machines, self._rolling, self._slots, self._volume, self.least
        )
        self._untried = self.draws(decision, "trials").shuffled(list(self._goods))
        self._opened = decision.step
        self._want({machine: [] for machine in self._machines}, self._slots, decision.step)

    def _learn(self) -> None:
        """Take in the week's sales, of which there are none at the first round."""
        self._weeks += 1
        self._rolling.fade()
        for made, row in self.rows("view_machine"):
            machine = made["machine"]
            self._rolling.add(machine, row["product"], row["sold"], not row["units"])
            trial = self._prices[self._machines[machine]]
            trial.add(self._number[machine], row["gross_profit"])
        for trial in self._prices.values():
            trial.end_week()

    def _round(self, decision: Decision, most: int) -> list[Call]:
        """Move stock and prices, and decide what the next round should leave."""
        stock = self._stock
        stock.see_orders(self.rows("view_orders"))
        leaving = [
            stock.clear(machine, product)
            for machine in self._machines
            for product in self._leaving(machine)
        ]
        loads = self._loads()
        loaded = {(item["machine"], item["product"]) for item in loads}
        prices = [
            {"machine": machine, "product": product, "price": self._price(machine, product)}
            for machine, product, posted in (
                (made["machine"], row["product"], row["price"])
                for made, row in self.rows("view_machine")
            )
            if product in stock.shelves[machine]
            and (machine, product) not in loaded
            and posted != self._price(machine, product)
        ]
        levels = {kind: trial.level for kind, trial in self._prices.items()}
        best = self._assortments.best(stock.shelves, levels, self._slots // self._weeks)
        day = decision.step + WEEK - self._lead - self.slack
        self._want(best, self.trials, day)
        return [
            *batches("delist_product", leaving, most),
            *batches("load_machine", loads, most),
            *batches("set_prices", prices, most),
        ]

    def _leaving(self, machine: str) -> list[str]:
        """What is not wanted any more and sold out, or makes room for what is there and wanted."""
        shelf, wanted = self._stock.shelves[machine], set(self._wanted[machine])
        coming = sum(
            p not in shelf and self._stock.warehouse.get(p, 0) > 0 for p in self._wanted[machine]
        )
        unwanted = [product for product in shelf if product not in wanted]
        unwanted.sort(key=lambda product: self._rolling.at(machine, product))
        empty = [product for product in unwanted if not shelf[product]]
        others = [product for product in unwanted if shelf[product]]
        return empty + others[: max(0, len(shelf) + coming - len(empty) - self._slots)]

    def _loads(self) -> list[Item]:
        """Fill what is wanted up to its target, and then free slots with what is left over."""
        items = [
            item
            for machine in self._machines
            for item in self._filled(machine, self._targets(machine))
        ]
        left = [product for product, units in self._stock.warehouse.items() if units > 0]
        left.sort(
            key=lambda p: self._rolling.anywhere(p) * self._goods[p]["reference"], reverse=True
        )
        for machine in self._machines:
            shelf = self._stock.shelves[machine]
            new = {product: self.least for product in left if product not in shelf}
            items += self._filled(machine, new)
        return items

    def _filled(self, machine: str, targets: Mapping[str, int]) -> list[Item]:
        """The items that load a machine up to targets, in their order, as far as there is room."""
        stock, shelf, items = self._stock, self._stock.shelves[machine], []
        free = self._volume - sum(n * self._goods[p]["volume"] for p, n in shelf.items())
        for product, target in targets.items():
            if product not in shelf and len(shelf) == self._slots:
                continue
            volume = self._goods[product]["volume"]
            most = min(target - shelf.get(product, 0), free // volume)
            units = stock.load(machine, product, most)
            if units:
                free -= units * volume
                item = {"machine": machine, "product": product, "quantity": units}
                items.append({**item, "price": self._price(machine, product)})
        return items

    def _price(self, machine: str, product: str) -> float:
        """The price of the machine's level for the product, in whole steps of 0.1 CNY."""
        level = self._prices[self._machines[machine]].multiple(self._number[machine])
        return max(1, int(10 * level * self._goods[product]["reference"] + 1e-6)) / 10

    def _targets(self, machine: str) -> dict[str, int]:
        cover = min(self.cover, float(max(1, self._weeks)))
        return self._assortments.targets(machine, self._wanted[machine], cover)

    def _want(self, best: Mapping[str, list[str]], trials: int, day: int) -> None:
        """Want the best products but in the last slots, which new ones get, and order for it.

        A new product goes to machines that follow each other in an order in which types of sites
        alternate.

        Args:
            best: The best products of each machine.
            trials: The last slots.
            day: When to order what is missing.
        """
        self._untried = [p for p in self._untried if not self._rolling.tried(p)]
        order = sorted(self._machines, key=self._number.__getitem__)
        new: dict[str, list[str]] = {machine: [] for machine in order}
        places = [
            product
            for product in self._untried[: trials * len(order) // self.spread]
            for _ in range(self.spread)
        ]
        for place, product in enumerate(places):
            new[order[place % len(order)]].append(product)
        self._wanted = {
            machine: products[: max(0, self._slots - trials)] + new[machine]
            for machine, products in best.items()
        }
        self._basket, self._basket_day = self._missing(), day

    def _missing(self) -> list[Item]:
        """What the next round needs, sales until then included, and is not there.

        What sells most comes first, as cash may not suffice for all.
        """
        need: dict[str, float] = {}
        for machine, shelf in self._stock.shelves.items():
            for product in shelf:
                need[product] = need.get(product, 0.0) + self._rolling.at(machine, product)
            for product, units in self._targets(machine).items():
                need[product] = need.get(product, 0.0) + units
        position = self._stock.position
        lacking = {product: ceil(n - position.get(product, 0)) for product, n in need.items()}
        return [
            {"product": product, "quantity": lacking[product]}
            for product in sorted(lacking, key=self._rolling.anywhere, reverse=True)
            if lacking[product] > 0
        ]

    def _affordable(self, cash: float) -> list[Item]:
        """The basket as far as the cash meant for it goes; it is empty then."""
        costs = {product: row["cost"] for product, row in self._goods.items()}
        items = affordable(self._basket, costs, self.spending * cash)
        self._basket = []
        for item in items:
            self._stock.order(item["product"], item["quantity"])
        return items


def _numbered(types: Mapping[str, str]) -> dict[str, int]:
    """The number of each machine among those at the same type of site."""
    found: dict[str, int] = {}
    seen: dict[str, int] = {}
    for machine, kind in types.items():
        found[machine] = seen[kind] = seen.get(kind, -1) + 1
    return found
