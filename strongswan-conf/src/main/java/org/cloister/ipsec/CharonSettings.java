package org.cloister.ipsec;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.cloister.base.file.WorldReadableFile;
import org.jspecify.annotations.Nullable;

/**
 * {@code strongswan.conf} of a VM's charon; stored on tmpfs, contains nothing secret. charon reads it from the path in
 * its environment's {@code STRONGSWAN_CONF}.
 *
 * @param socket the socket on which charon listens for vici
 * @param log a file for charon's log, or null for the journal
 */
public record CharonSettings(
        Path socket, EspMode esp, @Nullable Path log) {
    /** Silence of a peer after which charon probes it (dead peer detection). */
    public static final Duration DPD_DELAY = Duration.ofSeconds(3);

    /**
     * Number of retransmissions: unanswered messages are sent again after a second, four times. So a dead peer is
     * detected after {@code DPD_DELAY} + 5 s, and an initiator that starts too early reaches its peer within a second
     * of the peer's start. charon's defaults give 165 s, and a growing pause.
     */
    private static final int RETRANSMITS = 4;

    /** Time after which a dead peer is detected. */
    public static final Duration DEAD_AFTER = DPD_DELAY.plusSeconds(1 + RETRANSMITS);

    /** Marks IKE and ESP packets of charon's, so that they pass the policies that they carry out. */
    private static final String MARK = "0x42";

    private static final List<String> PLUGINS = List.of(
            "random",
            "nonce",
            "aes",
            "sha1",
            "sha2",
            "hmac",
            "kdf",
            "pem",
            "pkcs1",
            "pkcs8",
            "x509",
            "revocation",
            "constraints",
            "pubkey",
            "openssl",
            "gcm",
            "kernel-netlink",
            "socket-default",
            "vici");

    public CharonSettings {
        requirePlain(socket);
        if (log != null) {
            requirePlain(log);
        }
    }

    /** Writes the file and replaces it as a whole. */
    public void write(Path file) throws IOException {
        WorldReadableFile.replace(file, render().getBytes(StandardCharsets.UTF_8));
    }

    public String render() {
        // kernel-libipsec must come before kernel-netlink, which would also handle ESP.
        String plugins = (esp == EspMode.USERSPACE ? "kernel-libipsec " : "") + String.join(" ", PLUGINS);
        return """
                charon-systemd {
                  load = %s
                  retransmit_tries = %d
                  retransmit_timeout = 1.0
                  retransmit_base = 1.0
                  make_before_break = yes
                  send_vendor_id = no
                %s  plugins {
                    vici {
                      socket = unix://%s
                    }
                    socket-default {
                      use_ipv6 = no
                %s    }
                %s  }
                }
                """.formatted(
                        plugins,
                        RETRANSMITS,
                        logging(),
                        socket,
                        esp == EspMode.USERSPACE ? "      fwmark = " + MARK + "\n" : "",
                        esp == EspMode.USERSPACE ? userspace() : kernel());
    }

    /**
     * Returns the logging section. Level 1 has no keys; they start at 4. Received and sent packets are not logged:
     * every peer is probed every few seconds, and a bounded log would lose other events within minutes.
     */
    private String logging() {
        return log == null ? "  journal {\n    default = 1\n  }\n" : """
                  journal {
                    default = -1
                  }
                  filelog {
                    file {
                      path = %s
                      default = 1
                      enc = 0
                      net = 0
                      flush_line = yes
                    }
                  }
                """.formatted(log);
    }

    /**
     * Returns the kernel settings. The time is how long the kernel reports no further packet, and reserves an SPI for a
     * tunnel that is being set up.
     */
    private static String kernel() {
        return """
                    kernel-netlink {
                      xfrm_acq_expires = %d
                    }
                """.formatted(1 + RETRANSMITS);
    }

    private static String userspace() {
        return """
                    kernel-netlink {
                      fwmark = !%1$s
                    }
                    kernel-libipsec {
                      fwmark = %1$s
                      load = yes
                      allow_peer_ts = yes
                    }
                """.formatted(MARK);
    }

    private static void requirePlain(Path path) {
        if (!path.isAbsolute() || !path.toString().matches("[A-Za-z0-9/._-]+")) {
            throw new IllegalArgumentException(
                    "path for strongswan.conf: want an absolute one of letters, digits and /._-, have " + path);
        }
    }
}
