"""Policies that serve every environment, and what a policy is."""
