"""The rules of markets and the record of what happened. No Ray, no network, no clock."""
