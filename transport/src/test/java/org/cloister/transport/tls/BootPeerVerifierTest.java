package org.cloister.transport.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.handover.BootFixture;
import org.cloister.protocol.identity.BootCertificate;
import org.cloister.protocol.identity.BootIdentity;
import org.cloister.protocol.identity.BootPeerVerifier;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertificateSigner;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.identity.PeerIdentity;
import org.cloister.protocol.identity.PeerVerifier;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.identity.TrustStore;
import org.junit.jupiter.api.Test;

class BootPeerVerifierTest {
    private final BootFixture world = new BootFixture();
    private final TrustStore trustStore = new TrustStore(
            TrustAnchors.none().withProject(world.project), RevocationLists.none(), () -> BootFixture.NOW);
    /** Without lists, which this is not about. */
    private final CertifiedPeerVerifier certified = chain -> {
        try {
            return trustStore.verifyUnlisted(CertificateChain.of(chain), List.of(CertificateRole.WORKER));
        } catch (IdentityRefusedException e) {
            throw new CertificateException(e.getMessage(), e);
        }
    };

    private final TlsCredential booting = booting();
    private final TlsCredential issued = TlsCredential.of(world.boot.getPrivate(), world.workerChain);

    BootPeerVerifierTest() throws Exception {}

    private TlsCredential booting() throws Exception {
        byte[] own = BootCertificate.make(
                world.worker,
                SubjectPublicKey.parse(world.boot.getPublic().getEncoded()),
                CertificateSigner.of(world.boot.getPrivate()),
                BootFixture.NOW,
                new SecureRandom());
        return TlsCredential.of(world.boot.getPrivate(), List.of(own));
    }

    @Test
    void a_vm_that_boots_is_found_to_be_one_and_one_that_was_certified_is_not() throws Exception {
        PeerIdentity first =
                BootPeerVerifier.forBootingVmOr(certified).only(world.worker).verify(booting.chain());
        assertThat(first).isInstanceOf(BootIdentity.class);
        PeerIdentity later =
                BootPeerVerifier.forBootingVmOr(certified).only(world.worker).verify(issued.chain());
        assertThat(later).isInstanceOf(CertifiedIdentity.class);
        assertThat(later.key()).isEqualTo(first.key());
        assertThat(BootPeerVerifier.forBootingVm()
                        .only(world.worker)
                        .verify(booting.chain())
                        .name())
                .isEqualTo(world.worker);
    }

    @Test
    void where_a_vm_has_to_boot_no_chain_is_taken_and_nobody_elses_certificate() {
        assertThatThrownBy(
                        () -> BootPeerVerifier.forBootingVm().only(world.worker).verify(issued.chain()))
                .isInstanceOf(CertificateException.class)
                .hasMessageContaining("(chain)");
        assertThatThrownBy(() -> BootPeerVerifier.forBootingVmOr(certified)
                        .only(world.controller)
                        .verify(booting.chain()))
                .isInstanceOf(CertificateException.class)
                .hasMessageContaining("(name)");
        assertThatThrownBy(() -> BootPeerVerifier.forBootingVmOr(certified)
                        .only(world.controller)
                        .verify(issued.chain()))
                .isInstanceOf(CertificateException.class);
    }

    @Test
    void where_certificates_are_asked_for_a_vm_that_boots_is_nobody() {
        assertThatThrownBy(() -> certified.verify(booting.chain()))
                .isInstanceOf(CertificateException.class)
                .hasMessageContaining("(issuer)");
        assertThatThrownBy(
                        () -> CertifiedPeerVerifier.forCircuitEnds(trustStore).verify(booting.chain()))
                .isInstanceOf(CertificateException.class);
    }

    @Test
    void tls_takes_it_at_either_end_and_has_the_key_proven() throws Exception {
        AtomicReference<PeerIdentity> found = new AtomicReference<>();
        PeerVerifier taking = chain -> {
            PeerIdentity peer =
                    BootPeerVerifier.forBootingVm().only(world.worker).verify(chain);
            found.set(peer);
            return peer;
        };
        CertifiedPeerVerifier other = chain -> certified.only(world.worker).verify(chain);
        handshake(TlsProfile.CIRCUIT.client(booting, other), TlsProfile.CIRCUIT.server(issued, taking));
        assertThat(found.getAndSet(null)).isInstanceOf(BootIdentity.class);
        handshake(TlsProfile.CIRCUIT.client(issued, taking), TlsProfile.CIRCUIT.server(booting, other));
        assertThat(found.get()).isInstanceOf(BootIdentity.class);

        List<X509Certificate> stolen = booting.chain();
        TlsCredential thief =
                new TlsCredential(BootFixture.pair(SignatureCurve.P384).getPrivate(), stolen);
        assertThatThrownBy(() ->
                        handshake(TlsProfile.CIRCUIT.client(thief, other), TlsProfile.CIRCUIT.server(issued, taking)))
                .isInstanceOf(SSLException.class);
    }

    private static void handshake(SSLEngine client, SSLEngine server) throws SSLException {
        List<SSLEngine> ends = List.of(client, server);
        List<ByteBuffer> wires = new ArrayList<>();
        for (SSLEngine end : ends) {
            wires.add(ByteBuffer.allocate(1 << 17));
            end.beginHandshake();
        }
        for (int step = 0; step < 100; step++) {
            for (int i = 0; i < 2; i++) {
                step(ends.get(i), wires.get(i), wires.get(1 - i));
            }
            if (done(client) && done(server)) {
                return;
            }
        }
        throw new SSLException("no handshake");
    }

    private static boolean done(SSLEngine end) {
        return end.getHandshakeStatus() == SSLEngineResult.HandshakeStatus.NOT_HANDSHAKING;
    }

    /** Says what there is to say, then reads what has come. */
    private static void step(SSLEngine end, ByteBuffer out, ByteBuffer in) throws SSLException {
        ByteBuffer nothing = ByteBuffer.allocate(0);
        ByteBuffer plain = ByteBuffer.allocate(1 << 16);
        while (true) {
            for (Runnable task = end.getDelegatedTask(); task != null; task = end.getDelegatedTask()) {
                task.run();
            }
            switch (end.getHandshakeStatus()) {
                case NEED_WRAP -> end.wrap(nothing, out);
                case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
                    in.flip();
                    boolean moved = end.unwrap(in, plain).bytesConsumed() > 0;
                    in.compact();
                    if (!moved) {
                        return;
                    }
                }
                default -> {
                    return;
                }
            }
        }
    }
}
