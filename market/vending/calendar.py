"""Days: their dates, public holidays and weather, and what is forecast of them.

Weekdays and holidays are facts; the weather is drawn, day after day, from a stream of its own that
nobody's actions can move. All of an episode is known when it begins, and shown as it comes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from market import rng
from market.environment import Json
from market.vending.distributions import PLACES
from market.vending.rules import FORECAST, VendingRules, Weather


@dataclass(frozen=True, slots=True)
class Day:
    """One day.

    Attributes:
        day: Its number, from 1.
        date: Its date.
        holiday: The name of a public holiday; None on other days.
        condition: Its weather.
        temperature: Its mean temperature, whole degrees Celsius.
    """

    day: int
    date: date
    holiday: str | None
    condition: str
    temperature: int

    @property
    def weekday(self) -> int:
        """The weekday, 0 for Monday."""
        return self.date.weekday()


@dataclass(frozen=True, slots=True)
class Calendar:
    """The days of an episode and the week after it, from day 1.

    Attributes:
        days: The days.
        forecast_as: For each day and each number of days ahead, from 1, the condition forecast.
    """

    days: tuple[Day, ...]
    forecast_as: tuple[tuple[str, ...], ...]

    def __getitem__(self, day: int) -> Day:
        return self.days[day - 1]

    def shown(self, day: int) -> dict[str, Json]:
        """What is known of a day once it has come."""
        it = self[day]
        return {**_dated(it), "weather": it.condition, "temperature": it.temperature}

    def forecast(self, day: int) -> list[dict[str, Json]]:
        """What is known of the days after a day: dates and holidays, and weather that may err."""
        return [
            {**_dated(self[day + ahead]), "weather": self.forecast_as[day + ahead - 1][ahead - 1]}
            for ahead in range(1, FORECAST + 1)
        ]


def calendar(rules: VendingRules, seed: int) -> Calendar:
    """The days of an episode.

    Args:
        rules: The rules.
        seed: Seed of luck.
    """
    n = rules.days + FORECAST
    dates = [rules.start + timedelta(days=i) for i in range(n)]
    named = public_holidays(rules.country, dates)
    conditions = _conditions(rules.weather, seed, n)
    noise = rng.draws(seed, "temperature")
    days = tuple(
        Day(i + 1, when, named.get(when), conditions[i], _temperature(rules.weather, when, noise))
        for i, when in enumerate(dates)
    )
    return Calendar(days, tuple(_forecasts(rules.weather, seed, day) for day in days))


def weather_factor(weather: Weather, day: Day) -> float:
    """The traffic factor of a day's weather."""
    away = abs(day.temperature - weather.pleasant)
    comfort = max(0.0, 1 - weather.discomfort * away)
    return round(weather.conditions[day.condition].traffic * comfort, PLACES)


def _dated(day: Day) -> dict[str, Json]:
    weekday = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")[day.weekday]
    return {
        "day": day.day,
        "date": day.date.isoformat(),
        "weekday": weekday,
        "holiday": day.holiday,
    }


def public_holidays(country: str, dates: Sequence[date]) -> Mapping[date, str]:
    """The public holidays among some dates, by the names of English speakers.

    Raises:
        ValueError: If nobody keeps those of the country.
    """
    import holidays

    years = {when.year for when in dates}
    try:
        kept = holidays.country_holidays(country, years=years, language="en_US")
    except NotImplementedError as error:
        raise ValueError(f"country: nobody keeps the public holidays of `{country}`") from error
    return {when: name for when in dates if (name := kept.get(when))}


def _drawn(weather: Weather, uniform: float) -> str:
    """The condition at a uniform draw, by the shares of all conditions."""
    reached = 0.0
    names = sorted(weather.conditions)
    for name in names:
        reached += weather.conditions[name].probability
        if uniform < reached:
            return name
    return names[-1]


def _conditions(weather: Weather, seed: int, n: int) -> list[str]:
    draws = rng.draws(seed, "weather")
    found: list[str] = []
    for _ in range(n):
        stays, which = draws.uniform(), draws.uniform()
        kept = found and stays < weather.lingering
        found.append(found[-1] if kept else _drawn(weather, which))
    return found


def _temperature(weather: Weather, when: date, noise: rng.Draws) -> int:
    # The sum of twelve uniform draws less six: near enough to normal, and exact everywhere.
    deviation = sum(noise.uniform() for _ in range(12)) - 6
    phase = 2 * math.pi * (when.timetuple().tm_yday - weather.warmest_day) / 365.25
    season = weather.mean_temperature + weather.seasonal_swing * math.cos(phase)
    return round(round(season + weather.temperature_noise * deviation, PLACES))


def _forecasts(weather: Weather, seed: int, day: Day) -> tuple[str, ...]:
    """The condition forecast for a day, from one day before it to the week before it."""
    if not isinstance(seed, rng.ForkedSeed):
        return _foretold(weather, seed, day)
    # A forecast is news of the day that shows it: what was shown before a fork stays as it was.
    before, after = (_foretold(weather, luck, day) for luck in (int(seed), seed.later))
    news = max(0, day.day - seed.step)
    return after[:news] + before[news:]


def _foretold(weather: Weather, seed: int, day: Day) -> tuple[str, ...]:
    draws = rng.draws(seed, "forecast", day.day)
    found = []
    for ahead in range(1, FORECAST + 1):
        errs, which = draws.uniform(), draws.uniform()
        wrong = errs < weather.forecast_error * ahead
        found.append(_drawn(weather, which) if wrong else day.condition)
    return tuple(found)
