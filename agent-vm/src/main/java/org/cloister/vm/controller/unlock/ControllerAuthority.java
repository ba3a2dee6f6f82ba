package org.cloister.vm.controller.unlock;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.SubjectPublicKey;

/** What a controlling VM certifies itself and its workers with: its boot key, and those who vouch for that. */
public final class ControllerAuthority {
    private final CertificateAuthority authority;
    private final List<byte[]> above;

    /** @param above certificates in DER, the authority's own first */
    ControllerAuthority(CertificateAuthority authority, List<byte[]> above) {
        this.authority = authority;
        this.above = List.copyOf(above);
    }

    /**
     * A certificate for a day, or for as long as the authority itself holds.
     *
     * @return the chain in DER, the leaf first
     * @throws IOException if the name is none of a worker of this project and not this VM's own, or its time is over
     */
    public List<byte[]> issue(CertificateName name, VerificationKey key, Instant now) throws IOException {
        Duration left = Duration.between(now, authority.notAfter());
        Duration lifetime = left.compareTo(CertificateAuthority.LEAF) < 0 ? left : CertificateAuthority.LEAF;
        List<byte[]> chain = new ArrayList<>();
        chain.add(authority.issue(name, SubjectPublicKey.of(key), now, lifetime));
        chain.addAll(above);
        return chain;
    }

    /** After this the VM certifies nobody. */
    public Instant until() {
        return authority.notAfter();
    }

    /** The certificates above a leaf, in DER. */
    public List<byte[]> issuerChain() {
        return above.stream().map(byte[]::clone).toList();
    }
}
