"""Attention: exact chances, and identities to the byte."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.arena.attention import LEAST_WEIGHT, considered, sizes, weights

DRAWS = 400_000
LEAD = 300_000  # similarity 0.3, in units of 1e-6

# Chances of the seller with the lead, from the rules' section on attention.
TWELVE_OF_TWENTY = {0.2: 0.62113, 0.5: 0.65278, 0.8: 0.68414, 0.9: 0.69449}
ONE_OF_TWO = {0.9: 0.93703, 0.2: 0.64566}


def seats(count: int) -> list[str]:
    return [f"seat-{number}" for number in range(count)]


def chosen(seed, weight, size, persona, names=None, step=1, **options) -> np.ndarray:
    """Who is considered, of shape (sellers, buyers)."""
    names = names or seats(len(weight))
    runs = list(considered(seed, step, names, weight, size, persona, **options))
    assert [span.stop for span, _ in runs[:-1]] == [span.start for span, _ in runs[1:]]
    return np.concatenate([mask for _, mask in runs], axis=1)


def personas(count: int, buyers: int) -> np.ndarray:
    return (np.arange(buyers) % count).astype(np.int16)


def share_of_leader(sellers: int, size: int, sensitivity: float, temperature: float) -> float:
    similar = [[LEAD]] + [[0]] * (sellers - 1)
    weight = weights(similar, [sensitivity], temperature)
    mask = chosen(5, weight, [size], np.zeros(DRAWS, np.int16))
    assert (mask.sum(axis=0) == size).all()
    return mask[0].mean()


def integral(weight: float, rivals: int, size: int, cells: int = 20_000) -> float:
    """Chance of weight against equal rivals of 1: its time comes before the size-th of theirs.

    Midpoint rule for the integral over u in (0, 1) of w u^(w-1) P(Binomial(rivals, 1-u) < size).
    """
    total = 0.0
    for cell in range(cells):
        u = (cell + 0.5) / cells
        below = sum(math.comb(rivals, k) * (1 - u) ** k * u ** (rivals - k) for k in range(size))
        total += weight * u ** (weight - 1) * below / cells
    return total


@pytest.mark.parametrize(("sensitivity", "chance"), TWELVE_OF_TWENTY.items())
def test_twelve_of_twenty_with_a_lead_at_temperature_one(sensitivity, chance):
    assert integral(math.exp(0.3 * sensitivity), 19, 12) == pytest.approx(chance, abs=1e-5)
    tolerance = 4 * math.sqrt(chance * (1 - chance) / DRAWS)  # four standard errors, 0.003
    assert abs(share_of_leader(20, 12, sensitivity, 1.0) - chance) < tolerance


@pytest.mark.parametrize(("sensitivity", "chance"), ONE_OF_TWO.items())
def test_one_of_two_with_a_lead_at_a_low_temperature(sensitivity, chance):
    odds = math.exp(0.3 * sensitivity / 0.1)
    assert odds / (1 + odds) == pytest.approx(chance, abs=1e-5)
    tolerance = 4 * math.sqrt(chance * (1 - chance) / DRAWS)
    assert abs(share_of_leader(2, 1, sensitivity, 0.1) - chance) < tolerance


def test_without_a_lead_everybody_is_considered_equally_often():
    weight = weights([[0]] * 20, [0.9], 1.0)
    mask = chosen(9, weight, [12], np.zeros(DRAWS, np.int16))
    assert abs(mask.mean(axis=1) - 0.6).max() < 4 * math.sqrt(0.24 / DRAWS)


def test_pairs_are_drawn_with_the_chances_of_plackett_luce():
    strengths = np.array([[1.0], [0.5], [0.25]])
    mask = chosen(3, strengths, [2], np.zeros(DRAWS, np.int16))
    first = strengths[:, 0] / strengths.sum()
    for out in range(3):
        a, b = (seller for seller in range(3) if seller != out)
        chance = first[a] * first[b] / (1 - first[a]) + first[b] * first[a] / (1 - first[b])
        tolerance = 4 * math.sqrt(chance * (1 - chance) / DRAWS)
        assert abs((~mask[out]).mean() - chance) < tolerance


@pytest.mark.parametrize(
    ("patience", "most", "sellers", "size"),
    [
        (0.6, 20, 20, 12),
        (0.6, 10, 20, 6),
        (0.6, 20, 5, 5),
        (0.01, 20, 20, 1),
        (0.0, 20, 20, 1),
        (0.07, 100, 20, 7),  # 7.000000000000001 in binary
        (0.61, 20, 20, 13),
        (0.6, 20, 0, 0),
    ],
)
def test_the_number_considered(patience, most, sellers, size):
    assert sizes([patience], most, sellers) == [size]


def test_weights_are_those_of_the_formula_relative_to_the_best():
    table = weights([[500_000, 0], [200_000, 0], [-1_000_000, 0]], [0.8, 0.2], 0.2)
    assert table[:, 0].tolist() == [1.0, round(math.exp(-1.2), 9), round(math.exp(-6.0), 9)]
    assert table[:, 1].tolist() == [1.0, 1.0, 1.0]


def test_no_weight_is_so_small_that_it_vanishes():
    assert weights([[1_000_000], [-1_000_000]], [0.9], 0.001)[1, 0] == LEAST_WEIGHT
    assert weights([[1_000_000], [-1_000_000]], [-0.9], 0.001)[0, 0] == LEAST_WEIGHT


similarity = st.integers(-1_000_000, 1_000_000)


@given(
    st.lists(st.tuples(similarity, similarity), min_size=1, max_size=8),
    st.integers(-(10**6), 10**6),
    st.floats(0.01, 10),
)
def test_a_constant_added_to_a_persona_changes_no_byte(table, constant, temperature):
    shifted = [(first + constant, second) for first, second in table]
    sensitivities = [0.9, 0.3]
    assert (
        weights(table, sensitivities, temperature).tobytes()
        == weights(shifted, sensitivities, temperature).tobytes()
    )


def test_a_very_high_temperature_equals_equal_similarities_to_the_byte():
    differing = weights([[50_000 * number] for number in range(10)], [0.9], 1e9)
    equal = weights([[0]] * 10, [0.9], 1.0)
    persona = np.zeros(5_000, np.int16)
    assert chosen(1, differing, [4], persona).tobytes() == chosen(1, equal, [4], persona).tobytes()


def test_when_all_are_considered_slogans_may_be_exchanged_freely():
    table = [[100_000], [700_000], [-200_000]]
    persona = np.zeros(500, np.int16)
    one = chosen(1, weights(table, [0.9], 0.1), [3], persona)
    other = chosen(2, weights(table[::-1], [0.9], 0.1), [3], persona)
    assert one.all()
    assert one.tobytes() == other.tobytes()


def test_personas_may_differ_in_how_many_they_consider():
    weight = weights([[100_000 * number] * 3 for number in range(6)], [0.2, 0.8, 0.5], 0.5)
    persona = personas(3, 3_000)
    mask = chosen(4, weight, [1, 6, 4], persona)
    assert (mask.sum(axis=0) == np.array([1, 6, 4])[persona]).all()


@pytest.mark.parametrize("at_once", [1, 7, 64, 1_000])
def test_the_length_of_a_run_changes_nothing(at_once):
    weight = weights([[90_000 * number] * 2 for number in range(7)], [0.2, 0.8], 0.3)
    persona = personas(2, 300)
    whole = chosen(6, weight, [3, 2], persona)
    assert chosen(6, weight, [3, 2], persona, at_once=at_once).tobytes() == whole.tobytes()


def test_buyers_who_follow_do_not_change_those_before():
    weight = weights([[90_000 * number] * 2 for number in range(7)], [0.2, 0.8], 0.3)
    many = chosen(6, weight, [3, 2], personas(2, 400))
    few = chosen(6, weight, [3, 2], personas(2, 150))
    assert many[:, :150].tobytes() == few.tobytes()


def test_a_seller_that_leaves_only_makes_room_for_others():
    names = seats(6)
    weight = weights([[90_000 * number] for number in range(6)], [0.8], 0.3)
    persona = np.zeros(2_000, np.int16)
    full = chosen(8, weight, [3], persona, names)
    without = chosen(8, weight[:5], [3], persona, names[:5])
    untouched = ~full[5]
    assert (full[:5, untouched] == without[:, untouched]).all()
    assert (full[:5] <= without).all()


def test_seeds_and_steps_draw_differently():
    weight, persona = np.ones((6, 1)), np.zeros(100, np.int16)
    one = chosen(0, weight, [3], persona)
    assert (one != chosen(1, weight, [3], persona)).any()
    assert (one != chosen(0, weight, [3], persona, step=2)).any()


def test_nobody_considers_anybody_where_there_are_no_sellers():
    mask = chosen(1, weights([], [0.5], 1.0), sizes([0.6], 20, 0), np.zeros(4, np.int16))
    assert mask.shape == (0, 4)


def test_recorded_sets_never_change():
    weight = weights([[90_000 * number] * 2 for number in range(5)], [0.2, 0.8], 0.3)
    mask = chosen(0, weight, [2, 3], personas(2, 8))
    assert mask.astype(int).tolist() == [
        [0, 1, 0, 0, 0, 0, 0, 0],
        [0, 0, 1, 1, 0, 0, 0, 1],
        [1, 0, 0, 1, 1, 1, 1, 1],
        [1, 1, 1, 1, 0, 1, 1, 0],
        [0, 1, 0, 0, 1, 1, 0, 1],
    ]
