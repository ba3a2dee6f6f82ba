package org.cloister.transport.circuit;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelInboundHandlerAdapter;
import java.security.KeyPair;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.handover.BootFixture;
import org.cloister.protocol.identity.BootCertificate;
import org.cloister.protocol.identity.BootPeerVerifier;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateSigner;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.transport.tls.TlsCredential;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CircuitTest {
    private final BootFixture world = new BootFixture();
    private final CircuitPair circuits = new CircuitPair();
    private final TlsCredential worker = booting(world.worker);
    private final CircuitPair.Ends ends = circuits.open(
            new CircuitTerms(world.worker, world.controller, Digest.sha384("policy")),
            endpoint(worker, world.controller),
            endpoint(booting(world.controller), world.worker));

    CircuitTest() throws Exception {}

    @AfterEach
    void close() {
        circuits.close();
    }

    private TlsCredential booting(CertificateName name) throws Exception {
        KeyPair pair = world.boot;
        return TlsCredential.of(
                pair.getPrivate(),
                List.of(BootCertificate.make(
                        name,
                        SubjectPublicKey.parse(pair.getPublic().getEncoded()),
                        CertificateSigner.of(pair.getPrivate()),
                        BootFixture.NOW,
                        new SecureRandom())));
    }

    private static CircuitPair.End endpoint(TlsCredential own, CertificateName other) {
        return new CircuitPair.End(
                own,
                BootPeerVerifier.forBootingVm().only(other),
                (pipeline, circuit) -> pipeline.addLast(new ChannelInboundHandlerAdapter()));
    }

    @Test
    void one_that_is_over_can_be_ended_again_in_each_way() throws Exception {
        Circuit over = ends.target();
        assertThat(over.close(CloseReason.PROTOCOL).await(20, TimeUnit.SECONDS)).isTrue();
        over.channel().closeFuture().sync();
        // Some tasks of the loop later.
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (over.channel().pipeline().names().size() > 1) {
            assertThat(System.nanoTime() - endNs).as("nobody there any more").isNegative();
            over.channel().eventLoop().submit(() -> {}).sync();
        }
        var again = over.close(CloseReason.REVOKED);
        var output = over.shutdownOutput();
        assertThat(again.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(again.isSuccess()).isTrue();
        assertThat(output.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(output.isSuccess()).isTrue();
    }

    @Test
    void one_whose_loop_has_ended_is_over() throws Exception {
        circuits.close();
        assertThat(ends.target().shutdownOutput().await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(ends.target().close(CloseReason.LOST).isSuccess()).isTrue();
    }

    @Test
    void who_was_at_the_other_end_is_known_when_it_is_over() throws Exception {
        Circuit over = ends.target();
        over.channel().close().sync();
        over.channel().eventLoop().submit(() -> {}).sync();
        assertThat(over.peerCertificates()).isEqualTo(List.copyOf(worker.chain()));
    }
}
