"""Asks language models. The only package that imports litellm, and only when it is used."""
