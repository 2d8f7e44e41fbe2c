"""Who plays, and where: hosts of retailers, episodes, language models, Ray, the command line."""
