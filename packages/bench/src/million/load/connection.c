// One socket: connect from an address of its own group, upgrade, read, send. A connection that ends is opened again by
// the main loop, as a client would.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "load.h"

/** Ports of one source address; more make the kernel search long for a free one. */
#define CONNECTIONS_PER_ADDRESS 2000
#define READ_BYTES 65536

static uint32_t opening;
static uint32_t given;
static char buffer[READ_BYTES];
static const char *tokens;
static size_t token_bytes;

/** All tokens have the same length, one a line. */
static const char *token_of(uint32_t user, size_t *length) {
  if (tokens == NULL) {
    const int fd = open(options.tokens_path, O_RDONLY);
    struct stat about;
    if (fd < 0 || fstat(fd, &about) < 0) fail("open the tokens");
    tokens = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (tokens == MAP_FAILED) fail("map the tokens");
    token_bytes = (size_t)about.st_size / options.count;
    close(fd);
  }
  const char *line = tokens + (size_t)(user - options.first) * token_bytes;
  *length = strcspn(line, " \n");
  return line;
}

uint32_t connections_opening(void) { return opening; }

static uint32_t next_address(void) {
  const uint32_t number = options.first_address + given++ / CONNECTIONS_PER_ADDRESS;
  // 127.1.0.1 and up; never the last part 0 or 255.
  return htonl((127u << 24) | ((1 + number / 254 / 256) % 250 << 16) | ((number / 254) % 256 << 8) | (1 + number % 254));
}

void connection_close(uint32_t index, int epoll) {
  struct connection *connection = &connections[index];
  if (connection->state == CLOSED) return;
  if (connection->state < READY) opening--;
  else counters.ready--;
  epoll_ctl(epoll, EPOLL_CTL_DEL, connection->fd, NULL);
  close(connection->fd);
  free(connection->partial);
  *connection = (struct connection){.fd = -1};
  counters.closed++;
}

void connection_open(uint32_t index, int epoll) {
  struct connection *connection = &connections[index];
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (fd < 0) fail("open a socket");
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  // The port is chosen at connect, so it may be one that another address uses.
  setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = next_address()};
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)options.port)};
  inet_pton(AF_INET, options.host, &to.sin_addr);
  *connection = (struct connection){.fd = fd, .state = CONNECTING};
  opening++;
  counters.opened++;
  struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP, .data.u32 = index};
  if (bind(fd, (struct sockaddr *)&from, sizeof from) < 0 ||
      (connect(fd, (struct sockaddr *)&to, sizeof to) < 0 && errno != EINPROGRESS) ||
      epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0) {
    counters.failed++;
    connection_close(index, epoll);
  }
}

static void upgrade(uint32_t index, int epoll) {
  struct connection *connection = &connections[index];
  const uint32_t user = options.first + index;
  size_t length;
  const char *token = token_of(user, &length);
  char request[2048];
  const int size = snprintf(request, sizeof request,
                            "GET /api/v1/ws?token=%.*s&device_id=device-%u&platform=web HTTP/1.1\r\nHost: %s:%d\r\n"
                            "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: Z3JlZW5kb3QtYmVuY2gtMQ==\r\n"
                            "Sec-WebSocket-Version: 13\r\n\r\n",
                            (int)length, token, user, options.host, options.port);
  struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.u32 = index};
  epoll_ctl(epoll, EPOLL_CTL_MOD, connection->fd, &event);
  connection->state = UPGRADING;
  counters.bytes_out += (uint64_t)size;
  if (write(connection->fd, request, (size_t)size) != size) {
    counters.failed++;
    connection_close(index, epoll);
  }
}

/** Whether the upgrade was answered; what follows it are frames. */
static int read_upgrade(uint32_t index, char *bytes, size_t length, int epoll) {
  char *end = memmem(bytes, length, "\r\n\r\n", 4);
  if (end == NULL || length < 12 || memcmp(bytes + 9, "101", 3) != 0) {
    fprintf(stderr, "the server answered: %.*s\n", (int)(length < 120 ? length : 120), bytes);
    counters.failed++;
    connection_close(index, epoll);
    return 0;
  }
  connections[index].state = OPENED;
  const size_t head = (size_t)(end + 4 - bytes);
  if (length > head) frames_read(index, end + 4, length - head);
  return 1;
}

void connection_event(uint32_t index, uint32_t events, int epoll) {
  struct connection *connection = &connections[index];
  if (connection->state == CLOSED) return;
  if (connection->state == CONNECTING && (events & EPOLLOUT)) {
    upgrade(index, epoll);
    return;
  }
  if (events & EPOLLIN) {
    const ssize_t length = read(connection->fd, buffer, sizeof buffer);
    if (length > 0) {
      counters.bytes_in += (uint64_t)length;
      const uint8_t before = connection->state;
      if (before == UPGRADING) read_upgrade(index, buffer, (size_t)length, epoll);
      else frames_read(index, buffer, (size_t)length);
      if (before < READY && connection->state == READY) opening--;
      return;
    }
    if (length < 0 && (errno == EAGAIN || errno == EINTR)) return;
    connection_close(index, epoll);
    return;
  }
  if (events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP)) connection_close(index, epoll);
}

int connection_send(uint32_t index, const char *payload, size_t length) {
  // A mask of zeros leaves the bytes as they are.
  char frame[CONTACTS_MAX * 20 + 96] = {(char)0x81};
  size_t head = 6;
  if (length < 126) frame[1] = (char)(0x80 | length);
  else {
    frame[1] = (char)(0x80 | 126);
    frame[2] = (char)(length >> 8);
    frame[3] = (char)length;
    head = 8;
  }
  memcpy(frame + head, payload, length);
  counters.bytes_out += head + length;
  return write(connections[index].fd, frame, head + length) == (ssize_t)(head + length);
}
