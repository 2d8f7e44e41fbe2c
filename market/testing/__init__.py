"""Checks that users run on policies and environments of their own (`market.testing.compliance`)."""

from __future__ import annotations

from market.testing.compliance import ComplianceError, environment_test, policy_test

__all__ = ["ComplianceError", "environment_test", "policy_test"]
