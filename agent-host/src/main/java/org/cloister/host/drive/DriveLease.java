package org.cloister.host.drive;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.ticket.Ticket;

/**
 * Content of the lease file beside a drive. Its JSON is read only if every key is known and every value in its range.
 *
 * @param epoch the highest epoch with which the drive was acquired; it never decreases
 * @param holder with that epoch; empty once it has released the drive
 * @param earlierHolders holders with earlier epochs whose VMs are not known to be gone
 */
record DriveLease(long epoch, Optional<LeaseHolder> holder, List<LeaseHolder> earlierHolders) {
    static final int MAX_BYTES = 16 * 1024;
    /**
     * Maximum of earlier holders. Each acquired the drive while its predecessor was not known to be gone, and has
     * released nothing since.
     */
    static final int MAX_BEFORE = 16;

    private static final String FORMAT = "cloister-drive-lease/1";

    /** @throws IllegalArgumentException if a value is out of its range, or two values contradict each other */
    DriveLease {
        earlierHolders = List.copyOf(earlierHolders);
        if (epoch < 1 || epoch > Ticket.MAX_COUNT) {
            throw new IllegalArgumentException("epoch: want 1 to " + Ticket.MAX_COUNT + ", have " + epoch);
        }
        if (holder.isPresent() && holder.get().epoch() != epoch) {
            throw new IllegalArgumentException("holder: want epoch " + epoch + ", have " + holder.get());
        }
        if (earlierHolders.size() > MAX_BEFORE) {
            throw new IllegalArgumentException(
                    "before: want at most " + MAX_BEFORE + ", have " + earlierHolders.size());
        }
        for (LeaseHolder each : earlierHolders) {
            if (each.epoch() >= epoch) {
                throw new IllegalArgumentException("before: want epochs below " + epoch + ", have " + each);
            }
        }
    }

    /** Returns the lease after a later epoch acquired the drive; earlier holders stay listed, as they may still run. */
    DriveLease acquiredBy(LeaseHolder next) {
        List<LeaseHolder> earlier = new ArrayList<>(earlierHolders);
        holder.ifPresent(earlier::add);
        return new DriveLease(next.epoch(), Optional.of(next), earlier);
    }

    boolean isHeldBy(LeaseHolder other) {
        return holder.filter(other::isSame).isPresent();
    }

    boolean mentions(LeaseHolder other) {
        return isHeldBy(other) || earlierHolders.stream().anyMatch(other::isSame);
    }

    /** Returns the lease without a holder, nothing of whose VM is left. */
    DriveLease without(LeaseHolder former) {
        return new DriveLease(
                epoch,
                holder.filter(each -> !each.isSame(former)),
                earlierHolders.stream().filter(each -> !each.isSame(former)).toList());
    }

    DriveLease withoutEarlier() {
        return new DriveLease(epoch, holder, List.of());
    }

    byte[] write() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("format", FORMAT).put("epoch", epoch);
        holder.ifPresent(each -> write(each, json));
        if (!earlierHolders.isEmpty()) {
            ArrayNode earlier = json.putArray("before");
            earlierHolders.forEach(each -> write(each, earlier.addObject().put("epoch", each.epoch())));
        }
        return json.toString().getBytes(StandardCharsets.US_ASCII);
    }

    private static void write(LeaseHolder holder, ObjectNode json) {
        json.put("host", holder.host()).put("opening", holder.opening()).put("seconds", holder.seconds());
    }

    /**
     * Reads a lease.
     *
     * @throws MalformedException if it does not have the form that {@link #write} produces
     */
    static DriveLease read(byte[] document) throws MalformedException {
        try {
            StrictJson json = StrictJson.read(document, MAX_BYTES);
            json.requireFormat(FORMAT);
            long epoch = json.number("epoch", 1, Ticket.MAX_COUNT);
            Optional<LeaseHolder> holder = json.has("host") ? Optional.of(holder(epoch, json)) : Optional.empty();
            List<LeaseHolder> before = new ArrayList<>();
            if (json.has("before")) {
                for (StrictJson each : json.objects("before", MAX_BEFORE)) {
                    before.add(holder(each.number("epoch", 1, Ticket.MAX_COUNT), each));
                    each.requireNothingElse();
                }
            }
            json.requireNothingElse();
            return new DriveLease(epoch, holder, before);
        } catch (IllegalArgumentException e) {
            throw new MalformedException(e.getMessage(), e);
        }
    }

    private static LeaseHolder holder(long epoch, StrictJson json) throws MalformedException {
        return new LeaseHolder(
                epoch, json.text("host"), json.text("opening"), (int) json.number("seconds", 1, Integer.MAX_VALUE));
    }
}
