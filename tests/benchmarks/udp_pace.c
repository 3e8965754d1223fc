/* Datagrams at an even pace, and how long each was on its way by the kernel's clock.

   udp_pace FROM_PORT TO_PORT RATE SECONDS: sends to 127.0.0.1:TO_PORT what is to arrive at
   FROM_PORT; writes the microseconds that each datagram took, a line each. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

static int receiver;
static long long *taken;
static long count;

static long long in_ns(struct timespec t) { return t.tv_sec * 1000000000LL + t.tv_nsec; }

static void *receive(void *nothing) {
    char control[256];
    long long sent[12];
    for (;;) {
        struct iovec piece = {sent, sizeof sent};
        struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = control,
                                 .msg_controllen = sizeof control};
        if (recvmsg(receiver, &message, 0) < 16) return nothing;
        for (struct cmsghdr *one = CMSG_FIRSTHDR(&message); one; one = CMSG_NXTHDR(&message, one))
            if (one->cmsg_type == SO_TIMESTAMPNS) {
                struct timespec at;
                memcpy(&at, CMSG_DATA(one), sizeof at);
                taken[sent[1]] = in_ns(at) - sent[0];
            }
    }
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    long rate = atol(argv[3]);
    count = rate * atol(argv[4]);
    taken = calloc(count, sizeof *taken);
    int on = 1, queue = 1 << 22, sender = socket(AF_INET, SOCK_DGRAM, 0);
    receiver = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1])),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval patience = {1, 0};
    setsockopt(receiver, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    setsockopt(receiver, SOL_SOCKET, SO_RCVBUF, &queue, sizeof queue);
    setsockopt(receiver, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (bind(receiver, (struct sockaddr *)&at, sizeof at)) return 3;
    at.sin_port = htons(atoi(argv[2]));
    pthread_t thread;
    pthread_create(&thread, NULL, receive, NULL);
    struct timespec due, now;
    clock_gettime(CLOCK_MONOTONIC, &due);
    for (long n = 0; n < count; ++n) {
        due.tv_nsec += 1000000000L / rate;
        if (due.tv_nsec >= 1000000000L) due.tv_nsec -= 1000000000L, ++due.tv_sec;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
        clock_gettime(CLOCK_REALTIME, &now);
        long long data[12] = {in_ns(now), n}; /* 96 bytes, as a small packet of a game */
        sendto(sender, data, sizeof data, 0, (struct sockaddr *)&at, sizeof at);
    }
    pthread_join(thread, NULL);
    for (long n = 0; n < count; ++n) printf("%.1f\n", taken[n] ? taken[n] / 1e3 : -1.0);
    return 0;
}
