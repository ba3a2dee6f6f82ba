package org.cloister.ipsec.vici;

import java.util.List;

/**
 * Result of a command.
 *
 * @param stream the events that arrived while it ran, such as one for each SA from {@code list-sas}
 */
public record ViciReply(ViciMessage message, List<ViciMessage> stream) {
    public ViciReply {
        stream = List.copyOf(stream);
    }
}
