"""The phrases of the arena's prompts about linked markets, entry, exit and owners.

They stand beside those of `wordings` and `spellings`, by the names that `phrases` gives them.
"""

from __future__ import annotations

from collections.abc import Mapping

from market.arena.spellings import alike
from market.policies.wording import Phrase

RULES: Mapping[str, Phrase] = {
    "linked": (
        "Markets. There are several markets: {markets}. Every good is traded in each of them by "
        "itself, under its name with @ and the market, with its own offer, prices and stock. A "
        "buyer belongs to one market and sees the prices there only; your slogan is the same in "
        "all. A selling answer may also move stock, by lines such as "
        '"ship": [{{"item": "{item}", "from": "{source}", "to": "{target}", "quantity": 1}}]. '
        "They are carried out in order and at once, before your prices count. Moving a unit costs: "
        "{fees}.",
        "On markets. Of these there are several, namely {markets}, and in each of them every good "
        "is traded apart from the others, with an offer, prices and stock of its own. Its name "
        "there is that of the good, @ and the market. Buyers see only the prices of the one market "
        "they belong to, while your slogan is read in all. Stock can be moved with a selling "
        'answer, which may hold "ship": [{{"item": "{item}", "from": "{source}", "to": "{target}", '
        '"quantity": 1}}] or more lines. These come first and take no time; prices count '
        "afterwards. What it costs to move a unit: {fees}.",
        "There are several markets: {markets}. A good of one market, called by its name, @ and the "
        "market, is a thing of its own with its own offer, prices and stock. Each buyer lives in "
        "one market and knows the prices of no other; you have the same slogan in every one. If "
        "you want to move stock, add to a selling answer lines like "
        '"ship": [{{"item": "{item}", "from": "{source}", "to": "{target}", "quantity": 1}}], '
        "which are done one by one and immediately, before prices count. The cost of moving one "
        "unit is: {fees}.",
    ),
    "entering": (
        "Not all retailers are there from the beginning: {entries}.",
        "Some of the retailers come later: {entries}.",
        "Of the retailers, not everybody takes part from the start: {entries}.",
    ),
    "entry": (
        "{count} in step {step}",
        "{count} in step {step}",
        "{count} in step {step}",
    ),
    "leaving": (
        'You may leave the market. An answer to a bidding round that holds "exit": true beside '
        "its bids is your last: it bids nothing, all your stock is sold off for {share} x the "
        "lower of its cost and base price, and you keep your funds.",
        'Leaving is allowed. If you answer a bidding round with "exit": true beside the bids, '
        "nothing is bid and you are asked no more. Your stock goes for {share} x its cost or base "
        "price, whichever is lower, and your funds stay yours.",
        'It is possible to leave for good, by "exit": true beside the bids of an answer to a '
        "bidding round. Such an answer makes no bid. You keep your funds and are paid {share} x "
        "the lower one of cost and base price for all the stock you have.",
    ),
    "score_owner": (
        "Several retailers may have one owner. You are scored on the profit of all retailers of "
        "your owner together: of each, final funds plus that value of its stock, less the "
        "{initial} it starts with.",
        "One owner may have several retailers. The profit of all retailers of your owner is your "
        "score, which is for each the funds it ends with and that value of its stock, minus the "
        "{initial} it begins with.",
        "Retailers may belong to the same owner. Your score is what all retailers of your owner "
        "earn together, each of them its final funds, plus stock at that value, less its {initial} "
        "at the start.",
    ),
}

BRIEF: Mapping[str, Phrase] = {
    "linked": (
        "Goods are traded apart in each market ({markets}); buyers see one market. To move stock "
        'when selling add "ship": [{{"item": "{item}", "from": "{source}", "to": "{target}", '
        '"quantity": 1}}]; per unit it costs {fees}.',
        "In each market ({markets}) goods are traded apart, and buyers see only one. Selling, you "
        'may add "ship": [{{"item": "{item}", "from": "{source}", "to": "{target}", '
        '"quantity": 1}}] to move stock at a cost per unit of {fees}.',
        "Markets ({markets}) trade goods apart, each buyer seeing one of them. Stock is moved when "
        'you sell by "ship": [{{"item": "{item}", "from": "{source}", "to": "{target}", '
        '"quantity": 1}}], a unit for {fees}.',
    ),
    "entering": (
        "Some retailers come later: {entries}.",
        "Later come some retailers: {entries}.",
        "Not all retailers are there at first: {entries}.",
    ),
    "entry": (
        "{count} in step {step}",
        "{count} in step {step}",
        "{count} in step {step}",
    ),
    "leaving": (
        'A bid with "exit": true leaves for good; stock is sold off at {share} x cost or base.',
        'To leave for good add "exit": true to a bid; stock goes for {share} x cost or base.',
        'With "exit": true in a bid you leave for good, stock sold off at {share} x cost or base.',
    ),
}

TOLD: Mapping[str, Phrase] = {
    "entered": alike("Came into the market: {names}."),
    "left": alike("Left the market: {names}."),
    "sisters": alike("Retailers of your owner (funds; stock; last bids and units won):"),
    "sister": alike("{name}: {funds}; {stock}; {bids}"),
    "sister_bid": alike("{item} {quantity}@{price} won {awarded}"),
    "none": alike("none"),
    "shipped": alike("moved {quantity} {item} from {source} to {target} for {fee}"),
    "not_shipped": alike("moving {quantity} {item} from {source} to {target} refused: {reason}"),
}

REASONS: Mapping[str, Phrase] = {
    reason: alike(reason) for reason in ("unknown market", "same market")
}
