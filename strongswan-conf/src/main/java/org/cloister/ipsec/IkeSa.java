package org.cloister.ipsec;

import java.util.ArrayList;
import java.util.List;
import org.cloister.ipsec.vici.ViciMessage;

/**
 * One connection to a peer as charon has it now, from {@code list-sas} or an event.
 *
 * @param id charon's number of it; a rekeyed one has another
 * @param answered whether the peer has said anything
 * @param establishedS seconds since, or 0
 */
public record IkeSa(String name, long id, String state, boolean answered, long establishedS, List<ChildSa> children) {
    /**
     * The part that carries packets.
     *
     * @param installedS seconds since its keys are in use
     */
    public record ChildSa(String name, String state, String mode, long bytesIn, long bytesOut, long installedS) {
        public boolean isUp() {
            return state.equals("INSTALLED") || state.equals("REKEYING") || state.equals("REKEYED");
        }
    }

    public IkeSa {
        children = List.copyOf(children);
    }

    /** Packets go through it, whichever step of new keys for the connection itself is under way. */
    public boolean isUp() {
        return isAlive() && children.stream().anyMatch(ChildSa::isUp);
    }

    /** Not at its end: something may still come of it. */
    public boolean isAlive() {
        return !state.equals("DELETING") && !state.equals("DESTROYING") && !state.equals("PASSIVE");
    }

    static List<IkeSa> ofAll(List<ViciMessage> stream) {
        List<IkeSa> all = new ArrayList<>();
        for (ViciMessage each : stream) {
            each.sections().forEach((name, section) -> all.add(of(name, section)));
        }
        return all;
    }

    static IkeSa of(String name, ViciMessage sa) {
        List<ChildSa> children = new ArrayList<>();
        for (ViciMessage child : sa.section("child-sas").sections().values()) {
            children.add(new ChildSa(
                    child.text("name", ""),
                    child.text("state", ""),
                    child.text("mode", ""),
                    child.number("bytes-in", 0),
                    child.number("bytes-out", 0),
                    child.number("install-time", 0)));
        }
        return new IkeSa(
                name,
                sa.number("uniqueid", 0),
                sa.text("state", ""),
                !sa.text("responder-spi", "0").matches("0*"),
                sa.number("established", 0),
                children);
    }
}
