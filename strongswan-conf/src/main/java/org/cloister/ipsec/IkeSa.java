package org.cloister.ipsec;

import java.util.ArrayList;
import java.util.List;
import org.cloister.ipsec.vici.ViciMessage;

/**
 * An IKE SA with a peer, as charon reports it by {@code list-sas} or an event.
 *
 * @param id charon's number of it; a rekeyed one has another
 * @param answered whether the peer has answered
 * @param establishedS seconds since its establishment, or 0
 */
public record IkeSa(String name, long id, String state, boolean answered, long establishedS, List<ChildSa> children) {
    /**
     * A child SA, which carries packets.
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

    /** Returns whether packets pass, regardless of a rekeying of the IKE SA itself. */
    public boolean isUp() {
        return isAlive() && children.stream().anyMatch(ChildSa::isUp);
    }

    /** Returns whether the SA is not being deleted, so that it may still come up. */
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
