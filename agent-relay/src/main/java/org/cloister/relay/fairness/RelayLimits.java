package org.cloister.relay.fairness;

import java.time.Duration;

/**
 * Limits of docs/protocol.md, section 16, that a site may set.
 *
 * @param links maximum number of connections at one time
 * @param handshakes maximum number of connections at one time that have not made a request yet
 * @param projectCircuits maximum number of circuits of one project at one time
 * @param projectOpens maximum number of new circuits per second of one project; bursts may be
 *     {@value #OPENS_BURST} times as large, so that all workers of a large job are admitted at once
 * @param idle time after which a circuit that carried no bytes in either direction is closed
 * @param drain time that open circuits have to finish when the relay stops
 */
public record RelayLimits(
        int links, int handshakes, int projectCircuits, int projectOpens, Duration idle, Duration drain) {
    static final int OPENS_BURST = 20;
    public static final RelayLimits DEFAULT =
            new RelayLimits(20_000, 200, 640, 50, Duration.ofHours(1), Duration.ofSeconds(20));
}
