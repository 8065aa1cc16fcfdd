// The loop: events of the sockets, then what is due by the clock (connections, heartbeats, changes), then orders.
//   connect <per second> <at once>   opens this process's users, and those again whose connection ended
//   beat <interval ms>     every user sends a heartbeat once in so long, spread evenly
//   change <per second>    so many users of this process switch between active and idle
//   count                  from now on only changes that are made later are counted where they arrive
//   latency                prints and forgets how long deliveries took
//   quit
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "load.h"

#define EVENTS 512
#define WAIT_MS 10
#define REPORT_US 1000000
#define ORDERS_US 50000
/** A prime, so that neighbours change far apart. */
#define CHANGE_STRIDE 7919

struct options options;
struct counters counters;
struct connection *connections;

static const char ACTIVE[] = "{\"type\":\"heartbeat\",\"activity\":\"active\"}";
static const char IDLE[] = "{\"type\":\"heartbeat\",\"activity\":\"idle\"}";

/** How many things are due at a steady rate. */
struct pace {
  double per_second;
  uint64_t since_us;
  double done;
};

static struct pace connecting, beating, changing;
static uint32_t open_cursor, beat_cursor;
static uint32_t opening_max;
static double beat_interval_ms;
static uint64_t change_cursor;
static int epoll;

uint64_t now_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

void fail(const char *what) {
  fprintf(stderr, "cannot %s: %s\n", what, strerror(errno));
  exit(1);
}

static void set_pace(struct pace *pace, double per_second) {
  *pace = (struct pace){.per_second = per_second, .since_us = now_us()};
}

static uint32_t due(struct pace *pace, uint64_t now) {
  const double wanted = pace->per_second * (double)(now - pace->since_us) / 1e6;
  // Time that was lost is not made up in a burst longer than a tenth of a second.
  if (wanted - pace->done > pace->per_second / 10 + 1) pace->done = wanted - pace->per_second / 10 - 1;
  const uint32_t count = (uint32_t)(wanted - pace->done);
  pace->done += count;
  return count;
}

static void open_due(uint64_t now) {
  uint32_t count = due(&connecting, now);
  for (uint32_t looked = 0; count > 0 && looked < options.count && connections_opening() < opening_max; looked++) {
    const uint32_t index = open_cursor++ % options.count;
    if (connections[index].state != CLOSED) continue;
    connection_open(index, epoll);
    count--;
  }
}

static void beat(uint32_t index) {
  const struct connection *connection = &connections[index];
  if (connection->is_idle) connection_send(index, IDLE, sizeof IDLE - 1);
  else connection_send(index, ACTIVE, sizeof ACTIVE - 1);
}

static void beat_due(uint64_t now) {
  if (beat_interval_ms <= 0) return;
  beating.per_second = options.count * 1000.0 / beat_interval_ms;
  for (uint32_t count = due(&beating, now); count > 0; count--) {
    const uint32_t index = beat_cursor++ % options.count;
    if (connections[index].state != READY) continue;
    beat(index);
    counters.beats++;
  }
}

static void change_due(uint64_t now) {
  for (uint32_t count = due(&changing, now); count > 0; count--) {
    // All in turn: two changes of one user within a flush would be none.
    change_cursor += CHANGE_STRIDE;
    const uint32_t index = (uint32_t)(change_cursor % options.count);
    if (connections[index].state != READY) {
      counters.changes_skipped++;
      continue;
    }
    connections[index].is_idle = !connections[index].is_idle;
    latency_sent(options.first + index, now_us(), connections[index].is_idle);
    beat(index);
    counters.changes++;
    counters.expected += watchers_of(index);
  }
}

static void report(void) {
  printf("{\"opened\":%" PRIu64 ",\"ready\":%" PRIu64 ",\"closed\":%" PRIu64 ",\"failed\":%" PRIu64 ",\"beats\":%" PRIu64
         ",\"changes\":%" PRIu64 ",\"changes_skipped\":%" PRIu64 ",\"frames\":%" PRIu64 ",\"deliveries\":%" PRIu64 ",\"arrived\":%" PRIu64
         ",\"expected\":%" PRIu64 ",\"offline\":%" PRIu64 ",\"bytes_in\":%" PRIu64 ",\"bytes_out\":%" PRIu64 "}\n",
         counters.opened, counters.ready, counters.closed, counters.failed, counters.beats, counters.changes,
         counters.changes_skipped, counters.frames, counters.deliveries, counters.arrived, counters.expected,
         counters.offline, counters.bytes_in, counters.bytes_out);
  fflush(stdout);
}

static void obey(char *line) {
  double value = 0;
  if (sscanf(line, "connect %lf %u", &value, &opening_max) == 2) set_pace(&connecting, value);
  else if (sscanf(line, "beat %lf", &value) == 1) {
    beat_interval_ms = value;
    set_pace(&beating, 0);
  } else if (sscanf(line, "change %lf", &value) == 1) set_pace(&changing, value);
  else if (strncmp(line, "count", 5) == 0) latency_count_from(now_us());
  else if (strncmp(line, "latency", 7) == 0) {
    latency_print(stdout);
    fflush(stdout);
    latency_reset();
  } else if (strncmp(line, "quit", 4) == 0) exit(0);
}

/** Ends with the process that gives the orders. */
static void read_orders(void) {
  static char text[4096];
  static size_t length;
  const ssize_t came = read(STDIN_FILENO, text + length, sizeof text - 1 - length);
  if (came == 0) exit(0);
  if (came < 0) return;
  length += (size_t)came;
  text[length] = 0;
  char *line = text, *end;
  while ((end = strchr(line, '\n')) != NULL) {
    *end = 0;
    obey(line);
    line = end + 1;
  }
  length = strlen(line);
  memmove(text, line, length + 1);
}

static uint32_t number(const char *text) { return (uint32_t)strtoul(text, NULL, 10); }

int main(int count, char **words) {
  if (count != 11) {
    fprintf(stderr, "usage: load host port first count total contacts ring|random first-address tokens sent-times\n");
    return 2;
  }
  options = (struct options){.host = words[1],
                             .port = (int)number(words[2]),
                             .first = number(words[3]),
                             .count = number(words[4]),
                             .total = number(words[5]),
                             .contacts = number(words[6]),
                             .is_random_graph = strcmp(words[7], "random") == 0,
                             .first_address = number(words[8]),
                             .tokens_path = words[9],
                             .sent_path = words[10]};
  if (options.contacts > CONTACTS_MAX) return 2;
  connections = calloc(options.count, sizeof *connections);
  epoll = epoll_create1(0);
  if (connections == NULL || epoll < 0) fail("start");
  graph_open();
  latency_open();
  fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
  static struct epoll_event events[EVENTS];
  uint64_t reported_at = now_us(), read_at = 0;
  for (;;) {
    const int ready = epoll_wait(epoll, events, EVENTS, WAIT_MS);
    for (int i = 0; i < ready; i++) connection_event(events[i].data.u32, events[i].events, epoll);
    const uint64_t now = now_us();
    open_due(now);
    beat_due(now);
    change_due(now);
    if (now - read_at >= ORDERS_US) {
      read_at = now;
      read_orders();
    }
    if (now - reported_at < REPORT_US) continue;
    reported_at = now;
    report();
  }
}
