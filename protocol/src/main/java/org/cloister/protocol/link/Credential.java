package org.cloister.protocol.link;

import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;

/** What one side shows in a handshake. Prints without its key. */
public record Credential(PrivateKey key, List<X509Certificate> chain) {
    public Credential {
        chain = List.copyOf(chain);
    }

    @Override
    public String toString() {
        return "credential of " + chain.get(0).getSubjectX500Principal();
    }
}
