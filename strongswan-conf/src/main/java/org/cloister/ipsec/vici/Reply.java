package org.cloister.ipsec.vici;

import java.util.List;

/**
 * What a command gave.
 *
 * @param stream the events that came while it ran, such as one an SA for {@code list-sas}
 */
public record Reply(Message message, List<Message> stream) {
    public Reply {
        stream = List.copyOf(stream);
    }
}
