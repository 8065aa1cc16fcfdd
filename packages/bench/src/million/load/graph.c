// Whom a user watches: neighbours on a ring, on both sides, or users at random. Watching is mutual on the ring.
#include "load.h"

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
