package org.cloister.vm.controller;

import java.io.IOException;
import java.time.Instant;
import java.util.List;
import org.cloister.ipsec.DerCertificate;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.transport.link.TicketStream;
import org.cloister.transport.tls.TlsCredential;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.controller.unlock.ControllerAuthority;
import org.cloister.vm.system.tunnel.LockedPrivateKey;

/** The controlling VM's current certificate, which its own authority issues. Thread-safe. */
final class ControllerCertificate {
    private final CertificateName name;
    private final ControllerAuthority authority;
    private final BootKeyPairs keys;
    private volatile Issued current;

    private record Issued(List<byte[]> chain, TlsCredential credential) {}

    ControllerCertificate(CertificateName name, ControllerAuthority authority, BootKeyPairs keys, Instant now)
            throws IOException {
        this.name = name;
        this.authority = authority;
        this.keys = keys;
        this.current = issue(now);
    }

    CertificateName name() {
        return name;
    }

    /** Replaces the current certificate by one that is issued now. */
    void renew(Instant now) throws IOException {
        current = issue(now);
    }

    /** Returns the credential for circuits. */
    TlsCredential credential() {
        return current.credential;
    }

    /** Returns the certificate chain in DER, leaf first. */
    List<byte[]> chain() {
        return current.chain;
    }

    /** Returns the signer for the ticket stream. */
    TicketStream.ControllerSigner ticketSigner(SigningKey key) {
        return new TicketStream.ControllerSigner(name, current.chain, key);
    }

    /** Returns the credential for charon. */
    org.cloister.ipsec.TunnelCredential tunnelCredential(LockedPrivateKey key) throws IOException {
        return new org.cloister.ipsec.TunnelCredential(DerCertificate.parse(current.chain.get(0)), key);
    }

    private Issued issue(Instant now) throws IOException {
        List<byte[]> chain = authority.issue(name, keys.publicKeys().signing(), now);
        return new Issued(chain, TlsCredential.of(keys.signing(), chain));
    }
}
