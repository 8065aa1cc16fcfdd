// What the server says, read without a parser: only the type of a frame, the users in it and whether one is offline.
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "load.h"

#define STARTS(text, length, prefix) ((length) >= sizeof(prefix) - 1 && memcmp(text, prefix, sizeof(prefix) - 1) == 0)

static const char USER_ID[] = "\"user_id\":\"user-";
static const char STATUS[] = "\"status\":\"";

static void watch_contacts(uint32_t index) {
  uint32_t contacts[CONTACTS_MAX];
  const uint32_t count = contacts_of(options.first + index, contacts);
  char frame[CONTACTS_MAX * 20 + 64];
  int length = snprintf(frame, sizeof frame, "{\"type\":\"watch\",\"user_ids\":[");
  for (uint32_t i = 0; i < count; i++)
    length += snprintf(frame + length, sizeof frame - (size_t)length, "%s\"user-%u\"", i == 0 ? "" : ",", contacts[i]);
  length += snprintf(frame + length, sizeof frame - (size_t)length, "]}");
  connections[index].states_missing = count;
  connection_send(index, frame, (size_t)length);
}

/** Calls for each presence object with the second letter of its status; returns how many there are. */
static uint32_t each_user(uint32_t index, const char *text, size_t length,
                          void (*seen)(uint32_t index, uint32_t user, char status)) {
  const char *end = text + length;
  uint32_t count = 0;
  for (const char *at = text; (at = memmem(at, (size_t)(end - at), USER_ID, sizeof USER_ID - 1)) != NULL; count++) {
    at += sizeof USER_ID - 1;
    if (seen == NULL) continue;
    uint32_t user = 0;
    while (at < end && *at >= '0' && *at <= '9') user = user * 10 + (uint32_t)(*at++ - '0');
    // The status follows the id.
    const size_t near = (size_t)(end - at) < 32 ? (size_t)(end - at) : 32;
    const char *status = memmem(at, near, STATUS, sizeof STATUS - 1);
    seen(index, user, status == NULL ? 0 : status[sizeof STATUS]);
  }
  return count;
}

static void count_delivery(uint32_t index, uint32_t user, char status) {
  counters.deliveries++;
  // offline, online or away: nobody here is busy.
  if (status == 'f') counters.offline++;
  else if (user < options.total) latency_received(index, user, status == 'w', now_us());
}

static void message(uint32_t index, const char *text, size_t length) {
  struct connection *connection = &connections[index];
  counters.frames++;
  if (STARTS(text, length, "{\"type\":\"presence_change\"")) {
    each_user(index, text, length, count_delivery);
  } else if (STARTS(text, length, "{\"type\":\"presence_state\"")) {
    const uint32_t came = each_user(index, text, length, NULL);
    if (connection->states_missing == 0) return;
    connection->states_missing = came >= connection->states_missing ? 0 : connection->states_missing - came;
    if (connection->states_missing == 0) {
      connection->state = READY;
      counters.ready++;
    }
  } else if (STARTS(text, length, "{\"type\":\"welcome\"")) {
    watch_contacts(index);
  } else if (STARTS(text, length, "{\"type\":\"error\"")) {
    counters.failed++;
    fprintf(stderr, "%.*s\n", (int)(length < 200 ? length : 200), text);
  }
}

static void keep(struct connection *connection, const char *bytes, size_t length) {
  char *kept = length == 0 ? NULL : malloc(length);
  if (kept != NULL) memcpy(kept, bytes, length);
  free(connection->partial);
  connection->partial = kept;
  connection->partial_length = (uint32_t)length;
}

static void read_frames(uint32_t index, const char *bytes, size_t length) {
  struct connection *connection = &connections[index];
  size_t at = 0;
  while (length - at >= 2) {
    const uint8_t opcode = (uint8_t)bytes[at] & 15;
    size_t size = (uint8_t)bytes[at + 1] & 127, head = 2;
    if (size == 126) {
      if (length - at < 4) break;
      size = ((size_t)(uint8_t)bytes[at + 2] << 8) | (uint8_t)bytes[at + 3];
      head = 4;
    } else if (size == 127) {
      if (length - at < 10) break;
      size = 0;
      for (int i = 2; i < 10; i++) size = (size << 8) | (uint8_t)bytes[at + i];
      head = 10;
    }
    if (length - at < head + size) break;
    if (opcode == 1) message(index, bytes + at + head, size);
    at += head + size;
    // The message may have closed it.
    if (connection->state == CLOSED) return;
  }
  keep(connection, bytes + at, length - at);
}

void frames_read(uint32_t index, char *bytes, size_t length) {
  struct connection *connection = &connections[index];
  if (connection->partial == NULL) {
    read_frames(index, bytes, length);
    return;
  }
  const size_t before = connection->partial_length;
  char *joined = malloc(before + length);
  if (joined == NULL) fail("allocate");
  memcpy(joined, connection->partial, before);
  memcpy(joined + before, bytes, length);
  read_frames(index, joined, before + length);
  free(joined);
}
