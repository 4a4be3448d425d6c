"""What is needed to run the server for others says what is so: image, units, proxies, and their documentation."""

import json
import re
import shlex
import subprocess
import tomllib
from configparser import RawConfigParser
from fnmatch import fnmatch
from pathlib import Path

import pytest
from typer.main import get_command

from lexarbor.cli.app import app
from lexarbor.serve.failures import KINDS
from lexarbor.serve.pages.links import PATHS
from lexarbor.serve.settings import MOST_QUESTIONS, ServeSettings

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
PAGES = [ROOT / "docs" / f"{name}.md" for name in ("deployment", "privacy", "api")]
INSTRUCTIONS = frozenset(
    "ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL RUN STOPSIGNAL USER VOLUME WORKDIR".split()
)


def options_of(*command: str) -> set[str]:
    """The options that a command of ours has."""
    found = get_command(app)
    for name in command:
        found = found.commands[name]  # type: ignore[attr-defined]
    return {option for parameter in found.params for option in parameter.opts if option.startswith("-")}


def check_command(words: list[str]) -> None:
    """That a command line of ours names a command, and options that it has."""
    names = []
    known = get_command(app)
    for word in words:
        if word not in getattr(known, "commands", {}):
            break
        known = known.commands[word]  # type: ignore[attr-defined]
        names.append(word)
    assert names, f"no command of ours: {words}"
    assert {word for word in words if word.startswith("--")} <= options_of(*names), words


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions and what each is given, lines joined."""
    text = re.sub(r"^\s*#.*\n", "", (DEPLOY / "Dockerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = [line.strip() for line in text.replace("\\\n", " ").splitlines() if line.strip()]
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in lines]


def given(name: str) -> list[str]:
    return [value for instruction, value in instructions() if instruction == name]


def unit(name: str) -> RawConfigParser:
    parser = RawConfigParser(strict=False, comment_prefixes=("#",), delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read_string((DEPLOY / name).read_text(encoding="utf-8"))
    return parser


def test_the_image_is_made_of_known_instructions() -> None:
    assert {name for name, _ in instructions()} <= INSTRUCTIONS
    assert [value.split()[0] for value in given("FROM")] == ["python:3.11-slim"] * 2  # a plain name: no registry's host


def test_what_the_image_copies_is_there_and_not_ignored() -> None:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").split("\n")
    kept = [line[1:] for line in lines if line.startswith("!")]
    sources = [source for value in given("COPY") if "--from=" not in value for source in value.split()[:-1]]
    assert "src" in sources
    for source in sources:
        assert (ROOT / source).exists(), source
        assert any(fnmatch(source, pattern) for pattern in kept), f"{source} is not sent to the builder"
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {needed["readme"], *needed["license-files"]} <= set(sources)


def test_the_image_installs_extras_that_exist() -> None:
    (extras,) = re.findall(r"'\.\[(.+?)\]'", " ".join(given("RUN")))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {"serve", "npm"} == set(extras.split(",")) <= set(project["optional-dependencies"])
    assert "--constraint constraints.txt" in " ".join(given("RUN"))


def test_the_image_runs_as_nobody_special() -> None:
    names = [name for name, _ in instructions()]
    (user,) = given("USER")
    assert int(user.split(":")[0]) > 0
    assert names.index("USER") < names.index("CMD")
    assert "--chown=" + user in " ".join(given("COPY"))


def test_the_image_serves_and_is_asked_for_its_health() -> None:
    (entry,), (command,), (port,) = given("ENTRYPOINT"), given("CMD"), given("EXPOSE")
    words = json.loads(command)
    assert json.loads(entry) == ["lexarbor"]
    check_command(words)
    assert words[words.index("--host") + 1] == "0.0.0.0" and words[words.index("--port") + 1] == port
    (health,) = given("HEALTHCHECK")
    code = json.loads(health.partition("CMD ")[2])[2]
    compile(code, "HEALTHCHECK", "exec")
    assert f":{port}/api/health" in code


def test_commands_in_the_image_are_ours() -> None:
    commands = [found for value in given("RUN") for found in re.findall(r"bin/lexarbor ([^&]+)", value)]
    assert commands
    for command in commands:
        check_command(shlex.split(command))


@pytest.mark.parametrize("name", ["lexarbor.service", "lexarbor-update.service"])
def test_units_run_commands_of_ours_and_little_else(name: str) -> None:
    service = unit(name)["Service"]
    program, *words = shlex.split(service["ExecStart"])
    assert program == "/opt/lexarbor/bin/lexarbor"
    check_command(words)
    for line in re.findall(r"^#ExecStart=\S+ (.+)$", (DEPLOY / name).read_text(encoding="utf-8"), re.MULTILINE):
        check_command(shlex.split(line))
    assert service["User"] not in ("", "root")
    assert service["ProtectSystem"] == "strict" and service["CapabilityBoundingSet"] == ""
    assert {service[key] for key in ("NoNewPrivileges", "PrivateTmp", "ProtectHome", "PrivateDevices")} == {"yes"}
    assert service["MemoryMax"]


def test_both_units_share_one_cache_and_one_user() -> None:
    server, update = unit("lexarbor.service")["Service"], unit("lexarbor-update.service")["Service"]
    for key in ("User", "Group", "CacheDirectory", "CacheDirectoryMode", "UMask"):
        assert server[key] == update[key]
    for name in ("lexarbor.service", "lexarbor-update.service"):
        text = (DEPLOY / name).read_text(encoding="utf-8")
        assert f"Environment=LEXARBOR_CACHE=/var/cache/{server['CacheDirectory']}\n" in text


def test_the_server_is_given_the_time_to_end() -> None:
    from lexarbor.serve.running import GRACE_SECONDS

    service = unit("lexarbor.service")["Service"]
    assert service["KillSignal"] == "SIGTERM" and service["Restart"] == "on-failure"
    assert int(service["TimeoutStopSec"]) > GRACE_SECONDS


def test_the_law_is_brought_up_to_date_by_a_timer() -> None:
    assert unit("lexarbor-update.service")["Service"]["Type"] == "oneshot"
    assert shlex.split(unit("lexarbor-update.service")["Service"]["ExecStart"])[1:] == ["corpus", "update"]
    timer = unit("lexarbor-update.timer")["Timer"]
    assert timer["OnCalendar"].startswith("Sun ") and timer["Persistent"] == "true" and timer["RandomizedDelaySec"]


def test_no_question_can_leave_the_machine() -> None:
    assert unit("lexarbor.service")["Service"]["IPAddressDeny"] == "any"


def test_nginx_logs_nothing_and_writes_no_question_to_a_file() -> None:
    text = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
    servers = re.split(r"^server \{", text, flags=re.MULTILINE)[1:]
    assert len(servers) == 2
    for server in servers:
        assert "access_log off;" in server and "error_log /dev/null;" in server
    largest = re.search(r"client_max_body_size (\d+)m;", text)
    assert largest and int(largest[1]) * 1024**2 >= ServeSettings(Path()).largest_body
    assert f"client_body_buffer_size {largest[1]}m;" in text and "proxy_max_temp_file_size 0;" in text
    assert text.count("{") == text.count("}")


def test_caddy_leaves_failed_requests_out_of_its_log() -> None:
    text = (DEPLOY / "Caddyfile").read_text(encoding="utf-8")
    assert "exclude http.log.error http.handlers.reverse_proxy" in text
    assert not re.search(r"^\s*log\s*(\{|$)", text, re.MULTILINE)  # a site's access log


@pytest.mark.parametrize("name", ["nginx.conf", "Caddyfile"])
def test_proxies_pass_on_who_asks_and_keep_metrics_inside(name: str) -> None:
    text = (DEPLOY / name).read_text(encoding="utf-8")
    assert "--behind-proxy 127.0.0.1" in text and "--root-path /droit" in text
    assert {"--behind-proxy", "--root-path"} <= options_of("serve")
    if name == "nginx.conf":
        assert "proxy_set_header X-Forwarded-For $remote_addr;" in text  # never what the client says of itself
        assert re.search(r"location = /metrics \{\s+return 404;", text)
        assert re.search(r"location = /droit/metrics \{", text)
    else:
        assert text.count("respond /metrics 404") == 2


def test_the_table_of_errors_has_every_code() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    table = dict(re.findall(r"^\| `(\w+)` \| (\d{3}) \|", page, re.MULTILINE))
    assert table == {code: str(kind.status) for code, kind in KINDS.items()}


def test_the_page_of_the_api_has_every_address_and_no_other() -> None:
    from fastapi import FastAPI

    from lexarbor.serve.api.routes import router

    schema = FastAPI()
    schema.include_router(router)
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    for path in schema.openapi()["paths"]:
        pattern = re.sub(r"\\\{\w+\\\}", r"(?:\\{\\w+\\}|VAL\\w+)", re.escape(path))
        assert re.search(pattern + r"(?![\w/])", page), path


def test_limits_are_told_as_they_are() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    settings = ServeSettings(Path())
    for value in (
        f"| {settings.longest_question:,} | `question_long`",
        f"| {settings.most_articles} | `k`",
        f"| {MOST_QUESTIONS} | `invalid`",
        f"| {settings.largest_body:,} | `too_large`",
        f"| {settings.body_seconds:g} | `too_slow`",
        f"| {settings.search_seconds:g} | `timeout`",
        f"| {settings.waiting} | `busy`",
        f"| {settings.burst} at once, then {settings.rate:g} a second",
    ):
        assert value in page, value


def test_every_option_of_the_server_is_told() -> None:
    page = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
    told = set(re.findall(r"^\| `(--[\w-]+)` \|", page, re.MULTILINE))
    assert told == {option for option in options_of("serve") if option.startswith("--")} - {"--help"}


def test_every_metric_is_told() -> None:
    from lexarbor.serve import metrics

    page = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
    for name in re.findall(r'"(lexarbor_\w+)"', Path(metrics.__file__).read_text(encoding="utf-8")):
        assert name in page, name


def test_pages_named_in_the_documentation_exist() -> None:
    assert PATHS["privacy"][0] in (ROOT / "docs" / "privacy.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_documents_are_narrow_and_their_commands_are_ours(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert max(map(len, text.splitlines())) <= 150
    for block in re.findall(r"```bash\n(.*?)```", text, re.DOTALL):
        for line in re.findall(r"^(?:as-)?lexarbor (.+)$", block, re.MULTILINE):
            check_command(shlex.split(line))
    for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL):
        json.loads(block)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_headings_lead_somewhere(page: Path) -> None:
    for target, heading in re.findall(r"\]\(([\w./-]*)#([\w-]+)\)", page.read_text(encoding="utf-8")):
        there = (page.parent / target if target else page).read_text(encoding="utf-8")
        headings = re.findall(r"^#+ (.+)$", there, re.MULTILINE)
        assert heading in {re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in headings}, heading


@pytest.mark.real
def test_systemd_finds_no_fault_in_the_units(tmp_path: Path) -> None:
    import shutil

    if not shutil.which("systemd-analyze"):
        pytest.skip("there is no systemd-analyze here")
    for path in DEPLOY.glob("lexarbor*"):
        text = path.read_text(encoding="utf-8").replace("/opt/lexarbor/bin/lexarbor", shutil.which("true") or "")
        (tmp_path / path.name).write_text(text, encoding="utf-8")
    units = sorted(map(str, tmp_path.iterdir()))
    done = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr.strip(), done.stderr
