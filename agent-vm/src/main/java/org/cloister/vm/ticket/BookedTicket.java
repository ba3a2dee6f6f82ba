package org.cloister.vm.ticket;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import org.cloister.protocol.BinaryText;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.StrictJson;
import org.cloister.protocol.ticket.Ticket;

/**
 * A ticket as its controlling VM keeps it.
 *
 * @param ticket as it was signed, whenever it is signed again: a relay knows it by its digest
 */
record BookedTicket(Ticket ticket, State state) {
    /** Of the file. */
    static final int MAX_BYTES = 8 * 1024;

    private static final String FORMAT = "cloister-vm-ticket-v1";

    enum State {
        /** A relay may have heard of it. */
        ORDERED,
        /** A relay has it. */
        TAKEN,
        /** Its job has run: its VMs are to end by themselves. */
        RELEASED,
        /** Nobody needs it. */
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

    /** Whether nothing is to come of it any more. */
    boolean leaves() {
        return state == State.RELEASED || state == State.WITHDRAWN;
    }

    BookedTicket in(State now) {
        return new BookedTicket(ticket, now);
    }

    static BookedTicket read(byte[] file) throws MalformedException {
        StrictJson json = StrictJson.read(file, MAX_BYTES);
        json.requireFormat(FORMAT);
        BookedTicket booked =
                new BookedTicket(Ticket.parse(json.base64("ticket", Ticket.MAX_BYTES)), State.of(json.text("state")));
        json.requireNothingElse();
        return booked;
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
