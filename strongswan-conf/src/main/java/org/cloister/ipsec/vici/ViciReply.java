package org.cloister.ipsec.vici;

import java.util.List;

/**
 * What a command gave.
 *
 * @param stream the events that came while it ran, such as one an SA for {@code list-sas}
 */
public record ViciReply(ViciMessage message, List<ViciMessage> stream) {
    public ViciReply {
        stream = List.copyOf(stream);
    }
}
