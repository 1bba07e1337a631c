"""A chat template of our own in the 8B's published style: role tags, and a system turn that is always there."""

CHAT_TEMPLATE = """\
{#- Turns are <role>NAME</role>, text, <|role_end|>, one after the other. The system turn switches thinking. -#}
{%- if enable_thinking is defined -%}
    {%- set thinks = enable_thinking -%}
{%- else -%}
    {%- set thinks = thinking_option | default('on') != 'off' -%}
{%- endif -%}
{%- set has_system = messages and messages[0].role == 'system' -%}
{%- set instructions = messages[0].content if has_system else '' -%}
{{- '<role>SYSTEM</role>' + instructions -}}
{%- if tools -%}
    {{- ('\\n' if instructions else '') + '# Tools\\n\\nThese functions may be called:\\n<tools>' -}}
    {%- for tool in tools -%}{{- '\\n' + (tool | tojson) -}}{%- endfor -%}
    {{- '\\n</tools>' -}}
{%- endif -%}
{%- if 'detailed thinking on' not in instructions and 'detailed thinking off' not in instructions -%}
    {{- ('\\n' if instructions or tools else '') + 'detailed thinking ' + ('on' if thinks else 'off') -}}
{%- endif -%}
{{- '<|role_end|>' -}}
{%- for message in messages -%}
    {%- if message.role == 'user' -%}
        {{- '<role>HUMAN</role>' + message.content + '<|role_end|>' -}}
    {%- elif message.role == 'assistant' -%}
        {%- set thought = message.reasoning_content or '' -%}
        {%- set answer = message.content or '' -%}
        {%- if not thought and '</think>' in answer -%}
            {%- set thought = answer.split('</think>')[0].split('<think>')[-1] -%}
            {%- set answer = answer.split('</think>')[-1] -%}
        {%- endif -%}
        {{- '<role>ASSISTANT</role>\\n<think>' + thought + '</think>' + answer + '<|role_end|>' -}}
    {%- elif message.role == 'tool' -%}
        {{- '<role>OBSERVATION</role>\\n<tool_response>\\n' -}}
        {{- message.content + '\\n</tool_response><|role_end|>' -}}
    {%- elif not loop.first -%}
        {{- raise_exception('Only the first message may be a system message.') -}}
    {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{- '<role>ASSISTANT</role>\\n<think>' + ('' if thinks else '</think>') -}}
{%- endif -%}
"""
