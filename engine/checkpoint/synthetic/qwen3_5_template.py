"""A chat template of our own in the published style: role turns, thinking, tools in XML-like tags."""

CHAT_TEMPLATE = """\
{#- Turns are <|im_start|>ROLE, a newline, text, <|im_end|>. Old thoughts are left out. -#}
{%- set questions = messages | selectattr('role', 'equalto', 'user') | list -%}
{%- if not questions -%}
    {{- raise_exception('The conversation has no question from the user.') -}}
{%- endif -%}
{%- set last = namespace(user=0) -%}
{%- for message in messages -%}
    {%- if message.role == 'user' -%}{%- set last.user = loop.index0 -%}{%- endif -%}
    {%- if message.role == 'system' and not loop.first -%}
        {{- raise_exception('Only the first message may be a system message.') -}}
    {%- endif -%}
{%- endfor -%}
{%- set instructions = messages[0].content | trim if messages[0].role == 'system' else '' -%}
{%- if tools -%}
    {{- '<|im_start|>system\\n' + (instructions + '\\n\\n' if instructions else '') -}}
    {{- '# Tools\\n\\nThese functions may be called:\\n<tools>' -}}
    {%- for tool in tools -%}{{- '\\n' + (tool | tojson) -}}{%- endfor -%}
    {{- '\\n</tools><|im_end|>\\n' -}}
{%- elif instructions -%}
    {{- '<|im_start|>system\\n' + instructions + '<|im_end|>\\n' -}}
{%- endif -%}
{%- for message in messages -%}
    {%- if message.role == 'user' -%}
        {{- '<|im_start|>user\\n' + message.content | trim + '<|im_end|>\\n' -}}
    {%- elif message.role == 'assistant' -%}
        {%- set thought = message.reasoning_content or '' -%}
        {%- set answer = message.content or '' -%}
        {%- if not thought and '</think>' in answer -%}
            {%- set thought = answer.split('</think>')[0].split('<think>')[-1] -%}
            {%- set answer = answer.split('</think>')[-1] -%}
        {%- endif -%}
        {{- '<|im_start|>assistant\\n' -}}
        {%- if preserve_thinking or loop.index0 > last.user -%}
            {{- '<think>\\n' + thought | trim + '\\n</think>\\n\\n' -}}
        {%- endif -%}
        {{- answer | trim + '<|im_end|>\\n' -}}
    {%- elif message.role == 'tool' -%}
        {{- '<|im_start|>user\\n<tool_response>\\n' + message.content + '\\n</tool_response><|im_end|>\\n' -}}
    {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{- '<|im_start|>assistant\\n' -}}
    {{- '<think>\\n\\n</think>\\n\\n' if enable_thinking is defined and not enable_thinking else '<think>\\n' -}}
{%- endif -%}
"""
