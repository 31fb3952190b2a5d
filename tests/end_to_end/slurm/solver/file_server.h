/* A client of the test's file server: it names its node, then writes blocks, each of which the server acknowledges. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void send_all(int server, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t sent = send(server, bytes, count, MSG_NOSIGNAL);
        if (sent <= 0) fail("the file server does not take bytes");
        bytes += sent;
        count -= (size_t)sent;
    }
}

/* A connection of `node`. */
static int open_server(const char *path, const char *node) {
    struct sockaddr_un address;
    int server = socket(AF_UNIX, SOCK_STREAM, 0);
    memset(&address, 0, sizeof address);
    address.sun_family = AF_UNIX;
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (server < 0 || connect(server, (struct sockaddr *)&address, sizeof address) != 0) fail("no file server");
    send_all(server, node, strlen(node));
    send_all(server, "\n", 1);
    return server;
}

/* Writes `count` bytes, at most 9,999,999, and waits until the server has them. */
static void write_block(int server, const char *bytes, size_t count) {
    char head[9], answer;
    snprintf(head, sizeof head, "%07u\n", (unsigned)count % 10000000u);
    send_all(server, head, 8);
    send_all(server, bytes, count);
    if (recv(server, &answer, 1, 0) != 1) fail("the file server does not answer");
}
