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

/**
 * The authority by which a controlling VM certifies itself and its workers: its boot key, and the certificates above
 * it.
 */
public final class ControllerAuthority {
    private final CertificateAuthority authority;
    private final List<byte[]> issuers;

    /** @param issuers certificates in DER, the authority's own first */
    ControllerAuthority(CertificateAuthority authority, List<byte[]> issuers) {
        this.authority = authority;
        this.issuers = List.copyOf(issuers);
    }

    /**
     * Issues a certificate for a day, or for the rest of the authority's validity.
     *
     * @return the chain in DER, leaf first
     * @throws IOException if the name is neither a worker's of this project nor this VM's own, or the authority has
     *     expired
     */
    public List<byte[]> issue(CertificateName name, VerificationKey key, Instant now) throws IOException {
        Duration remaining = Duration.between(now, authority.notAfter());
        Duration lifetime = remaining.compareTo(CertificateAuthority.LEAF) < 0 ? remaining : CertificateAuthority.LEAF;
        List<byte[]> chain = new ArrayList<>();
        chain.add(authority.issue(name, SubjectPublicKey.of(key), now, lifetime));
        chain.addAll(issuers);
        return chain;
    }

    /** Returns the certificates above a leaf, in DER. */
    public List<byte[]> issuerChain() {
        return issuers.stream().map(byte[]::clone).toList();
    }
}
