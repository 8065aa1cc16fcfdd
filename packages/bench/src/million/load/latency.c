// How long a change takes from its sender to a watcher, who may be in another process: the instant of sending is in a
// file that all processes map, with the state in its lowest bit. A state that a watcher is told again does not count.
// Buckets are powers of two, each cut into sixteen.
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "load.h"

static uint64_t *sent;
/** Of each user here and each contact: the end of what was `sent` when the user heard of it. */
static uint32_t *heard;
static uint64_t counted_from_us;
static uint64_t buckets[LATENCY_BUCKETS];
static uint64_t max_us;

void latency_open(void) {
  const int fd = open(options.sent_path, O_RDWR);
  if (fd < 0) fail("open the file of sending times");
  sent = mmap(NULL, (size_t)options.total * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (sent == MAP_FAILED) fail("map the file of sending times");
  close(fd);
  heard = calloc((size_t)options.count * options.contacts, sizeof *heard);
  if (heard == NULL) fail("allocate");
}

void latency_sent(uint32_t user, uint64_t at_us, int is_idle) { sent[user] = at_us << 1 | (uint64_t)is_idle; }

void latency_count_from(uint64_t at_us) { counted_from_us = at_us; }

/** Where it is kept what a user here heard of a contact; NULL when the user does not watch it. */
static uint32_t *heard_of(uint32_t index, uint32_t user) {
  uint32_t contacts[CONTACTS_MAX];
  const uint32_t count = contacts_of(options.first + index, contacts);
  for (uint32_t i = 0; i < count; i++)
    if (contacts[i] == user) return &heard[(size_t)index * options.contacts + i];
  return NULL;
}

static uint32_t bucket_of(uint64_t us) {
  if (us < 16) return (uint32_t)us;
  const uint32_t power = 63 - (uint32_t)__builtin_clzll(us);
  const uint32_t bucket = (power - 3) * 16 + (uint32_t)((us >> (power - 4)) & 15);
  return bucket < LATENCY_BUCKETS ? bucket : LATENCY_BUCKETS - 1;
}

void latency_received(uint32_t index, uint32_t user, int is_idle, uint64_t at_us) {
  const uint64_t last = sent[user];
  const uint64_t sent_us = last >> 1;
  // A change that was made before, or that this load did not make.
  if (sent_us < counted_from_us || sent_us > at_us || (int)(last & 1) != is_idle) return;
  uint32_t *known = heard_of(index, user);
  if (known == NULL || *known == (uint32_t)last) return;
  *known = (uint32_t)last;
  counters.arrived++;
  const uint64_t us = at_us - sent_us;
  buckets[bucket_of(us)]++;
  if (us > max_us) max_us = us;
}

void latency_print(FILE *out) {
  fprintf(out, "{\"max_us\":%" PRIu64 ",\"buckets\":{", max_us);
  const char *separator = "";
  for (uint32_t bucket = 0; bucket < LATENCY_BUCKETS; bucket++) {
    if (buckets[bucket] == 0) continue;
    fprintf(out, "%s\"%u\":%" PRIu64, separator, bucket, buckets[bucket]);
    separator = ",";
  }
  fprintf(out, "}}\n");
}

void latency_reset(void) {
  memset(buckets, 0, sizeof buckets);
  max_us = 0;
}
