"""Print the JSON schema of the configuration, for editors."""

import argparse
import json

from carryover.config.configuration import schema

if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    print(json.dumps(schema(), indent=1, ensure_ascii=False))
