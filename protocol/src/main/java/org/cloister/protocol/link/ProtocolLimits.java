package org.cloister.protocol.link;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Limits of docs/protocol.md, section 16, that are the same for all parties. That section gives the reason for each.
 */
public final class ProtocolLimits {
    public static final Duration TLS_HANDSHAKE = Duration.ofSeconds(10);
    public static final Duration FIRST_REQUEST = Duration.ofSeconds(10);
    public static final Duration MESSAGE_TIME = Duration.ofSeconds(10);
    public static final Duration DIAL_BACK = Duration.ofSeconds(10);
    public static final Duration HELLO_TIME = Duration.ofSeconds(10);
    public static final Duration TOTAL = Duration.ofHours(24);
    public static final Duration PING = Duration.ofSeconds(15);
    public static final Duration DEAD = Duration.ofSeconds(45);
    public static final Duration REVOCATIONS = Duration.ofSeconds(5);
    public static final Duration MARK_TIME = Duration.ofSeconds(30);
    public static final int HEADER_LIST_BYTES = 8192;
    public static final int FRAME_BYTES = 16384;
    public static final int STREAMS = 1024;
    public static final int STREAM_WINDOW_BYTES = 32768;
    public static final int DEVICE_STREAMS = 128;
    public static final int DEVICE_STREAM_WINDOW_BYTES = 262144;
    /** All streams' windows, of either kind of link. */
    public static final int CONNECTION_WINDOW_BYTES = STREAMS * STREAM_WINDOW_BYTES;

    public static final int RESETS = 200;
    public static final Duration RESETS_WITHIN = Duration.ofSeconds(30);
    public static final int AGENT_MESSAGE_BYTES = 4096;
    public static final int RELAY_MESSAGE_BYTES = 1049600;
    /**
     * Larger than other agents' limit, because the site's registration authority delivers revocation lists to a relay.
     */
    public static final int AUTHORITY_MESSAGE_BYTES = RELAY_MESSAGE_BYTES;

    public static final int RENEWAL_REQUEST_BYTES = 3072;
    public static final int RENEWAL_CERTIFICATE_BYTES = 4096;
    public static final Duration RENEWAL_TIME = Duration.ofSeconds(30);
    public static final Duration RENEWAL_PAUSE = Duration.ofSeconds(5);
    public static final int RENEWALS = 32;
    /** Links of hosts whose certificate has expired and of machines that join, which may ask for one alone. */
    public static final int RENEWAL_LINKS = 256;

    public static final Duration RENEWAL_LINK_TIME = Duration.ofSeconds(60);
    public static final int HELLO_BYTES = 1024;
    public static final int AGENT_TICKET_MESSAGE_BYTES = 16384;
    public static final int RELAY_TICKET_MESSAGE_BYTES = 5308416;
    public static final int UNANSWERED = 64;
    public static final int PENDING_UPDATES = 8192;
    public static final int UNWRITTEN_BYTES = 262144;
    public static final int UNWRITTEN_LONG_BYTES = 16777216;
    public static final int UNWRITTEN_PROJECT_BYTES = 33554432;
    public static final int UNWRITTEN_ALL_BYTES = 134217728;
    public static final int TICKET_STREAMS = 8;
    public static final int PROJECT_STREAMS = 128;
    public static final int PROJECT_WORK = 400;
    public static final int PROJECT_BURST = 4000;
    public static final int PROJECT_AT_ONCE = 256;
    public static final Duration WORK_TIME = Duration.ofSeconds(5);
    public static final int AGENT_MESSAGES_PER_SECOND = 1000;
    public static final int REQUESTS = 200;
    public static final int DEVICE_REQUESTS = 10;
    public static final int ATTACH_QUEUE = 1024;
    public static final int ATTACH_QUEUE_BYTES = 262144;
    public static final int SERVED = 64;
    public static final int LISTS = 64;
    public static final int MARK_DROPPED_BYTES = 16777216;
    public static final int CHANNEL_UNREAD_BYTES = 1048576;
    public static final int VM_CIRCUITS = 576;
    public static final int VM_MESSAGES = 2000;
    public static final int EVIDENCE_BYTES = 262144;
    public static final Duration EVIDENCE_PAUSE = Duration.ofSeconds(1);
    public static final Duration ANSWER_TIME = Duration.ofSeconds(20);
    public static final int ASSIGNMENT_BYTES = 1056768;
    public static final int BOOTING_VM_MESSAGE_BYTES = 262144;
    public static final int BOOT_MESSAGES = 100;
    public static final int BOOT_CIRCUITS = 8;
    public static final Duration EVIDENCE_TIME = Duration.ofSeconds(60);
    public static final int HAND_OVER_BYTES = 1048576;
    public static final int UNLOCK_BYTES = 3014656;

    public static final int ACCESS_BYTES = 2048;
    public static final Duration ACCESS_TIME = Duration.ofSeconds(30);

