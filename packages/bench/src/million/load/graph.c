// Whom a user watches: neighbours on a ring, on both sides, or users at random. Watching is mutual on the ring.
#include <stdlib.h>
#include "load.h"

/** Of each user of this process, on a random graph. */
static uint32_t *watchers;

static uint64_t mixed(uint64_t value) {
  value ^= value >> 33;
  value *= 0xff51afd7ed558ccdULL;
  value ^= value >> 33;
  value *= 0xc4ceb9fe1a85ec53ULL;
  return value ^ (value >> 33);
}

static int is_among(const uint32_t *list, uint32_t count, uint32_t user) {
  for (uint32_t i = 0; i < count; i++)
    if (list[i] == user) return 1;
  return 0;
}

uint32_t contacts_of(uint32_t user, uint32_t *into) {
  const uint32_t total = options.total;
  uint32_t count = 0;
  if (!options.is_random_graph) {
    for (uint32_t step = 0; step < options.contacts; step++) {
      const uint32_t distance = step / 2 + 1;
      into[count++] = step % 2 == 0 ? (user + distance) % total : (user + total - distance) % total;
    }
    return count;
  }
  for (uint64_t attempt = 0; count < options.contacts; attempt++) {
    const uint32_t contact = (uint32_t)(mixed(((uint64_t)user << 24) + attempt) % total);
    if (contact != user && !is_among(into, count, contact)) into[count++] = contact;
  }
  return count;
}

/** On the ring users have as many watchers as contacts. At random the contacts of all users have to be looked at, once. */
void graph_open(void) {
  if (!options.is_random_graph) return;
  watchers = calloc(options.count, sizeof *watchers);
  if (watchers == NULL) fail("allocate");
  for (uint32_t user = 0; user < options.total; user++) {
    uint32_t contacts[CONTACTS_MAX];
    const uint32_t count = contacts_of(user, contacts);
    for (uint32_t i = 0; i < count; i++)
      if (contacts[i] - options.first < options.count) watchers[contacts[i] - options.first]++;
  }
}

uint32_t watchers_of(uint32_t index) { return options.is_random_graph ? watchers[index] : options.contacts; }
