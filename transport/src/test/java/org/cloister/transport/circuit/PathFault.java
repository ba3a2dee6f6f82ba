package org.cloister.transport.circuit;

import java.util.ArrayList;
import java.util.List;

/**
 * Fault on a circuit's path, at a TLS record of one direction: an untrusted relay sees records and not messages, and
 * each message of a conversation is one record or more.
 *
 * @param record counted from 0, the handshake's among them
 */
public record PathFault(Direction direction, int record, Kind kind) {
    /** Receiver of the record. */
    public enum Direction {
        TO_TARGET,
        TO_OPENER
    }

    /** Effect on the record and on the circuit. */
    public enum Kind {
        /** The record is lost, and the circuit ends at once. */
        CUT_BEFORE,
        /** The record arrives, and the circuit ends at once. */
        CUT_AFTER,
        /** The record and all behind it are lost; the other direction goes on. The circuit ends when nothing moves any more. */
        STALL,
        /** The record alone is lost; what comes behind it arrives. The circuit ends when nothing moves any more. */
        SKIP
    }

    /** Each fault that a circuit can meet on which so many records went each way: one record, one kind. */
    public static List<PathFault> all(int toTarget, int toOpener) {
        List<PathFault> all = new ArrayList<>();
        for (Direction direction : Direction.values()) {
            int records = direction == Direction.TO_TARGET ? toTarget : toOpener;
            for (int record = 0; record < records; record++) {
                for (Kind kind : Kind.values()) {
                    all.add(new PathFault(direction, record, kind));
                }
            }
        }
        return all;
    }
}
