// How long a change takes from its sender to a watcher, who may be in another process: the instant of sending is in a
// file that all processes map. Buckets are powers of two, each cut into sixteen.
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "load.h"

static uint64_t *sent_at;
static uint64_t buckets[LATENCY_BUCKETS];
static uint64_t max_us;

void latency_open(void) {
  const int fd = open(options.sent_path, O_RDWR);
  if (fd < 0) fail("open the file of sending times");
  sent_at = mmap(NULL, (size_t)options.total * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (sent_at == MAP_FAILED) fail("map the file of sending times");
  close(fd);
}

void latency_sent(uint32_t user, uint64_t at_us) { sent_at[user] = at_us; }

static uint32_t bucket_of(uint64_t us) {
  if (us < 16) return (uint32_t)us;
  const uint32_t power = 63 - (uint32_t)__builtin_clzll(us);
  const uint32_t bucket = (power - 3) * 16 + (uint32_t)((us >> (power - 4)) & 15);
  return bucket < LATENCY_BUCKETS ? bucket : LATENCY_BUCKETS - 1;
}

void latency_received(uint32_t user, uint64_t at_us) {
  const uint64_t sent = sent_at[user];
  // A change that this load did not make: somebody connected.
  if (sent == 0 || sent > at_us) return;
  const uint64_t us = at_us - sent;
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
