"""Put the shards of an experiment together along their runs: measured ones, or finetuned ones, which it measures."""

from pathlib import Path

from carryover import labels
from carryover.config import parameters, plugins
from carryover.provenance import store
from carryover.provenance.job_record import Job
from carryover.workflow import collecting, command_line


def main(argv):
    parser = command_line.parser("collect.py", __doc__)
    parser.add_argument("shards", nargs="+", type=Path, metavar="SHARD", help="shards, in the order of their runs")
    parser.add_argument("--measure", metavar="MEASURE", choices=plugins.names("measures"), help="measure these "
                        "finetuned shards; its own flags may follow")  # fmt: skip
    parser.add_argument("--family", required=True, choices=plugins.names("families"), help="whose runs these are")
    arguments, words = parser.parse_known_args(argv)
    measure, model, modules, others = arguments.measure, parameters.Model, ["collect"], []
    if measure:
        module, model = plugins.load(f"carryover.measures.{measure}"), parameters.model_of("measures", measure)
        others = [file for shard in arguments.shards for file in collecting.also_read(module, shard)]
        modules.append(module.__name__)
    p = command_line.options(model, words, "collect.py")
    with Job(
        rule="collect",
        parameters={"family": arguments.family, **({"measure": measure, "options": p} if measure else {})},
        wildcards=dict(arguments.wildcards),
        inputs=[*arguments.shards, *dict.fromkeys(others)],
        outputs=arguments.output,
        modules=modules,
        portable=None if measure and not getattr(module, "SELECTS", False) else "bits",
    ) as job:
        read = (lambda shard: collecting.measured(module, p, shard)) if measure else store.load_all
        shards = {path: read(path) for path in arguments.shards}
        collecting.check(shards)
        together = collecting.collect([part for parts in shards.values() for part in parts])
        job.save(labels.labelled(together, arguments.family))


if __name__ == "__main__":
    command_line.run(main)
