/* Asks Tailback whether this job is contended now, and reports its progress. Needs nothing but libc and POSIX.
 *
 * One source file of the program defines TAILBACK_IMPLEMENTATION and includes this header before all others; the other files include it
 * as it is. Address, token and job are in the environment, where the prolog puts them: TAILBACK_URL (http://ADDRESS:PORT or unix:PATH;
 * an address and no name, since resolving a name may block), TAILBACK_JOB_TOKEN, TAILBACK_JOB_ID or SLURM_JOB_ID.
 *
 * A call returns within 50 ms and never fails: without an answer the job is not judged. At most one call a second asks the server, fewer
 * where thousands of jobs run; others repeat the last answer. At most one a second reports; others keep the count for the next. After each
 * further failure the pause doubles, up to a minute. The connection is kept between requests where the server keeps it. Call from one
 * thread at a time. */
#ifndef TAILBACK_H
#define TAILBACK_H

enum tailback_state { TAILBACK_CLEAR = 0, TAILBACK_CONTENDED = 3, TAILBACK_NOT_JUDGED = 4 };

struct tailback_answer {
    enum tailback_state state;
    double lost_s, lost_lo_s, lost_hi_s; /* since the start of the job, with its 95% interval; -1 if unknown */
    double since_s;                      /* contended since, in seconds since the epoch; -1 if it is not */
    double until_s;                      /* expected to last until, in seconds since the epoch; -1 if unknown */
};

/* The answer for this job. */
struct tailback_answer tailback_contention(void);

/* Reports that this process has counted `count` of `name` since its start: "steps", "bytes", "iterations"; 1 to 32 of a-z, 0-9 and _, at
 * most 8 names, others are ignored. The count rises; one that falls begins again. The rank is that of Slurm, PMI or Open MPI, else 0. */
void tailback_progress(const char *name, unsigned long long count);

#endif

#if defined(TAILBACK_IMPLEMENTATION) && !defined(TAILBACK_IMPLEMENTED)
#define TAILBACK_IMPLEMENTED
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifndef TAILBACK_PAUSE_MS
#define TAILBACK_PAUSE_MS 1000
#endif
enum { TAILBACK_LIMIT_MS = 40, TAILBACK_PAUSE_MAX_MS = 64000, TAILBACK_NAMES_MAX = 8, TAILBACK_NAME_BYTES_MAX = 32 };

/* When the next request may be sent, and the pause after the next failure, in milliseconds. */
struct tailback_pace {
    long long next, pause;
};

