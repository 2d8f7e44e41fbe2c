from __future__ import annotations

import pytest

from market.secrets import forbidden_key


@pytest.mark.parametrize(
    "name",
    [
        "api_key",
        "apikey",
        "apiKey",
        "API-KEY",
        "api_keys",
        "OPENAI_API_KEY",
        "x-api-key",
        "token",
        "HF_TOKEN",
        "access_tokens",
        "secret",
        "client-secret",
        "AWS_SECRET_ACCESS_KEY",
        "password",
        "Authorization",
        "retailers[0].options.model.api_key",
        "extra.headers.Authorization",
        "api_key.value",
        "vertex_credentials",
    ],
)
def test_names_of_secrets_are_refused(name: str) -> None:
    assert forbidden_key(name)


@pytest.mark.parametrize(
    "name",
    [
        "api_key_env",
        "max_tokens",
        "token_budget",
        "prompt_tokens",
        "input_cost_per_token",
        "tokenizer",
        "key",
        "keyboard",
        "secretary",
        "monkeys",
        "model",
        "",
        "rules.retailers.api_key_env",
    ],
)
def test_names_that_hold_no_secret_pass(name: str) -> None:
    assert not forbidden_key(name)
