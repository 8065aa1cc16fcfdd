"""Refusals of requests that the document allows, because JSON Schema cannot state the rule.

Schemathesis reports each refusal of a request that fits its schema. These rules drop a report only if the request
really breaks the rule: a valid request that is refused is still a failure.
"""

import datetime
import time

import schemathesis
from schemathesis.openapi.checks import RejectedPositiveData

# What Schemathesis calls the answer to a request that does not fit its schema and was not refused.
ACCEPTED_BAD_DATA = "Schema-violating request accepted"
EMOJI_BYTES_MAX = 32
LISTED_BYTES_MAX = 16 * 1024
ENTRIES_MAX = 10_000
URL_BYTES = 60 * 1024
DAY_S = 86_400
SPAN_DAYS_MAX = 92


@schemathesis.hook
def filter_failure(context, failure, case, response):
    if names_entries(case, response) and failure.title == ACCEPTED_BAD_DATA:
        return False
    if not isinstance(failure, RejectedPositiveData):
        return True
    if response.status_code == 431:
        return len(response.request.url) < URL_BYTES
    body = case.body if isinstance(case.body, dict) else {}
    breaks = {
        "invalid_expiry": is_past(body.get("expires_at")) or is_past(body.get("until")),
        "text_too_long": bytes_of([body.get("emoji") or ""]) > EMOJI_BYTES_MAX,
        "too_many_ids": any(bytes_of(body.get(name) or []) > LISTED_BYTES_MAX for name in ("allow", "deny"))
        or entries_of(body) > ENTRIES_MAX,
        # The viewer may be named in the body or in the URL, but not two of them.
        "bad_request": len(viewers_of(body, case.query or {})) > 1
        or not is_span(case.query or {})
        # A webhook gets a new secret in one of two ways.
        or {"secret", "rotate_secret"} <= body.keys()
        # Where a page begins is a text that the page before gave.
        or "after" in (case.query or {}),
        # Schemathesis writes an id such as a%00 into a path as it is, where it stands for a null character.
        "invalid_id": any("%" in str(value) for value in (case.path_parameters or {}).values()),
    }
    return not breaks.get(response.json().get("code"), False)


def names_entries(case, response):
    """Whether it is a batch whose bad entries were refused alone."""
    is_batch = case.operation.path.endswith("/heartbeats") and response.status_code == 200
    return is_batch and len(response.json()["rejected"]) > 0


def entries_of(body):
    """Of a batch: the limit holds for both lists together."""
    lists = [body.get(name) for name in ("sessions", "disconnected")]
    return sum(len(entries) for entries in lists if isinstance(entries, list))


def is_past(expires_at):
    if isinstance(expires_at, (int, float)):
        return expires_at <= time.time() * 1000
    # The day is enough: no generated instant is meant to be within a day of now.
    tomorrow = time.strftime("%Y-%m-%d", time.gmtime(time.time() + DAY_S))
    return isinstance(expires_at, str) and expires_at[:10] <= tomorrow


def is_span(query):
    """Whether from lies before to, and not too long before it."""
    if "from" not in query and "to" not in query:
        return True
    to = ms_of(query["to"]) if "to" in query else time.time() * 1000
    begin = ms_of(query["from"]) if "from" in query else max(0, to - 7 * DAY_S * 1000)
    return 0 < to - begin <= SPAN_DAYS_MAX * DAY_S * 1000


def ms_of(instant):
    if isinstance(instant, (int, float)) or str(instant).isdigit():
        return int(instant)
    parsed = datetime.datetime.fromisoformat(instant)
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=datetime.timezone.utc)).timestamp() * 1000


def bytes_of(texts):
    return sum(len(text.encode()) for text in texts)


def viewers_of(*parts):
    return {part["viewer_id"] for part in parts if "viewer_id" in part}