static long long tailback_ms(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return 0;
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits until the socket is ready for `events`; 0 if the time is over before. */
static int tailback_wait(int fd, short events, long long deadline) {
    struct pollfd ready = {fd, events, 0};
    for (;;) {
        long long left = deadline - tailback_ms();
        int found = left > 0 ? poll(&ready, 1, (int)left) : 0;
        if (found >= 0 || errno != EINTR) return found > 0;
    }
}

/* The host of a request to `url`; 0 if it is no address. */
static int tailback_host(const char *url, char *host, size_t size) {
    if (strncmp(url, "unix:", 5) == 0) return snprintf(host, size, "localhost") > 0;
    return strncmp(url, "http://", 7) == 0 && snprintf(host, size, "%.*s", (int)strcspn(url + 7, "/"), url + 7) < (int)size;
}

/* A socket that is connected or about to be; -1 if there is none. */
static int tailback_connect(const char *url, const char *host) {
    struct addrinfo hints, *found = NULL;
    struct sockaddr_un path;
    int fd = -1;
    if (strncmp(url, "unix:", 5) == 0 && strlen(url + 5) < sizeof path.sun_path) {
        memset(&path, 0, sizeof path);
        path.sun_family = AF_UNIX;
        strcpy(path.sun_path, url + 5);
        fd = socket(AF_UNIX, SOCK_STREAM, 0);
        if (fd >= 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 &&
            connect(fd, (struct sockaddr *)&path, sizeof path) == 0)
            return fd;
    } else if (strncmp(url, "http://", 7) == 0) {
        char address[256], *port, *bare = address;
        snprintf(address, sizeof address, "%s", host);
        port = strrchr(address, ':');
        if (port == NULL) return -1;
        *port++ = '\0';
        if (*bare == '[') bare[strcspn(bare, "]")] = '\0', bare++;
        memset(&hints, 0, sizeof hints);
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
        hints.ai_socktype = SOCK_STREAM;
        if (getaddrinfo(strcmp(bare, "localhost") == 0 ? "127.0.0.1" : bare, port, &hints, &found) != 0) return -1;
        fd = socket(found->ai_family, SOCK_STREAM, 0);
        if (fd >= 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 &&
            (connect(fd, found->ai_addr, found->ai_addrlen) == 0 || errno == EINPROGRESS)) {
            freeaddrinfo(found);
            return fd;
        }
        freeaddrinfo(found);
    }
    if (fd >= 0) close(fd);
    return -1;
}

/* The connection that is kept for the next request: the process that made it, and where it leads. */
static struct {
    int fd;
    pid_t owner;
    char url[256];
} tailback_kept = {-1, 0, ""};

/* The kept connection, if it leads to `url`, was not made before a fork, and the server has not closed it; else -1. */
static int tailback_take(const char *url) {
    int fd = tailback_kept.fd;
    char byte;
    tailback_kept.fd = -1;
    if (fd < 0) return -1;
    if (tailback_kept.owner == getpid() && strcmp(tailback_kept.url, url) == 0 && recv(fd, &byte, 1, MSG_PEEK) < 0 &&
        (errno == EAGAIN || errno == EWOULDBLOCK))
        return fd;
    close(fd);
    return -1;
}

/* Keeps a connection for the next request. */
static void tailback_keep(int fd, const char *url) {
    if (strlen(url) >= sizeof tailback_kept.url) {
        close(fd);
        return;
    }
    tailback_kept.fd = fd;
    tailback_kept.owner = getpid();
    strcpy(tailback_kept.url, url);
}

/* The number behind the first `"name":` of an answer; -1 for null. */
static double tailback_number(const char *text, const char *name) {
    const char *at = strstr(text, name);
    char *end;
    double value = at == NULL ? -1 : strtod(at + strlen(name), &end);
    return at == NULL || end == at + strlen(name) ? -1 : value;
}

/* The value of a header of an answer; "" without it. */
static const char *tailback_header(const char *text, const char *name) {
    const char *line = text;
    while ((line = strstr(line, "\r\n")) != NULL && strncmp(line += 2, "\r\n", 2) != 0)
        if (strncasecmp(line, name, strlen(name)) == 0) return line + strlen(name) + strspn(line + strlen(name), " ");
    return "";
}

/* Sends a request and reads the answer into `text`: 1 if the connection may be kept, 0 if not, -1 if it was closed before an answer. */
static int tailback_exchange(int fd, const char *request, size_t length, char *text, size_t size, long long deadline) {
    size_t used = 0;
    text[0] = '\0';
    if (!tailback_wait(fd, POLLOUT, deadline)) return 0;
    if (send(fd, request, length, MSG_NOSIGNAL) != (ssize_t)length) return -1;
    while (used + 1 < size && tailback_wait(fd, POLLIN, deadline)) {
        const char *body;
        ssize_t got = recv(fd, text + used, size - 1 - used, 0);
        if (got <= 0) return used > 0 ? 0 : -1;
        used += (size_t)got;
        text[used] = '\0';
        body = strstr(text, "\r\n\r\n");
        if (body != NULL && strncasecmp(tailback_header(text, "connection:"), "keep-alive", 10) == 0 &&
            strlen(body + 4) == strtoul(tailback_header(text, "content-length:"), NULL, 10))
            return 1;
    }
    return 0;
}

/* Sends one request about this job, with a body a POST, and reads the answer into `text`; 0 on any failure. A kept connection that the
 * server has just closed is replaced once. */
static int tailback_request(const char *what, const char *body, char *text, size_t size) {
    const char *url = getenv("TAILBACK_URL"), *token = getenv("TAILBACK_JOB_TOKEN"), *job = getenv("TAILBACK_JOB_ID");
    char host[256], request[2048];
    long long deadline = tailback_ms() + TAILBACK_LIMIT_MS;
    int fd, length, outcome = -1;
    if (job == NULL) job = getenv("SLURM_JOB_ID");
    if (url == NULL || job == NULL || !tailback_host(url, host, sizeof host)) return 0;
    length = snprintf(request, sizeof request,
                      "%s /api/v1/jobs/%s/%s HTTP/1.0\r\nHost: %s\r\nConnection: keep-alive\r\nContent-Type: application/json\r\n"
                      "Content-Length: %lu\r\n%s%s\r\n\r\n%s",
                      body[0] ? "POST" : "GET", job, what, host, (unsigned long)strlen(body),
                      token && token[0] ? "Authorization: Bearer " : "Accept: */*", token ? token : "", body);
    if (length <= 0 || (size_t)length >= sizeof request) return 0;
    fd = tailback_take(url);
    if (fd >= 0 && (outcome = tailback_exchange(fd, request, (size_t)length, text, size, deadline)) < 0) close(fd);
    if (outcome < 0) {
        fd = tailback_connect(url, host);
        if (fd < 0) return 0;
        outcome = tailback_exchange(fd, request, (size_t)length, text, size, deadline);
    }
    if (outcome > 0)
        tailback_keep(fd, url);
    else
        close(fd);
    return strncmp(text, "HTTP/1.0 20", 11) == 0 || strncmp(text, "HTTP/1.1 20", 11) == 0;
}

/* Sets the time of the next request: after one that worked in `s` seconds, after one that did not in twice the last pause. */
static void tailback_wait_for_next(struct tailback_pace *pace, int worked, long long s) {
    if (worked) pace->pause = TAILBACK_PAUSE_MS;
    pace->next = tailback_ms() + (worked ? s : 1) * pace->pause;
    if (!worked && pace->pause < TAILBACK_PAUSE_MAX_MS) pace->pause *= 2;
}

/* Rank of this process among those of the job step. */
static unsigned long tailback_rank(void) {
    static const char *const variables[] = {"SLURM_PROCID", "PMI_RANK", "OMPI_COMM_WORLD_RANK"};
    size_t at;
    for (at = 0; at < sizeof variables / sizeof *variables; at++) {
        const char *text = getenv(variables[at]);
        if (text != NULL && text[0] >= '0' && text[0] <= '9') return strtoul(text, NULL, 10);
    }
    return 0;
}

struct tailback_answer tailback_contention(void) {
    static const struct tailback_answer unknown = {TAILBACK_NOT_JUDGED, -1, -1, -1, -1, -1};
    static struct tailback_answer last = {TAILBACK_NOT_JUDGED, -1, -1, -1, -1, -1};
    static struct tailback_pace pace = {0, TAILBACK_PAUSE_MS};
    char text[4096];
    double again_s;
    int saved = errno;
    if (tailback_ms() < pace.next) return last;
    last = unknown;
    if (!tailback_request("contention", "", text, sizeof text)) {
        tailback_wait_for_next(&pace, 0, 1);
    } else {
        again_s = tailback_number(text, "\"ask_again_s\":");
        tailback_wait_for_next(&pace, 1, again_s > 1 && again_s <= 60 ? (long long)again_s : 1);
        if (strstr(text, "\"state\":\"clear\"") != NULL) last.state = TAILBACK_CLEAR;
        if (strstr(text, "\"state\":\"contended\"") != NULL) last.state = TAILBACK_CONTENDED;
        last.lost_s = tailback_number(text, "\"lost_s\":");
        last.lost_lo_s = tailback_number(text, "\"lost_lo_s\":");
        last.lost_hi_s = tailback_number(text, "\"lost_hi_s\":");
        last.since_s = tailback_number(text, "\"since_s\":");
        last.until_s = tailback_number(text, "\"until_s\":");
    }
    errno = saved;
    return last;
}

void tailback_progress(const char *name, unsigned long long count) {
    static struct {
        char name[TAILBACK_NAME_BYTES_MAX + 1];
        unsigned long long count;
        int is_unsent;
    } counts[TAILBACK_NAMES_MAX];
    static int names = 0;
    static struct tailback_pace pace = {0, TAILBACK_PAUSE_MS};
    char body[1024] = "[", text[512];
    size_t length = 1;
    int at = 0, saved = errno, worked;
    if (name == NULL) return;
    while (at < names && strcmp(counts[at].name, name) != 0) at++;
    if (at == names) {
        size_t bytes = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
        if (names == TAILBACK_NAMES_MAX || bytes == 0 || bytes > TAILBACK_NAME_BYTES_MAX || name[bytes] != '\0') return;
        strcpy(counts[names++].name, name);
    }
    counts[at].count = count;
    counts[at].is_unsent = 1;
    if (tailback_ms() < pace.next) return;
    /* The body has room for the longest of all names and counts. */
    for (at = 0; at < names; at++) {
        if (!counts[at].is_unsent) continue;
        length += (size_t)snprintf(body + length, sizeof body - length, "%s{\"name\":\"%s\",\"count\":%llu,\"rank\":%lu}", length > 1 ? "," : "",
                                   counts[at].name, counts[at].count, tailback_rank());
    }
    snprintf(body + length, sizeof body - length, "]");
    worked = tailback_request("progress", body, text, sizeof text);
    for (at = 0; worked && at < names; at++) counts[at].is_unsent = 0;
    tailback_wait_for_next(&pace, worked, 1);
    errno = saved;
}
#endif
