"""Print the JSON schema of the configuration, for editors."""

import json

from carryover.config.configuration import schema

if __name__ == "__main__":
    print(json.dumps(schema(), indent=1, ensure_ascii=False))
