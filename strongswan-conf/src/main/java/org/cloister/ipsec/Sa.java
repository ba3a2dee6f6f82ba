package org.cloister.ipsec;

import java.util.ArrayList;
import java.util.List;
import org.cloister.ipsec.vici.Message;

/**
 * One connection to a peer as charon has it now, from {@code list-sas} or an event.
 *
 * @param id charon's number of it; a rekeyed one has another
 * @param answered whether the peer has said anything
 * @param establishedS seconds since, or 0
 */
public record Sa(String name, long id, String state, boolean answered, long establishedS, List<Child> children) {
    /**
     * The part that carries packets.
     *
     * @param installedS seconds since its keys are in use
     */
    public record Child(String name, String state, String mode, long bytesIn, long bytesOut, long installedS) {
        public boolean isUp() {
            return state.equals("INSTALLED") || state.equals("REKEYING") || state.equals("REKEYED");
        }
    }

    public Sa {
        children = List.copyOf(children);
    }

    /** Packets go through it, whichever step of new keys for the connection itself is under way. */
    public boolean isUp() {
        return isAlive() && children.stream().anyMatch(Child::isUp);
    }

    /** Not at its end: something may still come of it. */
    public boolean isAlive() {
        return !state.equals("DELETING") && !state.equals("DESTROYING") && !state.equals("PASSIVE");
    }

    static List<Sa> ofAll(List<Message> stream) {
        List<Sa> all = new ArrayList<>();
        for (Message each : stream) {
            each.sections().forEach((name, section) -> all.add(of(name, section)));
        }
        return all;
    }

    static Sa of(String name, Message sa) {
        List<Child> children = new ArrayList<>();
        for (Message child : sa.section("child-sas").sections().values()) {
            children.add(new Child(
                    child.text("name", ""),
                    child.text("state", ""),
                    child.text("mode", ""),
                    child.number("bytes-in", 0),
                    child.number("bytes-out", 0),
                    child.number("install-time", 0)));
        }
        return new Sa(
                name,
                sa.number("uniqueid", 0),
                sa.text("state", ""),
                !sa.text("responder-spi", "0").matches("0*"),
                sa.number("established", 0),
                children);
    }
}
