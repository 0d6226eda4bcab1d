"""Files for machines, written from what stands elsewhere: `python tools/metadata.py [--write]`.

`codemeta.json` and `.zenodo.json` are made of CITATION.cff and pyproject.toml, `codecheck.yml` of the configuration: a
manifest of every figure of the papers' scale that an item of a paper names, with the command that draws it;
`.adduce/manifest.yaml` of README's claims. Without --write the files that are stale are named. No address of the
project is public yet, so none is given.
"""

import json
import sys
import tomllib

import yaml

import findings
from carryover.claims.support import table as claims_table
from carryover.errors import UserError
from carryover.tasks.images import PUBLISHED

LICENCES = {"mnist": "CC-BY-SA-3.0", "fashion-mnist": "MIT"}  # the others state none
COMMAND = "snakemake --cores 2 --configfile config/config.yaml config/paper.yaml -- "


def described():
    """(citation, project): what CITATION.cff and pyproject.toml say."""
    citation = yaml.safe_load((findings.ROOT / "CITATION.cff").read_text())
    return citation, tomllib.loads((findings.ROOT / "pyproject.toml").read_text())["project"]


def codemeta():
    """CodeMeta 2.0 (codemeta.github.io)."""
    citation, project = described()
    return _json({
        "@context": "https://doi.org/10.5063/schema/codemeta-2.0",
        "@type": "SoftwareSourceCode",
        "name": "Carryover",
        "description": project["description"],
        "version": project["version"],
        "dateModified": str(citation["date-released"]),
        "license": f"https://spdx.org/licenses/{citation['license']}",
        "author": [{"@type": "Organization", "name": one["name"]} for one in citation["authors"]],
        "keywords": citation["keywords"],
        "programmingLanguage": ["Python", "Snakemake"],
        "runtimePlatform": f"Python {project['requires-python']}",
        "softwareRequirements": project["dependencies"] + project["optional-dependencies"]["workflow"],
        "referencePublication": [
            {"@type": "ScholarlyArticle", "name": one["title"],
             **({"identifier": one["identifiers"][0]["value"]} if "identifiers" in one else {})}
            for one in citation["references"]
        ],
    })  # fmt: skip


def zenodo():
    """What a deposit at Zenodo would say."""
    citation, project = described()
    arxiv = [one["identifiers"][0]["value"] for one in citation["references"] if "identifiers" in one]
    return _json({
        "title": citation["title"],
        "description": project["description"],
        "version": project["version"],
        "upload_type": "software",
        "license": citation["license"],
        "creators": [{"name": one["name"]} for one in citation["authors"]],
        "keywords": citation["keywords"],
        "related_identifiers": [
            {"identifier": identifier, "relation": "isSupplementTo", "scheme": "arxiv"} for identifier in arxiv
        ],
    })  # fmt: skip


def codecheck():
    """The manifest of a CODECHECK (codecheck.org.uk): figures, what they show, and commands."""
    citation, _ = described()
    config = findings.configured("config/config.yaml", "config/paper.yaml")
    comments: dict = {}  # papers of one text list the same items
    for about in config["papers"].values():
        for item in about.get("items", []):
            for file in (f"results/paper/figures/{name}.png" for name in _drawn(item, config)):
                comments.setdefault(file, f"{about['name']}, {item['item']}: {COMMAND}{file}")
    about = {
        "version": "https://codecheck.org.uk/spec/config/1.0/",
        "paper": {"title": citation["title"], "authors": [{"name": one["name"]} for one in citation["authors"]]},
        "manifest": [{"file": file, "comment": comment} for file, comment in comments.items()],
    }
    return "---\n" + yaml.safe_dump(about, sort_keys=False, allow_unicode=True, width=120)


def reproducibility_manifest():
    """What an auditor of artifacts reads (adduce): data with digests, and the command behind each claim of README."""
    readme = (findings.ROOT / "README.md").read_text()
    names = next(block["names"] for block in findings.BLOCK.finditer(readme) if block["kind"] == "headlines").split()
    table = claims_table.read(findings.ARCHIVE / "claims.csv").drop_duplicates("headline").set_index("headline")
    claims = [
        {"id": name, "text": row["sentence"], "kind": "statement", "where": f"README, {row['headline_paper']}",
         "seeds": list(range(int(row["seeds"]))), "status": "confirmed",
         "produced_by": {"command": f"{COMMAND}results/paper/claims.csv", "config": "config/paper.yaml",
                         "data": "resources/archive/paper/claims.csv"}}
        for name, row in table.loc[names].iterrows()
    ]  # fmt: skip
    datasets = [{"id": name, "source": one.source, "license": LICENCES.get(name, "none stated")}
                | ({"checksum": f"md5:{one.checksums[0]}"} if one.checksums else {})
                for name, one in PUBLISHED.items()]  # fmt: skip
    about = {
        "schema": "adduce/1",
        "environment": {
            "python": described()[1]["requires-python"],
            "lockfile": "envs/requirements.lock", "container": "Dockerfile",
            "hardware": "two cores and 4 GiB; a GPU is used where there is one, and nothing needs it",
            "precision": "double; single in networks of images, without TF32; bfloat16 only where precision says so",
        },
        "datasets": datasets,
        "claims": claims,
        "smoke": {"command": "make first", "max_runtime_minutes": 5, "expected_outputs": ["results/figures"]},
    }  # fmt: skip
    return yaml.safe_dump(about, sort_keys=False, allow_unicode=True, width=120)


def _drawn(item, config):
    """The figures of an item; UserError for one that the configuration does not draw."""
    if missing := [name for name in item.get("figures", []) if name not in config["figures"]]:
        raise UserError(f"the manifest names the figure {missing[0]}, which the papers' scale does not draw")
    return item.get("figures", [])


def _json(values):
    return json.dumps(values, indent=2, ensure_ascii=False) + "\n"


FILES = {"codemeta.json": codemeta, ".zenodo.json": zenodo, "codecheck.yml": codecheck,
         ".adduce/manifest.yaml": reproducibility_manifest}  # fmt: skip


def main(words):
    stale = 0
    for name, make in FILES.items():
        file, text = findings.ROOT / name, make()
        if not file.is_file() or file.read_text() != text:
            if "--write" in words:
                file.write_text(text)
            else:
                stale += 1
                print(f"{name} is stale: python tools/metadata.py --write")
    return bool(stale)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
