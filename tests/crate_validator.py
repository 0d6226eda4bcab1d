"""The public validator without a network: the two JSON-LD contexts that a crate names, as far as ours uses them.

Written by hand from the specifications; a term that is not here is refused by the validator as unknown.
"""

import json
import warnings
from io import BytesIO
from pathlib import Path

from requests.adapters import HTTPAdapter
from requests_cache import CachedSession
from rocrate_validator import models, services
from urllib3 import HTTPResponse

_SCHEMA_ORG = (
    "ComputerLanguage", "CreateAction", "CreativeWork", "Dataset", "HowTo", "HowToStep", "Organization", "Person",
    "PropertyValue", "SoftwareApplication", "SoftwareSourceCode", "about", "actionStatus", "agent", "author",
    "contentSize", "datePublished", "description", "encodingFormat", "endTime", "hasPart", "identifier", "instrument",
    "keywords", "license", "mainEntity", "mentions", "name", "object", "programmingLanguage", "publisher", "result",
    "softwareRequirements", "startTime", "step", "url", "value", "version", "workExample",
)  # fmt: skip
RO_CRATE = {
    **{term: f"http://schema.org/{term}" for term in _SCHEMA_ORG},
    "File": "http://schema.org/MediaObject",
    "ComputationalWorkflow": "https://bioschemas.org/ComputationalWorkflow",
    "conformsTo": "http://purl.org/dc/terms/conformsTo",
}
CONTEXTS = {
    "https://w3id.org/ro/crate/1.1/context": RO_CRATE,
    "https://w3id.org/ro/terms/workflow-run/context": {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"},
}


class _Contexts(HTTPAdapter):
    """Answers requests for the contexts, and fails for anything else."""

    def send(self, request, **_):
        body = BytesIO(json.dumps({"@context": CONTEXTS[request.url]}).encode())
        headers = {"Content-Type": "application/ld+json"}
        answer = HTTPResponse(body, headers, 200, request_url=request.url, preload_content=False)
        return self.build_response(request, answer)


def validate(crate: Path, cache: Path, level=models.Severity.REQUIRED):
    """Sentences on what the profile Provenance Run Crate 0.5 finds wrong with a crate, up to a level of severity.

    `cache` is where the validator looks up what it would else fetch.
    """
    with CachedSession(str(cache), backend="sqlite", expire_after=-1) as session:
        session.mount("https://", _Contexts())
        for url in CONTEXTS:
            session.get(url)
    settings = services.ValidationSettings(
        rocrate_uri=crate,
        profile_identifier="provenance-run-crate",
        requirement_severity=level,
        offline=True,
        cache_path=cache,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the validator's own use of rdflib
        result = services.validate(settings)
    return sorted({f"{issue.violatingEntity}: {issue.message}" for issue in result.get_issues(level)})
