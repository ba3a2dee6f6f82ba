package org.cloister.vm.controller.tickets;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.ticket.Ticket;

/**
 * A ticket as its controlling VM stores it.
 *
 * @param ticket unchanged whenever it is signed again: a relay identifies it by its digest
 */
record StoredTicket(Ticket ticket, State state) {
    /** Limit of the file's size, in bytes. */
    static final int MAX_BYTES = 8 * 1024;

    private static final String FORMAT = "cloister-vm-ticket-v1";

    enum State {
        /** A relay may have received it. */
        ORDERED,
        /** A relay has it. */
        TAKEN,
        /** The job has run: the VMs are to end by themselves. */
        RELEASED,
        /** No longer needed. */
        WITHDRAWN;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }

        private static State of(String word) throws MalformedException {
            return Arrays.stream(values())
                    .filter(each -> each.toString().equals(word))
                    .findFirst()
                    .orElseThrow(() -> new MalformedException("state: unknown " + StrictJson.quoted(word)));
        }
    }

    String id() {
        return ticket.id();
    }

    /** Returns whether the ticket is to end. */
    boolean isClosing() {
        return state == State.RELEASED || state == State.WITHDRAWN;
    }

    StoredTicket withState(State now) {
        return new StoredTicket(ticket, now);
    }

    static StoredTicket read(byte[] file) throws MalformedException {
        StrictJson json = StrictJson.read(file, MAX_BYTES);
        json.requireFormat(FORMAT);
        StoredTicket stored =
                new StoredTicket(Ticket.parse(json.base64("ticket", Ticket.MAX_BYTES)), State.of(json.text("state")));
        json.requireNothingElse();
        return stored;
    }

    byte[] write() {
        return JsonNodeFactory.instance
                .objectNode()
                .put("format", FORMAT)
                .put("state", state.toString())
                .put("ticket", BinaryText.base64(ticket.payload()))
                .toString()
                .getBytes(StandardCharsets.UTF_8);
    }
}
