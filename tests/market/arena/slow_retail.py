"""The settlement of retail, written to be read: what the compiled one is compared with."""

from __future__ import annotations

from dataclasses import dataclass, field

WORD = 2**64


@dataclass
class SlowSales:
    """Totals by the names of `market.arena.retail.Sales`.

    Keyed by (item, seller), by seller or by item.
    """

    sold: dict = field(default_factory=dict)
    asked: dict = field(default_factory=dict)
    surplus: dict = field(default_factory=dict)
    attempts: dict = field(default_factory=dict)
    failed: dict = field(default_factory=dict)
    impressions: dict = field(default_factory=dict)
    priced_out: dict = field(default_factory=dict)
    unserved: dict = field(default_factory=dict)


def mixed(word: int) -> int:
    word %= WORD
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % WORD
    return word ^ (word >> 31)


def slow_settle(buyers, considered, prices, stock, luck) -> SlowSales:
    """Serve buyers (item, units, limit or None, luck) one by one.

    `considered` is a set of sellers per buyer; `prices` and `stock` are dicts by (item, seller),
    of which `stock` changes; `luck` is a word per seller.
    """
    sales = SlowSales()

    def add(table: dict, place, amount: int) -> None:
        table[place] = table.get(place, 0) + amount

    for (item, wanted, limit, word), seen in zip(buyers, considered, strict=True):
        for seller in seen:
            add(sales.impressions, seller, 1)
        tour = sorted(
            (seller for seller in seen if (item, seller) in prices),
            key=lambda seller, item=item, word=word: (
                prices[item, seller],
                mixed(word + luck[seller]),
            ),
        )
        for seller in tour:
            if wanted == 0:
                break
            price = prices[item, seller]
            if limit is not None and price > limit:
                add(sales.priced_out, item, wanted)
                wanted = 0
                break
            add(sales.attempts, seller, 1)
            add(sales.asked, (item, seller), wanted)
            taken = min(wanted, stock.get((item, seller), 0))
            if taken == 0:
                add(sales.failed, seller, 1)
                continue
            stock[item, seller] -= taken
            wanted -= taken
            add(sales.sold, (item, seller), taken)
            if limit is not None:
                add(sales.surplus, (item, seller), taken * (limit - price))
        if wanted:
            add(sales.unserved, item, wanted)
    return sales
