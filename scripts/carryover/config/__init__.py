"""What a configuration may hold: its files, its typed sections, and the parameters of stages and plug-ins.

- `parameters`: models of parameters, from which checks, flags, help and documentation come.
- `configuration`: models of the sections, and the JSON schema; `artifacts`: which rule makes what of which section.
- `claims`: what `claims.yaml` says of each group of checks.
- `files` (reading, and laying one over another) and `papers` (the files of the papers).
- `plugins`: the plug-ins that there are, found by their names.
"""
