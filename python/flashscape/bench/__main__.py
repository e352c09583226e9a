"""The command line; writes ``bench.json``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from flashscape import signals
from flashscape.bench import report, suite
from flashscape.bench.figures import GROUPS
from flashscape.cli.main import failed
from flashscape.near import listed


def groups(_context: click.Context, _option: click.Parameter, text: str | None) -> tuple[str, ...]:
    """Split ``read,gc`` into names."""
    if text is None:
        return GROUPS
    chosen = tuple(name.strip() for name in text.split(","))
    if unknown := [name for name in chosen if name not in GROUPS]:
        raise click.BadParameter(f"no figures {unknown[0]!r} {listed(unknown[0], GROUPS)}")
    return chosen


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--repeat",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    metavar="N",
    help="Measure each time so often and take the best.",
)
@click.option(
    "--only", callback=groups, metavar="NAMES", help=f"Some figures only: {','.join(GROUPS)}."
)
@click.option("--quick", is_flag=True, help="Short runs: shows that it works, not how fast it is.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    default=Path("bench.json"),
    show_default=True,
    help="Output file.",
)
@click.option(
    "--experiments",
    type=click.Path(path_type=Path),
    metavar="DIR",
    default=Path("experiments"),
    show_default=True,
    help="Folder of the experiment files.",
)
@click.option(
    "--floor",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The program that measures bare loops; default: cargo's.",
)
@click.option(
    "--peer",
    type=click.Path(path_type=Path),
    default=Path("out/peer/MQSim"),
    show_default=True,
    metavar="FILE",
    help="MQSim, to be compared with, as `make peer` builds it.",
)
def command(
    repeat: int,
    only: tuple[str, ...],
    quick: bool,
    out: Path,
    experiments: Path,
    floor: Path | None,
    peer: Path,
) -> None:
    """Measure the speed and the memory of flashscape on this machine."""
    wanted = suite.Wanted(
        groups=only,
        repeat=1 if quick else repeat,
        quick=quick,
        experiments=experiments,
        floor=floor,
        peer=peer,
    )
    found = suite.measure(wanted, lambda text: click.echo(text, err=True))
    report.write(found, out)
    report.show(found)
    click.echo(f"Written to {out}.")


def main() -> None:
    """Run the command and exit."""
    signals.guard()
    try:
        command(prog_name="python -m flashscape.bench", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except click.Abort:
        click.echo("interrupted; nothing was written", err=True)
        sys.exit(130)
    except Exception as error:
        sys.exit(failed(error))


if __name__ == "__main__":
    main()
