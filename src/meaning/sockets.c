// SPDX-License-Identifier: BSD-2-Clause
/* The names of what calls and events about sockets carry. */

#include "meaning/family-priv.h"

#include <netinet/in.h>
#include <sys/socket.h>

static const struct meaning_row family_rows[] = {
	MEANING_ONE(AF_UNSPEC),  MEANING_ONE(AF_UNIX),      MEANING_AS("AF_LOCAL", AF_UNIX),
	MEANING_ONE(AF_INET),    MEANING_ONE(AF_INET6),     MEANING_ONE(AF_AX25),
	MEANING_ONE(AF_IPX),     MEANING_ONE(AF_APPLETALK), MEANING_ONE(AF_X25),
	MEANING_ONE(AF_KEY),     MEANING_ONE(AF_NETLINK),   MEANING_ONE(AF_PACKET),
	MEANING_ONE(AF_RDS),     MEANING_ONE(AF_PPPOX),     MEANING_ONE(AF_CAN),
	MEANING_ONE(AF_TIPC),    MEANING_ONE(AF_BLUETOOTH), MEANING_ONE(AF_ALG),
	MEANING_ONE(AF_NFC),     MEANING_ONE(AF_VSOCK),     MEANING_ONE(AF_KCM),
	MEANING_ONE(AF_QIPCRTR), MEANING_ONE(AF_SMC),       MEANING_ONE(AF_XDP),
};

const struct meaning_family meaning_socket_family = MEANING_FAMILY(family_rows);

static const struct meaning_row type_rows[] = {
	MEANING_PART(15, SOCK_STREAM), MEANING_PART(15, SOCK_DGRAM),     MEANING_PART(15, SOCK_RAW),
	MEANING_PART(15, SOCK_RDM),    MEANING_PART(15, SOCK_SEQPACKET), MEANING_PART(15, SOCK_DCCP),
	MEANING_PART(15, SOCK_PACKET), MEANING_BIT(SOCK_CLOEXEC),        MEANING_BIT(SOCK_NONBLOCK),
};

const struct meaning_family meaning_socket_type = MEANING_FAMILY(type_rows);

static const struct meaning_row protocol_rows[] = {
	MEANING_ONE(IPPROTO_ICMP),   MEANING_ONE(IPPROTO_IGMP),        MEANING_ONE(IPPROTO_TCP),
	MEANING_ONE(IPPROTO_UDP),    MEANING_ONE(IPPROTO_DCCP),        MEANING_ONE(IPPROTO_IPV6),
	MEANING_ONE(IPPROTO_GRE),    MEANING_ONE(IPPROTO_ESP),         MEANING_ONE(IPPROTO_AH),
	MEANING_ONE(IPPROTO_ICMPV6), MEANING_ONE(IPPROTO_SCTP),        MEANING_ONE(IPPROTO_UDPLITE),
	MEANING_ONE(IPPROTO_RAW),    MEANING_AS("IPPROTO_MPTCP", 262),
};

const struct meaning_family meaning_protocol = MEANING_FAMILY(protocol_rows);

static const struct meaning_row message_rows[] = {
	MEANING_BIT_AS("MSG_OOB", 1),
	MEANING_BIT_AS("MSG_PEEK", 2),
	MEANING_BIT_AS("MSG_DONTROUTE", 4),
	MEANING_BIT_AS("MSG_CTRUNC", 8),
	MEANING_BIT_AS("MSG_TRUNC", 0x20),
	MEANING_BIT_AS("MSG_DONTWAIT", 0x40),
	MEANING_BIT_AS("MSG_EOR", 0x80),
	MEANING_BIT_AS("MSG_WAITALL", 0x100),
	MEANING_BIT_AS("MSG_CONFIRM", 0x800),
	MEANING_BIT_AS("MSG_ERRQUEUE", 0x2000),
	MEANING_BIT_AS("MSG_NOSIGNAL", 0x4000),
	MEANING_BIT_AS("MSG_MORE", 0x8000),
	MEANING_BIT_AS("MSG_WAITFORONE", 0x10000),
	MEANING_BIT_AS("MSG_ZEROCOPY", 0x4000000),
	MEANING_BIT_AS("MSG_FASTOPEN", 0x20000000),
	MEANING_BIT_AS("MSG_CMSG_CLOEXEC", 0x40000000),
};

const struct meaning_family meaning_message = MEANING_FAMILY(message_rows);

static const struct meaning_row shutdown_rows[] = {
	MEANING_ONE(SHUT_RD),
	MEANING_ONE(SHUT_WR),
	MEANING_ONE(SHUT_RDWR),
};

const struct meaning_family meaning_shutdown = MEANING_FAMILY(shutdown_rows);

static const struct meaning_row level_rows[] = {
	MEANING_ONE(SOL_SOCKET),        MEANING_AS("SOL_IP", 0),    MEANING_AS("SOL_TCP", 6),
	MEANING_AS("SOL_UDP", 17),      MEANING_AS("SOL_IPV6", 41), MEANING_AS("SOL_PACKET", 263),
	MEANING_AS("SOL_NETLINK", 270),
};

const struct meaning_family meaning_socket_level = MEANING_FAMILY(level_rows);

static const struct meaning_row tcp_flag_rows[] = {
	MEANING_BIT_AS("FIN", 1),  MEANING_BIT_AS("SYN", 2),  MEANING_BIT_AS("RST", 4),  MEANING_BIT_AS("PSH", 8),
	MEANING_BIT_AS("ACK", 16), MEANING_BIT_AS("URG", 32), MEANING_BIT_AS("ECE", 64), MEANING_BIT_AS("CWR", 128),
};

const struct meaning_family meaning_tcp_flags = MEANING_FAMILY(tcp_flag_rows);

static const struct meaning_row tcp_state_rows[] = {
	MEANING_AS("TCP_ESTABLISHED", 1), MEANING_AS("TCP_SYN_SENT", 2),   MEANING_AS("TCP_SYN_RECV", 3),
	MEANING_AS("TCP_FIN_WAIT1", 4),   MEANING_AS("TCP_FIN_WAIT2", 5),  MEANING_AS("TCP_TIME_WAIT", 6),
	MEANING_AS("TCP_CLOSE", 7),       MEANING_AS("TCP_CLOSE_WAIT", 8), MEANING_AS("TCP_LAST_ACK", 9),
	MEANING_AS("TCP_LISTEN", 10),     MEANING_AS("TCP_CLOSING", 11),   MEANING_AS("TCP_NEW_SYN_RECV", 12),
};

const struct meaning_family meaning_tcp_state = MEANING_FAMILY(tcp_state_rows);