    private ProtocolLimits() {}

    /** Returns the limits by their names in the document; times are in seconds. */
    public static Map<String, Long> table() {
        Map<String, Long> table = new LinkedHashMap<>();
        table.put("tls-handshake", TLS_HANDSHAKE.toSeconds());
        table.put("first-request", FIRST_REQUEST.toSeconds());
        table.put("header-list", (long) HEADER_LIST_BYTES);
        table.put("frame", (long) FRAME_BYTES);
        table.put("streams", (long) STREAMS);
        table.put("stream-window", (long) STREAM_WINDOW_BYTES);
        table.put("device-streams", (long) DEVICE_STREAMS);
        table.put("device-stream-window", (long) DEVICE_STREAM_WINDOW_BYTES);
        table.put("connection-window", (long) CONNECTION_WINDOW_BYTES);
        table.put("resets", (long) RESETS);
        table.put("from-agent", (long) AGENT_MESSAGE_BYTES);
        table.put("from-relay", (long) RELAY_MESSAGE_BYTES);
        table.put("from-desk", (long) AUTHORITY_MESSAGE_BYTES);
        table.put("renewal-request", (long) RENEWAL_REQUEST_BYTES);
        table.put("renewal-certificate", (long) RENEWAL_CERTIFICATE_BYTES);
        table.put("renewal-time", RENEWAL_TIME.toSeconds());
        table.put("renewal-pause", RENEWAL_PAUSE.toSeconds());
        table.put("renewals", (long) RENEWALS);
        table.put("renewal-links", (long) RENEWAL_LINKS);
        table.put("renewal-link", RENEWAL_LINK_TIME.toSeconds());
        putTickets(table);
        table.put("hello", (long) HELLO_BYTES);
        table.put("hello-time", HELLO_TIME.toSeconds());
        table.put("message-time", MESSAGE_TIME.toSeconds());
        table.put("attach-queue", (long) ATTACH_QUEUE);
        table.put("attach-queue-bytes", (long) ATTACH_QUEUE_BYTES);
        table.put("lists", (long) LISTS);
        table.put("served", (long) SERVED);
        table.put("dial-back", DIAL_BACK.toSeconds());
        table.put("total", TOTAL.toSeconds());
        table.put("ping", PING.toSeconds());
        table.put("dead", DEAD.toSeconds());
        table.put("revocations", REVOCATIONS.toSeconds());
        table.put("mark-time", MARK_TIME.toSeconds());
        table.put("mark-dropped", (long) MARK_DROPPED_BYTES);
        table.put("channel-unread", (long) CHANNEL_UNREAD_BYTES);
        table.put("vm-circuits", (long) VM_CIRCUITS);
        table.put("vm-words", (long) VM_MESSAGES);
        table.put("evidence", (long) EVIDENCE_BYTES);
        table.put("evidence-pause", EVIDENCE_PAUSE.toSeconds());
        table.put("answer-time", ANSWER_TIME.toSeconds());
        table.put("assignment", (long) ASSIGNMENT_BYTES);
        table.put("from-booting", (long) BOOTING_VM_MESSAGE_BYTES);
        table.put("boot-words", (long) BOOT_MESSAGES);
        table.put("boot-circuits", (long) BOOT_CIRCUITS);
        table.put("evidence-time", EVIDENCE_TIME.toSeconds());
        table.put("hand-over", (long) HAND_OVER_BYTES);
        table.put("unlock", (long) UNLOCK_BYTES);
        table.put("access", (long) ACCESS_BYTES);
        table.put("access-time", ACCESS_TIME.toSeconds());
        table.put("clear-bytes", 0L);
        return table;
    }

    private static void putTickets(Map<String, Long> table) {
        table.put("from-party", (long) AGENT_TICKET_MESSAGE_BYTES);
        table.put("from-office", (long) RELAY_TICKET_MESSAGE_BYTES);
        table.put("unanswered", (long) UNANSWERED);
        table.put("untold", (long) PENDING_UPDATES);
        table.put("unwritten", (long) UNWRITTEN_BYTES);
        table.put("unwritten-long", (long) UNWRITTEN_LONG_BYTES);
        table.put("unwritten-project", (long) UNWRITTEN_PROJECT_BYTES);
        table.put("unwritten-all", (long) UNWRITTEN_ALL_BYTES);
        table.put("ticket-streams", (long) TICKET_STREAMS);
        table.put("project-streams", (long) PROJECT_STREAMS);
        table.put("project-work", (long) PROJECT_WORK);
        table.put("project-burst", (long) PROJECT_BURST);
        table.put("project-at-once", (long) PROJECT_AT_ONCE);
        table.put("work-time", WORK_TIME.toSeconds());
        table.put("agent-words", (long) AGENT_MESSAGES_PER_SECOND);
        table.put("requests", (long) REQUESTS);
        table.put("device-requests", (long) DEVICE_REQUESTS);
    }
}
