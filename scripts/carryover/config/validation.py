"""Configurations held to the schema that `configuration` makes: one sentence with the key and what is allowed."""

import re

from carryover.config import papers
from carryover.config.configuration import RESERVED
from carryover.config.parameters import allowed, no_usable_number
from carryover.errors import UserError


class ConfigurationError(UserError):
    """A key or value of the configuration is not allowed; the message is one sentence naming it.

    `lacks` is the path of the section where a key is missing, if that is what is wrong.
    """

    lacks: tuple = ()


def resolved(config, schema, folder):
    """The configuration with the files of its papers, in a folder, laid under it; refused where it breaks its schema.

    A mistake that stands in a paper's file is said of that file.
    """
    whole = papers.resolved(config, folder)
    try:
        validate(whole, schema)
    except ConfigurationError as error:
        if "papers" not in config and (file := papers.file_of(error.lacks[:2], folder)):
            said = f"{str(error).removesuffix('.')}, as in an overlay that stands alone: {papers.called(file, folder)}"
            raise ConfigurationError(f"{said} has the rest, so name config/config.yaml before it.") from None
        for name, content in papers.read(folder).items() if whole is not config else ():
            definition = schema["$defs"]["part_file" if "/" in name else "paper_file"]
            validate(content, schema, papers.called(name, folder), definition)
        raise
    return whole


def validate(config, schema, called="configuration", definition=None):
    """Refuse a configuration that breaks its schema; the message is one sentence with the key and what is allowed.

    Or of what is `called` otherwise, that breaks another definition of the schema.
    """
    import jsonschema  # Snakemake brings it; jobs in their own environments need not

    _refuse_unusable_numbers(config, (), called)
    base = jsonschema.Draft202012Validator  # its integers include 16.0, which the command line refuses
    whole = base.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int)
    validator = jsonschema.validators.extend(base, type_checker=whole)(schema)
    errors = list((validator.evolve(schema=definition) if definition else validator).iter_errors(config))
    if errors:
        # The innermost; a key that is unknown before one that is missing, which it may be meant for.
        error = min(errors, key=lambda e: (-len(e.absolute_path), e.validator == "required", str(e.message)))
        refused = ConfigurationError(f"{called}: {_sentence(error)}")
        refused.lacks = tuple(error.absolute_path) if error.validator == "required" else ()
        raise refused


def _refuse_unusable_numbers(node, path, called):
    if isinstance(node, dict | list):
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            _refuse_unusable_numbers(value, (*path, key), called)
    elif fault := no_usable_number(node):
        raise ConfigurationError(f"{called}: {_spell(path)}: {node} is {fault}.")


def _spell(path):
    return ".".join(str(part) for part in path) or "top level"


def _sentence(error):
    where = _spell(error.absolute_path)
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        unknown = ", ".join(sorted(str(k) for k in error.instance if k not in known))
        return f"{where}: unknown key {unknown}; allowed here: {', '.join(known) or 'none'}."
    if error.validator == "required":
        missing = ", ".join(k for k in error.validator_value if k not in error.instance)
        return f"{where}: {missing} is missing."
    if "propertyNames" in error.absolute_schema_path:
        rule = f"lower-case letters, digits and underscores, and none of {', '.join(RESERVED)}"
        return f"{where}: {error.instance!r} cannot be a name; allowed are {rule}."
    allows = allowed(error.schema)
    hint = _text_for_number(error.instance) if "number" in allows else ""
    return f"{where}: {error.instance!r} is not allowed; it must be {allows}.{hint}"


def _text_for_number(value):
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, str) and re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+", item):
            mantissa, exponent = re.split("[eE]", item)
            exact = f"{float(mantissa)}e{exponent if exponent[0] in '+-' else '+' + exponent}"
            return f" (YAML reads {item} as text: write {exact}.)"
    return ""
