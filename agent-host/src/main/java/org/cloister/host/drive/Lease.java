package org.cloister.host.drive;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.StrictJson;
import org.cloister.protocol.ticket.Ticket;

/**
 * What lies beside a drive. As JSON every key is known and every value in its range, or none of it is read.
 *
 * @param epoch the highest that anybody took the drive by; it never falls
 * @param holder by that epoch; empty once it has let go
 * @param before holders by earlier epochs, of whom nobody has said that their VMs are gone
 */
record Lease(long epoch, Optional<Holder> holder, List<Holder> before) {
    static final int MAX_BYTES = 16 * 1024;
    /** Each one of them took the drive from a holder that was not known to be gone, and let go of nothing since. */
    static final int MAX_BEFORE = 16;

    private static final String FORMAT = "cloister-drive-lease/1";

    /** @throws IllegalArgumentException if a value is out of its range, or two do not go together */
    Lease {
        before = List.copyOf(before);
        if (epoch < 1 || epoch > Ticket.MAX_COUNT) {
            throw new IllegalArgumentException("epoch: want 1 to " + Ticket.MAX_COUNT + ", have " + epoch);
        }
        if (holder.isPresent() && holder.get().epoch() != epoch) {
            throw new IllegalArgumentException("holder: want epoch " + epoch + ", have " + holder.get());
        }
        if (before.size() > MAX_BEFORE) {
            throw new IllegalArgumentException("before: want at most " + MAX_BEFORE + ", have " + before.size());
        }
        for (Holder each : before) {
            if (each.epoch() >= epoch) {
                throw new IllegalArgumentException("before: want epochs below " + epoch + ", have " + each);
            }
        }
    }

    /** Somebody's by a later epoch; who was there may still be. */
    Lease taken(Holder next) {
        List<Holder> earlier = new ArrayList<>(before);
        holder.ifPresent(earlier::add);
        return new Lease(next.epoch(), Optional.of(next), earlier);
    }

    boolean isOf(Holder other) {
        return holder.filter(other::isSame).isPresent();
    }

    boolean names(Holder other) {
        return isOf(other) || before.stream().anyMatch(other::isSame);
    }

    /** Nothing of that holder's VM is there any more. */
    Lease without(Holder gone) {
        return new Lease(
                epoch,
                holder.filter(each -> !each.isSame(gone)),
                before.stream().filter(each -> !each.isSame(gone)).toList());
    }

    Lease withoutEarlier() {
        return new Lease(epoch, holder, List.of());
    }

    byte[] write() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("format", FORMAT).put("epoch", epoch);
        holder.ifPresent(each -> write(each, json));
        if (!before.isEmpty()) {
            ArrayNode earlier = json.putArray("before");
            before.forEach(each -> write(each, earlier.addObject().put("epoch", each.epoch())));
        }
        return json.toString().getBytes(StandardCharsets.US_ASCII);
    }

    private static void write(Holder holder, ObjectNode json) {
        json.put("host", holder.host()).put("opening", holder.opening()).put("seconds", holder.seconds());
    }

    /** @throws MalformedException if it is not what {@link #write} makes */
    static Lease read(byte[] document) throws MalformedException {
        try {
            StrictJson json = StrictJson.read(document, MAX_BYTES);
            json.requireFormat(FORMAT);
            long epoch = json.number("epoch", 1, Ticket.MAX_COUNT);
            Optional<Holder> holder = json.has("host") ? Optional.of(holder(epoch, json)) : Optional.empty();
            List<Holder> before = new ArrayList<>();
            if (json.has("before")) {
                for (StrictJson each : json.objects("before", MAX_BEFORE)) {
                    before.add(holder(each.number("epoch", 1, Ticket.MAX_COUNT), each));
                    each.requireNothingElse();
                }
            }
            json.requireNothingElse();
            return new Lease(epoch, holder, before);
        } catch (IllegalArgumentException e) {
            throw new MalformedException(e.getMessage(), e);
        }
    }

    private static Holder holder(long epoch, StrictJson json) throws MalformedException {
        return new Holder(
                epoch, json.text("host"), json.text("opening"), (int) json.number("seconds", 1, Integer.MAX_VALUE));
    }
}
