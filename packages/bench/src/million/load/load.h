// A load process for very many users: one thread, one epoll, a few bytes a connection. It connects users as a browser
// would, keeps their heartbeats going, lets some of them change, and counts what their watchers receive. It takes
// orders as lines on its input and answers with one JSON line a second.
#ifndef LOAD_H
#define LOAD_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CONTACTS_MAX 64
#define LATENCY_BUCKETS 512

enum state { CLOSED, CONNECTING, UPGRADING, OPENED, READY };

struct connection {
  int fd;
  uint8_t state;
  uint8_t is_idle;
  uint16_t unused;
  /** A frame that came in part; NULL nearly always. */
  char *partial;
  uint32_t partial_length;
  /** States of the snapshot that are still to come. */
  uint32_t states_missing;
};

struct options {
  const char *host;
  int port;
  /** This process has the users from `first` to `first + count`. */
  uint32_t first, count;
  /** All users of all processes. */
  uint32_t total;
  uint32_t contacts;
  int is_random_graph;
  /** The number of the first source address. */
  uint32_t first_address;
  const char *tokens_path;
  const char *sent_path;
};

struct counters {
  uint64_t opened, ready, closed, failed;
  uint64_t beats, changes, changes_skipped;
  uint64_t frames, deliveries, bytes_in, bytes_out;
  /** Deliveries of a change that the watcher had not heard of, made since the changes counted last began. */
  uint64_t arrived;
  /** Watchers of all users who changed: as many deliveries are to arrive. */
  uint64_t expected;
  /** A user whose connection stayed or came back was shown as offline. */
  uint64_t offline;
};

extern struct options options;
extern struct counters counters;
extern struct connection *connections;

// graph.c: whom a user watches. A pure function, so every process knows it.
void graph_open(void);
uint32_t contacts_of(uint32_t user, uint32_t *into);
/** How many users watch this user of the process. */
uint32_t watchers_of(uint32_t index);

// latency.c: when each user last changed and to what, in memory that all processes share; which watchers have heard of it,
// and how long that took.
void latency_open(void);
void latency_sent(uint32_t user, uint64_t at_us, int is_idle);
void latency_received(uint32_t index, uint32_t user, int is_idle, uint64_t at_us);
/** Only changes made from now on are counted. */
void latency_count_from(uint64_t at_us);
void latency_print(FILE *out);
void latency_reset(void);

// connection.c: one socket, from connect to close.
void connection_open(uint32_t index, int epoll);
void connection_event(uint32_t index, uint32_t events, int epoll);
int connection_send(uint32_t index, const char *payload, size_t length);
void connection_close(uint32_t index, int epoll);
uint32_t connections_opening(void);

// frames.c: what the server says.
void frames_read(uint32_t index, char *bytes, size_t length);

uint64_t now_us(void);
void fail(const char *what);

#endif
