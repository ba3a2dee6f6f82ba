package org.cloister.protocol.circuit;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelInboundHandlerAdapter;
import java.security.KeyPair;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.Digest;
import org.cloister.protocol.handover.BootWorld;
import org.cloister.protocol.identity.BootCertificate;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Signer;
import org.cloister.protocol.identity.SubjectKey;
import org.cloister.protocol.link.BootTrust;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Credential;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CircuitTest {
    private final BootWorld world = new BootWorld();
    private final CircuitPair circuits = new CircuitPair();
    private final Credential worker = booting(world.worker);
    private final CircuitPair.Ends ends = circuits.open(
            new CircuitTerms(world.worker, world.controller, Digest.sha384("policy")),
            end(worker, world.controller),
            end(booting(world.controller), world.worker));

    CircuitTest() throws Exception {}

    @AfterEach
    void close() {
        circuits.close();
    }

    private Credential booting(Name name) throws Exception {
        KeyPair pair = world.boot;
        return Credential.of(
                pair.getPrivate(),
                List.of(BootCertificate.make(
                        name,
                        SubjectKey.parse(pair.getPublic().getEncoded()),
                        Signer.of(pair.getPrivate()),
                        BootWorld.NOW,
                        new SecureRandom())));
    }

    private static CircuitPair.End end(Credential own, Name other) {
        return new CircuitPair.End(
                own,
                BootTrust.booting().only(other),
                (pipeline, circuit) -> pipeline.addLast(new ChannelInboundHandlerAdapter()));
    }

    @Test
    void one_that_is_over_can_be_ended_again_in_each_way() throws Exception {
        Circuit over = ends.target();
        assertThat(over.end(CloseReason.PROTOCOL).await(20, TimeUnit.SECONDS)).isTrue();
        over.channel().closeFuture().sync();
        // Some tasks of the loop later.
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (over.channel().pipeline().names().size() > 1) {
            assertThat(System.nanoTime() - endNs).as("nobody there any more").isNegative();
            over.channel().eventLoop().submit(() -> {}).sync();
        }
        var again = over.end(CloseReason.REVOKED);
        var output = over.endOutput();
        assertThat(again.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(again.isSuccess()).isTrue();
        assertThat(output.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(output.isSuccess()).isTrue();
    }

    @Test
    void who_was_at_the_other_end_is_known_when_it_is_over() throws Exception {
        Circuit over = ends.target();
        over.channel().close().sync();
        over.channel().eventLoop().submit(() -> {}).sync();
        assertThat(over.peerCertificates()).isEqualTo(List.copyOf(worker.chain()));
    }
}
