"""Whether results are what their records say, and what today's code would make.

- `findings`: the verdict on each result and its cause.
- `replay`: recorded jobs run again, and their results compared.
"""
