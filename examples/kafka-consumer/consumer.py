"""Prints the changes of all users from the topic presence.changes, as consumer.ts does."""

import json
import os

from kafka import KafkaConsumer

consumer = KafkaConsumer(
    "presence.changes",
    bootstrap_servers=os.environ.get("KAFKA_BROKERS", "127.0.0.1:9092").split(","),
    group_id=os.environ.get("GROUP", "greendot-example-python"),
    auto_offset_reset="earliest",
)
latest: dict[str, int] = {}

for message in consumer:
    change = json.loads(message.value)
    # Other types may come later.
    if change.get("type") != "status_changed" or change.get("v") != 1:
        continue
    user_id, version = change["user_id"], change["version"]
    # A record may come twice.
    if version <= latest.get(user_id, 0):
        continue
    latest[user_id] = version
    text = (change["custom_status"] or {}).get("text")
    line = f"{user_id}: {change['old_status']} -> {change['new_status']}"
    print(f'{line} "{text}"' if text else line, flush=True)
