"""What a seat that was told the hidden world knows of demand, beside what everybody sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

import numpy as np

from market.environment import Json
from market.vending import world as worlds
from market.vending.calendar import Day, weather_factor
from market.vending.demand import Demand
from market.vending.rules import VendingRules
from market.vending.world import Floats


@dataclass(frozen=True, slots=True)
class Knowledge:
    """The rules with all that is hidden, and the demand model.

    Attributes:
        rules: The rules.
        demand: The true demand.
    """

    rules: VendingRules
    demand: Demand

    @classmethod
    def told(cls, hidden: Mapping[str, Json]) -> Knowledge:
        """What `hidden` in the private view of day 1 says."""
        rules = VendingRules.model_validate(hidden["rules"])
        return cls(rules, Demand(rules, worlds.generated(rules, hidden["world"])))

    @property
    def usual_visits(self) -> Floats:
        """(s) mean visits per day over a week, in mean weather."""
        weather = self.rules.weather
        usual = sum(each.probability * each.traffic for each in weather.conditions.values())
        found: Floats = self.demand.world.traffic * self.demand.world.week.mean(axis=1) * usual
        return found

    def crowding(self, today: Mapping[str, Json]) -> Floats:
        """(s) mean visits of a day, as a multiple of the usual."""
        day = Day(
            day=today["day"],
            date=date.fromisoformat(today["date"]),
            holiday=today["holiday"],
            condition=today["weather"],
            temperature=today["temperature"],
        )
        world = self.demand.world
        week = world.holiday if day.holiday else world.week[:, day.weekday]
        visits = world.traffic * week * weather_factor(self.rules.weather, day)
        found: Floats = visits / np.maximum(self.usual_visits, 1e-9)
        return found
