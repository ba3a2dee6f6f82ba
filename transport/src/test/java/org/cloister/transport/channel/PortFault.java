package org.cloister.transport.channel;

import java.util.ArrayList;
import java.util.List;

/** Fault in a port's pipe, at a frame of the first session in it. */
public record PortFault(Position position, Kind kind) {
    /** Writer of the frame. */
    public enum From {
        VM,
        HOST
    }

    /**
     * One frame of a session.
     *
     * @param frame what it is and on which stream, such as {@code DATA 5}; of what comes before HTTP/2, its name
     * @param number how many like it came from there before
     */
    public record Position(From from, String frame, int number) {
        @Override
        public String toString() {
            return from + "'s " + frame + " #" + number;
        }
    }

    /** Effect on the frame and on the session. In each case the frame is lost, and the bytes behind it arrive. */
    public enum Kind {
        /** Nothing else happens: a pipe does not do that, but a host that forgets to answer does. */
        LOST,
        /** When nothing moves any more, the host's connection is closed; both agents live on. */
        HUNG_UP,
        /** The VM's agent ends at once, and starts again. */
        VM_RESTARTS,
        /** The host's agent does. */
        HOST_RESTARTS
    }

    /** Each fault that a session of these frames can meet: one frame, one kind. */
    public static List<PortFault> all(List<Position> places, List<Kind> kinds) {
        List<PortFault> all = new ArrayList<>();
        for (Position position : places) {
            for (Kind kind : kinds) {
                all.add(new PortFault(position, kind));
            }
        }
        return all;
    }

    @Override
    public String toString() {
        return position + " " + kind;
    }
}
