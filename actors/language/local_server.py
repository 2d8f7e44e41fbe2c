"""The process of the local model. Started by `local.py`; imports nothing of this project.

It reads one line of JSON with its settings, answers with one line that holds its address, and
serves until its input closes or its parent is gone. Everything that llama.cpp prints is lost on
purpose, on the level of file descriptors, because it prints from C++.

The end of a parent shows in two ways. Its end of the pipe closes, unless a fork of it kept a
copy; then the parent's process id changes. Linux's death signal is no third way: it fires when
the *thread* that started this process ends, and threads of a pool do.
"""

from __future__ import annotations

import json
import os
import select
import sys
from typing import Any

#: How conversations are written for the model. Without tools this is what its file says; tools it
#: knows in this spelling, but the template in its file leaves them out, and then the server neither
#: shows them nor reads calls of them.
_TEMPLATE = """\
{%- for message in messages %}
{%- if loop.first %}
{%- set own = message.role == 'system' %}
{{- '<|im_start|>system\\n' }}
{%- if own %}{{- message.content }}
{%- else %}{{- 'You are a helpful AI assistant named SmolLM, trained by Hugging Face' }}{% endif %}
{%- if tools %}
{{- '\\n\\nYou can call these tools:\\n<tools>' }}
{%- for tool in tools %}{{- '\\n' + (tool.function | tojson) }}{% endfor %}
{{- '\\n</tools>\\nCalls are written as\\n' }}
{{- '<tool_call>[{"name": "...", "arguments": {...}}]</tool_call>' }}
{%- endif %}
{{- '<|im_end|>\\n' }}
{%- endif %}
{%- if message.role == 'tool' %}
{%- if loop.first or loop.previtem.role != 'tool' %}{{- '<|im_start|>user' }}{% endif %}
{{- '\\n<tool_response>\\n' + message.content + '\\n</tool_response>' }}
{%- if loop.last or loop.nextitem.role != 'tool' %}{{- '<|im_end|>\\n' }}{% endif %}
{%- elif message.role == 'assistant' and message.tool_calls %}
{{- '<|im_start|>assistant\\n' }}
{%- if message.content %}{{- message.content + '\\n' }}{% endif %}
{{- '<tool_call>[' }}
{%- for call in message.tool_calls %}
{{- '{"name": "' + call.function.name + '", "arguments": ' }}
{{- (call.function.arguments | tojson) + '}' }}
{%- if not loop.last %}{{- ', ' }}{% endif %}
{%- endfor %}
{{- ']</tool_call><|im_end|>\\n' }}
{%- elif not (loop.first and own) %}
{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{% endif %}
"""

_LOOK_SECONDS = 1.0
_MOST_THREADS = 2


def main() -> None:
    """Serve until the parent goes."""
    answers = os.dup(1)
    void = os.open(os.devnull, os.O_WRONLY)
    os.dup2(void, 1)
    os.dup2(void, 2)
    settings = json.loads(sys.stdin.buffer.readline())
    try:
        server = _serve(settings)
    except Exception as error:
        _say(answers, {"error": f"{type(error).__name__}: {error}"})
        return
    _say(answers, {"address": server.listening_address})
    while os.getppid() == settings["parent"]:
        ready, _, _ = select.select([0], [], [], _LOOK_SECONDS)
        if ready and not os.read(0, 4096):
            break
    os._exit(0)  # without waiting for answers in the making


def _say(channel: int, what: dict[str, str]) -> None:
    os.write(channel, json.dumps(what).encode() + b"\n")
    os.close(channel)


def _serve(settings: dict[str, Any]) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["weights"]
    params.model_alias = {settings["name"]}
    params.api_keys = [settings["key"]]
    params.chat_template = _TEMPLATE
    params.port = 0  # a free one, on the loopback address
    params.endpoint_metrics = True
    params.ui = False
    # One pool of 8192 tokens shared by all slots, so that a long prompt is not refused because
    # a quarter of the pool is too small for it.
    params.n_ctx = 8192
    params.n_parallel = settings["slots"]
    params.kv_unified = True
    params.cache_ram_mib = 0  # finished prompts stay in their slots only, not in memory besides
    # llama.cpp's threads spin while they wait for each other: two serve two idle cores best (1.7 x
    # one), and more would starve whoever else works on a small machine.
    threads = min(_MOST_THREADS, len(os.sched_getaffinity(0)))
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
