"""The commands of `market`, one module per kind; `actors.cli` puts them together."""
