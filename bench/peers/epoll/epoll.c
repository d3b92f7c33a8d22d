// The kernel's limit: one thread that reads what has come on a connection and writes the same answer for it, whatever
// it was: epoll PORT FILE, whose bytes are the answer.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

static char answer[65536], request[65536];
static struct epoll_event events[256];

static int watch(int poll, int fd) {
	struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
	return epoll_ctl(poll, EPOLL_CTL_ADD, fd, &e);
}

int main(int argc, char **argv) {
	if (argc != 3)
		return 2;
	int one = 1, size = read(open(argv[2], O_RDONLY), answer, sizeof answer);
	int listener = socket(AF_INET, SOCK_STREAM, 0), poll = epoll_create1(0);
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1]))};
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (size <= 0 || bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 4096) || watch(poll, listener)) {
		perror("epoll");
		return 1;
	}
	for (;;) {
		int n = epoll_wait(poll, events, 256, -1);
		for (int i = 0; i < n; i++) {
			int fd = events[i].data.fd;
			if (fd == listener) {
				fd = accept(listener, 0, 0);
				setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
				watch(poll, fd);
			} else if (read(fd, request, sizeof request) <= 0 || write(fd, answer, size) != size) {
				close(fd);
			}
		}
	}
}
