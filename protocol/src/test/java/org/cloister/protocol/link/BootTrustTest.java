package org.cloister.protocol.link;

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
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.handover.BootWorld;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.BootCertificate;
import org.cloister.protocol.identity.BootIdentity;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.IdentityRefused;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.identity.Shown;
import org.cloister.protocol.identity.Signer;
import org.cloister.protocol.identity.SubjectKey;
import org.junit.jupiter.api.Test;

class BootTrustTest {
    private final BootWorld world = new BootWorld();
    private final Beliefs beliefs =
            new Beliefs(Anchors.none().withProject(world.project), RevocationLists.none(), () -> BootWorld.NOW);
    /** Without lists, which this is not about. */
    private final Trust certified = chain -> {
        try {
            return beliefs.verifyUnlisted(Chain.of(chain), List.of(Role.WORKER));
        } catch (IdentityRefused e) {
            throw new CertificateException(e.getMessage(), e);
        }
    };

    private final Credential booting = booting();
    private final Credential given = Credential.of(world.boot.getPrivate(), world.workerChain);

    BootTrustTest() throws Exception {}

    private Credential booting() throws Exception {
        byte[] own = BootCertificate.make(
                world.worker,
                SubjectKey.parse(world.boot.getPublic().getEncoded()),
                Signer.of(world.boot.getPrivate()),
                BootWorld.NOW,
                new SecureRandom());
        return Credential.of(world.boot.getPrivate(), List.of(own));
    }

    @Test
    void a_vm_that_boots_is_found_to_be_one_and_one_that_was_certified_is_not() throws Exception {
        Shown first = BootTrust.bootingOr(certified).only(world.worker).verify(booting.chain());
        assertThat(first).isInstanceOf(BootIdentity.class);
        Shown later = BootTrust.bootingOr(certified).only(world.worker).verify(given.chain());
        assertThat(later).isInstanceOf(Identity.class);
        assertThat(later.key()).isEqualTo(first.key());
        assertThat(BootTrust.booting()
                        .only(world.worker)
                        .verify(booting.chain())
                        .name())
                .isEqualTo(world.worker);
    }

    @Test
    void where_a_vm_has_to_boot_no_chain_is_taken_and_nobody_elses_certificate() {
        assertThatThrownBy(() -> BootTrust.booting().only(world.worker).verify(given.chain()))
                .isInstanceOf(CertificateException.class)
                .hasMessageContaining("(chain)");
        assertThatThrownBy(() ->
                        BootTrust.bootingOr(certified).only(world.controller).verify(booting.chain()))
                .isInstanceOf(CertificateException.class)
                .hasMessageContaining("(name)");
        assertThatThrownBy(() ->
                        BootTrust.bootingOr(certified).only(world.controller).verify(given.chain()))
                .isInstanceOf(CertificateException.class);
    }

    @Test
    void where_certificates_are_asked_for_a_vm_that_boots_is_nobody() {
        assertThatThrownBy(() -> certified.verify(booting.chain()))
                .isInstanceOf(CertificateException.class)
                .hasMessageContaining("(issuer)");
        assertThatThrownBy(() -> Trust.inParties(beliefs).verify(booting.chain()))
                .isInstanceOf(CertificateException.class);
    }

    @Test
    void tls_takes_it_at_either_end_and_has_the_key_proven() throws Exception {
        AtomicReference<Shown> found = new AtomicReference<>();
        Acceptance taking = chain -> {
            Shown shown = BootTrust.booting().only(world.worker).verify(chain);
            found.set(shown);
            return shown;
        };
        Trust other = chain -> certified.only(world.worker).verify(chain);
        handshake(TlsProfile.CIRCUIT.client(booting, other), TlsProfile.CIRCUIT.server(given, taking));
        assertThat(found.getAndSet(null)).isInstanceOf(BootIdentity.class);
        handshake(TlsProfile.CIRCUIT.client(given, taking), TlsProfile.CIRCUIT.server(booting, other));
        assertThat(found.get()).isInstanceOf(BootIdentity.class);

        List<X509Certificate> stolen = booting.chain();
        Credential thief = new Credential(BootWorld.pair(Curve.P384).getPrivate(), stolen);
        assertThatThrownBy(() ->
                        handshake(TlsProfile.CIRCUIT.client(thief, other), TlsProfile.CIRCUIT.server(given, taking)))
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
