package org.cloister.relay;

import java.time.Duration;

/**
 * The limits of docs/protocol.md, section 16, that a site may set.
 *
 * @param links connections at a time
 * @param handshakes connections at a time that have not made a request yet
 * @param projectCircuits at a time, of one project
 * @param projectOpens a second, of one project; bursts of twice that
 * @param idle nothing passed through a circuit, either way
 * @param drain what open circuits get when the relay stops
 */
public record RelayLimits(
        int links, int handshakes, int projectCircuits, int projectOpens, Duration idle, Duration drain) {
    public static final RelayLimits DEFAULT =
            new RelayLimits(20_000, 200, 512, 50, Duration.ofHours(1), Duration.ofSeconds(20));
}
