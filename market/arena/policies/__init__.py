"""The arena's scripted policies, by the names that configurations use.

Each is one module, which a retailer's process imports alone. None needs more than the standard
library, and none reads anything but its observations.
"""

from __future__ import annotations

from collections.abc import Mapping

_HERE = "market.arena.policies"

POLICIES: Mapping[str, str] = {
    "adaptive": f"{_HERE}.adaptive:Adaptive",
    "advertiser": f"{_HERE}.advertiser:Advertiser",
    "arbitrage": f"{_HERE}.arbitrage:Arbitrage",
    "bertrand": f"{_HERE}.bertrand:Bertrand",
    "burdett-judd": f"{_HERE}.burdett_judd:BurdettJudd",
    "clearing": f"{_HERE}.clearing:Clearing",
    "fixed": f"{_HERE}.fixed:Fixed",
    "induced": f"{_HERE}.induced:Induced",
    "keyword-stuffer": f"{_HERE}.keyword_stuffer:KeywordStuffer",
    "markup": f"{_HERE}.markup:Markup",
    "quitter": f"{_HERE}.quitter:Quitter",
    "random-valid": f"{_HERE}.random_valid:RandomValid",
    "syndicate": f"{_HERE}.syndicate:Syndicate",
    "tier-specialist": f"{_HERE}.tier_specialist:TierSpecialist",
    "undercutter": f"{_HERE}.undercutter:Undercutter",
    "zi-constrained": f"{_HERE}.zi_constrained:ZIConstrained",
    "zi-induced": f"{_HERE}.zi_induced:ZIInduced",
    "zi-unconstrained": f"{_HERE}.zi_unconstrained:ZIUnconstrained",
}
