package org.cloister.vm.opening;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.Authority;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.SubjectKey;

/** What a controlling VM certifies itself and its workers with: its boot key, and those who vouch for that. */
public final class VmAuthority {
    private final Authority authority;
    private final List<byte[]> above;

    /** @param above certificates in DER, the authority's own first */
    VmAuthority(Authority authority, List<byte[]> above) {
        this.authority = authority;
        this.above = List.copyOf(above);
    }

    /**
     * A certificate for a day, or for as long as the authority itself holds.
     *
     * @return the chain in DER, the leaf first
     * @throws IOException if the name is none of a worker of this project and not this VM's own, or its time is over
     */
    public List<byte[]> certify(Name name, VerificationKey key, Instant now) throws IOException {
        Duration left = Duration.between(now, authority.until());
        Duration lifetime = left.compareTo(Authority.LEAF) < 0 ? left : Authority.LEAF;
        List<byte[]> chain = new ArrayList<>();
        chain.add(authority.issue(name, SubjectKey.of(key), now, lifetime));
        chain.addAll(above);
        return chain;
    }

    /** After this the VM certifies nobody. */
    public Instant until() {
        return authority.until();
    }

    /** The certificates above a leaf, in DER. */
    public List<byte[]> above() {
        return above.stream().map(byte[]::clone).toList();
    }
}
